"""What tests of the command line share."""

from pathlib import Path

import pytest

from tests.fixtures.cli import Desk


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A store with an account and a key."""
    made = Desk(tmp_path / "data", capsys)
    made("key", "create", "--account", "acme")
    return made
