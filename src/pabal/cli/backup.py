"""`pabal backup`: a copy of the embedded store, made while the service runs."""

import argparse
import sys
from pathlib import Path
from typing import Any

from pabal.cli.command import WORLD, Stop, command
from pabal.settings.settings import Settings
from pabal.store.engine import sqlite_backup
from pabal.store.engine.base import StoreAway

PAGE = "docs/how-to/backup.md"
SAID_EVERY_S = 5.0


def add_command(words: Any) -> None:
    """Declare the command of this file."""
    one = command(words, "backup", _backup, "Copy the SQLite store to a file; the service may run.")
    one.add_argument("file", type=Path, metavar="FILE", help="where to; it must not exist")
    one.add_argument("--force", action="store_true", help="replace the file if it exists")


def check_engine(settings: Settings, instead: str) -> None:
    """Raises Stop where the store is not a file of ours to copy."""
    if settings.is_on_postgresql:
        raise Stop(f"the store is in PostgreSQL: use {instead}, as {PAGE} shows")


class Progress:
    """Says how far a long copy has come, on standard error."""

    def __init__(self) -> None:
        self._said_at = WORLD.stopwatch()

    def __call__(self, pages: int, total: int) -> None:
        if WORLD.stopwatch() - self._said_at >= SAID_EVERY_S:
            self._said_at = WORLD.stopwatch()
            print(f"copied {pages * 100 // total} %", file=sys.stderr)


def _backup(settings: Settings, given: argparse.Namespace) -> None:
    check_engine(settings, "pg_dump, or a base backup and its archive")
    store, file = settings.store_path, given.file
    _check_target(store, file, is_forced=given.force)
    try:
        with sqlite_backup.copied(store, file, Progress()) as part:
            schema = sqlite_backup.look(part, sqlite_backup.schema)
            size = part.stat().st_size
            sqlite_backup.put(part, file)
    except sqlite_backup.NotAStore as no:
        raise Stop(f"{store} was not copied: {no}; see `pabal doctor`") from None
    except (OSError, StoreAway) as error:
        raise Stop(f"{store} could not be copied to {file}: {error}; nothing is left there") from None
    print(f"{file} is a sound copy of {store}: schema {schema}, {size / 1024**2:,.1f} MiB")


def _check_target(store: Path, file: Path, *, is_forced: bool) -> None:
    if not store.exists():
        raise Stop(f"there is no store at {store}; name the service's own with --data or --config")
    if file.is_dir():
        raise Stop(f"{file} is a directory; name a file in it")
    if file.resolve() in {each.resolve() for each in (*sqlite_backup.files_of(store), store.with_suffix(".lock"))}:
        raise Stop(f"{file} is the store's own, or belongs to it; choose another name")
    if file.exists() and not is_forced:
        raise Stop(f"{file} exists; choose another name, or replace it with --force")
