"""Reads: each has one snapshot, and commits nothing."""

import asyncio
import contextlib
import threading
from typing import Any

import psycopg
import pytest

from pabal.service.upkeep.deadline_sweep import look_at_lanes
from pabal.service.upkeep.reports import queue_depths
from pabal.store.engine.base import Reader, ReadTimedOut, StoreUnavailable, Tx, options_of, transaction
from pabal.store.engine.group_commit import GroupCommitStore
from pabal.store.engine.write_queue import TIMED_OUT, ReadThreads, StoreLimits
from pabal.store.messages.statistics import count_messages, first_request_at, queue_digest
from pabal.world import RealWorld
from tests.fixtures.store_modes import IN_THREADS, StoreMode, add_word, list_words


async def test_read_sees_only_committed_rows(store: GroupCommitStore, modes: StoreMode) -> None:
    seen: list[list[str]] = []

    def write_and_query_outside(tx: Tx) -> None:
        add_word(tx, "not yet")
        seen.append(modes.words_on_disk())

    await store.write(write_and_query_outside)

    assert seen == [[]]
    assert await store.read(list_words) == ["not yet"]


async def test_read_sees_one_snapshot_while_others_write(store: GroupCommitStore, modes: StoreMode) -> None:

    def read_twice(tx: Tx) -> tuple[list[str], list[str]]:
        before = list_words(tx)
        modes.query_outside("insert into words (word) values ('meanwhile')")
        return before, list_words(tx)

    await store.write(add_word, "kept")

    assert await store.read(read_twice) == (["kept"], ["kept"])
    assert await store.read(list_words) == ["kept", "meanwhile"]


async def test_read_commits_nothing(store: GroupCommitStore) -> None:
    with contextlib.suppress(psycopg.errors.ReadOnlySqlTransaction):  # one engine raises, the other rolls back
        await store.read(add_word, "not kept")

    assert await store.read(list_words) == []


def read_then_fail(tx: Tx) -> None:
    list_words(tx)
    raise LookupError


async def test_read_raises_what_its_function_raises(store: GroupCommitStore) -> None:
    with pytest.raises(LookupError):
        await store.read(read_then_fail)

    assert await store.read(list_words) == []


async def test_many_concurrent_reads_all_return(store: GroupCommitStore) -> None:
    await store.write(add_word, "kept")

    answers = await asyncio.gather(*(store.read(list_words) for _ in range(50)))

    assert answers == [["kept"]] * 50


@pytest.mark.parametrize("modes", [IN_THREADS], indirect=True)
async def test_searches_do_not_delay_other_reads(modes: StoreMode) -> None:
    begun, ended = threading.Barrier(3), threading.Event()

    @transaction(reader=Reader.SEARCHES)
    def search(tx: Tx) -> bool:
        begun.wait(10)
        return ended.wait(10)

    async with modes.opened(limits=StoreLimits(1, 2)) as store:
        running = [asyncio.create_task(store.read(search)) for _ in range(2)]
        await asyncio.to_thread(begun.wait, 10)

        assert await store.read(list_words) == []
        assert not any(task.done() for task in running)

        ended.set()
        assert await asyncio.gather(*running) == [True, True]


@pytest.mark.parametrize("modes", [IN_THREADS], indirect=True)
async def test_background_reads_delay_neither_other_reads_nor_searches(modes: StoreMode) -> None:
    begun, ended = threading.Event(), threading.Event()

    @transaction(reader=Reader.BACKGROUND)
    def count(tx: Tx) -> bool:
        begun.set()
        return ended.wait(10)

    @transaction(reader=Reader.SEARCHES)
    def search(tx: Tx) -> list[str]:
        return list_words(tx)

    async with modes.opened(limits=StoreLimits(1, 1)) as store:
        running = asyncio.create_task(store.read(count))
        await asyncio.to_thread(begun.wait, 10)

        assert await store.read(list_words) == await store.read(search) == []
        assert not running.done()

        ended.set()
        assert await running


@pytest.mark.parametrize("work", [count_messages, first_request_at, queue_digest, look_at_lanes, queue_depths])
def test_counts_and_walks_are_read_in_the_background(work: Any) -> None:
    assert options_of(work).reader is Reader.BACKGROUND


@pytest.mark.parametrize("modes", [IN_THREADS], indirect=True)
async def test_search_beyond_its_time_is_stopped_and_the_next_one_works(modes: StoreMode) -> None:

    @transaction(reader=Reader.SEARCHES)
    def count_for_long(tx: Tx) -> object:
        return tx.fetch_one(
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000000)"
            " select count(*) from n"
        )

    @transaction(reader=Reader.SEARCHES)
    def search_words(tx: Tx) -> list[str]:
        return list_words(tx)

    async with modes.opened(limits=StoreLimits(searchers=1, search_timeout_s=0.5)) as store:
        await store.write(add_word, "kept")
        for _ in range(2):
            with pytest.raises(ReadTimedOut):
                await store.read(count_for_long)
            assert await store.read(search_words) == ["kept"]


@pytest.mark.parametrize("modes", [IN_THREADS], indirect=True)
async def test_limit_of_a_search_holds_for_all_its_statements_together(modes: StoreMode) -> None:
    counted: list[object] = []

    @transaction(reader=Reader.SEARCHES)
    def count_again_and_again(tx: Tx) -> None:
        while True:
            counted.append(
                tx.fetch_one(
                    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 1000)"
                    " select count(*) from n"
                )
            )

    async with modes.opened(limits=StoreLimits(searchers=1, search_timeout_s=0.5)) as store:
        with pytest.raises(ReadTimedOut):
            await store.read(count_again_and_again)
        assert len(counted) > 1, "each statement alone is within the limit"


def test_read_that_waits_for_too_long_is_refused() -> None:
    ended = threading.Event()

    async def scenario() -> None:
        threads = ReadThreads(RealWorld(), threads=1, max_waiting=2, name="test")
        first = asyncio.create_task(threads.run(ended.wait, None))
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match=TIMED_OUT):
            await threads.run(ended.wait, 0.01)
        await asyncio.sleep(0)  # what never ran is counted out
        second = asyncio.create_task(threads.run(ended.wait, None))
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match="too many are waiting"):
            await threads.run(ended.wait, None)
        ended.set()
        await asyncio.gather(first, second)
        threads.shut_down()

    asyncio.run(scenario())
