"""What the commands of the command line share: how each is declared, how it gets at the store, how it stops."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from pabal.app import apply_migrations, open_store
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store
from pabal.world import RealWorld

T = TypeVar("T")
WORLD = RealWorld()


class CommandError(Exception):
    """The command cannot be done; the message says why and what to do."""


def add_group(subparsers: Any, name: str, help: str) -> Any:
    """Declare a word that has words of its own, and return where to declare those."""
    parser = subparsers.add_parser(name, help=help, description=help)
    parser.set_defaults(parser=parser)
    return parser.add_subparsers(metavar="COMMAND")


def add_command(
    subparsers: Any, name: str, run: Callable[[Settings, argparse.Namespace], int | None], help: str
) -> argparse.ArgumentParser:
    """Declare a command and return its parser, for the options that only it has."""
    parser: argparse.ArgumentParser = subparsers.add_parser(name, help=help, description=help)
    parser.add_argument("--data", type=Path, metavar="DIR", help="data directory (default ./data)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML file with settings")
    parser.set_defaults(run=run)
    return parser


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store, brought up to date, do the work, close it."""

    async def run() -> T:
        store = open_store(settings, WORLD)
        try:
            await apply_migrations(store, settings, WORLD)
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())
