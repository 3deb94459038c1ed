"""Turns of processes that write to one SQLite file: nobody is kept out, and both see all rows."""

import asyncio
import fcntl
import threading
from pathlib import Path

from pabal.store.engine.base import Tx
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from pabal.store.engine.sqlite.write_lock import WriteLock
from pabal.world import RealWorld

WRITES = 200


def test_who_waits_comes_before_the_last_writer(tmp_path: Path) -> None:
    path = tmp_path / "pabal.db"
    first, second = WriteLock(path), WriteLock(path)
    order: list[str] = []

    def wait_and_write() -> None:
        second.acquire()
        order.append("second")
        second.release()

    first.acquire()
    waiting = threading.Thread(target=wait_and_write)
    waiting.start()
    _wait_until_somebody_waits(path)
    first.release()
    first.acquire()
    order.append("first")
    first.release()
    waiting.join()

    assert order == ["second", "first"]
    first.close()
    second.close()


def test_lock_is_awaited_while_another_process_waits(tmp_path: Path) -> None:
    path = tmp_path / "pabal.db"
    first, second = WriteLock(path), WriteLock(path)
    first.acquire()
    was_awaited = first.is_awaited()
    waiting = threading.Thread(target=second.acquire)
    waiting.start()
    _wait_until_somebody_waits(path)

    assert not was_awaited
    assert first.is_awaited()

    first.release()
    waiting.join()
    assert not second.is_awaited()
    second.release()
    first.close()
    second.close()


def test_commit_takes_in_nothing_more_while_another_process_waits(tmp_path: Path) -> None:
    path, order = tmp_path / "pabal.db", list[str]()
    other = WriteLock(path)

    def write_elsewhere() -> None:
        other.acquire()
        order.append("other process")
        other.release()

    waiting = threading.Thread(target=write_elsewhere)

    def let_the_other_wait(tx: Tx) -> None:
        order.append("first")
        waiting.start()
        _wait_until_somebody_waits(path)

    def write_more(tx: Tx) -> None:
        order.append("second")

    async def scenario() -> None:
        store = SqliteStore(path, RealWorld(), is_shared=True)
        await asyncio.gather(store.write(let_the_other_wait), store.write(write_more))
        await store.close()

    asyncio.run(scenario())
    waiting.join()

    assert order == ["first", "other process", "second"]
    other.close()


def test_two_writers_of_one_file_lose_nothing(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, int]:
        stores = [SqliteStore(tmp_path / "pabal.db", RealWorld(), is_shared=True) for _ in range(2)]
        await stores[0].write(_create)
        writes = [store.write(_add, number) for number in range(WRITES) for store in stores]
        await asyncio.gather(*writes)
        one, other = [await store.read(_count) for store in stores]
        for store in stores:
            await store.close()
        return one, other

    assert asyncio.run(scenario()) == (2 * WRITES, 2 * WRITES)


def test_failed_write_releases_the_lock(tmp_path: Path) -> None:
    def fail(tx: Tx) -> None:
        raise ValueError("not this one")

    async def scenario() -> int:
        stores = [SqliteStore(tmp_path / "pabal.db", RealWorld(), is_shared=True) for _ in range(2)]
        await stores[0].write(_create)
        await asyncio.gather(stores[0].write(fail), return_exceptions=True)
        await stores[1].write(_add, 1)
        found = await stores[1].read(_count)
        for store in stores:
            await store.close()
        return found

    assert asyncio.run(scenario()) == 1


def _wait_until_somebody_waits(path: Path) -> None:
    with path.with_suffix(".next-writer").open("w") as next_writer:
        while True:
            try:
                fcntl.flock(next_writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(next_writer, fcntl.LOCK_UN)


def _create(tx: Tx) -> None:
    tx.execute("create table numbers (number integer)")


def _add(tx: Tx, number: int) -> None:
    tx.execute("insert into numbers values (?)", (number,))


def _count(tx: Tx) -> int:
    return len(tx.fetch_all("select number from numbers"))
