"""The real service while PostgreSQL is stopped, cut off or full: unavailable while it must be, then as before."""

import asyncio
from pathlib import Path
from random import Random

import psycopg
import pytest

from pabal.store.engine.postgres import ANSWER_WITHIN_S
from tests.faults.clients import until, until_ready
from tests.faults.interference import meddling, said
from tests.faults.scenarios import ANSWERS_BETWEEN, Scenario, under_load
from tests.faults.servers import PASSWORD, own_folder, own_server
from tests.fixtures.cutting_proxy import Cut, cutting
from tests.fixtures.live import run

STOPS = 2
COLLISIONS = 2
CUTS = 10
COMMITS, CUT_SHARE = 800, 0.03


async def unavailable(scenario: Scenario) -> None:
    """Return once callers and those who ask after its health were told that the service cannot be used now."""
    await scenario.load.until_told("SERVICE_UNAVAILABLE", 5)
    await until_ready(scenario.live.base, False)


async def stopped_at_once_and_started_again(scenario: Scenario) -> None:
    for _ in range(STOPS):
        await asyncio.to_thread(scenario.server.stop, "immediate")
        await unavailable(scenario)
        await asyncio.to_thread(scenario.server.start)
        await scenario.load.until(ANSWERS_BETWEEN)


async def cut_off_again_and_again(scenario: Scenario) -> None:
    for _ in range(CUTS):
        assert await asyncio.to_thread(scenario.server.cut) > 0
        await scenario.load.until(5)


async def read_only(scenario: Scenario) -> None:
    scenario.server.set("default_transaction_read_only", "on")
    await unavailable(scenario)
    scenario.server.set("default_transaction_read_only", None)


async def slow_to_start(scenario: Scenario) -> None:
    await asyncio.to_thread(scenario.server.stop, "fast")
    await asyncio.to_thread(scenario.server.start_deaf)
    await unavailable(scenario)
    await asyncio.to_thread(scenario.server.stop, "fast")
    await asyncio.to_thread(scenario.server.start)


async def without_a_connection_left(scenario: Scenario) -> None:
    before = scenario.load.told["SERVICE_UNAVAILABLE"]
    with scenario.server.exhausted() as take_what_is_free:
        while scenario.load.told["SERVICE_UNAVAILABLE"] < before + 5:
            scenario.server.cut()
            await asyncio.to_thread(take_what_is_free)
        await until_ready(scenario.live.base, False)
        refused = await asyncio.to_thread(run, "key", "list", data=scenario.live.data)
        assert refused.returncode == 1
        assert "connection slots are reserved" in refused.stderr
        assert PASSWORD not in refused.stderr


@pytest.mark.slow
def test_nothing_is_lost_doubled_or_stuck_whatever_happens_to_the_server(tmp_path: Path) -> None:
    """One service lives through all of it, so that every trouble meets what the one before has left."""
    troubles = (
        stopped_at_once_and_started_again,
        cut_off_again_and_again,
        read_only,
        slow_to_start,
        without_a_connection_left,
    )
    with own_server(max_connections="20") as server, under_load(server, tmp_path) as scenario:

        async def trouble() -> None:
            for each in troubles:
                await scenario.load.until(ANSWERS_BETWEEN)
                await each(scenario)
            await scenario.load.until(ANSWERS_BETWEEN)

        scenario.run(trouble)


@pytest.mark.slow
def test_commits_that_are_cut_off_before_or_after_they_are_done(tmp_path: Path) -> None:
    dice = Random(8)
    cuts = [dice.choice([Cut.BEFORE, Cut.AFTER]) if dice.random() < CUT_SHARE else Cut.NOT for _ in range(COMMITS)]
    with (
        own_server() as server,
        own_folder() as folder,
        cutting(server.folder, folder) as cutter,
        under_load(server, tmp_path, cutter.address(server.store)) as scenario,
    ):

        async def trouble() -> None:
            cutter.cuts[:] = cuts
            await until(lambda: not cutter.cuts)
            await scenario.load.until(ANSWERS_BETWEEN)

        scenario.run(trouble)


@pytest.mark.slow
def test_someone_who_meddles_with_the_same_rows_is_not_noticed_by_callers(tmp_path: Path) -> None:
    with (
        own_server(deadlock_timeout="10ms", log_line_prefix="%a ") as server,
        under_load(server, tmp_path) as scenario,
    ):

        async def trouble() -> None:
            with meddling(server):
                await until(lambda: said(server, "pabal ERROR:  deadlock detected") >= COLLISIONS)
                await until(lambda: said(server, "pabal ERROR:  could not serialize access") >= COLLISIONS)
            await scenario.load.until(ANSWERS_BETWEEN)

        scenario.run(trouble)
        assert set(scenario.load.told) == {"SUCCESS"}


@pytest.mark.torture
def test_a_lock_that_someone_holds_for_longer_than_one_waits(tmp_path: Path) -> None:
    with own_server() as server, under_load(server, tmp_path) as scenario:

        async def trouble() -> None:
            await scenario.load.until(ANSWERS_BETWEEN)
            with psycopg.connect(server.store) as holder:
                holder.execute("lock table jobs in exclusive mode")
                await scenario.load.until_told("SERVICE_UNAVAILABLE", 5)
            await scenario.load.until(ANSWERS_BETWEEN)

        scenario.run(trouble)
        assert scenario.load.slowest_s < ANSWER_WITHIN_S + 5
