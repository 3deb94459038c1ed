"""Shared images on PostgreSQL: requests that are stored and erased at the same time keep their pictures."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest

from pabal.domain.base import identifiers
from pabal.domain.content.image import Image
from pabal.service.sending import accept
from pabal.service.upkeep.retention import erase_some_ended
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.messages import images
from pabal.store.people import personal_data
from tests.fixtures.postgres_store import new_request, open_postgres, query_outside
from tests.fixtures.rows import request_id
from tests.fixtures.store_modes import list_words
from tests.fixtures.virtual import NOON

PICTURE = Image("image/jpeg", "a.jpg", b"\xff\xd8\xff" + bytes(50_000))
T = TypeVar("T")
OTHER = PICTURE._replace(body=PICTURE.body + b"b")


@asynccontextmanager
async def open_two(address: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Open the store in two processes."""
    async with open_postgres(address) as store, open_postgres(address) as other:
        yield store, other


def count_bodies(address: str) -> int:
    return int(query_outside(address, "select count(*) from images where length(body) > 0")[0][0])


def erase(tx: Tx, number: int) -> None:
    personal_data.erase_request(tx, request_id(number))


def in_one_snapshot(work: Callable[[Tx, int], object], barrier: threading.Barrier) -> Callable[[Tx, int], None]:
    """Return a work that begins when the other has begun too, unless it is repeated."""
    begun: set[int] = set()

    def run(tx: Tx, number: int) -> None:
        list_words(tx)
        if number not in begun:
            begun.add(number)
            barrier.wait()
        work(tx, number)

    return run


async def clean(store: PostgresStore, rounds: int = 1) -> list[int]:
    """Do what housekeeping does, some times; return how much was erased each time."""
    return [(await store.write(erase_some_ended, b"", NOON))[0] for _ in range(rounds)]


def store_pictures(tx: Tx, number: int) -> None:
    pictures = (PICTURE, OTHER) if number % 2 else (OTHER, PICTURE)
    accept.store_request(tx, new_request(number, pictures=pictures))


async def test_first_pictures_of_two_processes_are_stored_once(address: str) -> None:
    work = in_one_snapshot(store_pictures, threading.Barrier(2))

    async with open_two(address) as (store, other):
        await asyncio.gather(store.write(work, 1), other.write(work, 2))

        assert set(await store.read(images.get, request_id(1))) == {PICTURE, OTHER}
        assert await other.read(images.get, request_id(2)) == (OTHER, PICTURE)
    assert count_bodies(address) == 2


async def test_many_sends_of_two_processes_store_a_picture_once(address: str) -> None:
    requests = [new_request(number, pictures=[PICTURE]) for number in range(200)]

    async with open_two(address) as stores:
        await asyncio.gather(
            *(stores[number % 2].write(accept.store_request, each) for number, each in enumerate(requests))
        )
        found = {await stores[0].read(images.get, each.request_id) for each in requests}

    assert found == {(PICTURE,)}
    assert count_bodies(address) == 1


async def test_requests_erased_at_once_leave_no_picture(address: str) -> None:
    work = in_one_snapshot(erase, threading.Barrier(2))

    async with open_two(address) as (store, other):
        for number in (1, 2):
            await store.write(accept.store_request, new_request(number, pictures=[PICTURE]))
        await asyncio.gather(store.write(work, 1), other.write(work, 2))

        assert await clean(store, 2) == [0, 1]
    assert query_outside(address, "select count(*) from images") == [(0,)]


class Paused:
    """A work that pauses in its first run, behind its first look at the store: at the node of the pictures."""

    def __init__(self, work: Callable[[Tx], object]) -> None:
        self._work = work
        self.runs = 0
        self.began, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self, tx: Tx) -> None:
        self.runs += 1
        tx.fetch_all("select count(*) from images where slot = ?", (identifiers.slot_of(request_id(2)),))
        if self.runs == 1:
            self.began.set()
            self.may_go_on.wait()
        self._work(tx)


async def run_during(store: PostgresStore, paused: Paused, meanwhile: Awaitable[T]) -> T:
    """Run a work, with another one while it is paused."""
    running = asyncio.create_task(store.write(paused))
    await asyncio.to_thread(paused.began.wait)
    try:
        return await meanwhile
    finally:
        paused.may_go_on.set()
        await running


async def test_erasure_while_the_picture_is_looked_at_is_looked_at_again(address: str) -> None:
    """The last request is erased after housekeeping has seen that it uses the picture, and before it says so."""
    cleaning = Paused(lambda tx: erase_some_ended(tx, b"", NOON))

    async with open_two(address) as (store, other):
        for number in (1, 2):
            await store.write(accept.store_request, new_request(number, pictures=[PICTURE]))
        await store.write(erase, 1)
        await run_during(store, cleaning, other.write(erase, 2))

        await clean(store, 2)
    assert query_outside(address, "select count(*) from images") == [(0,)]


@pytest.mark.parametrize("cleaned", [0, 1], ids=["as it is closed", "as it is deleted"])
async def test_request_stored_while_its_picture_is_deleted_keeps_it(address: str, cleaned: int) -> None:
    cleaning = Paused(lambda tx: erase_some_ended(tx, b"", NOON))

    async with open_two(address) as (store, other):
        await store.write(accept.store_request, new_request(1, pictures=[PICTURE]))
        await store.write(erase, 1)
        await clean(store, cleaned)
        await run_during(store, cleaning, other.write(accept.store_request, new_request(2, pictures=[PICTURE])))
        await clean(store, 3)

        assert await store.read(images.get, request_id(2)) == (PICTURE,)


@pytest.mark.parametrize("cleaned", [1, 2], ids=["closed", "deleted"])
async def test_send_that_began_before_its_picture_was_deleted_stores_it(address: str, cleaned: int) -> None:
    sending = Paused(lambda tx: accept.store_request(tx, new_request(2, pictures=[PICTURE])))

    async with open_two(address) as (store, other):
        await store.write(accept.store_request, new_request(1, pictures=[PICTURE]))
        await store.write(erase, 1)
        done = await run_during(store, sending, clean(other, cleaned))
        await clean(other, 3)

        assert await store.read(images.get, request_id(2)) == (PICTURE,)
    assert (done, sending.runs) == ([0, 1][:cleaned], 2)
