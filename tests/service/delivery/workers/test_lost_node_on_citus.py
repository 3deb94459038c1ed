"""A node of a real Citus is lost: its slots wait, and all others go on."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pabal.domain.base import identifiers
from pabal.domain.sends.message import Outcome
from pabal.store.engine.base import NodeUnavailable
from pabal.store.queue import receipts
from tests.fixtures import citus, postgres
from tests.fixtures.cluster import Cluster, Process, run_scenario
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier
from tests.fixtures.slot_sharing import REBALANCE_S, carrier_of, fake_carriers, send_many, submissions

CLOSED_PORT = 1
"""Nobody listens there."""
RECOVERY_S = 5.0

on_citus = pytest.mark.parametrize("engine", ["citus"], indirect=True)


@contextlib.contextmanager
def losing_a_node(folder: Path) -> Iterator[str]:
    """Tell the coordinator that the first worker node is where nobody answers; yield its name there."""
    host, port = citus.nodes()[1]
    with psycopg.connect(str(postgres.address_in(folder)), autocommit=True) as connection:
        move = "update pg_dist_node set nodeport = %s where nodeport = %s"
        connection.execute(move, (CLOSED_PORT, port))
        try:
            yield f"{host}:{CLOSED_PORT}"
        finally:
            connection.execute(move, (port, CLOSED_PORT))


async def find_slots(process: Process, node: str) -> set[int]:
    """Return the slots of a node, as the service knows them from now on."""
    nodes = process.env.context.nodes
    await nodes.refresh()
    return {slot for slot in process.env.context.slots.numbers if nodes.node_of(slot) == node}


if citus.is_available():  # else the summary says that it was not run

    @on_citus
    def test_other_slots_of_citus_are_accepted_and_delivered(tmp_path: Path) -> None:
        async def scenario(cluster: Cluster) -> None:
            process = await cluster.start_process("one")
            await cluster.wait(REBALANCE_S)
            before = await send_many(process, 20)
            await cluster.wait(2)
            with losing_a_node(tmp_path) as node:
                lost = await find_slots(process, node)
                assert 0 < len(lost) < cluster.slots

                sent = await send_many(process, 20)
                await cluster.wait(2)

                assert process.env.context.nodes.lost == [node]
                assert not lost & {identifiers.slot_of(one) for one in sent}
                assert submissions(process) == Counter([*before, *sent])
            await process.env.context.nodes.refresh()
            await cluster.wait(RECOVERY_S)
            assert process.env.context.nodes.lost == []
            after = await send_many(process, 20)
            await cluster.wait(2)
            assert submissions(process) == Counter([*before, *sent, *after])

        run_scenario(tmp_path, scenario, carriers=fake_carriers())

    @on_citus
    def test_receipts_of_a_lost_node_of_citus_are_processed_when_it_is_back(tmp_path: Path) -> None:
        async def scenario(cluster: Cluster) -> None:
            process = await cluster.start_process("one")
            await cluster.wait(REBALANCE_S)
            sent = await send_many(process, 20)
            await cluster.wait(2)
            with losing_a_node(tmp_path) as node:
                lost = await find_slots(process, node)
                await carrier_of(process).report(*((one.hex(), Outcome.DELIVERED) for one in sent))

                postponed = await cluster.store.read(receipts.list_postponed_slots)
                assert {slot for _, slot in postponed} == lost & {identifiers.slot_of(one) for one in sent}
                with pytest.raises(NodeUnavailable):
                    await cluster.store.read(lambda tx: tx.fetch_all("select count(*) from jobs"))
            await process.env.context.nodes.refresh()
            await cluster.wait(RECOVERY_S)

            assert await cluster.store.read(lambda tx: tx.fetch_all("select count(*) from jobs")) == [(0,)]
            assert await cluster.store.read(receipts.list_postponed_slots) == []

        run_scenario(tmp_path, scenario, carriers=lambda: {DEFAULT_CARRIER: FakeCarrier()})

    @on_citus
    def test_nodes_that_refuse_connections_are_served_by_the_coordinator(tmp_path: Path) -> None:
        async def scenario(cluster: Cluster) -> None:
            process = await cluster.start_process("one")
            await cluster.wait(REBALANCE_S)
            nodes = process.env.context.nodes
            nodes.places = {
                slot: place._replace(node=f"127.0.0.1:{CLOSED_PORT}") for slot, place in nodes.places.items()
            }

            sent = await send_many(process, 20)
            await cluster.wait(2)

            assert nodes.lost == []
            assert submissions(process) == Counter(sent)

        run_scenario(tmp_path, scenario, carriers=fake_carriers())
