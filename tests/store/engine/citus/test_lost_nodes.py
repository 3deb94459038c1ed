"""Errors of Citus about lost nodes, as a plain PostgreSQL can raise them, too: only what needs the node fails."""

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from pabal.store.engine.base import NodeUnavailable, StoreUnavailable, Tx, transaction
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.engine.postgres.session import find_lost_node
from pabal.world import RealWorld
from tests.fixtures.postgres_store import open_postgres, query_outside, stored_words
from tests.fixtures.store_modes import add_word
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time

NODE = "10.1.2.3:5432"
TURNS_TO_DISPATCH = 3
"""After so many turns of the event loop, a write that was begun is with the writers."""
DISPATCH_TIMEOUT_S = 30.0
REFUSED = f"connection to the remote node pabal@{NODE} failed with the following error: Connection refused"


class StoppedWorld(RealWorld):
    """A world in which nothing takes time: writes of one turn share a commit, however busy the machine is."""

    def monotonic(self) -> float:
        return 0.0


def run_together(address: str, scenario: Callable[[PostgresStore], Awaitable[None]]) -> None:
    """Run a scenario in virtual time: writes of one turn always share a commit, however busy the machine is."""

    async def whole() -> None:
        store = PostgresStore(address, VirtualWorld(), writers=1)
        try:
            await scenario(store)
        finally:
            await store.close()

    run_in_virtual_time(whole())


def raise_from_server(tx: Tx, message: str, state: str) -> None:
    tx.execute(f"do $$ begin raise exception using message = '{message}', errcode = '{state}'; end $$")


def add_on_lost_node(tx: Tx, word: str) -> None:
    add_word(tx, word)
    raise_from_server(tx, REFUSED, "08006")


@pytest.mark.parametrize(
    ("message", "state", "node"),
    [
        (REFUSED, "08006", NODE),
        (f"failure on connection marked as essential: {NODE}", "XX000", NODE),
        ("could not commit transaction for shard 102008 on at least one active node", "XX000", ""),
        (f"failed to prepare transaction pabal_1 on host {NODE}", "XX000", NODE),
        ("terminating connection due to administrator command", "57P01", None),
        ("unexpected thing", "XX000", None),
        (REFUSED, "22000", None),
    ],
)
def test_lost_node_is_recognized_by_its_error(address: str, message: str, state: str, node: str | None) -> None:
    with psycopg.connect(address, autocommit=True) as connection, pytest.raises(psycopg.Error) as raised:
        connection.execute(
            f"do $$ begin raise exception using message = '{message}', errcode = '{state}'; end $$".encode()
        )

    assert find_lost_node(raised.value) == node


def test_only_the_writes_of_a_lost_node_fail(address: str) -> None:
    async def scenario(store: PostgresStore) -> None:
        results = await asyncio.gather(
            store.write(add_word, "a"),
            store.write(add_on_lost_node, "b"),
            store.write(add_word, "c"),
            store.write(add_on_lost_node, "d"),
            store.write(add_word, "e"),
            return_exceptions=True,
        )

        lost = [each for each in results if isinstance(each, BaseException)]
        assert [type(each) for each in lost] == [NodeUnavailable] * 2
        assert "Connection refused" in str(lost[0])
        assert not any(each.is_uncertain for each in lost if isinstance(each, NodeUnavailable))
        assert store.lost_nodes == {NODE}

    run_together(address, scenario)
    assert sorted(stored_words(address)) == ["a", "c", "e"]


async def test_write_that_comes_while_those_of_a_lost_node_fail_is_not_forgotten(address: str) -> None:
    late: list[asyncio.Task[int]] = []
    runs: list[int] = []
    async with open_postgres(address, StoppedWorld(), writers=1) as store:
        loop = asyncio.get_running_loop()

        async def write_late() -> None:
            late.append(asyncio.create_task(store.write(add_word, "late")))
            for _ in range(TURNS_TO_DISPATCH):
                await asyncio.sleep(0)

        def add_again(tx: Tx) -> None:
            runs.append(add_word(tx, "a"))
            if len(runs) == 2:  # alone; then the other one runs alone, and fails
                asyncio.run_coroutine_threadsafe(write_late(), loop).result(DISPATCH_TIMEOUT_S)

        await asyncio.gather(store.write(add_again), store.write(add_on_lost_node, "b"), return_exceptions=True)
        await late[0]
    assert len(runs) == 2
    assert sorted(stored_words(address)) == ["a", "late"]


async def test_read_of_a_lost_node_fails_and_names_it(postgres_store: PostgresStore) -> None:
    with pytest.raises(NodeUnavailable) as raised:
        await postgres_store.read(raise_from_server, REFUSED, "08006")

    assert raised.value.node == NODE
    assert await postgres_store.read(lambda tx: tx.fetch_all("select 1")) == [(1,)]


def fail_at_commit(tx: Tx, word: str) -> None:
    """Add a word; the commit fails as it does when a node is lost meanwhile."""
    tx.execute(
        "create or replace function lose_node() returns trigger language plpgsql as"
        f" $$ begin raise exception using message = '{REFUSED}', errcode = '08006'; end $$"
    )
    tx.execute("create temporary table commits (word text) on commit drop")
    tx.execute(
        "create constraint trigger lost after insert on commits deferrable initially deferred"
        " for each row execute function lose_node()"
    )
    tx.execute("insert into commits (word) values (?)", (word,))


def test_commit_that_a_lost_node_did_not_answer_is_uncertain(address: str) -> None:
    runs: list[bool] = []

    @transaction(retryable=True)
    def retry(tx: Tx) -> str:
        runs.append(tx.is_retry)
        return "found"

    async def scenario(store: PostgresStore) -> None:
        lost, other, again = await asyncio.gather(
            store.write(fail_at_commit, "a"), store.write(add_word, "b"), store.write(retry), return_exceptions=True
        )

        assert isinstance(lost, NodeUnavailable)
        assert lost.is_uncertain
        assert isinstance(other, StoreUnavailable)  # nobody knows whether it was stored
        assert again == "found"
        assert runs == [False, True]

    run_together(address, scenario)
    assert stored_words(address) == []


async def test_connection_stays_usable_after_a_node_was_lost(address: str) -> None:
    async with open_postgres(address, writers=1) as store:
        for word in ("a", "b"):
            with pytest.raises(NodeUnavailable):
                await store.write(add_on_lost_node, word)
            await store.write(add_word, word)
    assert query_outside(address, "select count(*) from words") == [(2,)]
