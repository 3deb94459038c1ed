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
    """A parser whose help is Korean or English; it says what misspelt words may have meant."""

    _commands: Any = None
    """Where subcommands are added, if it has any."""

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

    def add_option(self, spec: str, ko: str, en: str, **details: Any) -> None:
        """Add an option or an argument, such as `--to NUMBER` or `name`; `details` are those of argparse."""
        name, _, metavar = spec.partition(" ")
        if metavar:
            details["metavar"] = metavar
        self.add_argument(name, help=choose(ko, en), **details)

    def add_flag(self, name: str, ko: str, en: str) -> None:
        """Add an option without a value."""
        self.add_option(name, ko, en, action="store_true")

    def add_json_flag(self) -> None:
        """Add `--json`."""
        self.add_flag("--json", "JSON을 한 줄에 하나씩 출력합니다", "print JSON, one object a line")

    def add_config_option(self) -> None:
        """Add `--config`."""
        self.add_option("--config FILE", "설정이 있는 TOML 파일", "TOML file with settings", type=Path)

    def add_settings_options(self, run: Run) -> None:
        """Add the options that say which settings to use; `run` gets them."""
        self.add_option(
            "--data DIR", "데이터 디렉터리(기본값: ./data)", "data directory (default: ./data)", type=Path
        )
        self.add_config_option()
        self.set_defaults(run=run)

    def add_subcommand(self, name: str, ko: str, en: str) -> "CommandParser":
        """Add a subcommand, as `pabal key` has `create`, and return its parser."""
        if self._commands is None:
            self.set_defaults(parser=self)
            self._commands = self.add_subparsers(metavar="COMMAND")
        help = choose(ko, en)
        parser: CommandParser = self._commands.add_parser(name, help=help, description=help)
        return parser

    def add_command(self, name: str, run: Run, ko: str, en: str) -> "CommandParser":
        """Add a subcommand with the options that say which settings to use, and return its parser."""
        parser = self.add_subcommand(name, ko, en)
        parser.add_settings_options(run)
        return parser

    def add_list(self, run: Run, ko: str, en: str) -> "CommandParser":
        """Add the subcommand `list`, which prints a table or JSON, and return its parser."""
        parser = self.add_command("list", run, ko, en)
        parser.add_json_flag()
        return parser


def _suggest(word: str, known: Iterable[str]) -> str:
    """Return which known word resembles one that is not, as the end of an error."""
    by_name = {each.lstrip("-"): each for each in known}
    found = [by_name[each] for each in get_close_matches(word.lstrip("-"), by_name, 1)]
    return choose(f". {found[0]}인가요?", f"; did you mean {found[0]}?") if found else ""
