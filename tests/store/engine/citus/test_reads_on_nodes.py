"""On a real Citus, due jobs are looked for on the node that has them, where it can be asked itself."""

from collections.abc import Sequence

import pytest

from pabal.domain.base.dates import Instant
from pabal.service.sending.accept import store_request
from pabal.service.slots import Nodes
from pabal.store.engine.base import NodeUnavailable
from pabal.store.engine.citus.places import is_distributed
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.engine.postgres.session import node_address
from pabal.store.engine.write_queue import StoreLimits
from pabal.store.queue import queue
from pabal.store.queue.queue import Lane, LaneDue
from tests.fixtures import citus
from tests.fixtures.postgres_store import run_scenario
from tests.fixtures.rows import CARRIER
from tests.fixtures.virtual import NOON
from tests.store.engine.citus.test_one_phase import locate, request_in
from tests.store.engine.citus.test_statements import executed, forget_statements

NOBODY = "127.0.0.1:1"
"""Where nobody listens."""


def lanes_of(slots: Sequence[int]) -> list[tuple[int, int, Instant]]:
    return [(slot, Lane.SMALL, 0) for slot in slots]


def test_address_of_a_node_keeps_all_but_the_place_and_the_patience() -> None:
    given = "postgresql://pabal:secret@coordinator:5432/messages?sslmode=verify-full&hostaddr=10.0.0.1"

    said = node_address(given, "worker1.example:5433")

    assert set(said.split()) == {
        "user=pabal",
        "password=secret",
        "dbname=messages",
        "sslmode=verify-full",
        "host=worker1.example",
        "port=5433",
        "connect_timeout=2",
    }


if citus.is_available():  # else the summary says that it was not run

    async def nodes_of(store: PostgresStore) -> tuple[Nodes, list[int]]:
        """Send one message in each of some slots; return where they are, and those of the first node."""
        slots = await locate(store)
        nodes = Nodes(store, slots)
        await nodes.refresh()
        for slot in slots:
            await store.write(store_request, request_in(slot, 1))
        return nodes, nodes.by_node(slots)[0]

    def test_due_jobs_of_a_node_take_no_statement_of_the_coordinator() -> None:
        address = citus.empty_database()

        async def scenario(store: PostgresStore) -> None:
            _, there = await nodes_of(store)
            await store.read(queue.next_due_by_lane, CARRIER, lanes_of(there))  # which connects
            forget_statements(address)

            found = await store.read(queue.next_due_by_lane, CARRIER, lanes_of(there))

            assert sorted(found) == sorted(LaneDue(slot, Lane.SMALL, NOON) for slot in there)
            assert not executed(address)

        run_scenario(address, scenario, writers=1, limits=StoreLimits(readers=1))

    def test_coordinator_is_asked_where_a_node_has_not_all_of_the_slots() -> None:
        async def scenario(store: PostgresStore) -> None:
            nodes, there = await nodes_of(store)
            (elsewhere, *_) = [slot for slot in nodes.places if nodes.node_of(slot) != nodes.node_of(there[0])]
            lanes = lanes_of([*there, elsewhere])

            with pytest.raises(NodeUnavailable):
                await store.read_at(nodes.node_of(there[0]), queue.next_due_by_lane, CARRIER, lanes)
            found = await store.read(queue.next_due_by_lane, CARRIER, lanes)

            assert sorted(found) == sorted(LaneDue(slot, Lane.SMALL, NOON) for slot in [*there, elsewhere])

        run_scenario(citus.empty_database(), scenario)

    def test_node_that_refuses_connections_is_left_to_the_coordinator() -> None:
        async def scenario(store: PostgresStore) -> None:
            nodes, there = await nodes_of(store)
            store.slot_nodes.update(dict.fromkeys(nodes.places, NOBODY))

            assert len(await store.read(queue.next_due_by_lane, CARRIER, lanes_of(there))) == len(there)

            assert nodes.lost == []

        run_scenario(citus.empty_database(), scenario)

    def test_statement_that_fails_on_a_node_is_left_to_the_coordinator() -> None:
        async def scenario(store: PostgresStore) -> None:
            nodes, there = await nodes_of(store)

            with pytest.raises(NodeUnavailable):
                await store.read_at(nodes.node_of(there[0]), lambda tx: tx.fetch_all("select 1 from accounts"))

            assert await store.read(is_distributed)

        run_scenario(citus.empty_database(), scenario)
