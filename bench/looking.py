"""Looks at a store from outside, beside the server that uses it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import psycopg

from bench.server import SETTINGS_FILE, DoesNotWork
from pabal.settings.settings import Settings, load

BUSY_MS = 10_000
ENDED_WITHIN_S = 180.0
LOOK_EVERY_S = 0.05


class Looking(ABC):
    """A connection that only looks."""

    @abstractmethod
    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all that a query finds."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it."""

    def one(self, sql: str, args: Sequence[Any] = ()) -> Any:
        """Return the first value that a query finds, None where it finds none."""
        rows = self.rows(sql, args)
        return rows[0][0] if rows else None


def until_no_job(looking: Looking) -> None:
    """Wait until no message waits or is on its way.

    Raises DoesNotWork where that takes too long.
    """
    give_up_at = time.perf_counter() + ENDED_WITHIN_S
    while looking.one("select 1 from jobs limit 1"):
        if time.perf_counter() > give_up_at:
            raise DoesNotWork(f"after {ENDED_WITHIN_S:.0f} s there are messages that have not ended")
        time.sleep(LOOK_EVERY_S)


def settings_of(data: Path) -> Settings:
    """Return the settings that a service on this data directory has."""
    file = data / SETTINGS_FILE
    return load({}, file if file.exists() else None, data=data)


def reading(data: Path) -> Looking:
    """Return a connection that looks at the store of a data directory."""
    settings = settings_of(data)
    return _AtPostgres(settings.store) if settings.is_on_postgresql else _AtSqlite(settings.store_path)


class _AtSqlite(Looking):
    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        self._connection.set_busy_timeout(BUSY_MS)

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(sql, args))

    def close(self) -> None:
        self._connection.close()


class _AtPostgres(Looking):
    def __init__(self, address: str) -> None:
        self._connection = psycopg.connect(address, autocommit=True)

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.replace("?", "%s").encode(), args).fetchall()

    def close(self) -> None:
        self._connection.close()
