"""What tests of whole stores share: each engine in each of its two modes, and a table of words."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import psycopg

from pabal.store.base import Tx
from pabal.store.grouped import GroupedStore
from pabal.store.postgres import PostgresStore
from pabal.store.sqlite import SqliteStore
from pabal.world import RealWorld
from tests import postgres
from tests.virtual import VirtualWorld, in_virtual_time

Scene = Callable[[GroupedStore], Awaitable[None]]

THREADS, INLINE = "in threads", "in the loop"
BROKEN_RULE = (apsw.ConstraintError, psycopg.IntegrityError)
NONSENSE = (apsw.SQLError, psycopg.ProgrammingError)


class Modes:
    """Opens stores in one of the two modes, and plays scenes in the loop that the mode needs."""

    def __init__(self, path: Path, mode: str) -> None:
        self.path = path
        self.address = postgres.address_in(path.parent)
        self.mode = mode

    def open(self, **options: Any) -> GroupedStore:
        world = RealWorld() if self.mode == THREADS else VirtualWorld()
        if self.address:
            return PostgresStore(self.address, world, **options)
        return SqliteStore(self.path, world, **options)

    @contextlib.asynccontextmanager
    async def opened(self, **options: Any) -> AsyncIterator[GroupedStore]:
        store = self.open(**options)
        try:
            await store.write(make_table)
            yield store
        finally:
            await store.close()

    def play(self, scene: Scene, **options: Any) -> None:
        async def whole() -> None:
            async with self.opened(**options) as store:
                await scene(store)

        if self.mode == THREADS:
            asyncio.run(whole())
        else:
            in_virtual_time(whole())

    def outside(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what someone gets who has nothing to do with the store."""
        if self.address:
            with psycopg.connect(self.address, autocommit=True) as connection:
                said = connection.execute(sql.encode())
                return said.fetchall() if said.description else []
        with contextlib.closing(apsw.Connection(str(self.path))) as other:
            return other.execute(sql).fetchall()

    def on_disk(self) -> list[str]:
        """Return the words that are kept, as seen from outside."""
        return [row[0] for row in self.outside("select word from words order by number")]


def make_table(tx: Tx) -> None:
    tx.run("create table if not exists words (number {serial}, word text not null unique)")


def put(tx: Tx, word: str) -> int:
    return int(tx.rows("insert into words (word) values (?) returning number", (word,))[0][0])


def words(tx: Tx) -> list[str]:
    return [row[0] for row in tx.rows("select word from words order by number")]


def numbers(tx: Tx) -> list[int]:
    return [row[0] for row in tx.rows("select number from words order by number")]


def put_then_fail(tx: Tx, word: str) -> None:
    put(tx, word)
    raise LookupError(word)
