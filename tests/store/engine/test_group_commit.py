"""A store: what it answers is kept, and one caller's trouble is nobody else's."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pabal.store.engine.base import (
    ROWS_A_STATEMENT,
    StoreAway,
    Tx,
    chunks,
    done_alone,
    in_dialect,
    with_placeholders,
)
from pabal.store.engine.group_commit import MAX_COMMIT_CALLERS, Batch, GroupedStore
from pabal.store.engine.postgres_tx import WORDS as POSTGRES_WORDS
from pabal.store.engine.sqlite import WORDS
from tests.fixtures.store_modes import (
    BROKEN_RULE,
    INLINE,
    NONSENSE,
    Modes,
    numbers,
    put,
    put_then_fail,
    words,
)


def test_a_write_is_on_disk_when_it_is_answered(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        await store.write(put, "kept")

        assert modes.on_disk() == ["kept"]

    modes.run(scenario)


def test_a_write_is_still_there_when_the_store_is_opened_again(modes: Modes) -> None:
    async def write(store: GroupedStore) -> None:
        await store.write(put, "kept")

    async def look(store: GroupedStore) -> None:
        assert await store.read(words) == ["kept"]

    modes.run(write)
    modes.run(look)


def test_a_write_gives_its_caller_what_its_function_returned(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        numbers = await asyncio.gather(*(store.write(put, word) for word in "abc"))

        assert numbers == [1, 2, 3]

    modes.run(scenario)


def test_a_write_takes_arguments_by_place_and_by_name(modes: Modes) -> None:
    def remember(tx: Tx, first: str, *, second: str) -> str:
        return first + second

    async def scenario(store: GroupedStore) -> None:
        assert await store.write(remember, "a", second="b") == "ab"
        assert await store.read(remember, "a", second="b") == "ab"

    modes.run(scenario)


def test_a_write_that_raises_leaves_nothing_behind(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        with pytest.raises(LookupError, match="gone"):
            await store.write(put_then_fail, "gone")

        assert modes.on_disk() == []

    modes.run(scenario)


def test_a_write_that_breaks_a_rule_of_the_schema_says_so_to_its_caller_alone(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        await store.write(put, "once")

        answers = await asyncio.gather(
            store.write(put, "before"),
            store.write(put, "once"),
            store.write(put, "after"),
            return_exceptions=True,
        )

        assert isinstance(answers[1], BROKEN_RULE)
        assert modes.on_disk() == ["once", "before", "after"]

    modes.run(scenario)


def test_a_write_with_a_statement_that_makes_no_sense_says_so_and_not_that_the_store_is_away(modes: Modes) -> None:
    def nonsense(tx: Tx) -> None:
        tx.run("select nothing from nowhere")

    async def scenario(store: GroupedStore) -> None:
        with pytest.raises(NONSENSE):
            await store.write(nonsense)
        with pytest.raises(NONSENSE):
            await store.read(nonsense)

    modes.run(scenario)


def test_a_write_whose_caller_has_gone_is_kept_all_the_same(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        impatient = asyncio.ensure_future(store.write(put, "kept"))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)

        await store.close()
        assert modes.on_disk() == ["kept"]

    modes.run(scenario)


def test_many_callers_share_few_commits(modes: Modes) -> None:
    batches: list[Batch] = []

    async def scenario(store: GroupedStore) -> None:
        await asyncio.gather(*(store.write(put, f"{number}") for number in range(400)))

        assert modes.on_disk() == [f"{number}" for number in range(400)]

    modes.run(scenario, watch=batches.append)
    assert sum(batch.callers for batch in batches) == 401
    assert len(batches) < 100
    assert max(batch.callers for batch in batches) <= MAX_COMMIT_CALLERS
    assert all(batch.seconds >= 0 for batch in batches)


def test_a_commit_takes_in_no_more_callers_than_it_may(tmp_path: Path) -> None:
    batches: list[Batch] = []

    async def scenario(store: GroupedStore) -> None:
        await asyncio.gather(*(store.write(put, f"{number}") for number in range(MAX_COMMIT_CALLERS + 10)))

    Modes(tmp_path / "kept.db", INLINE).run(scenario, watch=batches.append)

    assert [batch.callers for batch in batches] == [1, MAX_COMMIT_CALLERS, 10]


def test_one_that_raises_undoes_only_itself(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        answers = await asyncio.gather(
            *(store.write(put_then_fail if number % 3 == 0 else put, f"{number}") for number in range(30)),
            return_exceptions=True,
        )

        for number, answer in enumerate(answers):
            assert isinstance(answer, LookupError if number % 3 == 0 else int)
        assert modes.on_disk() == [f"{number}" for number in range(30) if number % 3]
        assert [answer for answer in answers if isinstance(answer, int)] == await store.read(numbers)

    modes.run(scenario)


def test_later_callers_of_a_commit_see_what_earlier_ones_did(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        _, seen = await asyncio.gather(store.write(put, "first"), store.write(words))

        assert seen == ["first"]

    modes.run(scenario)


def test_more_callers_than_may_wait_are_told_so_at_once(tmp_path: Path) -> None:
    async def scenario(store: GroupedStore) -> None:
        answers = await asyncio.gather(
            *(store.write(put, f"{number}") for number in range(5)), return_exceptions=True
        )

        assert [type(answer) for answer in answers] == [int, int, int, StoreAway, StoreAway]
        assert await store.write(put, "later") == 4

    Modes(tmp_path / "kept.db", INLINE).run(scenario, most_waiting=3)


def test_a_closed_store_takes_nothing_any_more(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        await store.close()

        with pytest.raises(StoreAway):
            await store.write(put, "late")
        with pytest.raises(StoreAway):
            await store.read(words)

    modes.run(scenario)
    assert modes.on_disk() == []


def test_closing_finishes_what_is_under_way(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        under_way = [asyncio.ensure_future(store.write(put, f"{number}")) for number in range(20)]
        await asyncio.sleep(0)

        await store.close()

        assert await asyncio.gather(*under_way) == list(range(1, 21))

    modes.run(scenario)
    assert modes.on_disk() == [f"{number}" for number in range(20)]


def test_closing_twice_is_the_same_as_once(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        await store.close()
        await store.close()

    modes.run(scenario)


def test_a_read_sees_only_what_is_committed(modes: Modes) -> None:
    seen: list[list[str]] = []

    def put_and_look_from_outside(tx: Tx) -> None:
        put(tx, "not yet")
        seen.append(modes.on_disk())

    async def scenario(store: GroupedStore) -> None:
        await store.write(put_and_look_from_outside)

        assert seen == [[]]
        assert await store.read(words) == ["not yet"]

    modes.run(scenario)


def test_a_read_sees_one_view_even_while_others_write(modes: Modes) -> None:
    def look_twice(tx: Tx) -> tuple[list[str], list[str]]:
        before = words(tx)
        modes.outside("insert into words (word) values ('meanwhile')")
        return before, words(tx)

    async def scenario(store: GroupedStore) -> None:
        await store.write(put, "kept")

        assert await store.read(look_twice) == (["kept"], ["kept"])
        assert await store.read(words) == ["kept", "meanwhile"]

    modes.run(scenario)


def test_a_read_keeps_nothing_of_what_its_function_writes(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        with contextlib.suppress(psycopg.errors.ReadOnlySqlTransaction):  # one engine says so, the other undoes it
            await store.read(put, "not kept")

        assert await store.read(words) == []

    modes.run(scenario)


def look_then_fail(tx: Tx) -> None:
    words(tx)
    raise LookupError


def test_a_read_raises_what_its_function_raises_and_works_on(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        with pytest.raises(LookupError):
            await store.read(look_then_fail)

        assert await store.read(words) == []

    modes.run(scenario)


def test_many_reads_at_once_are_all_answered(modes: Modes) -> None:
    async def scenario(store: GroupedStore) -> None:
        await store.write(put, "kept")

        answers = await asyncio.gather(*(store.read(words) for _ in range(50)))

        assert answers == [["kept"]] * 50

    modes.run(scenario)


@pytest.mark.parametrize("count", [0, 1, ROWS_A_STATEMENT, ROWS_A_STATEMENT + 1, 1000])
def test_every_row_is_written_once_and_its_answer_returned(modes: Modes, count: int) -> None:
    def put_all(tx: Tx) -> list[str]:
        found = tx.rows_each(
            "insert into words (word) select ? || v.column1 || v.column2 from (values {rows}) as v returning word",
            [(f"{number}", "!") for number in range(count)],
            ("no. ",),
        )
        return [row[0] for row in found]

    async def scenario(store: GroupedStore) -> None:
        answered = await store.write(put_all)

        assert answered == [f"no. {number}!" for number in range(count)]
        assert modes.on_disk() == answered

    modes.run(scenario)


def test_an_iterator_will_do(modes: Modes) -> None:
    def put_all(tx: Tx) -> int:
        sql = "insert into words (word) values {rows} returning word"
        return len(tx.rows_each(sql, ((f"{number}",) for number in range(250))))

    async def scenario(store: GroupedStore) -> None:
        assert await store.write(put_all) == 250

    modes.run(scenario)


def test_rows_come_in_chunks_of_the_size_asked_for() -> None:
    assert [len(chunk) for chunk in chunks([(1,)] * 7, 3)] == [3, 3, 1]
    assert [len(chunk) for chunk in chunks([(1,)] * 6, 3)] == [3, 3]
    assert list(chunks([], 3)) == []


def test_placeholders_are_spelled_out_for_each_row() -> None:
    assert with_placeholders("values {rows}", 2, 3) == "values (?,?,?),(?,?,?)"


def test_run_says_how_many_rows_it_changed(modes: Modes) -> None:
    def change(tx: Tx) -> tuple[int, int]:
        for word in "abc":
            put(tx, word)
        return tx.run("update words set word = word || '!' where word < 'c'"), tx.run("delete from words")

    async def scenario(store: GroupedStore) -> None:
        assert await store.write(change) == (2, 3)

    modes.run(scenario)


def test_run_says_none_where_nothing_fits_whatever_was_changed_before(modes: Modes) -> None:
    def change(tx: Tx) -> int:
        put(tx, "a")
        return tx.run("delete from words where word = 'nobody'")

    async def scenario(store: GroupedStore) -> None:
        assert await store.write(change) == 0

    modes.run(scenario)


def test_row_is_the_first_or_none(modes: Modes) -> None:
    def look(tx: Tx) -> Any:
        put(tx, "a")
        put(tx, "b")
        return tx.row("select word from words order by word"), tx.row("select 1 from words where word = 'z'")

    async def scenario(store: GroupedStore) -> None:
        assert await store.write(look) == (("a",), None)

    modes.run(scenario)


def test_words_in_braces_are_the_engines_own_and_rows_stay() -> None:
    assert in_dialect("a {big}, b {bytes} {rows}", {"big": "int8", "bytes": "bytea"}) == "a int8, b bytea {rows}"


def test_both_engines_know_the_same_words() -> None:
    assert WORDS.keys() == POSTGRES_WORDS.keys()


def test_an_unknown_word_is_a_bug() -> None:
    with pytest.raises(KeyError):
        in_dialect("{nonsense}", WORDS)


def test_every_word_of_this_engine_is_understood_by_it(modes: Modes) -> None:
    def use_all(tx: Tx) -> None:
        tx.run("create table t (a {bytes}, b {big}, c {small} primary key) {clustered}")
        tx.run("create table s (id {serial})")
        tx.run("create table q (id {big} primary key) {queue}")
        tx.rows("select a from t limit 1 {skip_locked}")
        tx.run("insert {or_fail} into t select null{as_bytes}, null{as_big}, 1")
        tx.rows("select name, {schema_lock} from {tables} as t")
        raise LookupError

    async def scenario(store: GroupedStore) -> None:
        with pytest.raises(LookupError):
            await store.write(use_all)

    modes.run(scenario)


def test_a_work_that_is_done_alone_shares_its_transaction_with_nobody(tmp_path: Path) -> None:
    modes = Modes(tmp_path / "kept.db", INLINE)  # in threads, who comes together is chance
    batches: list[Batch] = []

    @done_alone
    def alone(tx: Tx) -> int:
        return put(tx, "alone")

    async def scenario(store: GroupedStore) -> None:
        batches.clear()
        await asyncio.gather(*[store.write(work) for work in (first, also, alone, last)])

        assert [batch.callers for batch in batches] == [2, 1, 1]

    def first(tx: Tx) -> int:
        return put(tx, "first")

    def also(tx: Tx) -> int:
        return put(tx, "also")

    def last(tx: Tx) -> int:
        return put(tx, "last")

    modes.run(scenario, watch=batches.append)
    assert modes.on_disk() == ["first", "also", "alone", "last"]
