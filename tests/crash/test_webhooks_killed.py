"""The service, killed while it posts to a webhook: every end is told, and repeated posts are the same."""

import asyncio
import contextlib
import os
from pathlib import Path

import httpx
import pytest

from tests.crash.announcements import ResultsReader, create_webhook, wait_until_all_told, webhook_settings
from tests.crash.clients import RequestLog, run_clients, wait_until_idle
from tests.fixtures import postgres
from tests.fixtures.engines import ENGINES
from tests.fixtures.live import LiveService, prepare_store, serving
from tests.fixtures.webhooks import TlsServer, http_answer, serving_tls

ROUNDS = 6 if os.environ.get("PABAL_TORTURE") else 1
CLIENTS = 4
POSTS_BEFORE_KILL = 5


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_end_is_told_when_service_is_killed(engine: str, tmp_path: Path) -> None:
    if engine == "postgresql":
        database = postgres.create_database(f"told_{os.getpid()}")
        (tmp_path / postgres.ADDRESS_FILE).write_text(database, encoding="utf-8")

    asyncio.run(_run(tmp_path / "data"))


async def _run(data: Path) -> None:
    log = RequestLog()
    key = await asyncio.to_thread(prepare_store, data)
    reader = ResultsReader(key)
    async with serving_tls(http_answer(b"ok")) as receiver:
        await asyncio.to_thread(create_webhook, data, receiver.port)
        settings = webhook_settings(receiver.port)
        for _ in range(ROUNDS):
            with serving(data, **settings) as live:
                reading = asyncio.create_task(reader.keep_reading([live.base_url]))
                await _load_until_killed(live, key, log, receiver)
                reading.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await reading
        with serving(data, **settings) as live:
            await run_clients(live.base_url, key, log, clients=0)
            await wait_until_idle(live.base_url)
            await wait_until_all_told(data, receiver, reader, [live.base_url])


async def _load_until_killed(live: LiveService, key: str, log: RequestLog, receiver: TlsServer) -> None:
    target = len(receiver.requests) + POSTS_BEFORE_KILL
    clients = asyncio.create_task(run_clients(live.base_url, key, log, CLIENTS))
    while len(receiver.requests) < target:
        assert not clients.done(), clients.result()
        await asyncio.sleep(0.005)
    live.process.kill()
    with contextlib.suppress(httpx.TransportError):  # it may still have repeated requests of the last round
        await clients
