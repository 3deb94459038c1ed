"""Every command and option has its help in Korean too, and the locale chooses."""

import argparse
from collections.abc import Iterator

import pytest

from pabal.cli import main
from pabal.cli.calling.parser import NEEDS_SERVER
from pabal.cli.shared.korean_help import KOREAN_HELP
from tests.fixtures.cli import CommandLine


def texts_of(parser: argparse.ArgumentParser) -> Iterator[str | None]:
    yield from (parser.description, *(group.title for group in parser._action_groups))
    for action in parser._actions:
        yield action.help
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help for choice in action._choices_actions)
            for command in action.choices.values():
                yield from texts_of(command)


def test_every_text_is_translated_and_none_is_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    used = {text for text in texts_of(main._parser()) if text} - {argparse.SUPPRESS} | {NEEDS_SERVER}

    assert used - set(KOREAN_HELP) == set()
    assert set(KOREAN_HELP) - used == set()


def test_help_follows_the_locale(new_command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    english = new_command_line.run("key", "create", "--help")
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    korean = new_command_line.run("key", "create", "--help")

    assert "what the key is for" in english.out
    assert "키의 용도" in korean.out
    assert (english.status, korean.status) == (0, 0)
