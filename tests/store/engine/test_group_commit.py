"""A store: what it answers is kept, and one caller's trouble is nobody else's."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pabal.store.engine.base import (
    MAX_ROWS_PER_STATEMENT,
    StoreUnavailable,
    Tx,
    chunks,
    expand_placeholders,
    to_dialect,
    transaction,
)
from pabal.store.engine.group_commit import MAX_WRITES_PER_COMMIT, CommitStats, GroupCommitStore
from pabal.store.engine.postgres_tx import DIALECT as POSTGRES_WORDS
from pabal.store.engine.sqlite import DIALECT
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


def test_a_write_is_on_disk_when_it_is_answered(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_word, "kept")

        assert modes.words_on_disk() == ["kept"]

    modes.run(scenario)


def test_a_write_is_still_there_when_the_store_is_opened_again(modes: StoreMode) -> None:
    async def write(store: GroupCommitStore) -> None:
        await store.write(add_word, "kept")

    async def look(store: GroupCommitStore) -> None:
        assert await store.read(list_words) == ["kept"]

    modes.run(write)
    modes.run(look)


def test_a_write_gives_its_caller_what_its_function_returned(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        numbers = await asyncio.gather(*(store.write(add_word, word) for word in "abc"))

        assert numbers == [1, 2, 3]

    modes.run(scenario)


def test_a_write_takes_arguments_by_place_and_by_name(modes: StoreMode) -> None:
    def remember(tx: Tx, first: str, *, second: str) -> str:
        return first + second

    async def scenario(store: GroupCommitStore) -> None:
        assert await store.write(remember, "a", second="b") == "ab"
        assert await store.read(remember, "a", second="b") == "ab"

    modes.run(scenario)


def test_a_write_that_raises_leaves_nothing_behind(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        with pytest.raises(LookupError, match="gone"):
            await store.write(add_word_then_fail, "gone")

        assert modes.words_on_disk() == []

    modes.run(scenario)


def test_a_write_that_breaks_a_rule_of_the_schema_says_so_to_its_caller_alone(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_word, "once")

        answers = await asyncio.gather(
            store.write(add_word, "before"),
            store.write(add_word, "once"),
            store.write(add_word, "after"),
            return_exceptions=True,
        )

        assert isinstance(answers[1], CONSTRAINT_ERRORS)
        assert modes.words_on_disk() == ["once", "before", "after"]

    modes.run(scenario)


def test_a_write_with_a_statement_that_makes_no_sense_says_so_and_not_that_the_store_is_away(
    modes: StoreMode,
) -> None:
    def nonsense(tx: Tx) -> None:
        tx.execute("select nothing from nowhere")

    async def scenario(store: GroupCommitStore) -> None:
        with pytest.raises(SQL_ERRORS):
            await store.write(nonsense)
        with pytest.raises(SQL_ERRORS):
            await store.read(nonsense)

    modes.run(scenario)


def test_a_write_whose_caller_has_gone_is_kept_all_the_same(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        impatient = asyncio.ensure_future(store.write(add_word, "kept"))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)

        await store.close()
        assert modes.words_on_disk() == ["kept"]

    modes.run(scenario)


def test_many_callers_share_few_commits(modes: StoreMode) -> None:
    batches: list[CommitStats] = []

    async def scenario(store: GroupCommitStore) -> None:
        await asyncio.gather(*(store.write(add_word, f"{number}") for number in range(400)))

        assert modes.words_on_disk() == [f"{number}" for number in range(400)]

    modes.run(scenario, on_commit=batches.append)
    assert sum(batch.writes for batch in batches) == 401
    assert len(batches) < 100
    assert max(batch.writes for batch in batches) <= MAX_WRITES_PER_COMMIT
    assert all(batch.duration_s >= 0 for batch in batches)


def test_a_commit_takes_in_no_more_callers_than_it_may(tmp_path: Path) -> None:
    batches: list[CommitStats] = []

    async def scenario(store: GroupCommitStore) -> None:
        await asyncio.gather(*(store.write(add_word, f"{number}") for number in range(MAX_WRITES_PER_COMMIT + 10)))

    StoreMode(tmp_path / "kept.db", INLINE).run(scenario, on_commit=batches.append)

    assert [batch.writes for batch in batches] == [1, MAX_WRITES_PER_COMMIT, 10]


def test_one_that_raises_undoes_only_itself(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        answers = await asyncio.gather(
            *(
                store.write(add_word_then_fail if number % 3 == 0 else add_word, f"{number}")
                for number in range(30)
            ),
            return_exceptions=True,
        )

        for number, answer in enumerate(answers):
            assert isinstance(answer, LookupError if number % 3 == 0 else int)
        assert modes.words_on_disk() == [f"{number}" for number in range(30) if number % 3]
        assert [answer for answer in answers if isinstance(answer, int)] == await store.read(list_numbers)

    modes.run(scenario)


def test_later_callers_of_a_commit_see_what_earlier_ones_did(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        _, seen = await asyncio.gather(store.write(add_word, "first"), store.write(list_words))

        assert seen == ["first"]

    modes.run(scenario)


def test_more_callers_than_may_wait_are_told_so_at_once(tmp_path: Path) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        answers = await asyncio.gather(
            *(store.write(add_word, f"{number}") for number in range(5)), return_exceptions=True
        )

        assert [type(answer) for answer in answers] == [int, int, int, StoreUnavailable, StoreUnavailable]
        assert await store.write(add_word, "later") == 4

    StoreMode(tmp_path / "kept.db", INLINE).run(scenario, max_waiting=3)


def test_a_closed_store_takes_nothing_any_more(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.close()

        with pytest.raises(StoreUnavailable):
            await store.write(add_word, "late")
        with pytest.raises(StoreUnavailable):
            await store.read(list_words)

    modes.run(scenario)
    assert modes.words_on_disk() == []


def test_closing_finishes_what_is_under_way(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        under_way = [asyncio.ensure_future(store.write(add_word, f"{number}")) for number in range(20)]
        await asyncio.sleep(0)

        await store.close()

        assert await asyncio.gather(*under_way) == list(range(1, 21))

    modes.run(scenario)
    assert modes.words_on_disk() == [f"{number}" for number in range(20)]


def test_closing_twice_is_the_same_as_once(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.close()
        await store.close()

    modes.run(scenario)


def test_a_read_sees_only_what_is_committed(modes: StoreMode) -> None:
    seen: list[list[str]] = []

    def put_and_look_from_outside(tx: Tx) -> None:
        add_word(tx, "not yet")
        seen.append(modes.words_on_disk())

    async def scenario(store: GroupCommitStore) -> None:
        await store.write(put_and_look_from_outside)

        assert seen == [[]]
        assert await store.read(list_words) == ["not yet"]

    modes.run(scenario)


def test_a_read_sees_one_view_even_while_others_write(modes: StoreMode) -> None:
    def look_twice(tx: Tx) -> tuple[list[str], list[str]]:
        before = list_words(tx)
        modes.query_outside("insert into words (word) values ('meanwhile')")
        return before, list_words(tx)

    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_word, "kept")

        assert await store.read(look_twice) == (["kept"], ["kept"])
        assert await store.read(list_words) == ["kept", "meanwhile"]

    modes.run(scenario)


def test_a_read_keeps_nothing_of_what_its_function_writes(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        with contextlib.suppress(psycopg.errors.ReadOnlySqlTransaction):  # one engine says so, the other undoes it
            await store.read(add_word, "not kept")

        assert await store.read(list_words) == []

    modes.run(scenario)


def look_then_fail(tx: Tx) -> None:
    list_words(tx)
    raise LookupError


def test_a_read_raises_what_its_function_raises_and_works_on(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        with pytest.raises(LookupError):
            await store.read(look_then_fail)

        assert await store.read(list_words) == []

    modes.run(scenario)


def test_many_reads_at_once_are_all_answered(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_word, "kept")

        answers = await asyncio.gather(*(store.read(list_words) for _ in range(50)))

        assert answers == [["kept"]] * 50

    modes.run(scenario)


@pytest.mark.parametrize("count", [0, 1, MAX_ROWS_PER_STATEMENT, MAX_ROWS_PER_STATEMENT + 1, 1000])
def test_every_row_is_written_once_and_its_answer_returned(modes: StoreMode, count: int) -> None:
    def put_all(tx: Tx) -> list[str]:
        found = tx.execute_many(
            "insert into words (word) select ? || v.column1 || v.column2 from (values {rows}) as v returning word",
            [(f"{number}", "!") for number in range(count)],
            ("no. ",),
        )
        return [row[0] for row in found]

    async def scenario(store: GroupCommitStore) -> None:
        answered = await store.write(put_all)

        assert answered == [f"no. {number}!" for number in range(count)]
        assert modes.words_on_disk() == answered

    modes.run(scenario)


def test_an_iterator_will_do(modes: StoreMode) -> None:
    def put_all(tx: Tx) -> int:
        sql = "insert into words (word) values {rows} returning word"
        return len(tx.execute_many(sql, ((f"{number}",) for number in range(250))))

    async def scenario(store: GroupCommitStore) -> None:
        assert await store.write(put_all) == 250

    modes.run(scenario)


def test_rows_come_in_chunks_of_the_size_asked_for() -> None:
    assert [len(chunk) for chunk in chunks([(1,)] * 7, 3)] == [3, 3, 1]
    assert [len(chunk) for chunk in chunks([(1,)] * 6, 3)] == [3, 3]
    assert list(chunks([], 3)) == []


def test_placeholders_are_spelled_out_for_each_row() -> None:
    assert expand_placeholders("values {rows}", 2, 3) == "values (?,?,?),(?,?,?)"


def test_run_says_how_many_rows_it_changed(modes: StoreMode) -> None:
    def change(tx: Tx) -> tuple[int, int]:
        for word in "abc":
            add_word(tx, word)
        return tx.execute("update words set word = word || '!' where word < 'c'"), tx.execute("delete from words")

    async def scenario(store: GroupCommitStore) -> None:
        assert await store.write(change) == (2, 3)

    modes.run(scenario)


def test_run_says_none_where_nothing_fits_whatever_was_changed_before(modes: StoreMode) -> None:
    def change(tx: Tx) -> int:
        add_word(tx, "a")
        return tx.execute("delete from words where word = 'nobody'")

    async def scenario(store: GroupCommitStore) -> None:
        assert await store.write(change) == 0

    modes.run(scenario)


def test_row_is_the_first_or_none(modes: StoreMode) -> None:
    def look(tx: Tx) -> Any:
        add_word(tx, "a")
        add_word(tx, "b")
        return tx.fetch_one("select word from words order by word"), tx.fetch_one(
            "select 1 from words where word = 'z'"
        )

    async def scenario(store: GroupCommitStore) -> None:
        assert await store.write(look) == (("a",), None)

    modes.run(scenario)


def test_words_in_braces_are_the_engines_own_and_rows_stay() -> None:
    assert to_dialect("a {big}, b {bytes} {rows}", {"big": "int8", "bytes": "bytea"}) == "a int8, b bytea {rows}"


def test_both_engines_know_the_same_words() -> None:
    assert DIALECT.keys() == POSTGRES_WORDS.keys()


def test_an_unknown_word_is_a_bug() -> None:
    with pytest.raises(KeyError):
        to_dialect("{nonsense}", DIALECT)


def test_every_word_of_this_engine_is_understood_by_it(modes: StoreMode) -> None:
    def use_all(tx: Tx) -> None:
        tx.execute("create table t (a {bytes}, b {big}, c {small} primary key) {clustered}")
        tx.execute("create table s (id {serial})")
        tx.execute("create table q (id {big} primary key) {queue}")
        tx.fetch_all("select a from t limit 1 {skip_locked}")
        tx.execute("insert {or_fail} into t select null{as_bytes}, null{as_big}, 1")
        tx.fetch_all("select name, {schema_lock} from {tables} as t")
        raise LookupError

    async def scenario(store: GroupCommitStore) -> None:
        with pytest.raises(LookupError):
            await store.write(use_all)

    modes.run(scenario)


def test_a_work_that_is_done_alone_shares_its_transaction_with_nobody(tmp_path: Path) -> None:
    modes = StoreMode(tmp_path / "kept.db", INLINE)  # in threads, who comes together is chance
    batches: list[CommitStats] = []

    @transaction(exclusive=True)
    def alone(tx: Tx) -> int:
        return add_word(tx, "alone")

    async def scenario(store: GroupCommitStore) -> None:
        batches.clear()
        await asyncio.gather(*[store.write(work) for work in (first, also, alone, last)])

        assert [batch.writes for batch in batches] == [2, 1, 1]

    def first(tx: Tx) -> int:
        return add_word(tx, "first")

    def also(tx: Tx) -> int:
        return add_word(tx, "also")

    def last(tx: Tx) -> int:
        return add_word(tx, "last")

    modes.run(scenario, on_commit=batches.append)
    assert modes.words_on_disk() == ["first", "also", "alone", "last"]
