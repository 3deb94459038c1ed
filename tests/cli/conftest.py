"""Fixtures of the command line's tests."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.cli import CommandLine
from tests.fixtures.second_step import second_step

__all__ = ["command_line", "second_step"]


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    """Undo the logging set-up of a service that a test started."""
    root, ours = logging.getLogger(), logging.getLogger("pabal")
    before = root.handlers, root.level, ours.level
    yield
    root.handlers = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])


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
