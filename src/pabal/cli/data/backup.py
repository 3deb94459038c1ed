"""The command that copies the SQLite store to a file while the service runs."""

import argparse
from pathlib import Path

from pabal.cli.shared.command import WORLD
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import add_option, add_settings_options
from pabal.domain.base.codes import Text
from pabal.settings.settings import Settings
from pabal.store.engine.base import StoreUnavailable
from pabal.store.engine.sqlite import sqlite_backup

BACKUP_GUIDE = "docs/how-to/backup.md"
PROGRESS_INTERVAL_S = 5.0
"""How often a long copy prints its progress."""


def declare_backup(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal backup`."""
    add_settings_options(parser, _backup)
    add_option(
        parser,
        "file",
        "쓸 파일. 없는 파일이어야 합니다",
        "the file to write; it must not exist",
        type=Path,
        metavar="FILE",
    )
    add_option(parser, "--force", "파일이 있으면 바꿉니다", "replace the file if it exists", action="store_true")


def require_sqlite(settings: Settings, alternative: Text) -> None:
    """Raise CommandError unless the store is SQLite; `alternative` is what to use instead."""
    if settings.is_on_postgresql:
        raise CommandError(
            f"저장소가 PostgreSQL입니다. {alternative.ko}을(를) 쓰세요. {BACKUP_GUIDE} 참고",
            f"the store is PostgreSQL: use {alternative.en}; see {BACKUP_GUIDE}",
        )


class Progress:
    """Prints the progress of a long copy to standard error."""

    def __init__(self) -> None:
        self._reported_at = WORLD.monotonic()

    def __call__(self, pages: int, total: int) -> None:
        if WORLD.monotonic() - self._reported_at >= PROGRESS_INTERVAL_S:
            self._reported_at = WORLD.monotonic()
            say(f"{pages * 100 // total} % 복사함", f"copied {pages * 100 // total} %", is_error=True)


def _backup(settings: Settings, args: argparse.Namespace) -> None:
    require_sqlite(
        settings, Text("pg_dump 또는 기본 백업과 WAL 보관", "pg_dump, or a base backup plus WAL archive")
    )
    store_path, file = settings.store_path, args.file
    _check_target(store_path, file, is_forced=args.force)
    try:
        with sqlite_backup.verified_copy(store_path, file, Progress()) as part:
            schema = sqlite_backup.query_file(part, sqlite_backup.schema_version)
            size = part.stat().st_size
            sqlite_backup.install(part, file)
    except sqlite_backup.NotAStore as error:
        raise CommandError(
            f"{store_path}을(를) 복사하지 않았습니다: {error.text.ko}. `pabal doctor`를 실행하세요",
            f"{store_path} was not copied: {error.text.en}; run `pabal doctor`",
        ) from None
    except (OSError, StoreUnavailable) as error:
        raise CommandError(
            f"{store_path}을(를) {file}(으)로 복사하지 않았습니다: {error}. 그곳에는 아무것도 쓰지 않았습니다",
            f"{store_path} was not copied to {file}: {error}; nothing was written there",
        ) from None
    say(
        f"{store_path}을(를) {file}(으)로 복사하고 확인했습니다: 스키마 {schema}, {size / 1024**2:,.1f} MiB",
        f"copied {store_path} to {file} and verified it: schema {schema}, {size / 1024**2:,.1f} MiB",
    )


def _check_target(store: Path, file: Path, *, is_forced: bool) -> None:
    if not store.exists():
        raise CommandError(
            f"{store}에 저장소가 없습니다. --data나 --config로 서비스의 디렉터리를 알려 주세요",
            f"there is no store at {store}; name the service's directory with --data or --config",
        )
    if file.is_dir():
        raise CommandError(
            f"{file}은(는) 디렉터리입니다. 그 안의 파일 이름을 주세요", f"{file} is a directory; name a file in it"
        )
    if file.resolve() in {
        each.resolve() for each in (*sqlite_backup.store_files(store), store.with_suffix(".lock"))
    }:
        raise CommandError(
            f"{file}은(는) 저장소의 파일입니다. 다른 이름을 고르세요",
            f"{file} belongs to the store; choose another name",
        )
    if file.exists() and not is_forced:
        raise CommandError(
            f"{file}이(가) 있습니다. 다른 이름을 고르거나 --force로 바꾸세요",
            f"{file} exists; choose another name, or replace it with --force",
        )
