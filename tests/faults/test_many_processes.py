"""Four interfaces and four workers on one PostgreSQL, any of them killed at any time."""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from tests.faults.accounting import check_accounting, wait_until_all_ended
from tests.faults.clients import Load, check_log
from tests.faults.cluster import ProcessCluster
from tests.faults.servers import dedicated_server, use_store
from tests.fixtures import status_checker
from tests.fixtures.live import run

WEBS = WORKERS = 4
SECONDS = 180 if os.environ.get("PABAL_TORTURE") else 20
PAUSE_S = 8.0
"""Longer than a worker is missed for."""


@pytest.mark.slow
def test_cluster_survives_killed_and_paused_processes_under_load(tmp_path: Path) -> None:
    with dedicated_server() as server:
        data = use_store(server.store, tmp_path)
        assert run("migrate", data=data).returncode == 0
        key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
        status_checker.install(data)
        dice = Random(8)
        with ProcessCluster(data, WEBS, WORKERS) as fleet:
            load = Load(fleet.base_urls, key)

            async def trouble() -> None:
                over_at = asyncio.get_running_loop().time() + SECONDS
                paused, rounds = asyncio.create_task(pause_one(fleet, dice)), 0
                while asyncio.get_running_loop().time() < over_at:
                    rounds += 1
                    await load.wait_for_answers(dice.randint(10, 60))
                    victim = fleet.pick_any(dice)
                    await asyncio.to_thread(victim.kill)
                    await load.wait_for_answers(dice.randint(1, 30))
                    await asyncio.to_thread(victim.start)
                    if rounds % 5 == 3:
                        await asyncio.to_thread(server.stop, "immediate")
                        await asyncio.to_thread(server.start)
                    if paused.done():
                        paused = asyncio.create_task(pause_one(fleet, dice))
                await paused

            async def whole() -> None:
                await load.run_during(trouble)
                await wait_until_all_ended(data)

            asyncio.run(whole())
            assert load.results["lost"] > 0, "an interface was killed over a request"
            assert fleet.stop() == [0] * (WEBS + WORKERS)
        check_accounting(data, load.log)
        for member in fleet.processes:
            check_log(member.log)


async def pause_one(fleet: ProcessCluster, dice: Random) -> None:
    """Keep a worker from running for longer than it is missed for; what it had begun it goes on with."""
    worker = fleet.pick_worker(dice)
    paused = worker.live.process
    worker.pause()
    await asyncio.sleep(PAUSE_S)
    if paused.poll() is None:
        worker.resume()
