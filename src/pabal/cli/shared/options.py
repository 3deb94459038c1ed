"""Declares commands and their options, each with its help in Korean and English."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pabal.cli.shared.language import choose

if TYPE_CHECKING:  # commands that call a service do without
    from pabal.settings.settings import Settings

Run = Callable[["Settings", argparse.Namespace], int | None]
"""What a command does; it returns the exit status, or None for 0."""


class CommandParser(argparse.ArgumentParser):
    """A parser that says what a misspelt command, choice or option may have meant."""

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the arguments of a command; for what it does not know, print an error and exit."""
        command = self._find_command(words)
        known = {each for parser in (self, command) for each in parser._option_string_actions}
        options = [each.partition("=")[0] for each in takewhile("--".__ne__, words) if each.startswith("--")]
        misspelt = [each for each in options if not any(other.startswith(each) for other in known)]
        if misspelt:  # before the value of one is taken for something else
            command._refuse(misspelt, known)
        given, unknown = self.parse_known_args(words)
        if unknown:
            command._refuse(unknown, known)
        return given

    def _find_command(self, words: Sequence[str]) -> "CommandParser":
        """Return the parser of the command that the words name; for one that does not exist, exit with an error."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction) and words and not words[0].startswith("-"):
                if words[0] not in action.choices:
                    self.parse_known_args(words[:1])
                found: CommandParser = action.choices[words[0]]
                return found._find_command(words[1:])
        return self

    def _refuse(self, unknown: Sequence[str], known: Iterable[str]) -> None:
        hint = "".join(_suggest(each, known) for each in unknown if each.startswith("-"))
        self.error(choose("알 수 없는 인수입니다: ", "unrecognized arguments: ") + " ".join(unknown) + hint)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += _suggest(str(value), map(str, action.choices or ()))
            raise


def _suggest(word: str, known: Iterable[str]) -> str:
    """Return which known word resembles one that is not, as the end of an error."""
    by_name = {each.lstrip("-"): each for each in known}
    found = [by_name[each] for each in get_close_matches(word.lstrip("-"), by_name, 1)]
    return choose(f". {found[0]}인가요?", f"; did you mean {found[0]}?") if found else ""


def add_option(parser: argparse.ArgumentParser, name: str, ko: str, en: str, **details: Any) -> None:
    """Add an option or an argument; `details` are those of argparse."""
    parser.add_argument(name, help=choose(ko, en), **details)


def add_group(parser: argparse.ArgumentParser) -> Any:
    """Let a command have subcommands, as `pabal key` does, and return where to add them."""
    parser.set_defaults(parser=parser)
    return parser.add_subparsers(metavar="COMMAND")


def add_command(group: Any, name: str, run: Run, ko: str, en: str) -> argparse.ArgumentParser:
    """Add a subcommand with the options that all commands have, and return its parser."""
    help = choose(ko, en)
    parser: argparse.ArgumentParser = group.add_parser(name, help=help, description=help)
    add_settings_options(parser, run)
    return parser


def add_list(group: Any, run: Run, ko: str, en: str) -> argparse.ArgumentParser:
    """Add the subcommand `list`, which prints a table or JSON, and return its parser."""
    parser = add_command(group, "list", run, ko, en)
    add_json_option(parser)
    return parser


def add_settings_options(parser: argparse.ArgumentParser, run: Run) -> None:
    """Add the options that say which settings to use; `run` gets them."""
    add_option(
        parser,
        "--data",
        "데이터 디렉터리(기본값: ./data)",
        "data directory (default: ./data)",
        type=Path,
        metavar="DIR",
    )
    add_config_option(parser)
    parser.set_defaults(run=run)


def add_config_option(parser: argparse.ArgumentParser) -> None:
    """Add `--config`."""
    add_option(parser, "--config", "설정이 있는 TOML 파일", "TOML file with settings", type=Path, metavar="FILE")


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    add_option(
        parser, "--json", "JSON을 한 줄에 하나씩 출력합니다", "print JSON, one object a line", action="store_true"
    )
