"""Zeroes the unused bytes inside the pages of a SQLite file, where copies of erased rows may have stayed.

With `secure_delete` SQLite zeroes what is deleted. But when it moves rows from one page to another, the old bytes
stay in the gap of the first page, where no later delete finds them.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import apsw

VFS_NAME = "pabal-scrub"
BUSY_TIMEOUT_MS = 200
"""How long to wait for other connections; meanwhile others wait for us, so it is tried again later instead."""
SCRUBBED_PAGES = 2000
"""Pages that one run looks at."""
ZEROED_PAGES = 200
"""Pages whose unused bytes are zeroed at a time: writers wait for that."""
TRUNCATE_TIMEOUT_MS = 20
"""How long truncating the log waits for readers; writers wait as long, so it is tried again later instead."""
MAX_PAGES = 2**24
"""Larger files are left alone: in these, a page of overflowing text could look like a page with rows."""
_HEADER_BYTES = {2: 12, 5: 12, 10: 8, 13: 8}
"""The size of a page's header by its first byte, for the four types of page with rows."""
_FILE_HEADER_BYTES = 100

Hold = Callable[[], AbstractContextManager[object]]
"""Keeps the writers of this service waiting while the block runs, so that they need not look again and again."""


class _ScrubVfs(apsw.VFS):
    """Opens files as usual, and gives access to the open file: it must not be opened twice.

    To close a second descriptor of a file would release all of SQLite's locks on it.
    """

    def __init__(self) -> None:
        super().__init__(VFS_NAME, base="")
        self.main_file: Any = None

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        file = apsw.VFSFile("", name, flags)
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            self.main_file = file
        return file


class Scrubber:
    """Scrubs a file part by part, and pauses while it does not change."""

    def __init__(
        self, path: Path, pages_at_a_time: int = SCRUBBED_PAGES, hold: Hold = contextlib.nullcontext
    ) -> None:
        self._path = path
        self._pages_at_a_time = pages_at_a_time
        self._hold = hold
        self._log = path.with_name(f"{path.name}-wal")
        self._watcher: apsw.Connection | None = None
        self._lock = threading.Lock()
        self._next_page = 1
        self._pass_version: int | None = None
        """The version that all pages had which this pass through the file has scrubbed; None: they differ."""
        self._clean_version: int | None = None

    def run(self) -> bool:
        """Zero the unused bytes of the next pages, then fold the write-ahead log into the file and empty it.

        Says no if others use the file. Raises apsw.Error.
        """
        with self._lock:
            before = self._read_version()
            return before == self._clean_version or self._scrub(before)

    def close(self) -> None:
        """Close the connection by which it sees that others write."""
        with self._lock:
            if self._watcher:
                self._watcher.close()

    def _scrub(self, before: int) -> bool:
        if self._next_page == 1:
            self._pass_version = before
        next_page = scrub_pages(self._path, self._next_page, self._pages_at_a_time, self._hold)
        if self._read_version() != self._pass_version:
            self._pass_version = None
        if next_page is not None:
            self._next_page = next_page
            if next_page == 1:
                self._clean_version = self._pass_version
        return self._empty_log() and next_page is not None

    def _empty_log(self) -> bool:
        """Fold the log into the file; to do so gives the file a new version, even if the log was empty."""
        if not self._log.exists() or not self._log.stat().st_size:
            return True
        with contextlib.closing(apsw.Connection(str(self._path))) as connection:
            _fold_log(connection)
            connection.set_busy_timeout(TRUNCATE_TIMEOUT_MS)
            with self._hold():
                row = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        return row is not None and row[0] == 0

    def _read_version(self) -> int:
        """Return a number that changes whenever somebody writes to the file."""
        if self._watcher is None:
            self._watcher = apsw.Connection(str(self._path))
        version = self._watcher.pragma("data_version")
        assert isinstance(version, int)
        return version


def scrub_pages(path: Path, first: int, count: int, hold: Hold = contextlib.nullcontext) -> int | None:
    """Zero the unused bytes of `count` pages, and return the page to go on with: 1 after the last one.

    Returns None where nothing could be done, because others use the file. Pages are looked at while others write,
    which leaves those to a later pass that change meanwhile. Readers do not look at unused bytes.
    """
    vfs = _ScrubVfs()
    try:
        with (
            contextlib.closing(apsw.Connection(str(path))) as helper,
            contextlib.closing(apsw.Connection(str(path), vfs=VFS_NAME)) as connection,
        ):
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            _fold_log(helper)  # most of it, while others write
            if not _zero_gaps(connection, helper, vfs, (), hold):
                return None
            size, total = _page_size(connection), connection.pragma("page_count")
            assert isinstance(total, int)
            if total >= MAX_PAGES:
                return None
            after = min(first + count, total + 1)
            filled = [number for number in range(first, after) if _read_gap(vfs.main_file, size, number)]
            for begin in range(0, len(filled), ZEROED_PAGES):
                if not _zero_gaps(connection, helper, vfs, filled[begin : begin + ZEROED_PAGES], hold):
                    return None
            return after if after <= total else 1
    except apsw.BusyError:
        return None
    finally:
        vfs.main_file = None
        vfs.unregister()


def _fold_log(connection: apsw.Connection) -> bool:
    """Fold the log into the file as far as possible while others write; return whether that was all of it."""
    busy, in_log, folded = connection.execute("pragma wal_checkpoint(passive)").fetchone() or (1, 0, 0)
    return not busy and in_log == folded


def _zero_gaps(
    connection: apsw.Connection, helper: apsw.Connection, vfs: _ScrubVfs, numbers: Sequence[int], hold: Hold
) -> bool:
    """Zero the gaps of pages that have any bytes in them; return False if others use the file.

    Nobody may write a page meanwhile, so the write lock is held, and the log is folded into the file before.
    """
    with hold():
        connection.execute("begin immediate")
        try:
            if not _fold_log(helper):
                return False
            if _zero_gaps_of(vfs.main_file, _page_size(connection), numbers):
                vfs.main_file.xSync(apsw.SQLITE_SYNC_NORMAL)
        finally:
            connection.execute("rollback")
    return True


def _zero_gaps_of(file: Any, size: int, numbers: Iterable[int]) -> int:
    """Zero the gaps of pages that have any bytes in them; return how many."""
    gaps = [(number, gap) for number in numbers if (gap := _read_gap(file, size, number))]
    for number, (begin, end) in gaps:
        file.xWrite(bytes(end - begin), (number - 1) * size + begin)
    return len(gaps)


def _read_gap(file: Any, size: int, number: int) -> tuple[int, int] | None:
    """Return where the unused bytes of a page begin and end, None if they are zero."""
    page = file.xRead(size, (number - 1) * size)
    begin, end = find_gap(page, number) if len(page) == size else (0, 0)
    return (begin, end) if page[begin:end] != bytes(end - begin) else None


def _page_size(connection: apsw.Connection) -> int:
    size = connection.pragma("page_size")
    assert isinstance(size, int)
    return size


def find_gap(page: bytes, number: int) -> tuple[int, int]:
    """Return where the unused bytes of a page begin and end, between its cell pointers and its cells.

    Nothing is unused in a page without rows, nor in one that makes no sense.
    """
    start = _FILE_HEADER_BYTES if number == 1 else 0
    header = _HEADER_BYTES.get(page[start])
    if header is None:
        return 0, 0
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    content = int.from_bytes(page[start + 5 : start + 7], "big") or 65536
    begin = start + header + 2 * cells
    return (begin, content) if begin < content <= len(page) else (0, 0)
