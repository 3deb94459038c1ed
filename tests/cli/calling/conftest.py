"""Fixtures of the commands that call a running service."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

import pytest

from pabal.testing.account import TemporaryAccount
from pabal.testing.service import LocalService
from tests.fixtures.calling import CallingLine
from tests.fixtures.live import zone_at_noon


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    """A service where it is noon, so that it sends advertisements."""
    with LocalService(tmp_path_factory.mktemp("called"), zone=ZoneInfo(zone_at_noon())) as running:
        yield running


@pytest.fixture
def line(
    service: LocalService, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[CallingLine]:
    """A command line in English with the key of an account of its own."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    with TemporaryAccount(service.base_url, service.create_account()) as account:
        yield CallingLine(account, capsys)
