"""Interface and delivery as two or three processes on one SQLite file, one or all killed under load."""

import asyncio
import os
import signal
from collections.abc import Coroutine
from functools import partial
from pathlib import Path
from random import Random

import pytest

from tests.crash.clients import RequestLog, run_clients
from tests.faults.accounting import check_accounting, wait_until_all_ended
from tests.fixtures.live import LiveService, prepare_store, serving, wait_until
from tests.fixtures.processes import children_of, is_running

ROUNDS = 6 if os.environ.get("PABAL_TORTURE") else 1
CLIENTS = 8
MAX_ANSWERS_BEFORE_KILL = 150
ANSWERS_AFTER_KILL = 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "count"),
    [
        pytest.param("interface", 2, marks=pytest.mark.torture),
        ("delivery", 2),
        pytest.param("all", 2, marks=pytest.mark.torture),
        pytest.param("interface", 3, marks=pytest.mark.torture),
        pytest.param("delivery", 3, marks=pytest.mark.torture),
        pytest.param("all", 3, marks=pytest.mark.torture),
    ],
)
def test_nothing_is_lost_or_duplicated_when_processes_are_killed(victim: str, count: int, tmp_path: Path) -> None:
    data = tmp_path / "data"
    log, rng = RequestLog(), Random(5)
    key = prepare_store(data)

    for _ in range(ROUNDS):
        with serving(data, "--processes", str(count)) as live:
            answers = rng.randint(20, MAX_ANSWERS_BEFORE_KILL)
            killed = asyncio.run(_load_and_kill(live, victim, key, log, answers))
            assert victim == "all" or live.stop() == 0
            live.process.wait()
        wait_until(partial(list, map(is_running, killed)), lambda found: not any(found))
    with serving(data, "--processes", str(count)) as live:
        asyncio.run(run_clients(live.base_url, key, log, clients=0))
        asyncio.run(wait_until_all_ended(data))
        assert live.stop() == 0

    check_accounting(data, log)


async def _load_and_kill(live: LiveService, victim: str, key: str, log: RequestLog, answers: int) -> list[int]:
    """Load until some requests are answered, kill, and go on until some more are, if anybody can answer."""
    clients = asyncio.create_task(run_clients(live.base_url, key, log, CLIENTS))
    await _wait_for_answers(log, answers, clients)
    victims = _find_victims(live, victim)
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    if victim == "interface":
        clients = await _replace(clients, run_clients(live.base_url, key, log, CLIENTS))
    if victim != "all":
        await _wait_for_answers(log, ANSWERS_AFTER_KILL, clients)
    clients.cancel()
    await asyncio.gather(clients, return_exceptions=True)
    return victims


async def _replace(clients: "asyncio.Task[None]", others: Coroutine[None, None, None]) -> "asyncio.Task[None]":
    """Start new clients instead of those that have lost their connections."""
    clients.cancel()
    await asyncio.gather(clients, return_exceptions=True)
    return asyncio.create_task(others)


async def _wait_for_answers(log: RequestLog, answers: int, clients: "asyncio.Task[None]") -> None:
    target = len(log.answered) + answers
    while len(log.answered) < target:
        assert not clients.done(), clients.result()
        await asyncio.sleep(0)


def _find_victims(live: LiveService, victim: str) -> list[int]:
    """Return the ids of the processes to kill, the one first that would start others again."""
    children = children_of(live.process.pid)
    if victim == "all":
        return [live.process.pid, *children]
    is_wanted = {
        pid: ("--no-deliver" in Path(f"/proc/{pid}/cmdline").read_text().split("\0")) == (victim == "interface")
        for pid in children
    }
    return [next(pid for pid in children if is_wanted[pid])]
