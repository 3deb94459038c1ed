"""Turns of the processes that write to one SQLite file: who has waited longest writes next."""

import fcntl
from pathlib import Path
from typing import IO


class WriteTurns:
    """Locks beside the file that pass from process to process at once.

    SQLite's own wait looks again after a while, so a process that writes without a pause would keep another one out
    for seconds. Here, whoever waits for the turn closes the gate behind which the other one has to wait in turn.
    The system releases the locks of a process that dies.
    """

    def __init__(self, path: Path) -> None:
        self._gate, self._turn = (path.with_suffix(suffix).open("w") for suffix in (".gate", ".turn"))

    def take(self) -> None:
        """Wait for the turn of this process."""
        _lock(self._gate)
        _lock(self._turn)
        fcntl.flock(self._gate, fcntl.LOCK_UN)

    def is_awaited(self) -> bool:
        """Say whether another process waits for the turn, which this one has."""
        try:
            fcntl.flock(self._gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._gate, fcntl.LOCK_UN)
        return False

    def give(self) -> None:
        """Let the other process write; without effect where it is not this one's turn."""
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the files of the locks."""
        self._gate.close()
        self._turn.close()


def _lock(file: IO[str]) -> None:
    fcntl.flock(file, fcntl.LOCK_EX)
