"""The command that moves a SQLite store to PostgreSQL, and compares every row."""

import argparse
import asyncio
import contextlib
import dataclasses
import functools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pabal.cli.manage.backup import require_no_workers, require_stopped
from pabal.cli.shared.command import WORLD, audit_entry
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Text
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.engine import migrate, move
from pabal.store.engine.base import Row, Store, StoreUnavailable, Tx, transaction
from pabal.store.engine.move import MovedTable, MoveRefused, MoveSource, TableDigest, open_source
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.open_store import open_store
from pabal.store.queue import slots

PROGRESS_INTERVAL_S = 5.0
"""How often a long move prints its progress."""
MOVE_GUIDE = "docs/how-to/postgresql.md"
MOVE_ACTION = "store.move"
"""Its name in the audit log; the target is the number of moved rows."""
KEYED_TABLE = "idempotency_keys"
"""Its slots are those of the target: by them a repeated request finds the answer to the first one."""


class _Target(NamedTuple):
    """The store that is moved to, and the numbers of its slots."""

    store: Store
    slots: Sequence[int]


def declare_move(parser: CommandParser) -> None:
    """Declare `pabal move`."""
    parser.add_settings_options(_move)
    parser.add_option(
        "file FILE", "SQLite 저장소. 예: data/pabal.db", "the SQLite store, such as data/pabal.db", type=Path
    )


def _move(settings: Settings, given: argparse.Namespace) -> None:
    if not settings.is_on_postgresql:
        raise CommandError(
            f"`store`는 옮겨 갈 PostgreSQL 데이터베이스여야 합니다: postgresql://…; {MOVE_GUIDE} 참고",
            f"`store` must be the PostgreSQL database to move to: postgresql://…; see {MOVE_GUIDE}",
        )
    file: Path = given.file
    if not file.is_file():
        raise CommandError(
            f"{file}이(가) 없거나 파일이 아닙니다. data/pabal.db 같은 SQLite 저장소를 주세요",
            f"{file} does not exist, or is not a file; name the SQLite store, such as data/pabal.db",
        )
    with require_stopped(dataclasses.replace(settings, store=f"sqlite:///{file.resolve()}")):
        with _report_errors(file), open_source(file) as source:
            asyncio.run(_require_unmoved(settings, file))
            digests = asyncio.run(_copy_all(settings, source))
            last_ids = source.last_ids()
        # before a service may start in the database: whatever happens now, none can start in both
        _mark_moved(settings, file)
        rows = sum(digest.rows for digest in digests.values())
        asyncio.run(_finish_move(settings, last_ids, rows))
    for name, digest in digests.items():
        say(
            f"{name}: {digest.rows:,}행, 체크섬 {digest.hex}",
            f"{name}: {digest.rows:,} rows, checksum {digest.hex}",
        )
    say(
        f"테이블 {len(digests)}개의 {rows:,}행을 {settings.redacted_store}(으)로 옮기고 모든 행을 비교했습니다",
        f"moved {rows:,} rows of {len(digests)} tables to {settings.redacted_store}; every row was compared",
    )
    say(
        f"{file}에서는 이제 서비스가 시작되지 않습니다. 필요 없어지면 지우세요",
        f"no service starts on {file} any more; delete it when you no longer need it",
    )


async def _require_unmoved(settings: Settings, file: Path) -> None:
    """Raise CommandError for a file that was moved, unless the move was broken off before its end."""
    if (target := sqlite_backup.query_file(file, migrate.moved_to)) is None:
        return
    store = open_store(settings, WORLD)
    try:
        if await store.read(migrate.is_unfinished_move):
            return
    finally:
        await store.close()
    raise CommandError(f"{file}은(는) 이미 {target}(으)로 옮겼습니다", f"{file} was moved to {target} already")


def _mark_moved(settings: Settings, file: Path) -> None:
    try:
        sqlite_backup.write_file(file, migrate.mark_moved, settings.redacted_store, WORLD.now())
    except StoreUnavailable as error:
        raise CommandError(
            f"{file}에 옮겼다고 표시하지 못해서({error}) 끝내지 않았습니다. 이 파일에 쓸 수 있게 한 뒤 같은 명령을"
            " 다시 실행하세요. 그때까지 데이터베이스에서는 서비스가 시작되지 않습니다",
            f"{file} cannot be marked as moved ({error}), so the move is not finished: make it writable, then run"
            " the same command again. Until then no service starts on the database",
        ) from None


@contextlib.contextmanager
def _report_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except sqlite_backup.NotAStore as error:
        raise CommandError(
            f"{file}을(를) 옮기지 않았습니다: {error.text.ko}", f"{file} was not moved: {error.text.en}"
        ) from None
    except MoveRefused as error:
        raise CommandError(
            f"{file}을(를) 옮기지 않았습니다: {error.text.ko}; {MOVE_GUIDE} 참고",
            f"{file} was not moved: {error.text.en}; see {MOVE_GUIDE}",
        ) from None


