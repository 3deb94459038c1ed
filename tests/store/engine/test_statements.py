"""Statements: many rows at once, and dialect words."""

from typing import Any

import pytest

from pabal.store.engine.base import (
    MAX_ROWS_PER_STATEMENT,
    Tx,
    chunks,
    to_dialect,
)
from pabal.store.engine.group_commit import GroupCommitStore
from pabal.store.engine.postgres.postgres_tx import DIALECT as POSTGRES_WORDS
from pabal.store.engine.sqlite.sqlite_store import DIALECT
from tests.fixtures.store_modes import StoreMode, add_word


@pytest.mark.parametrize("count", [0, 1, MAX_ROWS_PER_STATEMENT, MAX_ROWS_PER_STATEMENT + 1, 1000])
async def test_every_row_is_written_once_and_returned(
    store: GroupCommitStore, modes: StoreMode, count: int
) -> None:

    def put_all(tx: Tx) -> list[str]:
        found = tx.execute_many(
            "insert into words (word) select ? || v.column1 || v.column2 from (values {rows}) as v returning word",
            [(f"{number}", "!") for number in range(count)],
            ("no. ",),
        )
        return [row[0] for row in found]

    answered = await store.write(put_all)

    assert answered == [f"no. {number}!" for number in range(count)]
    assert modes.words_on_disk() == answered


async def test_rows_may_be_an_iterator(store: GroupCommitStore) -> None:

    def put_all(tx: Tx) -> int:
        sql = "insert into words (word) values {rows} returning word"
        return len(tx.execute_many(sql, ((f"{number}",) for number in range(250))))

    assert await store.write(put_all) == 250


def test_rows_come_in_chunks_of_the_size_asked_for() -> None:
    assert [len(chunk) for chunk in chunks([(1,)] * 7, 3)] == [3, 3, 1]
    assert [len(chunk) for chunk in chunks([(1,)] * 6, 3)] == [3, 3]
    assert list(chunks([], 3)) == []


async def test_fetch_one_returns_the_first_row_or_none(store: GroupCommitStore) -> None:

    def look(tx: Tx) -> Any:
        add_word(tx, "a")
        add_word(tx, "b")
        return tx.fetch_one("select word from words order by word"), tx.fetch_one(
            "select 1 from words where word = 'z'"
        )

    assert await store.write(look) == (("a",), None)


def test_both_engines_have_the_same_dialect_words() -> None:
    assert DIALECT.keys() == POSTGRES_WORDS.keys()


def test_unknown_dialect_word_raises() -> None:
    with pytest.raises(KeyError):
        to_dialect("{nonsense}", DIALECT)


async def test_engine_understands_each_of_its_dialect_words(store: GroupCommitStore) -> None:

    def use_all(tx: Tx) -> None:
        tx.execute("create table t (a {bytes}, b {big}, c {small} primary key) {clustered}")
        tx.execute("create table s (id {serial})")
        tx.execute("create table q (id {big} primary key) {queue}")
        tx.fetch_all("select a from t limit 1 {skip_locked}")
        tx.execute("insert {or_fail} into t select null{as_bytes}, null{as_big}, 1")
        tx.fetch_all("select name, {schema_lock} from {tables} as t")
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(use_all)
