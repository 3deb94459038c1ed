"""The write lock of processes that share one SQLite file: who has waited longest writes next."""

import fcntl
from pathlib import Path
from typing import IO


class WriteLock:
    """Two lock files beside the store, which pass from process to process at once.

    SQLite's own wait looks again after a while, so a process that writes without a pause would keep another one out
    for seconds. Here a process that waits holds the lock of the next writer, so the one that has just written
    queues behind it. The system releases the locks of a process that dies.
    """

    def __init__(self, path: Path) -> None:
        self._next_writer, self._writer = (
            path.with_suffix(suffix).open("w") for suffix in (".next-writer", ".writer")
        )

    def acquire(self) -> None:
        """Wait until this process may write."""
        _lock(self._next_writer)
        _lock(self._writer)
        fcntl.flock(self._next_writer, fcntl.LOCK_UN)

    def is_awaited(self) -> bool:
        """Return whether another process waits for the lock, which this one holds."""
        try:
            fcntl.flock(self._next_writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._next_writer, fcntl.LOCK_UN)
        return False

    def release(self) -> None:
        """Let another process write; without effect where this one does not hold the lock."""
        fcntl.flock(self._writer, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the lock files."""
        self._next_writer.close()
        self._writer.close()


def _lock(file: IO[str]) -> None:
    fcntl.flock(file, fcntl.LOCK_EX)
