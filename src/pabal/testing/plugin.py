"""The pytest fixtures `pabal_service`, `pabal` and `pabal_clock`, which pytest finds by itself if installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

# Every run of pytest imports this module: the rest is imported by the first test that needs it.
if TYPE_CHECKING:
    from pabal.testing.account import TemporaryAccount
    from pabal.testing.service import Clock, LocalService


@pytest.fixture(scope="session")
def pabal_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator["LocalService"]:
    """The whole service with the simulator, on a free port of this machine, for all tests of a session."""
    from pabal.testing.service import LocalService

    with LocalService(tmp_path_factory.mktemp("pabal")) as service:
        yield service


@pytest.fixture
def pabal(pabal_service: "LocalService") -> Iterator["TemporaryAccount"]:
    """A new account of the service, with its key and a client; it sees nothing of the other tests."""
    from pabal.testing.account import TemporaryAccount

    with TemporaryAccount(pabal_service.base_url, pabal_service.create_account()) as account:
        yield account


@pytest.fixture
def pabal_clock(pabal_service: "LocalService") -> Iterator["Clock"]:
    """The clock of the service, which a test may move forward; afterwards it shows the time of the system again."""
    yield pabal_service.clock
    pabal_service.clock.reset()
