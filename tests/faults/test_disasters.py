"""What befalls a server but once in a while: its machine is gone and a replica takes over, or its disk is full."""

import asyncio
from pathlib import Path

import pytest

from tests.faults.accounting import reckon, until_all_ended
from tests.faults.clients import Load, until_ready
from tests.faults.disks import small_disk
from tests.faults.scenarios import ANSWERS_BETWEEN, under_load
from tests.faults.servers import OwnServer, own_folder, own_server, store_at
from tests.fixtures import status_checker
from tests.fixtures.live import run, serving

FAILOVERS = 3
FULL = 3


@pytest.mark.torture
def test_a_replica_that_is_promoted_takes_over_with_all_that_was_answered(tmp_path: Path) -> None:
    with own_server() as first, own_folder() as folder, OwnServer(folder) as second:
        address = store_at(first.folder, second.folder, target_session_attrs="read-write")
        with under_load(first, tmp_path, address, seen_at=address) as scenario:

            async def trouble() -> None:
                primary, replica = first, second
                for _ in range(FAILOVERS):
                    await asyncio.to_thread(replica.copy, primary)
                    await scenario.load.until(3 * ANSWERS_BETWEEN)
                    await asyncio.to_thread(primary.stop, "immediate")
                    await scenario.load.until_told("SERVICE_UNAVAILABLE", 5)
                    await asyncio.to_thread(replica.promote)
                    await until_ready(scenario.live.base)
                    primary, replica = replica, primary
                await scenario.load.until(ANSWERS_BETWEEN)

            scenario.run(trouble)


@pytest.mark.torture
def test_a_server_whose_disk_is_full_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with own_folder() as folder, small_disk(folder, 200) as disk:
        server = OwnServer(folder / "pg", min_wal_size="32MB", max_wal_size="64MB")
        with server:
            server.make()
            server.start()
            server.make_database()
            with under_load(server, tmp_path) as scenario:

                async def trouble() -> None:
                    for _ in range(FULL):
                        await scenario.load.until(ANSWERS_BETWEEN)
                        await asyncio.to_thread(disk.fill)
                        await scenario.load.until_told("SERVICE_UNAVAILABLE", 20)
                        await until_ready(scenario.live.base, False)
                        disk.make_room()
                        if not await asyncio.to_thread(server.answers):
                            await asyncio.to_thread(server.start)
                        await until_ready(scenario.live.base)
                    await scenario.load.until(ANSWERS_BETWEEN)

                scenario.run(trouble)


@pytest.mark.torture
def test_a_file_whose_disk_is_full_goes_on_when_there_is_room(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with small_disk(data, 60) as disk:
        assert run("migrate", data=data).returncode == 0
        key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
        status_checker.post(data)
        with serving(data) as live:
            load = Load([live.base], key)

            async def trouble() -> None:
                for _ in range(FULL):
                    await load.until(ANSWERS_BETWEEN)
                    await asyncio.to_thread(disk.fill)
                    await load.until_told("SERVICE_UNAVAILABLE", 20)
                    await until_ready(live.base, False)
                    disk.make_room()
                    await until_ready(live.base)
                await load.until(ANSWERS_BETWEEN)

            async def whole() -> None:
                await load.while_(trouble)
                await until_all_ended(data)

            asyncio.run(whole())
            assert live.stop() == 0
        reckon(data, load.wishes)
