"""The store on PostgreSQL: lost connections, unknown commit results, and required server settings."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pabal.service.sending import accept
from pabal.service.sending.accept import AcceptedRequest, NewRequest
from pabal.store.engine.base import StoreUnavailable, Tx, transaction
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.engine.write_queue import StoreLimits
from pabal.world import RealWorld
from tests.fixtures import postgres
from tests.fixtures.cutting_proxy import Cut, CuttingProxy
from tests.fixtures.postgres import Server
from tests.fixtures.postgres_store import (
    new_request,
    open_postgres,
    query_outside,
    row_counts,
    run_scenario,
    stored_words,
)
from tests.fixtures.rows import request_id
from tests.fixtures.store_modes import add_word, add_word_then_fail, create_words_table, list_words
from tests.store.conftest import with_words

TIMEOUT_S = 20.0


def cut_all(address: str) -> None:
    """Close every connection of the service to the database, as a server does at shutdown."""
    ours = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'pabal'"
    query_outside(address, f"{ours} and datname = current_database()")


async def test_connection_lost_while_idle_is_reopened(address: str) -> None:
    async with open_postgres(address, writers=1, limits=StoreLimits(readers=1)) as store:
        await store.write(add_word, "a")
        assert await store.read(list_words) == ["a"]
        cut_all(address)

        assert await store.read(list_words) == ["a"]
        await store.write(lambda tx: (list_words(tx), add_word(tx, "b")))

        assert await store.read(list_words) == ["a", "b"]


def read_begin(tx: Tx) -> list[str]:
    """Return when the transaction of each of two statements began."""
    return [row[0] for _ in range(2) for row in tx.fetch_all("select now()::text")]


async def test_statement_that_reads_alone_has_no_transaction_around_it(address: str) -> None:
    alone = transaction(single=True)(lambda tx: read_begin(tx))
    async with open_postgres(address, writers=1, limits=StoreLimits(readers=1)) as store:
        first, second = await store.read(read_begin)
        assert first == second

        first, second = await store.read(alone)
        assert first < second

        cut_all(address)
        assert len(await store.read(alone)) == 2
        with pytest.raises(psycopg.errors.UndefinedTable):
            await store.read(transaction(single=True)(lambda tx: tx.fetch_all("select 1 from nowhere")))
        assert len(await store.read(alone)) == 2


async def test_write_is_retried_when_connection_is_lost_before_commit(address: str) -> None:
    runs: list[None] = []

    def lose_connection(tx: Tx) -> int:
        runs.append(None)
        number = add_word(tx, "once")
        if len(runs) == 1:
            cut_all(address)
        list_words(tx)
        return number

    async with open_postgres(address) as store:
        await store.write(lose_connection)
    assert (len(runs), stored_words(address)) == (2, ["once"])


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """A database of the test server, reached through a socket that can be cut."""
    request.node.add_marker("real_time")
    return with_words(postgres.empty_database())


@pytest.mark.parametrize(("cut", "left"), [(Cut.BEFORE, []), (Cut.AFTER, ["nobody knows"])])
async def test_caller_learns_that_a_commit_has_an_unknown_result(
    address: str, cutter: CuttingProxy, cut: Cut, left: list[str]
) -> None:
    async with open_postgres(cutter.address(address)) as store:
        cutter.cuts.append(cut)
        with pytest.raises(StoreUnavailable):
            await store.write(add_word, "nobody knows")

        await store.write(add_word, "next")
    assert stored_words(address) == [*left, "next"]


@pytest.mark.parametrize("key", [None, "k1"])
@pytest.mark.parametrize("cuts", [[Cut.BEFORE], [Cut.AFTER], [Cut.AFTER, Cut.BEFORE], [Cut.BEFORE, Cut.AFTER]])
async def test_send_with_an_unknown_commit_result_is_stored_once_and_accepted(
    address: str, cutter: CuttingProxy, cuts: list[Cut], key: str | None
) -> None:
    async with open_postgres(cutter.address(address)) as store:
        cutter.cuts.extend(cuts)

        first, second = await asyncio.gather(
            store.write(accept.store_request, new_request(1, key)),
            store.write(accept.store_request, new_request(2)),
        )

        assert (first, second) == (AcceptedRequest(request_id(1), True), AcceptedRequest(request_id(2), True))
    assert cutter.cuts == []
    assert row_counts(address) == (2, 4, 4)


def test_send_delivered_before_its_answer_is_not_sent_again(address: str, cutter: CuttingProxy) -> None:
    """Its jobs are deleted by then; only its request remains."""
    is_first = True

    def deliver_first(tx: Tx, request: NewRequest) -> AcceptedRequest:
        nonlocal is_first
        if tx.is_retry and is_first:
            is_first = False
            while not query_outside(
                address, "delete from jobs returning id"
            ):  # the commit may take a moment after the cut
                pass
        return accept.store_request(tx, request)

    async def scenario(store: PostgresStore) -> None:
        cutter.cuts.append(Cut.AFTER)
        assert await store.write(transaction(retryable=True)(deliver_first), new_request(1)) == AcceptedRequest(
            request_id(1), True
        )

    run_scenario(cutter.address(address), scenario)
    assert row_counts(address) == (1, 2, 0)


def test_store_is_unavailable_while_the_server_is_down_and_recovers() -> None:
    server = Server(Path(os.environ[postgres.SERVER_FOLDER]) / f"own_{os.getpid()}")
    server.init()
    server.start()

    async def scenario(store: PostgresStore) -> None:
        await store.write(create_words_table)
        await store.write(add_word, "before")
        await asyncio.to_thread(server.stop, "immediate")

        answers = await asyncio.gather(
            *(store.write(add_word, f"{number}") for number in range(5)),
            store.read(list_words),
            return_exceptions=True,
        )
        assert [type(answer) for answer in answers] == [StoreUnavailable] * 6

        await asyncio.to_thread(server.start)
        await store.write(add_word, "after")
        assert await store.read(list_words) == ["before", "after"]

    try:
        run_scenario(server.address(), scenario)
        with pytest.raises(StoreUnavailable) as away:
            PostgresStore(f"{server.address('absent')}&password=secret", RealWorld())
    finally:
        server.stop()
    assert "absent" in str(away.value)
    assert "secret" not in str(away.value)
    with pytest.raises(StoreUnavailable):
        PostgresStore(server.address(), RealWorld())


def test_invalid_address_is_unavailable_and_not_shown() -> None:
    with pytest.raises(StoreUnavailable) as away:
        PostgresStore("postgresql://pabal:secret@host/db?nonsense=1", RealWorld())

    assert "secret" not in str(away.value)


async def test_statement_after_a_failed_one_does_not_count_as_prepared(address: str) -> None:
    """A statement is prepared after several uses; the server skips it after a failure, without an error."""

    def add(tx: Tx, *words: str) -> None:
        for word in words:
            tx.execute_many("insert into words (word) values {rows}", [(word,)])

    def fail_then_add(tx: Tx) -> None:
        tx.execute_many("insert into words (word) select v.column1 || '' from (values {rows}) as v", [("a",)])
        add(tx, "behind")

    async with open_postgres(address, writers=1) as store:
        with pytest.raises(LookupError):
            await store.write(
                add_word_then_fail, "nothing"
            )  # otherwise the next rollback clears psycopg's list of prepared statements
        await store.write(add, "a", "b", "c", "d", "e")
        with pytest.raises(psycopg.IntegrityError):
            await store.write(fail_then_add)

        await store.write(add, "f")
    assert stored_words(address) == ["a", "b", "c", "d", "e", "f"]


async def test_commits_are_durable_whatever_the_database_default_is(
    postgres_store: PostgresStore, address: str
) -> None:

    def setting(tx: Tx, name: str) -> Any:
        row = tx.fetch_one(f"show {name}")
        return row[0] if row else None

    assert query_outside(address, "show synchronous_commit") == [("off",)]
    assert await postgres_store.write(setting, "synchronous_commit") == "on"
    assert await postgres_store.write(setting, "transaction_isolation") == "repeatable read"
    assert await postgres_store.read(setting, "transaction_isolation") == "repeatable read"
    assert await postgres_store.read(setting, "transaction_read_only") == "on"


def test_queue_table_has_fill_factor_and_eager_vacuum(address: str) -> None:
    ((options,),) = query_outside(address, "select reloptions from pg_class where relname = 'jobs'")

    assert "fillfactor=70" in options
    assert any(each.startswith("autovacuum_vacuum_scale_factor=") for each in options)


async def test_text_that_cannot_be_stored_is_an_error_of_the_caller(address: str) -> None:

    def put_each(tx: Tx, word: str) -> None:
        tx.execute_many("insert into words (word) values {rows}", [(word,)])

    async with open_postgres(address) as store:
        for work in (add_word, put_each):
            with pytest.raises(psycopg.DataError):
                await store.write(work, "a\0b")
    assert stored_words(address) == []


async def test_execute_many_keeps_null_values(postgres_store: PostgresStore) -> None:
    rows = [(b"a", 1, "x"), (None, None, None), (b"b", -(2**63), "가")]

    def look(tx: Tx) -> list[tuple[Any, ...]]:
        return tx.execute_many("select v.* from (values {rows}) as v", rows)

    assert await postgres_store.read(look) == rows


class Held:
    """A write that has begun and waits until it is let go; its transaction sees nothing that is committed later."""

    def __init__(self) -> None:
        self._has_begun, self._may_end = threading.Event(), threading.Event()

    def write(self, tx: Tx) -> None:
        list_words(tx)
        self._has_begun.set()
        assert self._may_end.wait(TIMEOUT_S)

    async def begin(self, store: PostgresStore) -> "asyncio.Future[None]":
        task = asyncio.ensure_future(store.write(self.write))
        assert await asyncio.to_thread(self._has_begun.wait, TIMEOUT_S)
        return task

    def let_go(self) -> None:
        self._may_end.set()


async def test_write_sees_what_was_committed_before_it_though_a_transaction_was_open(address: str) -> None:
    async with open_postgres(address, writers=2) as store:
        old, other = Held(), Held()
        tasks = [await old.begin(store)]
        await store.write(add_word, "committed")
        tasks.append(await other.begin(store))  # so that only the old transaction's connection becomes free
        later = asyncio.ensure_future(store.write(list_words))
        await asyncio.sleep(0)  # it is dispatched
        await asyncio.sleep(0)
        old.let_go()

        assert await asyncio.wait_for(later, TIMEOUT_S) == ["committed"]
        other.let_go()
        await asyncio.gather(*tasks)
