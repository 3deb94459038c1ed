"""Backups of the SQLite file: copied while it is in use, verified, and restored."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Concatenate
from urllib.parse import quote

import apsw

from pabal.domain.base.codes import TextError
from pabal.store.engine.base import P, StoreUnavailable, T, Tx
from pabal.store.engine.sqlite.sqlite_store import SqliteTx

PAGES_PER_STEP = 4096
"""Pages to copy between fsyncs, so that the service's commits do not wait behind one large fsync."""
BUSY_TIMEOUT_MS = 10_000
EXCLUSIVE_TIMEOUT_MS = 1_000
REQUIRED_TABLES = {"migrations", "accounts", "requests", "messages", "jobs"}
"""Tables that every store of Pabal has."""

ProgressCallback = Callable[[int, int], None]
"""Called with the number of copied pages and the total."""


class NotAStore(TextError):
    """A file is not an intact store of Pabal; the message says why."""


class StoreInUse(Exception):
    """Another process has the file open."""


def query_file(path: Path, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` on a file without changing it or the files beside it.

    Raises StoreUnavailable for a file that cannot be read.
    """
    try:
        with contextlib.closing(open_read_only(path)) as connection:
            connection.execute("begin")
            return work(SqliteTx(connection), *args, **kwargs)
    except apsw.Error as error:
        raise StoreUnavailable(type(error).__name__) from error


def write_file(path: Path, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in a transaction on a file that no other process uses.

    Raises StoreUnavailable where it cannot be committed.
    """
    try:
        with contextlib.closing(apsw.Connection(str(path))) as connection:
            connection.execute("pragma secure_delete = on")
            connection.execute("begin")
            answer = work(SqliteTx(connection), *args, **kwargs)
            connection.execute("commit")
            return answer
    except apsw.Error as error:
        raise StoreUnavailable(_failure_reason(error)) from error


def schema_version(tx: Tx) -> int:
    """Return the number of the last applied migration."""
    return tx.fetch_number("select max(number) from migrations")


@contextlib.contextmanager
def verified_copy(source: Path, target: Path, on_progress: ProgressCallback) -> Iterator[Path]:
    """Yield a verified copy of a store's file, under a temporary name beside `target`; `install` keeps it.

    It has everything that was committed when the copy began. Writers do not wait for it.
    Raises NotAStore, StoreUnavailable, OSError.
    """
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.unlink(missing_ok=True)  # left by a killed process with the same id
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            _copy(source, part, descriptor, on_progress)
        except apsw.NotADBError:
            raise NotAStore("SQLite 파일이 아닙니다", "it is not a SQLite file") from None
        except apsw.CorruptError as error:
            raise NotAStore(f"손상되었습니다: {error}", f"it is damaged: {error}") from None
        except apsw.Error as error:
            raise StoreUnavailable(_failure_reason(error)) from error
        _check(part)
        yield part
    finally:
        os.close(descriptor)
        for each in (part, part.with_name(f"{part.name}-journal")):
            each.unlink(missing_ok=True)


def install(part: Path, target: Path) -> None:
    """Move a copy to its place atomically."""
    _fsync(part)
    part.replace(target)
    _fsync(target.parent)


def archive(path: Path, archive_path: Path) -> None:
    """Hard-link a store's file under another name, and remove its WAL files so that it can be replaced.

    The write-ahead log is folded into the file first.
    A log that cannot be folded into a damaged file is linked beside the other name.
    Raises StoreInUse where another process has the file open.
    """
    with contextlib.suppress(apsw.Error):
        _fold_wal(path)
    ahead = _beside(path, "-wal")
    if ahead.exists() and ahead.stat().st_size:
        os.link(ahead, _beside(archive_path, "-wal"))
    os.link(path, archive_path)
    _fsync(path.parent)
    for each in ("-wal", "-shm"):  # SQLite would use an old log for the restored file
        _beside(path, each).unlink(missing_ok=True)
    _fsync(path.parent)


def store_files(path: Path) -> list[Path]:
    """Return the files that SQLite may have for a store: the file itself, and those beside it."""
    return [path, *(_beside(path.resolve(), each) for each in ("-wal", "-shm", "-journal"))]


def copy_owner(path: Path, like: Path) -> None:
    """Give a file that root has created the owner of another file."""
    if os.geteuid() == 0:
        owner = like.stat()
        os.chown(path, owner.st_uid, owner.st_gid)


def _copy(source: Path, part: Path, descriptor: int, on_progress: ProgressCallback) -> None:
    """Copy in steps within one read transaction: otherwise each commit would restart the copy."""
    before = _mtime_without_wal(source)
    with (
        contextlib.closing(open_read_only(source)) as there,
        contextlib.closing(apsw.Connection(str(part))) as here,
    ):
        here.execute("pragma journal_mode = off")
        here.execute("pragma synchronous = off")
        there.execute("begin")
        there.execute("select count(*) from sqlite_master").fetchall()
        with here.backup("main", there, "main") as backup:
            while not backup.done:
                backup.step(PAGES_PER_STEP)
                os.fsync(descriptor)
                on_progress(backup.page_count - backup.remaining, backup.page_count)
        here.execute("pragma journal_mode = delete")  # a single file that opens anywhere
    if before and _mtime_without_wal(source) != before:
        raise StoreUnavailable("a service began to use it meanwhile; try again")
    os.fsync(descriptor)


def _check(path: Path) -> None:
    """Raise NotAStore for a file that is damaged or not a store of Pabal."""

    def work(tx: Tx) -> None:
        if REQUIRED_TABLES - set(tx.fetch_values("select name from {tables} as t")):
            raise NotAStore("파발의 저장소가 아닙니다", "it is not a store of Pabal's")
        result: Any = tx.fetch_one("pragma quick_check(1)")
        if result[0] != "ok":
            raise NotAStore(f"손상되었습니다: {result[0]}", f"it is damaged: {result[0]}")

    query_file(path, work)


def _mtime_without_wal(path: Path) -> int:
    """Return when a file was last changed; 0 if it has a write-ahead log: then it is open, and SQLite guards it."""
    path = path.resolve()
    return 0 if _beside(path, "-wal").exists() else path.stat().st_mtime_ns


def open_read_only(path: Path) -> apsw.Connection:
    """Return a read-only connection.

    A file that is not open anywhere is opened as immutable, or reading it would leave files beside it.
    """
    path = path.resolve()  # SQLite puts its files beside the target of a link
    has_no_wal = not _beside(path, "-wal").exists()
    address = f"file:{quote(str(path))}?mode=ro{'&immutable=1' if has_no_wal else ''}"
    connection = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return connection


def _fold_wal(path: Path) -> None:
    """Fold the write-ahead log into the file, which SQLite does for the only user of a file."""
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        connection.set_busy_timeout(EXCLUSIVE_TIMEOUT_MS)
        try:
            connection.execute("pragma journal_mode = delete")
        except apsw.BusyError:
            raise StoreInUse from None


def _failure_reason(error: apsw.Error) -> str:
    return "the disk is full" if isinstance(error, apsw.FullError) else f"{type(error).__name__}: {error}"


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
