"""Four interfaces and four workers on one PostgreSQL, any of them killed at any time."""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from tests.faults.accounting import reckon, until_all_ended
from tests.faults.clients import Load, check_log
from tests.faults.cluster import Fleet
from tests.faults.servers import kept_in, own_server
from tests.fixtures import status_checker
from tests.fixtures.live import run

WEBS = WORKERS = 4
SECONDS = 180 if os.environ.get("PABAL_TORTURE") else 20
PAUSE_S = 8.0
"""Longer than a worker is missed for."""


@pytest.mark.slow
def test_processes_killed_and_paused_and_the_server_restarted_under_load(tmp_path: Path) -> None:
    with own_server() as server:
        data = kept_in(server.store, tmp_path)
        assert run("migrate", data=data).returncode == 0
        key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
        status_checker.post(data)
        dice = Random(8)
        with Fleet(data, WEBS, WORKERS) as fleet:
            load = Load(fleet.doors, key)

            async def trouble() -> None:
                over_at = asyncio.get_running_loop().time() + SECONDS
                paused, rounds = asyncio.create_task(pause_one(fleet, dice)), 0
                while asyncio.get_running_loop().time() < over_at:
                    rounds += 1
                    await load.until(dice.randint(10, 60))
                    victim = fleet.anyone(dice)
                    await asyncio.to_thread(victim.kill)
                    await load.until(dice.randint(1, 30))
                    await asyncio.to_thread(victim.start)
                    if rounds % 5 == 3:
                        await asyncio.to_thread(server.stop, "immediate")
                        await asyncio.to_thread(server.start)
                    if paused.done():
                        paused = asyncio.create_task(pause_one(fleet, dice))
                await paused

            async def whole() -> None:
                await load.while_(trouble)
                await until_all_ended(data)

            asyncio.run(whole())
            assert load.told["lost"] > 0, "an interface was killed over a request"
            assert fleet.stop() == [0] * (WEBS + WORKERS)
        reckon(data, load.wishes)
        for member in fleet.members:
            check_log(member.log)


async def pause_one(fleet: Fleet, dice: Random) -> None:
    """Keep a worker from running for longer than it is missed for; what it had begun it goes on with."""
    worker = fleet.worker(dice)
    paused = worker.live.process
    worker.pause()
    await asyncio.sleep(PAUSE_S)
    if paused.poll() is None:
        worker.go_on()
