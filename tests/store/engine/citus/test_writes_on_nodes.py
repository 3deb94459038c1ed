"""Writes that stay in their slot are committed on its node, and by the coordinator where that does not work.

The node is the test server itself, reached by another way than the coordinator.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.service.sending.accept import AcceptedRequest, IdempotencyKey, store_request
from pabal.store.engine.base import NodeUnavailable, Tx, transaction
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES, MARKER_TABLE
from pabal.store.engine.citus.places import AVOID_S, MAX_AVOID_S, AskedNodes
from pabal.store.engine.postgres.connection import BEGIN_WRITE, PostgresConnection
from pabal.store.engine.postgres.postgres_store import PostgresStore
from tests.fixtures import citus, postgres
from tests.fixtures.cutting_proxy import Cut, CuttingProxy
from tests.fixtures.postgres_store import (
    new_request,
    open_postgres,
    query_outside,
    row_counts,
    run_scenario,
    stored_words,
)
from tests.fixtures.rows import request_id
from tests.fixtures.smpp import wait_until
from tests.fixtures.store_modes import add_word
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time
from tests.store.conftest import with_words
from tests.store.engine.citus.test_one_phase import locate

SLOT = identifiers.slot_of(request_id(1))
PRETENCE = (
    f"create table {MARKER_TABLE} (id bigint primary key)",
    "create table pg_dist_local_group as select 7 as groupid",
    "create table pg_dist_placement as select 1::bigint as shardid, 7 as groupid",
    "create function get_shard_id_for_distribution_column(regclass, smallint) returns bigint return 1",
    "create function lock_shard_metadata(int, bigint[]) returns void return pg_advisory_xact_lock_shared(1)",
)
END_OF_PRETENCE = (
    "drop function get_shard_id_for_distribution_column(regclass, smallint), lock_shard_metadata(int, bigint[])",
    f"drop table {MARKER_TABLE}, pg_dist_local_group, pg_dist_placement",
)


@pytest.fixture
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database of the test server that counts as distributed, and has all slots in one shard of each table."""
    request.node.add_marker("real_time")
    found = with_words(postgres.empty_database())
    for statement in (*PRETENCE, *(f"create view {one}_1 as select * from {one}" for one in DISTRIBUTED_TABLES)):
        query_outside(found, statement)
    yield found
    for name in DISTRIBUTED_TABLES:
        query_outside(found, f"drop view {name}_1")
    for statement in END_OF_PRETENCE:
        query_outside(found, statement)


@pytest.fixture
def node(cutter: CuttingProxy) -> str:
    """The node of all slots, whose connections can be cut."""
    return f"{cutter.folder}:5432"


@transaction(slot_of=lambda _: SLOT, stays_in_slot=lambda _: True)
def add_in_slot(tx: Tx, word: str) -> None:
    add_word(tx, word)


async def test_writes_that_stay_in_their_slot_are_committed_on_its_node(
    address: str, cutter: CuttingProxy, node: str
) -> None:
    async with open_postgres(address) as store:
        store.slot_nodes[SLOT] = node
        cutter.cuts.extend([Cut.NOT, Cut.NOT])

        await store.write(add_word, "by the coordinator")
        assert len(cutter.cuts) == 2
        await store.write(store_request, new_request(1))
        await store.write(add_in_slot, "on the node")

    assert cutter.cuts == []
    assert row_counts(address) == (1, 2, 2)
    assert stored_words(address) == ["by the coordinator", "on the node"]


@pytest.mark.parametrize("key", [None, "k1"])
@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
async def test_send_whose_commit_on_the_node_has_an_unknown_result_is_stored_once(
    address: str, cutter: CuttingProxy, node: str, cut: Cut, key: str | None
) -> None:
    async with open_postgres(address) as store:
        store.slot_nodes[SLOT] = node
        cutter.cuts.append(cut)

        one, other = await asyncio.gather(
            store.write(store_request, new_request(1, key)), store.write(store_request, new_request(2))
        )

        assert (one, other) == (AcceptedRequest(request_id(1), True), AcceptedRequest(request_id(2), True))
        assert not store.lost_nodes
    assert cutter.cuts == []
    assert row_counts(address) == (2, 4, 4)


@pytest.mark.parametrize(("cut", "left"), [(Cut.BEFORE, []), (Cut.AFTER, ["nobody knows"])])
async def test_write_that_may_not_run_again_fails_where_the_commit_has_an_unknown_result(
    address: str, cutter: CuttingProxy, node: str, cut: Cut, left: list[str]
) -> None:
    async with open_postgres(address, writers=1) as store:
        store.slot_nodes[SLOT] = node
        cutter.cuts.append(cut)
        with pytest.raises(NodeUnavailable) as raised:
            await store.write(add_in_slot, "nobody knows")

        assert (raised.value.node, raised.value.is_uncertain) == (node, True)
        assert not store.lost_nodes
        await store.write(add_in_slot, "next")
    assert stored_words(address) == [*left, "next"]


@pytest.fixture
def shard(address: str) -> str:
    """A table that the node takes for the shard of requests."""
    query_outside(address, "create table requests_of_node (like requests including all)")
    query_outside(address, "create or replace view requests_1 as select * from requests_of_node")
    return "requests_of_node"


async def test_shard_that_was_moved_is_written_to_by_the_coordinator(address: str, node: str, shard: str) -> None:
    async with open_postgres(address) as store:
        store.slot_nodes[SLOT] = node
        query_outside(address, "update pg_dist_placement set groupid = 8")

        await store.write(store_request, new_request(1))

        assert row_counts(address) == (1, 2, 2)
        query_outside(address, "update pg_dist_placement set groupid = 7")
        await store.write(store_request, new_request(2))
    assert row_counts(address) == (1, 4, 4)
    assert query_outside(address, f"select count(*) from {shard}") == [(1,)]


