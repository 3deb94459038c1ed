"""Declares commands and their options, each with its help in Korean and English."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pabal.cli.shared.language import choose

if TYPE_CHECKING:  # commands that call a service do without
    from pabal.settings.settings import Settings

Run = Callable[["Settings", argparse.Namespace], int | None]
"""What a command does; it returns the exit status, or None for 0."""


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
