"""What tests of the command line share."""

from pathlib import Path

import pytest

from tests.fixtures.cli import CommandLine
from tests.fixtures.second_step import second_step

__all__ = ["command_line", "second_step"]


@pytest.fixture
def command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """A store with an account and a key."""
    made = CommandLine(tmp_path / "data", capsys)
    made("key", "create", "--account", "acme")
    return made
