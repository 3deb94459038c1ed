"""Group commit: a returned write is durable, and a failed write fails no other."""

import asyncio
from pathlib import Path

import pytest

from pabal.store.engine.base import Priority, StoreUnavailable, Tx, transaction
from pabal.store.engine.group_commit import MAX_WRITES_PER_COMMIT, CommitStats, GroupCommitStore
from pabal.store.engine.write_queue import StoreLimits
from tests.fixtures.store_modes import (
    CONSTRAINT_ERRORS,
    INLINE,
    SQL_ERRORS,
    StoreMode,
    add_word,
    add_word_then_fail,
    list_numbers,
    list_words,
)


async def test_write_takes_positional_and_keyword_arguments(store: GroupCommitStore) -> None:

    def remember(tx: Tx, first: str, *, second: str) -> str:
        return first + second

    assert await store.write(remember, "a", second="b") == "ab"
    assert await store.read(remember, "a", second="b") == "ab"


async def test_constraint_error_reaches_only_its_caller(store: GroupCommitStore, modes: StoreMode) -> None:
    await store.write(add_word, "once")

    answers = await asyncio.gather(
        store.write(add_word, "before"),
        store.write(add_word, "once"),
        store.write(add_word, "after"),
        return_exceptions=True,
    )

    assert isinstance(answers[1], CONSTRAINT_ERRORS)
    assert modes.words_on_disk() == ["once", "before", "after"]


async def test_invalid_statement_raises_the_engine_error(store: GroupCommitStore) -> None:

    def execute_invalid_sql(tx: Tx) -> None:
        tx.execute("select nothing from nowhere")

    with pytest.raises(SQL_ERRORS):
        await store.write(execute_invalid_sql)
    with pytest.raises(SQL_ERRORS):
        await store.read(execute_invalid_sql)


async def test_write_of_a_cancelled_caller_is_committed(store: GroupCommitStore, modes: StoreMode) -> None:
    impatient = asyncio.ensure_future(store.write(add_word, "kept"))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)

    await store.close()
    assert modes.words_on_disk() == ["kept"]


async def test_many_writes_share_few_commits(modes: StoreMode) -> None:
    batches: list[CommitStats] = []
    async with modes.opened(on_commit=batches.append) as store:
        await asyncio.gather(*(store.write(add_word, f"{number}") for number in range(400)))

        assert modes.words_on_disk() == [f"{number}" for number in range(400)]
    assert sum(batch.writes for batch in batches) == 401
    assert len(batches) < 100
    assert max(batch.writes for batch in batches) <= MAX_WRITES_PER_COMMIT
    assert all(batch.duration_s >= 0 for batch in batches)


def test_commit_has_a_maximum_of_writes(tmp_path: Path) -> None:
    batches: list[CommitStats] = []

    async def scenario(store: GroupCommitStore) -> None:
        await asyncio.gather(*(store.write(add_word, f"{number}") for number in range(MAX_WRITES_PER_COMMIT + 10)))

    StoreMode(tmp_path / "kept.db", INLINE).run(scenario, on_commit=batches.append)

    assert [batch.writes for batch in batches] == [1, MAX_WRITES_PER_COMMIT, 10]


async def test_write_that_raises_undoes_only_itself(store: GroupCommitStore, modes: StoreMode) -> None:
    answers = await asyncio.gather(
        *(store.write(add_word_then_fail if number % 3 == 0 else add_word, f"{number}") for number in range(30)),
        return_exceptions=True,
    )

    for number, answer in enumerate(answers):
        assert isinstance(answer, LookupError if number % 3 == 0 else int)
    assert modes.words_on_disk() == [f"{number}" for number in range(30) if number % 3]
    assert [answer for answer in answers if isinstance(answer, int)] == await store.read(list_numbers)


async def test_later_writes_of_a_commit_see_earlier_ones(store: GroupCommitStore) -> None:
    _, seen = await asyncio.gather(store.write(add_word, "first"), store.write(list_words))

    assert seen == ["first"]


def test_writes_beyond_the_queue_limit_fail_at_once(tmp_path: Path) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        answers = await asyncio.gather(
            *(store.write(add_word, f"{number}") for number in range(5)), return_exceptions=True
        )

        assert [type(answer) for answer in answers] == [int, int, int, StoreUnavailable, StoreUnavailable]
        assert await store.write(add_word, "later") == 4

    StoreMode(tmp_path / "kept.db", INLINE).run(scenario, limits=StoreLimits(max_waiting=3))


@transaction(exclusive=True, priority=Priority.URGENT)
def add_urgent_word(tx: Tx, word: str) -> int:
    return add_word(tx, word)


def test_urgent_write_is_not_refused_because_others_wait(tmp_path: Path) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        waiting = [store.write(add_word, word) for word in "abc"]
        answers = await asyncio.gather(*waiting, store.write(add_urgent_word, "d"), return_exceptions=True)

        assert answers == [2, 3, 4, 1]

    StoreMode(tmp_path / "kept.db", INLINE).run(scenario, limits=StoreLimits(max_waiting=3))


async def test_closed_store_accepts_nothing(modes: StoreMode) -> None:
    async with modes.opened() as store:
        await store.close()

        with pytest.raises(StoreUnavailable):
            await store.write(add_word, "late")
        with pytest.raises(StoreUnavailable):
            await store.read(list_words)
    assert modes.words_on_disk() == []


async def test_close_finishes_pending_writes(modes: StoreMode) -> None:
    async with modes.opened() as store:
        under_way = [asyncio.ensure_future(store.write(add_word, f"{number}")) for number in range(20)]
        await asyncio.sleep(0)

        await store.close()

        assert await asyncio.gather(*under_way) == list(range(1, 21))
    assert modes.words_on_disk() == [f"{number}" for number in range(20)]


async def test_exclusive_write_has_a_transaction_of_its_own(tmp_path: Path) -> None:
    modes = StoreMode(tmp_path / "kept.db", INLINE)  # in threads, which writes share a commit is random
    batches: list[CommitStats] = []

    @transaction(exclusive=True)
    def add_alone(tx: Tx, word: str) -> int:
        return add_word(tx, word)

    async with modes.opened(on_commit=batches.append) as store:
        batches.clear()
        works = {"first": add_word, "also": add_word, "alone": add_alone, "last": add_word}
        await asyncio.gather(*(store.write(work, word) for word, work in works.items()))

        assert [batch.writes for batch in batches] == [2, 1, 1]
    assert modes.words_on_disk() == ["first", "also", "alone", "last"]
