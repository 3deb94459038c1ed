"""A data directory, and commands run on it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

from pabal.cli import main
from pabal.store.base import Tx
from pabal.store.sqlite import SqliteTx


class Ran(NamedTuple):
    """How a command ended and what it said."""

    status: int
    out: str
    err: str


class Desk:
    """Runs commands on one data directory."""

    def __init__(self, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.data = data
        self.store = data / "pabal.db"
        self._capsys = capsys

    def __call__(self, *words: object) -> Ran:
        self._capsys.readouterr()
        status = main([*map(str, words), "--data", str(self.data)])
        return Ran(status, *self._capsys.readouterr())

    def change(self, work: Callable[..., Any], *args: Any) -> Any:
        """Change what is kept, as a service would."""
        connection = apsw.Connection(str(self.store))
        with connection:
            answer = work(SqliteTx(connection), *args)
        connection.close()
        return answer

    def files(self) -> set[str]:
        """Return the names of what is in the data directory."""
        return {each.name for each in self.data.iterdir()} if self.data.exists() else set()


def statuses(tx: Tx) -> list[tuple[int, int]]:
    """Return how many messages have each status."""
    return [(row[0], row[1]) for row in tx.rows("select status, count(*) from messages group by 1 order by 1")]
