"""Reads: each has one snapshot, and commits nothing."""

import asyncio
import contextlib

import psycopg
import pytest

from pabal.store.engine.base import (
    Tx,
)
from pabal.store.engine.group_commit import GroupCommitStore
from tests.fixtures.store_modes import (
    StoreMode,
    add_word,
    list_words,
)


def test_read_sees_only_committed_rows(modes: StoreMode) -> None:
    seen: list[list[str]] = []

    def write_and_query_outside(tx: Tx) -> None:
        add_word(tx, "not yet")
        seen.append(modes.words_on_disk())

    async def scenario(store: GroupCommitStore) -> None:
        await store.write(write_and_query_outside)

        assert seen == [[]]
        assert await store.read(list_words) == ["not yet"]

    modes.run(scenario)


def test_read_sees_one_snapshot_while_others_write(modes: StoreMode) -> None:
    def read_twice(tx: Tx) -> tuple[list[str], list[str]]:
        before = list_words(tx)
        modes.query_outside("insert into words (word) values ('meanwhile')")
        return before, list_words(tx)

    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_word, "kept")

        assert await store.read(read_twice) == (["kept"], ["kept"])
        assert await store.read(list_words) == ["kept", "meanwhile"]

    modes.run(scenario)


def test_read_commits_nothing(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        with contextlib.suppress(psycopg.errors.ReadOnlySqlTransaction):  # one engine raises, the other rolls back
            await store.read(add_word, "not kept")

        assert await store.read(list_words) == []

    modes.run(scenario)


def read_then_fail(tx: Tx) -> None:
    list_words(tx)
    raise LookupError


def test_read_raises_what_its_function_raises(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        with pytest.raises(LookupError):
            await store.read(read_then_fail)

        assert await store.read(list_words) == []

    modes.run(scenario)


def test_many_concurrent_reads_all_return(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_word, "kept")

        answers = await asyncio.gather(*(store.read(list_words) for _ in range(50)))

        assert answers == [["kept"]] * 50

    modes.run(scenario)
