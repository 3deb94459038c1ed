"""Zeroes the unused bytes inside the pages of a SQLite file, where copies of erased rows may have stayed.

With `secure_delete` SQLite zeroes what is deleted. But when it moves rows from one page to another, the old bytes
stay in the gap of the first page, where no later delete finds them.
"""

import contextlib
import threading
from pathlib import Path
from typing import Any

import apsw

VFS_NAME = "pabal-scrub"
BUSY_TIMEOUT_MS = 200
"""How long to wait for other connections; meanwhile others wait for us, so it is tried again later instead."""
SCRUBBED_PAGES = 2000
"""Pages whose unused bytes are zeroed at a time: writers wait for that."""
TRUNCATE_TIMEOUT_MS = 200
"""How long truncating the log waits for readers; writers wait as long, so it is tried again later instead."""
MAX_PAGES = 2**24
"""Larger files are left alone: in these, a page of overflowing text could look like a page with rows."""
_HEADER_BYTES = {2: 12, 5: 12, 10: 8, 13: 8}
"""The size of a page's header by its first byte, for the four types of page with rows."""
_FILE_HEADER_BYTES = 100


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
    """Scrubs a file part by part, and rests while nobody writes to it."""

    def __init__(self, path: Path, pages_at_a_time: int = SCRUBBED_PAGES) -> None:
        self._path = path
        self._pages_at_a_time = pages_at_a_time
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
        next_page = scrub_pages(self._path, self._next_page, self._pages_at_a_time)
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
            connection.set_busy_timeout(TRUNCATE_TIMEOUT_MS)
            row = connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        return row is not None and row[0] == 0

    def _read_version(self) -> int:
        """Return a number that changes whenever somebody writes to the file."""
        if self._watcher is None:
            self._watcher = apsw.Connection(str(self._path))
        version = self._watcher.pragma("data_version")
        assert isinstance(version, int)
        return version


def scrub_pages(path: Path, first: int, count: int) -> int | None:
    """Zero the unused bytes of `count` pages, and return the page to go on with: 1 after the last one.

    Returns None where nothing could be done, because others use the file. Nobody may write a page meanwhile, so
    the write lock is held, and the log is folded into the file before. Readers do not look at unused bytes.
    """
    vfs = _ScrubVfs()
    try:
        with (
            contextlib.closing(apsw.Connection(str(path))) as helper,
            contextlib.closing(apsw.Connection(str(path), vfs=VFS_NAME)) as connection,
        ):
            helper.execute("pragma wal_checkpoint(passive)").fetchall()  # most of it, while others write
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            connection.execute("begin immediate")
            busy, in_log, folded = helper.execute("pragma wal_checkpoint(passive)").fetchone() or (1, 0, 0)
            if busy or in_log != folded:
                return None
            size, total = connection.pragma("page_size"), connection.pragma("page_count")
            assert isinstance(size, int)
            assert isinstance(total, int)
            if total >= MAX_PAGES:
                return None
            after = min(first + count, total + 1)
            if _zero_gaps(vfs.main_file, size, first, after):
                vfs.main_file.xSync(apsw.SQLITE_SYNC_NORMAL)
            connection.execute("rollback")
            return after if after <= total else 1
    except apsw.BusyError:
        return None
    finally:
        vfs.main_file = None
        vfs.unregister()


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


def _zero_gaps(file: Any, size: int, first: int, after: int) -> int:
    """Zero the gaps of pages that have any bytes in them; return how many."""
    zeroed = 0
    for number in range(first, after):
        offset = (number - 1) * size
        page = file.xRead(size, offset)
        begin, end = find_gap(page, number) if len(page) == size else (0, 0)
        if page[begin:end].strip(b"\0"):
            file.xWrite(bytes(end - begin), offset + begin)
            zeroed += 1
    return zeroed
