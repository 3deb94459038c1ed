"""Rare failures of a database server: a replica takes over, or the disk is full."""

import asyncio
from pathlib import Path

import pytest

from tests.faults.accounting import check_accounting, wait_until_all_ended
from tests.faults.clients import Load, wait_until_ready
from tests.faults.disks import small_disk
from tests.faults.scenarios import ANSWERS_BETWEEN_FAULTS, under_load
from tests.faults.servers import DedicatedServer, dedicated_folder, dedicated_server, store_at
from tests.fixtures.live import prepare_store, serving

FAILOVERS = 3
TIMES_FULL = 3


@pytest.mark.torture
def test_promoted_replica_has_every_answered_request(tmp_path: Path) -> None:
    with dedicated_server() as first, dedicated_folder() as folder, DedicatedServer(folder) as second:
        address = store_at(first.folder, second.folder, target_session_attrs="read-write")
        with under_load(first, tmp_path, address, checked_at=address) as scenario:

            async def inject_faults() -> None:
                primary, replica = first, second
                for _ in range(FAILOVERS):
                    await asyncio.to_thread(replica.replicate_from, primary)
                    await scenario.load.wait_for_answers(3 * ANSWERS_BETWEEN_FAULTS)
                    await asyncio.to_thread(primary.stop, "immediate")
                    await scenario.load.wait_for_result("SERVICE_UNAVAILABLE", 5)
                    await asyncio.to_thread(replica.promote)
                    await wait_until_ready(scenario.live.base_url)
                    primary, replica = replica, primary
                await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

            scenario.run(inject_faults)


@pytest.mark.torture
def test_service_resumes_after_the_disk_of_postgresql_was_full(tmp_path: Path) -> None:
    with dedicated_folder() as folder, small_disk(folder, 200) as disk:
        server = DedicatedServer(folder / "pg", min_wal_size="32MB", max_wal_size="64MB")
        with server:
            server.init()
            server.start()
            server.create_database()
            with under_load(server, tmp_path) as scenario:

                async def inject_faults() -> None:
                    for _ in range(TIMES_FULL):
                        await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)
                        await asyncio.to_thread(disk.fill)
                        await scenario.load.wait_for_result("SERVICE_UNAVAILABLE", 20)
                        await wait_until_ready(scenario.live.base_url, False)
                        disk.free_space()
                        if not await asyncio.to_thread(server.is_responding):
                            await asyncio.to_thread(server.start)
                        await wait_until_ready(scenario.live.base_url)
                    await scenario.load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

                scenario.run(inject_faults)


@pytest.mark.torture
def test_service_resumes_after_the_disk_of_sqlite_was_full(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with small_disk(data, 60) as disk:
        key = prepare_store(data)
        with serving(data) as live:
            load = Load([live.base_url], key)

            async def inject_faults() -> None:
                for _ in range(TIMES_FULL):
                    await load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)
                    await asyncio.to_thread(disk.fill)
                    await load.wait_for_result("SERVICE_UNAVAILABLE", 20)
                    await wait_until_ready(live.base_url, False)
                    disk.free_space()
                    await wait_until_ready(live.base_url)
                await load.wait_for_answers(ANSWERS_BETWEEN_FAULTS)

            async def run_load() -> None:
                await load.run_during(inject_faults)
                await wait_until_all_ended(data)

            asyncio.run(run_load())
            assert live.stop() == 0
        check_accounting(data, load.log)
