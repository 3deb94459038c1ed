"""Reads a store while a service uses it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import psycopg

from bench.server import SETTINGS_FILE, BenchmarkFailed
from pabal.settings.settings import Settings, load

BUSY_TIMEOUT_MS = 10_000
QUEUE_TIMEOUT_S = 180.0
POLL_INTERVAL_S = 0.05


class StoreReader(ABC):
    """A read-only connection to a store."""

    @abstractmethod
    def fetch_all(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

    def fetch_value(self, sql: str, args: Sequence[Any] = ()) -> Any:
        """Return the first value of a query's first row, None without rows."""
        rows = self.fetch_all(sql, args)
        return rows[0][0] if rows else None


def wait_until_queue_is_empty(reader: StoreReader) -> None:
    """Wait until no message waits or is in flight.

    Raises BenchmarkFailed if that takes too long.
    """
    deadline = time.perf_counter() + QUEUE_TIMEOUT_S
    while reader.fetch_value("select 1 from jobs limit 1"):
        if time.perf_counter() > deadline:
            raise BenchmarkFailed(f"after {QUEUE_TIMEOUT_S:.0f} s the queue is not empty")
        time.sleep(POLL_INTERVAL_S)


def settings_of(data: Path) -> Settings:
    """Return the settings of a service on this data directory."""
    file = data / SETTINGS_FILE
    return load({}, file if file.exists() else None, data=data)


def open_reader(data: Path) -> StoreReader:
    """Return a read-only connection to the store of a data directory."""
    settings = settings_of(data)
    return _PostgresReader(settings.store) if settings.is_on_postgresql else _SqliteReader(settings.store_path)


class _SqliteReader(StoreReader):
    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        self._connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    def fetch_all(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(sql, args))

    def close(self) -> None:
        self._connection.close()


class _PostgresReader(StoreReader):
    def __init__(self, address: str) -> None:
        self._connection = psycopg.connect(address, autocommit=True)

    def fetch_all(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql.replace("?", "%s").encode(), args).fetchall()

    def close(self) -> None:
        self._connection.close()
