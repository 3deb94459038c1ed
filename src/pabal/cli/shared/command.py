"""What all commands share: declaration, access to the store, and errors."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from pabal.app import apply_migrations, open_store
from pabal.cli.shared.errors import CommandError as CommandError
from pabal.cli.shared.table import printable as printable
from pabal.settings.environment import get_user_name
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import COMMAND_LINE_PREFIX, Actor
from pabal.store.engine.base import Store
from pabal.world import RealWorld

T = TypeVar("T")
WORLD = RealWorld()


def add_group(subparsers: Any, name: str, help: str) -> Any:
    """Add a command that has subcommands, such as `pabal key`, and return where to add those."""
    parser = subparsers.add_parser(name, help=help, description=help)
    parser.set_defaults(parser=parser)
    return parser.add_subparsers(metavar="COMMAND")


def add_command(
    subparsers: Any, name: str, run: Callable[[Settings, argparse.Namespace], int | None], help: str
) -> argparse.ArgumentParser:
    """Add a command with the options that all commands have, and return its parser."""
    parser: argparse.ArgumentParser = subparsers.add_parser(name, help=help, description=help)
    parser.add_argument("--data", type=Path, metavar="DIR", help="data directory (default: ./data)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML file with settings")
    parser.set_defaults(run=run)
    return parser


def add_list(
    subparsers: Any, run: Callable[[Settings, argparse.Namespace], int | None], help: str
) -> argparse.ArgumentParser:
    """Add the command `list`, which prints a table or JSON, and return its parser."""
    parser = add_command(subparsers, "list", run, help)
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    return parser


def current_actor() -> Actor:
    """Return who runs this command, for the audit log."""
    return Actor(None, f"{COMMAND_LINE_PREFIX}{printable(get_user_name())}")


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store, migrate it if the settings allow that, run `work` and close the store."""

    async def run() -> T:
        store = open_store(settings, WORLD)
        try:
            await apply_migrations(store, settings, WORLD)
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


async def find_account_id(store: Store, name: str) -> int:
    """Return the id of an account.

    Raises CommandError where there is none of this name.
    """
    for account in await store.read(accounts.list_accounts):
        if account.name == name:
            return account.id
    raise CommandError(f"there is no account {name!r}; see `pabal account list`")
