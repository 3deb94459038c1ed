"""The embedded store: what it answers is on disk, and one caller's trouble is nobody else's."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from pabal.store.base import ROWS_A_STATEMENT, StoreAway, Tx, chunks, in_dialect, with_placeholders
from pabal.store.sqlite import MAX_COMMIT_CALLERS, WORDS, Batch, SqliteStore
from pabal.world import RealWorld
from tests.virtual import VirtualWorld, in_virtual_time

Scene = Callable[[SqliteStore], Awaitable[None]]

THREADS, INLINE = "in threads", "in the loop"


class Modes:
    """Opens stores in one of the two modes, and plays scenes in the loop that the mode needs."""

    def __init__(self, path: Path, mode: str) -> None:
        self.path = path
        self.mode = mode

    def open(self, **options: Any) -> SqliteStore:
        return SqliteStore(self.path, RealWorld() if self.mode == THREADS else VirtualWorld(), **options)

    @contextlib.asynccontextmanager
    async def opened(self, **options: Any) -> AsyncIterator[SqliteStore]:
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

    def on_disk(self) -> list[str]:
        """Return what a reader of the file sees that has nothing to do with the store."""
        with contextlib.closing(apsw.Connection(str(self.path))) as other:
            return [row[0] for row in other.execute("select word from words order by number")]


@pytest.fixture(params=[THREADS, INLINE])
def modes(request: pytest.FixtureRequest, tmp_path: Path) -> Modes:
    return Modes(tmp_path / "kept.db", request.param)


class FailingCommits:
    """Lets every commit fail while it is on, as a broken disk would."""

    are_on = False

    def watch_over(self, connection: apsw.Connection) -> None:
        connection.set_commit_hook(lambda: self.are_on)


@pytest.fixture
def failing_commits() -> Iterator[FailingCommits]:
    switch = FailingCommits()
    apsw.connection_hooks.append(switch.watch_over)
    yield switch
    apsw.connection_hooks.remove(switch.watch_over)


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


def test_a_write_is_on_disk_when_it_is_answered(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        await store.write(put, "kept")

        assert modes.on_disk() == ["kept"]

    modes.play(scene)


def test_a_write_is_still_there_when_the_store_is_opened_again(modes: Modes) -> None:
    async def write(store: SqliteStore) -> None:
        await store.write(put, "kept")

    async def look(store: SqliteStore) -> None:
        assert await store.read(words) == ["kept"]

    modes.play(write)
    modes.play(look)


def test_a_write_gives_its_caller_what_its_function_returned(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        numbers = await asyncio.gather(*(store.write(put, word) for word in "abc"))

        assert numbers == [1, 2, 3]

    modes.play(scene)


def test_a_write_takes_arguments_by_place_and_by_name(modes: Modes) -> None:
    def remember(tx: Tx, first: str, *, second: str) -> str:
        return first + second

    async def scene(store: SqliteStore) -> None:
        assert await store.write(remember, "a", second="b") == "ab"
        assert await store.read(remember, "a", second="b") == "ab"

    modes.play(scene)


def test_a_write_that_raises_leaves_nothing_behind(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        with pytest.raises(LookupError, match="gone"):
            await store.write(put_then_fail, "gone")

        assert modes.on_disk() == []

    modes.play(scene)


def test_a_write_that_breaks_a_rule_of_the_schema_says_so_to_its_caller_alone(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        await store.write(put, "once")

        answers = await asyncio.gather(
            store.write(put, "before"),
            store.write(put, "once"),
            store.write(put, "after"),
            return_exceptions=True,
        )

        assert isinstance(answers[1], apsw.ConstraintError)
        assert modes.on_disk() == ["once", "before", "after"]

    modes.play(scene)


def test_a_write_with_a_statement_that_makes_no_sense_says_so_and_not_that_the_store_is_away(modes: Modes) -> None:
    def nonsense(tx: Tx) -> None:
        tx.run("select nothing from nowhere")

    async def scene(store: SqliteStore) -> None:
        with pytest.raises(apsw.SQLError):
            await store.write(nonsense)
        with pytest.raises(apsw.SQLError):
            await store.read(nonsense)

    modes.play(scene)


def test_a_write_whose_caller_has_gone_is_kept_all_the_same(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        impatient = asyncio.ensure_future(store.write(put, "kept"))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.gather(impatient, return_exceptions=True)

        assert await store.write(words) == ["kept"]

    modes.play(scene)


def test_many_callers_share_few_commits(modes: Modes) -> None:
    batches: list[Batch] = []

    async def scene(store: SqliteStore) -> None:
        await asyncio.gather(*(store.write(put, f"{number}") for number in range(400)))

        assert modes.on_disk() == [f"{number}" for number in range(400)]

    modes.play(scene, watch=batches.append)
    assert sum(batch.callers for batch in batches) == 401
    assert len(batches) < 100
    assert max(batch.callers for batch in batches) <= MAX_COMMIT_CALLERS
    assert all(batch.seconds >= 0 for batch in batches)


def test_a_commit_takes_in_no_more_callers_than_it_may(tmp_path: Path) -> None:
    batches: list[Batch] = []

    async def scene(store: SqliteStore) -> None:
        await asyncio.gather(*(store.write(put, f"{number}") for number in range(MAX_COMMIT_CALLERS + 10)))

    Modes(tmp_path / "kept.db", INLINE).play(scene, watch=batches.append)

    assert [batch.callers for batch in batches] == [1, MAX_COMMIT_CALLERS, 10]


def test_one_that_raises_undoes_only_itself(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        answers = await asyncio.gather(
            *(store.write(put_then_fail if number % 3 == 0 else put, f"{number}") for number in range(30)),
            return_exceptions=True,
        )

        for number, answer in enumerate(answers):
            assert isinstance(answer, LookupError if number % 3 == 0 else int)
        assert modes.on_disk() == [f"{number}" for number in range(30) if number % 3]
        assert [answer for answer in answers if isinstance(answer, int)] == await store.read(numbers)

    modes.play(scene)


def test_later_callers_of_a_commit_see_what_earlier_ones_did(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        _, seen = await asyncio.gather(store.write(put, "first"), store.write(words))

        assert seen == ["first"]

    modes.play(scene)


def test_a_commit_that_fails_answers_all_its_callers_and_keeps_nothing_of_them(
    modes: Modes, failing_commits: FailingCommits
) -> None:
    batches: list[Batch] = []

    async def scene(store: SqliteStore) -> None:
        failing_commits.are_on = True
        answers = await asyncio.gather(
            *(store.write(put, f"{number}") for number in range(10)),
            store.write(put_then_fail, "x"),
            return_exceptions=True,
        )
        failing_commits.are_on = False

        assert [type(answer) for answer in answers] == [StoreAway] * 11
        assert modes.on_disk() == []

    modes.play(scene, watch=batches.append)
    assert sum(batch.callers for batch in batches) == 12


def test_after_a_failed_commit_the_next_one_works(modes: Modes, failing_commits: FailingCommits) -> None:
    async def scene(store: SqliteStore) -> None:
        failing_commits.are_on = True
        with pytest.raises(StoreAway):
            await store.write(put, "refused")
        failing_commits.are_on = False

        await store.write(put, "kept")

        assert modes.on_disk() == ["kept"]

    modes.play(scene)


def test_a_full_disk_answers_everyone_and_is_over_when_there_is_room_again(modes: Modes) -> None:
    def leave_no_room(tx: Tx) -> None:
        row = tx.row("pragma page_count")
        assert row is not None
        tx.rows(f"pragma max_page_count = {row[0]}")

    def make_room(tx: Tx) -> None:
        tx.rows("pragma max_page_count = 1000000")

    async def scene(store: SqliteStore) -> None:
        await store.write(put, "small")
        await store.write(leave_no_room)

        answers = await asyncio.gather(
            *(store.write(put, f"{number}" * 100_000) for number in range(3)), return_exceptions=True
        )

        assert [type(answer) for answer in answers] == [StoreAway] * 3
        assert modes.on_disk() == ["small"]
        await store.write(make_room)
        await store.write(put, "large" * 20_000)
        assert len(modes.on_disk()) == 2

    modes.play(scene)


def test_a_file_that_someone_else_holds_is_away_and_comes_back_by_itself(modes: Modes) -> None:
    def be_impatient(tx: Tx) -> None:
        tx.rows("pragma busy_timeout = 1")

    async def scene(store: SqliteStore) -> None:
        await store.write(be_impatient)
        with contextlib.closing(apsw.Connection(str(modes.path))) as other:
            other.execute("begin immediate")

            with pytest.raises(StoreAway):
                await store.write(put, "refused")

            other.execute("rollback")
        await store.write(put, "kept")
        assert modes.on_disk() == ["kept"]

    modes.play(scene)


def test_more_callers_than_may_wait_are_told_so_at_once(tmp_path: Path) -> None:
    async def scene(store: SqliteStore) -> None:
        answers = await asyncio.gather(
            *(store.write(put, f"{number}") for number in range(5)), return_exceptions=True
        )

        assert [type(answer) for answer in answers] == [int, int, int, StoreAway, StoreAway]
        assert await store.write(put, "later") == 4

    Modes(tmp_path / "kept.db", INLINE).play(scene, most_waiting=3)


def test_a_file_that_is_no_store_is_said_to_be_away(modes: Modes) -> None:
    modes.path.write_bytes(b"this is not a database file" * 100)

    with pytest.raises(StoreAway, match="NotADB"):
        modes.open()


def test_of_two_who_open_a_fresh_file_at_once_the_second_waits_for_the_first(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    first = apsw.Connection(str(path))
    first.execute("begin immediate")

    def be_done_when_waited_for(cursor: Any, sql: str, bindings: Any) -> bool:
        if sql == "begin immediate":
            first.execute("rollback")
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = be_done_when_waited_for

    async def scene() -> None:
        apsw.connection_hooks.append(watch)
        try:
            store = SqliteStore(path, VirtualWorld())
        finally:
            apsw.connection_hooks.remove(watch)
        assert await store.read(pragma, "journal_mode") == "wal"
        await store.close()

    with contextlib.closing(first):
        in_virtual_time(scene())


def test_a_closed_store_takes_nothing_any_more(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        await store.close()

        with pytest.raises(StoreAway):
            await store.write(put, "late")
        with pytest.raises(StoreAway):
            await store.read(words)

    modes.play(scene)
    assert modes.on_disk() == []


def test_closing_finishes_what_is_under_way(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        under_way = [asyncio.ensure_future(store.write(put, f"{number}")) for number in range(20)]
        await asyncio.sleep(0)

        await store.close()

        assert await asyncio.gather(*under_way) == list(range(1, 21))

    modes.play(scene)
    assert modes.on_disk() == [f"{number}" for number in range(20)]


def test_closing_twice_is_the_same_as_once(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        await store.close()
        await store.close()

    modes.play(scene)


def test_a_read_sees_only_what_is_committed(modes: Modes) -> None:
    seen: list[list[str]] = []

    def put_and_look_from_outside(tx: Tx) -> None:
        put(tx, "not yet")
        seen.append(modes.on_disk())

    async def scene(store: SqliteStore) -> None:
        await store.write(put_and_look_from_outside)

        assert seen == [[]]
        assert await store.read(words) == ["not yet"]

    modes.play(scene)


def test_a_read_sees_one_view_even_while_others_write(modes: Modes) -> None:
    def look_twice(tx: Tx) -> tuple[list[str], list[str]]:
        before = words(tx)
        with contextlib.closing(apsw.Connection(str(modes.path))) as other:
            other.execute("insert into words (word) values ('meanwhile')")
        return before, words(tx)

    async def scene(store: SqliteStore) -> None:
        await store.write(put, "kept")

        assert await store.read(look_twice) == (["kept"], ["kept"])
        assert await store.read(words) == ["kept", "meanwhile"]

    modes.play(scene)


def test_a_read_keeps_nothing_of_what_its_function_writes(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        await store.read(put, "not kept")

        assert await store.read(words) == []

    modes.play(scene)


def test_a_read_raises_what_its_function_raises_and_works_on(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        with pytest.raises(LookupError):
            await store.read(put_then_fail, "x")

        assert await store.read(words) == []

    modes.play(scene)


def test_many_reads_at_once_are_all_answered(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        await store.write(put, "kept")

        answers = await asyncio.gather(*(store.read(words) for _ in range(50)))

        assert answers == [["kept"]] * 50

    modes.play(scene)


def test_in_production_every_commit_is_forced_to_disk(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        assert await store.write(pragma, "journal_mode") == "wal"
        assert await store.write(pragma, "synchronous") == 2
        assert await store.read(pragma, "journal_mode") == "wal"

    modes.play(scene)


def test_only_where_it_is_asked_for_commits_are_not_forced_to_disk(modes: Modes) -> None:
    async def scene(store: SqliteStore) -> None:
        assert await store.write(pragma, "synchronous") == 0

    modes.play(scene, is_durable=False)


@pytest.mark.parametrize("count", [0, 1, ROWS_A_STATEMENT, ROWS_A_STATEMENT + 1, 1000])
def test_every_row_is_written_once_and_its_answer_returned(modes: Modes, count: int) -> None:
    def put_all(tx: Tx) -> list[str]:
        found = tx.rows_each(
            "insert into words (word) select ? || v.column1 || v.column2 from (values {rows}) as v returning word",
            [(f"{number}", "!") for number in range(count)],
            ("no. ",),
        )
        return [row[0] for row in found]

    async def scene(store: SqliteStore) -> None:
        answered = await store.write(put_all)

        assert answered == [f"no. {number}!" for number in range(count)]
        assert modes.on_disk() == answered

    modes.play(scene)


def test_an_iterator_will_do(modes: Modes) -> None:
    def put_all(tx: Tx) -> int:
        sql = "insert into words (word) values {rows} returning word"
        return len(tx.rows_each(sql, ((f"{number}",) for number in range(250))))

    async def scene(store: SqliteStore) -> None:
        assert await store.write(put_all) == 250

    modes.play(scene)


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

    async def scene(store: SqliteStore) -> None:
        assert await store.write(change) == (2, 3)

    modes.play(scene)


def test_run_says_none_where_nothing_fits_whatever_was_changed_before(modes: Modes) -> None:
    def change(tx: Tx) -> int:
        put(tx, "a")
        return tx.run("delete from words where word = 'nobody'")

    async def scene(store: SqliteStore) -> None:
        assert await store.write(change) == 0

    modes.play(scene)


def test_row_is_the_first_or_none(modes: Modes) -> None:
    def look(tx: Tx) -> Any:
        put(tx, "a")
        put(tx, "b")
        return tx.row("select word from words order by word"), tx.row("select 1 from words where word = 'z'")

    async def scene(store: SqliteStore) -> None:
        assert await store.write(look) == (("a",), None)

    modes.play(scene)


def test_words_in_braces_are_the_engines_own_and_rows_stay() -> None:
    assert in_dialect("a {big}, b {bytes} {rows}", {"big": "int8", "bytes": "bytea"}) == "a int8, b bytea {rows}"


def test_an_unknown_word_is_a_bug() -> None:
    with pytest.raises(KeyError):
        in_dialect("{nonsense}", WORDS)


def test_every_word_of_this_engine_is_understood_by_it(modes: Modes) -> None:
    def use_all(tx: Tx) -> None:
        tx.run("create table t (a {bytes}, b {big}, c {small} primary key) {clustered}")
        tx.run("create table s (id {serial})")
        tx.rows("select a from t limit 1 {skip_locked}")

    async def scene(store: SqliteStore) -> None:
        await store.write(use_all)

    modes.play(scene)


def pragma(tx: Tx, name: str) -> Any:
    row = tx.row(f"pragma {name}")
    assert row is not None
    return row[0]
