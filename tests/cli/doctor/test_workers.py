"""`pabal doctor` on PostgreSQL: workers that have died while messages are due, and clocks that are wrong."""

import asyncio
from pathlib import Path

import pytest

from pabal.cli.doctor.database import check_workers, clock_difference_ms
from pabal.cli.doctor.finding import Finding
from pabal.store.engine.base import Store
from pabal.store.queue import queue, slots
from pabal.world import RealWorld
from tests.fixtures import postgres
from tests.fixtures.cli import CommandLine
from tests.fixtures.postgres_store import open_postgres
from tests.fixtures.virtual import NOON

WORLD = RealWorld()
MINUTE = 60_000
WORKERS = {b"a" * 16: ("here:1", 0), b"b" * 16: ("there:2", MINUTE), b"c" * 16: ("late:3", -MINUTE)}


async def beat(store: Store) -> None:
    """Send heartbeats of all workers, each with a clock of its own, until cancelled."""
    while True:
        for worker, (_, ahead_ms) in WORKERS.items():
            await store.write(slots.heartbeat, worker, (), WORLD.now() + ahead_ms)


async def check(address: str, *, is_alive: bool) -> list[Finding]:
    async with open_postgres(address) as store:
        for worker, (name, ahead_ms) in WORKERS.items():
            await store.write(slots.register, worker, name, WORLD.now() + ahead_ms)
        beating = asyncio.create_task(beat(store)) if is_alive else None
        found = [each async for each in check_workers(store)]
        if beating:
            beating.cancel()
        return found


@pytest.mark.parametrize(
    ("clock_at", "is_wrong"),
    [(NOON, False), (NOON + 1000, False), (NOON + 1001, True), (NOON - 3000, False), (NOON - 3001, True)],
)
def test_heartbeat_may_be_two_seconds_old_and_a_clock_one_second_off(clock_at: int, is_wrong: bool) -> None:
    assert bool(clock_difference_ms(clock_at, NOON)) == is_wrong


@pytest.mark.slow
def test_wrong_clocks_of_live_workers_are_reported() -> None:
    listed, *wrong = asyncio.run(check(postgres.empty_database(), is_alive=True))

    assert not listed.is_wrong
    assert [each.is_wrong for each in wrong] == [True, True]
    messages = sorted(each.message.en for each in wrong)
    assert messages[0].startswith("the clock of the worker late:3 is about 60 s behind the database's")
    assert messages[1].startswith("the clock of the worker there:2 is about 5")
    assert messages[1].endswith(" s ahead of the database's")


@pytest.mark.slow
def test_old_heartbeats_of_dead_workers_are_no_wrong_clocks() -> None:
    found = asyncio.run(check(postgres.empty_database(), is_alive=False))

    assert [each.is_wrong for each in found] == [False]


@pytest.mark.slow
def test_due_messages_are_reported_where_all_workers_have_died(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = postgres.empty_database()
    line = CommandLine(tmp_path / "unused", capsys)
    line.configure(f'store = "{address}"\n')

    async def leave_a_due_message() -> None:
        async with open_postgres(address) as store:
            await store.write(slots.ensure_slots, 8)
            await store.write(slots.register, b"a" * 16, "gone:1", WORLD.now())
            await store.write(queue.add, bytes(16), "simulator", 0, 0)

    asyncio.run(leave_a_due_message())

    found = line("doctor")

    assert found.status == 1
    assert "WRONG messages have been due since" in found.out
    assert "nothing delivers them\n      Start `pabal work`, or `pabal serve`." in found.out
