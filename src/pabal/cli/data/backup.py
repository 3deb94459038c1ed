"""The command that copies the SQLite store to a file while the service runs."""

import argparse
from pathlib import Path
from typing import Any

from pabal.cli.shared.command import WORLD, CommandError, add_command
from pabal.cli.shared.translate import print_message
from pabal.settings.settings import Settings
from pabal.store.engine.base import StoreUnavailable
from pabal.store.engine.sqlite import sqlite_backup

BACKUP_GUIDE = "docs/how-to/backup.md"
PROGRESS_INTERVAL_S = 5.0
"""How often a long copy prints its progress."""


def add_commands(subparsers: Any) -> None:
    """Add `backup`."""
    parser = add_command(
        subparsers, "backup", _backup, "Copy the SQLite store to a file, even while the service runs."
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write; it must not exist")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def require_sqlite(settings: Settings, alternative: str) -> None:
    """Raise CommandError unless the store is SQLite; `alternative` is what to use instead."""
    if settings.is_on_postgresql:
        raise CommandError(f"the store is PostgreSQL: use {alternative}; see {BACKUP_GUIDE}")


class Progress:
    """Prints the progress of a long copy to standard error."""

    def __init__(self) -> None:
        self._reported_at = WORLD.monotonic()

    def __call__(self, pages: int, total: int) -> None:
        if WORLD.monotonic() - self._reported_at >= PROGRESS_INTERVAL_S:
            self._reported_at = WORLD.monotonic()
            print_message(f"copied {pages * 100 // total} %", is_error=True)


def _backup(settings: Settings, args: argparse.Namespace) -> None:
    require_sqlite(settings, "pg_dump, or a base backup plus WAL archive")
    store_path, file = settings.store_path, args.file
    _check_target(store_path, file, is_forced=args.force)
    try:
        with sqlite_backup.verified_copy(store_path, file, Progress()) as part:
            schema = sqlite_backup.query_file(part, sqlite_backup.schema_version)
            size = part.stat().st_size
            sqlite_backup.install(part, file)
    except sqlite_backup.NotAStore as error:
        raise CommandError(f"{store_path} was not copied: {error}; run `pabal doctor`") from None
    except (OSError, StoreUnavailable) as error:
        raise CommandError(f"{store_path} was not copied to {file}: {error}; nothing was written there") from None
    print_message(f"copied {store_path} to {file} and verified it: schema {schema}, {size / 1024**2:,.1f} MiB")


def _check_target(store: Path, file: Path, *, is_forced: bool) -> None:
    if not store.exists():
        raise CommandError(f"there is no store at {store}; name the service's directory with --data or --config")
    if file.is_dir():
        raise CommandError(f"{file} is a directory; name a file in it")
    if file.resolve() in {
        each.resolve() for each in (*sqlite_backup.store_files(store), store.with_suffix(".lock"))
    }:
        raise CommandError(f"{file} belongs to the store; choose another name")
    if file.exists() and not is_forced:
        raise CommandError(f"{file} exists; choose another name, or replace it with --force")
