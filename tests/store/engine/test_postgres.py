"""The store on PostgreSQL: lost connections, commits that nobody saw end, and what its server must be like."""

import asyncio
import os
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pabal.service.sending import accept
from pabal.service.sending.accept import Kept, Promise
from pabal.store.engine.base import StoreAway, Tx, knows_itself
from pabal.store.engine.postgres import PostgresStore
from pabal.world import RealWorld
from tests.fixtures import postgres
from tests.fixtures.cutting_proxy import Cut, Cutter
from tests.fixtures.postgres import Server
from tests.fixtures.postgres_store import counted, outside, promise, run_scenario, words_in
from tests.fixtures.rows import request_id
from tests.fixtures.store_modes import make_table, put, put_then_fail, words
from tests.store.conftest import with_words


def cut_all(address: str) -> None:
    """End every connection of the service to the database, as a server that is shut down does."""
    ours = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'pabal'"
    outside(address, f"{ours} and datname = current_database()")


def test_a_connection_that_was_lost_while_nobody_used_it_is_made_again(address: str) -> None:
    async def scenario(store: PostgresStore) -> None:
        await store.write(put, "a")
        assert await store.read(words) == ["a"]
        cut_all(address)

        assert await store.read(words) == ["a"]
        await store.write(lambda tx: (words(tx), put(tx, "b")))

        assert await store.read(words) == ["a", "b"]

    run_scenario(address, scenario, writers=1, readers=1)


def test_a_write_whose_connection_is_lost_before_its_commit_is_run_again(address: str) -> None:
    runs: list[None] = []

    def lose_it(tx: Tx) -> int:
        runs.append(None)
        number = put(tx, "once")
        if len(runs) == 1:
            cut_all(address)
        words(tx)
        return number

    async def scenario(store: PostgresStore) -> None:
        await store.write(lose_it)

    run_scenario(address, scenario)
    assert (len(runs), words_in(address)) == (2, ["once"])


@pytest.fixture
def address() -> str:
    """A database of the tests' own server, which is reached by a socket that can be cut."""
    return with_words(postgres.emptied())


@pytest.mark.parametrize(("cut", "left"), [(Cut.BEFORE, []), (Cut.AFTER, ["nobody knows"])])
def test_of_a_commit_that_nobody_saw_end_the_caller_is_told_so(
    address: str, cutter: Cutter, cut: Cut, left: list[str]
) -> None:
    async def scenario(store: PostgresStore) -> None:
        cutter.cuts.append(cut)
        with pytest.raises(StoreAway):
            await store.write(put, "nobody knows")

        await store.write(put, "next")

    run_scenario(cutter.address(address), scenario)
    assert words_in(address) == [*left, "next"]


@pytest.mark.parametrize("key", [None, "k1"])
@pytest.mark.parametrize("cuts", [[Cut.BEFORE], [Cut.AFTER], [Cut.AFTER, Cut.BEFORE], [Cut.BEFORE, Cut.AFTER]])
def test_a_send_whose_commit_nobody_saw_end_is_kept_once_and_answered_as_kept(
    address: str, cutter: Cutter, cuts: list[Cut], key: str | None
) -> None:
    async def scenario(store: PostgresStore) -> None:
        cutter.cuts.extend(cuts)

        first, second = await asyncio.gather(
            store.write(accept.keep, promise(1, key)), store.write(accept.keep, promise(2))
        )

        assert (first, second) == (Kept(request_id(1), True), Kept(request_id(2), True))

    run_scenario(cutter.address(address), scenario)
    assert cutter.cuts == []
    assert counted(address) == (2, 4, 4)


def test_a_send_that_was_delivered_before_it_was_answered_is_not_sent_again(address: str, cutter: Cutter) -> None:
    """Its jobs are gone by then; what is left of it is its request."""
    is_first = True

    def deliver_first(tx: Tx, promise: Promise) -> Kept:
        nonlocal is_first
        if tx.is_again and is_first:
            is_first = False
            while not outside(address, "delete from jobs returning id"):  # the cut commit may take a moment
                pass
        return accept.keep(tx, promise)

    async def scenario(store: PostgresStore) -> None:
        cutter.cuts.append(Cut.AFTER)
        assert await store.write(knows_itself(deliver_first), promise(1)) == Kept(request_id(1), True)

    run_scenario(cutter.address(address), scenario)
    assert counted(address) == (1, 2, 0)


