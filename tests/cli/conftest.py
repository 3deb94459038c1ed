"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest

from tests.fixtures.cli import CommandLine
from tests.fixtures.logging_setup import restore_logging
from tests.fixtures.second_step import second_step

__all__ = ["command_line", "restore_logging", "second_step"]


@pytest.fixture
def new_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> CommandLine:
    """A command line in English without a data directory yet."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return CommandLine(tmp_path / "data", capsys)


@pytest.fixture
def command_line(new_command_line: CommandLine) -> CommandLine:
    """A command line whose store has an account and a key."""
    new_command_line("key", "create", "--account", "acme")
    return new_command_line
