"""The service, killed repeatedly under load: no message is lost, completed twice or stuck."""

import asyncio
import os
from pathlib import Path
from random import Random

import pytest

from tests.crash.clients import RequestLog, run_clients, wait_until_idle
from tests.faults.accounting import check_accounting
from tests.fixtures import postgres
from tests.fixtures.engines import ENGINES
from tests.fixtures.live import LiveService, prepare_store, serving

ROUNDS = 10 if os.environ.get("PABAL_TORTURE") else 1
CLIENTS = 8
MAX_ANSWERS_BEFORE_KILL = 150


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_lost_or_duplicated_when_service_is_killed(engine: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    if engine == "postgresql":
        database = postgres.create_database(f"killed_{os.getpid()}")
        (tmp_path / postgres.ADDRESS_FILE).write_text(database, encoding="utf-8")
    log, rng = RequestLog(), Random(4)
    key = prepare_store(data)

    for _ in range(ROUNDS):
        with serving(data) as live:
            asyncio.run(_load_until_killed(live, key, log, rng.randint(20, MAX_ANSWERS_BEFORE_KILL)))
    with serving(data) as live:
        asyncio.run(run_clients(live.base_url, key, log, clients=0))
        asyncio.run(wait_until_idle(live.base_url))
        assert live.stop() == 0

    check_accounting(data, log)


async def _load_until_killed(live: LiveService, key: str, log: RequestLog, answers: int) -> None:
    target = len(log.answered) + answers
    clients = asyncio.create_task(run_clients(live.base_url, key, log, CLIENTS))
    while len(log.answered) < target:
        assert not clients.done(), clients.result()
        await asyncio.sleep(0)
    live.process.kill()
    await clients
