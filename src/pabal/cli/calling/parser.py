"""The commands that call a running service, as a command line of their own."""

import argparse
import os
from collections.abc import Sequence
from typing import Any

from pabal import __version__
from pabal.cli.calling import completion, history, phone, send, status
from pabal.cli.calling.call import run_call
from pabal.cli.serving import crash
from pabal.cli.shared.argument_parser import ArgumentParser
from pabal.cli.shared.korean_help import translate_help
from pabal.settings.environment import choose_language

NAMES = ("send", "history", "phone", "status")
"""The commands that need nothing of the service."""
NEEDS_SERVER = "other commands need the service; install it with: pip install 'pabal[server]'"


def add_commands(subparsers: Any, parser: argparse.ArgumentParser) -> None:
    """Add the commands, and `completion` for all commands of a parser."""
    for each in (send, history, phone, status):
        each.add_commands(subparsers)
    completion.add_commands(subparsers, parser)


def run_if_calling(given: argparse.Namespace) -> int | None:
    """Run one of these commands, and return its exit status; None if it is another one."""
    if hasattr(given, "complete"):
        return completion.print_script(given)
    return run_call(given) if hasattr(given, "run_call") else None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of these commands, and return its exit status; without `argv` that of this process."""
    if argv is None:
        crash.hide_error_messages()
    parser = ArgumentParser("pabal", description="A self-hosted messaging service.", epilog=NEEDS_SERVER)
    parser.add_argument("--version", action="version", version=f"pabal {__version__}")
    add_commands(parser.add_subparsers(metavar="COMMAND"), parser)
    translate_help(parser, choose_language())
    given = parser.parse_args(argv)
    os.umask(0o077)  # files are readable by this user only
    status = run_if_calling(given)
    if status is None:
        parser.print_help()
        return 2
    return status