async def _copy_all(settings: Settings, source: MoveSource) -> dict[str, TableDigest]:
    """Copy and compare all tables; return their digests."""
    async with _open_target(settings) as target:
        await require_no_workers(target.store)
        tables = source.tables()
        progress = await target.store.write(
            move.begin, source.identity, tables, source.first_request_at(), WORLD.now()
        )
        for table in tables:
            await _copy(source, target, table, progress.get(table.name))
        return {table.name: await _compare(source, target, table) for table in tables}


async def _finish_move(settings: Settings, last_ids: Mapping[str, int], rows: int) -> None:
    async with _open_target(settings) as target:
        await target.store.write(_finish, last_ids, rows)


@transaction(retryable=True, exclusive=True)  # a retry finds a finished store, and adds no second entry
def _finish(tx: Tx, last_ids: Mapping[str, int], rows: int) -> None:
    """Finish the move, with an entry in the audit log."""
    if move.finish(tx, last_ids):
        audit_log.add(tx, audit_entry(None, MOVE_ACTION, f"{rows:,}"))


@contextlib.asynccontextmanager
async def _open_target(settings: Settings) -> AsyncIterator[_Target]:
    store = open_store(settings, WORLD)
    try:
        if not await store.read(migrate.is_unfinished_move):
            await store.write(migrate.migrate, WORLD.now())
        await store.write(slots.ensure_slots, settings.store_slots)
        yield _Target(store, await store.read(slots.list_numbers))
    finally:
        await store.close()


async def _copy(source: MoveSource, target: _Target, table: MovedTable, position: bytes | None) -> None:
    """Copy the rows of a table behind a position."""
    report = _Report(Text(f"{table.name} 복사", f"copying {table.name}"), source.count(table))
    change = functools.partial(_change, target.slots, table)
    for batch in source.batches(table, move.decode_key(position)):
        try:
            position = await target.store.write(move.copy, table, [change(row) for row in batch], position)
        except (StoreUnavailable, MoveRefused):
            raise
        except Exception as error:  # of the engine: it does not take what SQLite took
            raise CommandError(
                f"PostgreSQL이 {table.name}의 처음 {report.rows:,}행 다음 {len(batch):,}행 가운데"
                f" 하나를 받지 않습니다({type(error).__name__}). SQLite 저장소는 그대로입니다",
                f"PostgreSQL does not take one of the {len(batch):,} rows behind the first {report.rows:,}"
                f" of {table.name} ({type(error).__name__}); the SQLite store is unchanged",
            ) from None
        report.add(len(batch))


async def _compare(source: MoveSource, target: _Target, table: MovedTable) -> TableDigest:
    """Return the digest of a table in both stores.

    Raises CommandError if they differ.
    """
    expected = source.digest(table, functools.partial(_change, target.slots, table))
    report = _Report(Text(f"{table.name} 비교", f"comparing {table.name}"), expected.rows)
    page = move.DigestPage(TableDigest(), None, move.FIRST_PAGE_ROWS)
    found = TableDigest()
    while True:
        page = await target.store.read(move.digest_page, table, page.last, page.next_rows)
        found = found.join(page.digest)
        report.add(page.digest.rows)
        if page.last is None:
            break
    if found != expected:
        raise CommandError(
            f"{table.name}이(가) 다릅니다: SQLite에는 {expected.rows:,}행(체크섬 {expected.hex}),"
            f" PostgreSQL에는 {found.rows:,}행(체크섬 {found.hex})입니다. 옮기기 시작한 뒤 SQLite"
            " 저장소를 썼다면, 비어 있는 새 데이터베이스로 옮기세요",
            f"{table.name} differs: {expected.rows:,} rows with checksum {expected.hex} in SQLite,"
            f" {found.rows:,} with {found.hex} in PostgreSQL. If the SQLite store was used since"
            " the move began, move it into a new, empty database",
        )
    return found


def _change(numbers: Sequence[int], table: MovedTable, row: Row) -> Row:
    """Return a row as it is in the target."""
    if table.name != KEYED_TABLE:
        return row
    values = dict(zip(table.columns, row, strict=True))
    values["slot"] = numbers[identifiers.slot_of_key(values["account_id"], values["key"], len(numbers))]
    return tuple(values.values())


class _Report:
    """Prints the progress of one table to standard error."""

    def __init__(self, title: Text, total: int) -> None:
        self._title = title
        self._total = total
        self.rows = 0
        self._reported_at = WORLD.monotonic()

    def add(self, rows: int) -> None:
        """Count further rows."""
        self.rows += rows
        if WORLD.monotonic() - self._reported_at >= PROGRESS_INTERVAL_S:
            self._reported_at = WORLD.monotonic()
            say(
                f"{self._title.ko}: {self._total:,}행 가운데 {self.rows:,}행",
                f"{self._title.en}: {self.rows:,} of {self._total:,} rows",
                is_error=True,
            )
