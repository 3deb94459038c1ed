"""The real process, killed under load again and again: nothing lost, nothing settled twice, nothing stuck."""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from tests.crash.clients import Wishes, load, until_idle
from tests.faults.accounting import reckon
from tests.fixtures import postgres, status_checker
from tests.fixtures.engines import ENGINES
from tests.fixtures.live import Live, run, serving

ROUNDS = 20 if os.environ.get("PABAL_TORTURE") else 3
CLIENTS = 8
MOST_ANSWERS_BEFORE_THE_KILL = 150


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_lost_doubled_or_stuck_when_the_process_is_killed_under_load(
    engine: str, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    if engine == "postgresql":
        database = postgres.fresh(f"killed_{os.getpid()}")
        (tmp_path / postgres.ADDRESS_FILE).write_text(database, encoding="utf-8")
    wishes, dice = Wishes(), Random(4)
    run("migrate", data=data)
    key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
    status_checker.post(data)

    for _ in range(ROUNDS):
        with serving(data) as live:
            asyncio.run(_load_until_killed(live, key, wishes, dice.randint(20, MOST_ANSWERS_BEFORE_THE_KILL)))
    with serving(data) as live:
        asyncio.run(load(live.base, key, wishes, clients=0))
        asyncio.run(until_idle(live.base))
        assert live.stop() == 0

    reckon(data, wishes)


async def _load_until_killed(live: Live, key: str, wishes: Wishes, answers: int) -> None:
    enough = len(wishes.answered) + answers
    clients = asyncio.create_task(load(live.base, key, wishes, CLIENTS))
    while len(wishes.answered) < enough:
        assert not clients.done(), clients.result()
        await asyncio.sleep(0)
    live.process.kill()
    await clients
