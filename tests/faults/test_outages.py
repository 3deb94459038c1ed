"""A service whose PostgreSQL is stopped, disconnected or full: it is unavailable, then recovers."""

import asyncio
import os
from pathlib import Path
from random import Random

import psycopg
import pytest

from pabal.store.engine.postgres.postgres_store import TIMEOUT_S
from tests.faults.clients import wait_until, wait_until_ready
from tests.faults.interference import count_in_log, interfering_writers
from tests.faults.scenarios import ANSWERS_BETWEEN_FAULTS, FaultScenario, under_load
from tests.faults.servers import PASSWORD, dedicated_folder, dedicated_server
from tests.fixtures.cutting_proxy import Cut, cutting_proxy
from tests.fixtures.live import run

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
STOPS = 2
COLLISIONS = 2
CUTS = 10 if IS_TORTURE else 3
COMMITS, CUT_SHARE = 800 if IS_TORTURE else 250, 0.03


async def wait_until_unavailable(scenario: FaultScenario) -> None:
    """Return once callers and the readiness check were told that the service is unavailable."""
    await scenario.load.wait_for_result("SERVICE_UNAVAILABLE", 5)
    await wait_until_ready(scenario.live.base_url, False)


async def restart_server(scenario: FaultScenario) -> None:
    for _ in range(STOPS):
        await asyncio.to_thread(scenario.server.stop, "immediate")
        await wait_until_unavailable(scenario)
        await asyncio.to_thread(scenario.server.start)
        await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)


async def drop_connections_repeatedly(scenario: FaultScenario) -> None:
    for _ in range(CUTS):
        assert await asyncio.to_thread(scenario.server.drop_connections) > 0
        await scenario.load.wait_for_answers(5)


async def make_read_only(scenario: FaultScenario) -> None:
    scenario.server.set_option("default_transaction_read_only", "on")
    await wait_until_unavailable(scenario)
    scenario.server.set_option("default_transaction_read_only", None)


async def start_slowly(scenario: FaultScenario) -> None:
    await asyncio.to_thread(scenario.server.stop, "fast")
    await asyncio.to_thread(scenario.server.start_without_connections)
    await wait_until_unavailable(scenario)
    await asyncio.to_thread(scenario.server.stop, "fast")
    await asyncio.to_thread(scenario.server.start)


async def use_up_connections(scenario: FaultScenario) -> None:
    before = scenario.load.results["SERVICE_UNAVAILABLE"]
    with scenario.server.exhaust_connections() as take_free_connections:
        while scenario.load.results["SERVICE_UNAVAILABLE"] < before + 5:
            scenario.server.drop_connections()
            await asyncio.to_thread(take_free_connections)
        await wait_until_ready(scenario.live.base_url, False)
        refused = await asyncio.to_thread(run, "key", "list", data=scenario.live.data)
        assert refused.returncode == 1
        assert "connection slots are reserved" in refused.stderr
        assert PASSWORD not in refused.stderr


@pytest.mark.torture
@pytest.mark.slow
def test_nothing_is_lost_or_duplicated_through_server_faults(tmp_path: Path) -> None:
    """One service goes through all faults, so that each fault meets the state that the one before left."""
    faults = (
        restart_server,
        drop_connections_repeatedly,
        make_read_only,
        start_slowly,
        use_up_connections,
    )
    with dedicated_server(max_connections="20") as server, under_load(server, tmp_path) as scenario:

        async def inject_faults() -> None:
            for fault in faults:
                await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)
                await fault(scenario)
            await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

        scenario.run(inject_faults)


@pytest.mark.torture
@pytest.mark.slow
def test_nothing_is_lost_or_duplicated_when_commits_are_cut(tmp_path: Path) -> None:
    rng = Random(8)
    cuts = [rng.choice([Cut.BEFORE, Cut.AFTER]) if rng.random() < CUT_SHARE else Cut.NOT for _ in range(COMMITS)]
    with (
        dedicated_server() as server,
        dedicated_folder() as folder,
        cutting_proxy(server.folder, folder) as cutter,
        under_load(server, tmp_path, cutter.address(server.store)) as scenario,
    ):

        async def inject_faults() -> None:
            cutter.cuts[:] = cuts
            await wait_until(lambda: not cutter.cuts)
            await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

        scenario.run(inject_faults)


@pytest.mark.torture
def test_callers_do_not_notice_an_interfering_writer(tmp_path: Path) -> None:
    with (
        dedicated_server(deadlock_timeout="10ms", log_line_prefix="%a ") as server,
        under_load(server, tmp_path) as scenario,
    ):

        async def inject_faults() -> None:
            with interfering_writers(server):
                await wait_until(lambda: count_in_log(server, "pabal ERROR:  deadlock detected") >= COLLISIONS)
                await wait_until(
                    lambda: count_in_log(server, "pabal ERROR:  could not serialize access") >= COLLISIONS
                )
            await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

        scenario.run(inject_faults)
        assert set(scenario.load.results) == {"SUCCESS"}


@pytest.mark.torture
def test_callers_get_an_answer_while_another_client_locks_the_queue(tmp_path: Path) -> None:
    with dedicated_server() as server, under_load(server, tmp_path) as scenario:

        async def inject_faults() -> None:
            await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)
            with psycopg.connect(server.store) as holder:
                holder.execute("lock table jobs in exclusive mode")
                await scenario.load.wait_for_result("SERVICE_UNAVAILABLE", 5)
            await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

        scenario.run(inject_faults)
        assert scenario.load.slowest_s < TIMEOUT_S + 5
