"""Several web processes and workers on one PostgreSQL, any of them killed at any time."""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from tests.crash.announcements import ResultsReader, create_webhook, wait_until_all_told, webhook_settings
from tests.faults.accounting import check_accounting, wait_until_all_ended
from tests.faults.clients import Load, check_log
from tests.faults.cluster import ProcessCluster
from tests.faults.servers import dedicated_server, use_store
from tests.fixtures import status_checker
from tests.fixtures.live import run
from tests.fixtures.processes import free_ports
from tests.fixtures.webhooks import http_answer, serving_tls

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
WEBS = WORKERS = 4 if IS_TORTURE else 2
SECONDS = 120 if IS_TORTURE else 6
HOOKS = ("/one", "/two", "/three")
"""Webhooks of different slots, so that several workers deliver to them."""
PAUSE_S = 8.0
"""Longer than a worker may miss heartbeats before it is evicted."""


@pytest.mark.torture
@pytest.mark.slow
def test_cluster_survives_killed_and_paused_processes_under_load(tmp_path: Path) -> None:
    with dedicated_server() as server:
        data = use_store(server.store, tmp_path)
        assert run("migrate", data=data).returncode == 0
        key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
        status_checker.install(data)
        rng, port = Random(8), free_ports()
        for path in HOOKS:
            create_webhook(data, port, path)
        with ProcessCluster(data, WEBS, WORKERS, **webhook_settings(port)) as cluster:
            load = Load(cluster.base_urls, key)

            async def inject_faults() -> None:
                ends_at = asyncio.get_running_loop().time() + SECONDS
                paused, rounds = asyncio.create_task(pause_one(cluster, rng)), 0
                while asyncio.get_running_loop().time() < ends_at or not load.results["lost"]:
                    rounds += 1
                    await load.wait_for_answers(rng.randint(10, 60))
                    victim = cluster.pick_any(rng)
                    await asyncio.to_thread(victim.kill)
                    await load.wait_for_answers(rng.randint(1, 30))
                    await asyncio.to_thread(victim.start)
                    if rounds % 5 == 3:
                        await asyncio.to_thread(server.stop, "immediate")
                        await asyncio.to_thread(server.start)
                    if paused.done():
                        paused = asyncio.create_task(pause_one(cluster, rng))
                await paused

            async def run_load() -> None:
                async with serving_tls(http_answer(b"ok"), port=port) as receiver:
                    await load.run_during(inject_faults)
                    await wait_until_all_ended(data)
                    await wait_until_all_told(data, receiver, ResultsReader(key), cluster.base_urls, HOOKS)

            asyncio.run(run_load())
            assert load.results["lost"] > 0, "a web process was killed during a request"
            assert cluster.stop() == [0] * (WEBS + WORKERS)
        check_accounting(data, load.log)
        for process in cluster.processes:
            check_log(process.log)


async def pause_one(cluster: ProcessCluster, rng: Random) -> None:
    """Pause a worker until it is evicted, then let it continue what it had begun."""
    worker = cluster.pick_worker(rng)
    paused = worker.live.process
    worker.pause()
    await asyncio.sleep(PAUSE_S)
    if paused.poll() is None:
        worker.resume()
