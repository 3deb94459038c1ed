"""Writes that callers of the API wait for go before longer ones, which are not starved."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.store.engine.base import Priority, Tx, options_of, transaction
from pabal.store.engine.group_commit import MAX_COMMIT_S, MAX_PROMPT_COMMIT_S, CommitStats, GroupCommitStore
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from pabal.store.engine.write_queue import PendingWrite, WriteQueue
from tests.fixtures.store_modes import add_word, create_words_table
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time


class WorldOfLongWrites(VirtualWorld):
    """A world whose clock goes on while a write runs."""

    passed_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.passed_s


@transaction(priority=Priority.PROMPT)
def add_prompt_word(tx: Tx, word: str) -> int:
    return add_word(tx, word)


@transaction(priority=Priority.URGENT)
def add_urgent_word(tx: Tx, word: str) -> int:
    return add_word(tx, word)


def pending(loop: asyncio.AbstractEventLoop, work: Any, word: str) -> PendingWrite:
    return PendingWrite(work, options_of(work), (word,), {}, loop, loop.create_future())


def words(queue: WriteQueue) -> str:
    return "".join(write.args[0] for write in queue.pop_all())


@pytest.mark.parametrize("work", [add_prompt_word, add_urgent_word])
async def test_prompt_and_urgent_writes_overtake_those_that_wait(
    store: GroupCommitStore, work: Callable[[Tx, str], int]
) -> None:
    numbers = await asyncio.gather(*(store.write(add_word, word) for word in "abc"), store.write(work, "prompt"))

    assert numbers == [2, 3, 4, 1]


def test_prompt_write_is_committed_without_those_that_take_long(tmp_path: Path) -> None:
    world, commits = WorldOfLongWrites(), list[CommitStats]()

    def add_slowly(tx: Tx, word: str) -> int:
        world.passed_s += 1.5 * MAX_PROMPT_COMMIT_S
        return add_word(tx, word)

    async def scenario() -> None:
        store = SqliteStore(tmp_path / "kept.db", world, on_commit=commits.append)
        await store.write(create_words_table)
        await store.write(add_slowly, "a")
        commits.clear()
        short = [store.write(add_prompt_word, "b"), store.write(add_word, "c")]
        numbers = await asyncio.gather(store.write(add_slowly, "d"), store.write(add_slowly, "e"), *short)
        await store.close()

        assert numbers == [3, 4, 2, 5]
        assert [each.writes for each in commits] == [1, 3]

    run_in_virtual_time(scenario())


def test_prompt_write_shares_a_commit_with_short_ones(tmp_path: Path) -> None:
    commits: list[CommitStats] = []

    async def scenario() -> None:
        store = SqliteStore(tmp_path / "kept.db", VirtualWorld(), on_commit=commits.append)
        await store.write(create_words_table)
        commits.clear()
        await asyncio.gather(*(store.write(add_word, word) for word in "ab"), store.write(add_prompt_word, "c"))
        await store.close()

        assert [each.writes for each in commits] == [3]

    run_in_virtual_time(scenario())


async def test_queue_has_urgent_writes_then_prompt_ones_then_others() -> None:
    loop, queue = asyncio.get_running_loop(), WriteQueue()
    works = (add_word, add_prompt_word, add_urgent_word, add_word, add_prompt_word)
    queue.add([pending(loop, work, word) for work, word in zip(works, "abcde", strict=True)])

    assert len(queue) == 5
    assert words(queue) == "cbead"
    assert len(queue) == 0


async def test_others_come_first_during_their_turn() -> None:
    loop, queue = asyncio.get_running_loop(), WriteQueue()
    queue.serve_others_next()
    queue.add(pending(loop, add_prompt_word, word) for word in "ab")
    assert queue.first.args == ("a",)  # none waited when it began
    queue.add(pending(loop, add_word, word) for word in "cde")
    queue.serve_others_next()

    taken = [queue.pop().args[0], queue.pop().args[0]]
    queue.serve_prompt_first()

    assert taken == ["c", "d"]
    assert words(queue) == "abe"


async def test_turn_of_others_ends_with_the_last_of_them() -> None:
    loop, queue = asyncio.get_running_loop(), WriteQueue()
    queue.add([pending(loop, add_prompt_word, "a"), pending(loop, add_word, "b")])
    queue.serve_others_next()

    assert queue.pop().args == ("b",)
    queue.add([pending(loop, add_word, "c")])
    assert words(queue) == "ac"


def test_others_are_not_kept_waiting_by_prompt_writes_without_end(tmp_path: Path) -> None:
    world, commits = WorldOfLongWrites(), list[CommitStats]()

    @transaction(priority=Priority.PROMPT)
    def add_slowly(tx: Tx, word: str) -> int:
        world.passed_s += MAX_COMMIT_S / 4
        return add_word(tx, word)

    async def scenario() -> None:
        store = SqliteStore(tmp_path / "kept.db", world, on_commit=commits.append)
        await store.write(create_words_table)
        commits.clear()
        prompt = [store.write(add_slowly, f"{number}") for number in range(40)]
        numbers = await asyncio.gather(store.write(add_word, "other"), *prompt)
        await store.close()

        assert numbers[0] == 1 + commits[0].writes
        assert len(commits) > 5

    run_in_virtual_time(scenario())


async def test_writes_that_are_put_back_keep_their_order() -> None:
    loop, queue = asyncio.get_running_loop(), WriteQueue()
    works = (add_word, add_prompt_word, add_word, add_prompt_word)
    writes = [pending(loop, work, word) for work, word in zip(works, "abcd", strict=True)]
    queue.add([pending(loop, add_word, "e"), pending(loop, add_prompt_word, "f")])

    queue.put_back(writes)

    assert words(queue) == "bdface"