async def test_shard_that_moves_while_its_lock_is_awaited_is_written_to_by_the_coordinator(
    address: str, node: str, shard: str
) -> None:
    async with open_postgres(address) as store, await psycopg.AsyncConnection.connect(address) as mover:
        store.slot_nodes[SLOT] = node
        await mover.execute("select pg_advisory_xact_lock(1)")
        await mover.execute("update pg_dist_placement set groupid = 8")

        writing = asyncio.create_task(store.write(store_request, new_request(1)))
        await wait_until(
            lambda: query_outside(address, "select 1 from pg_locks where locktype = 'advisory' and not granted")
        )
        await mover.commit()
        await writing

    assert query_outside(address, f"select count(*) from {shard}") == [(0,)]
    assert row_counts(address) == (1, 2, 2)


@transaction(slot_of=lambda: SLOT, stays_in_slot=lambda: True)
def read_in_slot(tx: Tx) -> list[str]:
    return [row[0] for row in tx.fetch_all("select word from words order by word")]


async def test_reads_that_stay_in_their_slot_are_asked_of_its_node(address: str, node: str, tmp_path: Path) -> None:
    async with open_postgres(address) as store:
        await store.write(add_word, "one")
        store.slot_nodes[SLOT] = node
        assert await store.read(read_in_slot) == ["one"]
        assert await store.read_at(node, read_in_slot) == ["one"]

        refusing = f"{tmp_path}:5432"
        store.slot_nodes[SLOT] = refusing
        assert await store.read(read_in_slot) == ["one"]
        with pytest.raises(NodeUnavailable, match="a moment ago"):
            await store.read_at(refusing, read_in_slot)


@transaction(slot_of=lambda: SLOT, stays_in_slot=lambda: True)
def count_jobs(tx: Tx) -> int:
    row = tx.fetch_one("select count(*) from jobs where slot = ?", (SLOT,))
    return int(row[0]) if row else -1


async def test_tables_of_a_shard_are_read_unless_it_was_moved(address: str, node: str) -> None:
    query_outside(address, "create or replace view jobs_1 as select * from jobs where false")
    async with open_postgres(address) as store:
        await store.write(store_request, new_request(1))
        store.slot_nodes[SLOT] = node

        assert await store.read(count_jobs) == 0
        query_outside(address, "update pg_dist_placement set groupid = 8")
        assert await store.read(count_jobs) == 2


async def test_coordinator_commits_where_the_node_refuses_connections(address: str, tmp_path: Path) -> None:
    async with open_postgres(address) as store:
        store.slot_nodes[SLOT] = f"{tmp_path}:5432"

        await store.write(store_request, new_request(1))
        await store.write(add_in_slot, "a")

        assert not store.lost_nodes
    assert row_counts(address) == (1, 2, 2)
    assert stored_words(address) == ["a"]


async def test_refusal_of_one_send_leaves_the_others_and_the_node_as_they_are(
    address: str, cutter: CuttingProxy, node: str
) -> None:
    async with open_postgres(address) as store:
        store.slot_nodes[SLOT] = node
        await store.write(store_request, new_request(1, "k1"))
        other = new_request(2)._replace(idempotency_key=IdempotencyKey("k1", b"another digest"))

        refused, stored = await asyncio.gather(
            store.write(store_request, other), store.write(store_request, new_request(3)), return_exceptions=True
        )
        cutter.cuts.append(Cut.NOT)
        await store.write(store_request, new_request(4))

    assert isinstance(refused, Refused)
    assert stored == AcceptedRequest(request_id(3), True)
    assert cutter.cuts == []
    assert row_counts(address) == (3, 6, 6)


def test_server_that_knows_no_distributed_tables_is_not_asked() -> None:
    there = PostgresConnection(postgres.empty_database(), BEGIN_WRITE, is_node=True)

    with pytest.raises(psycopg.OperationalError):
        there.begin()


def test_node_that_fails_again_and_again_is_asked_less_and_less() -> None:
    async def scenario() -> None:
        nodes = AskedNodes(VirtualWorld())
        pauses = [AVOID_S, 2 * AVOID_S, 4 * AVOID_S, 8 * AVOID_S, 16 * AVOID_S, MAX_AVOID_S, MAX_AVOID_S]
        for pause_s in pauses:
            nodes.note_failure("one:5432", OSError("refused"))
            await asyncio.sleep(pause_s - 1)
            assert not nodes.may_ask("one:5432")
            await asyncio.sleep(1)
            assert nodes.may_ask("one:5432")
        nodes.note_answer("one:5432")
        nodes.note_failure("one:5432", OSError("refused"))

        await asyncio.sleep(AVOID_S)

        assert nodes.may_ask("one:5432")
        assert nodes.may_ask("two:5432")

    run_in_virtual_time(scenario())


if citus.is_available():  # else the summary says that it was not run

    def test_statement_about_tables_of_the_coordinator_is_left_to_it() -> None:
        async def scenario(store: PostgresStore) -> None:
            (slot, *_) = await locate(store)

            @transaction(slot_of=lambda: slot, stays_in_slot=lambda: True)
            def read_elsewhere(tx: Tx) -> int:
                return len(tx.fetch_all("select id from mails"))

            assert await store.write(read_elsewhere) == 0

        run_scenario(citus.empty_database(), scenario)