def test_while_the_server_is_down_the_store_is_away_and_comes_back_by_itself() -> None:
    server = Server(Path(os.environ[postgres.PLACE]) / f"own_{os.getpid()}")
    server.make()
    server.start()

    async def scenario(store: PostgresStore) -> None:
        await store.write(make_table)
        await store.write(put, "before")
        await asyncio.to_thread(server.stop, "immediate")

        answers = await asyncio.gather(
            *(store.write(put, f"{number}") for number in range(5)), store.read(words), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [StoreAway] * 6

        await asyncio.to_thread(server.start)
        await store.write(put, "after")
        assert await store.read(words) == ["before", "after"]

    try:
        run_scenario(server.address(), scenario)
        with pytest.raises(StoreAway) as away:
            PostgresStore(f"{server.address('absent')}&password=secret", RealWorld())
    finally:
        server.stop()
    assert "absent" in str(away.value)
    assert "secret" not in str(away.value)
    with pytest.raises(StoreAway):
        PostgresStore(server.address(), RealWorld())


def test_an_address_that_makes_no_sense_is_away_and_not_shown() -> None:
    with pytest.raises(StoreAway) as away:
        PostgresStore("postgresql://pabal:secret@host/db?nonsense=1", RealWorld())

    assert "secret" not in str(away.value)


def test_a_statement_that_was_to_be_prepared_behind_one_that_failed_is_not_believed_to_be(address: str) -> None:
    """It is prepared when it is used often; behind a failure the server passes over it, unseen."""

    def add(tx: Tx, *words: str) -> None:
        for word in words:
            tx.rows_each("insert into words (word) values {rows}", [(word,)])

    def fail_then_add(tx: Tx) -> None:
        tx.rows_each("insert into words (word) select v.column1 || '' from (values {rows}) as v", [("a",)])
        add(tx, "behind")

    async def scenario(store: PostgresStore) -> None:
        with pytest.raises(LookupError):
            await store.write(put_then_fail, "nothing")  # else the next roll-back makes psycopg forget all
        await store.write(add, "a", "b", "c", "d", "e")
        with pytest.raises(psycopg.IntegrityError):
            await store.write(fail_then_add)

        await store.write(add, "f")

    run_scenario(address, scenario, writers=1)
    assert words_in(address) == ["a", "b", "c", "d", "e", "f"]


def test_what_is_answered_is_on_disk_even_where_the_database_says_otherwise(address: str) -> None:
    def setting(tx: Tx, name: str) -> Any:
        row = tx.row(f"show {name}")
        return row[0] if row else None

    async def scenario(store: PostgresStore) -> None:
        assert await store.write(setting, "synchronous_commit") == "on"
        assert await store.write(setting, "transaction_isolation") == "repeatable read"
        assert await store.read(setting, "transaction_isolation") == "repeatable read"
        assert await store.read(setting, "transaction_read_only") == "on"

    assert outside(address, "show synchronous_commit") == [("off",)]
    run_scenario(address, scenario)


def test_the_queue_leaves_room_for_changes_and_is_tidied_up_eagerly(address: str) -> None:
    ((options,),) = outside(address, "select reloptions from pg_class where relname = 'jobs'")

    assert "fillfactor=70" in options
    assert any(each.startswith("autovacuum_vacuum_scale_factor=") for each in options)


def test_texts_that_cannot_be_kept_are_a_fault_of_the_caller(address: str) -> None:
    def put_each(tx: Tx, word: str) -> None:
        tx.rows_each("insert into words (word) values {rows}", [(word,)])

    async def scenario(store: PostgresStore) -> None:
        for work in (put, put_each):
            with pytest.raises(psycopg.DataError):
                await store.write(work, "a\0b")

    run_scenario(address, scenario)
    assert words_in(address) == []


def test_many_rows_keep_their_nothings(address: str) -> None:
    rows = [(b"a", 1, "x"), (None, None, None), (b"b", -(2**63), "가")]

    def look(tx: Tx) -> list[tuple[Any, ...]]:
        return tx.rows_each("select v.* from (values {rows}) as v", rows)

    async def scenario(store: PostgresStore) -> None:
        assert await store.read(look) == rows

    run_scenario(address, scenario)
