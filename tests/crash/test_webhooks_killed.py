"""The service, killed while it posts to a webhook: every end arrives, and repeated posts are the same."""

import asyncio
import contextlib
import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from pabal.app import open_store
from pabal.domain.event import EventType
from pabal.domain.webhook import secret_context
from pabal.settings.settings import load
from pabal.store import accounts, webhooks
from pabal.store.engine.base import Tx
from pabal.store.webhooks import NewWebhook
from pabal.webhooks.secrets import SecretBox
from pabal.world import RealWorld
from tests.crash.clients import RequestLog, run_clients, wait_until_idle
from tests.fixtures import status_checker
from tests.fixtures.live import LiveService, run, serving
from tests.fixtures.webhooks import AUTHORITY, TlsServer, http_answer, serving_tls

ROUNDS = 6 if os.environ.get("PABAL_TORTURE") else 2
CLIENTS = 4
POSTS_BEFORE_KILL = 5
DELIVERY_TIMEOUT_S = 90


@pytest.mark.slow
def test_every_end_is_posted_when_service_is_killed(tmp_path: Path) -> None:
    asyncio.run(_run(tmp_path / "data"))


async def _run(data: Path) -> None:
    log = RequestLog()
    await asyncio.to_thread(run, "migrate", data=data)
    created = await asyncio.to_thread(run, "key", "create", "--account", "acme", "--rate", "0", data=data)
    key = created.stdout.strip()
    async with serving_tls(http_answer(b"ok")) as receiver:
        await _add_webhook(data, receiver.port)
        options: dict[str, Any] = {
            "webhook_allow": f"acme@localhost:{receiver.port}",
            "webhook_tls_ca": str(AUTHORITY),
        }
        for _ in range(ROUNDS):
            with serving(data, **options) as live:
                await _load_until_killed(live, key, log, receiver)
        with serving(data, **options) as live:
            await run_clients(live.base_url, key, log, clients=0)
            await wait_until_idle(live.base_url)
            async with asyncio.timeout(DELIVERY_TIMEOUT_S):
                await _wait_until_all_received(receiver, data)

        by_id: dict[bytes, set[bytes]] = defaultdict(set)
        for head, body in receiver.requests:
            by_id[_post_id(head)].add(body)
        assert all(len(bodies) == 1 for bodies in by_id.values()), "a repeated post differs"


async def _add_webhook(data: Path, port: int) -> None:
    world = RealWorld()
    store = open_store(load({}, data=data), world)

    def add(tx: Tx) -> None:
        account_id = accounts.ensure_account(tx, "acme", world.now())
        sealed = SecretBox((), world).seal(b"s" * 32, secret_context(account_id))
        url = f"https://localhost:{port}/hook"
        webhooks.add(tx, NewWebhook(account_id, url, [EventType.MESSAGE_RESULT], [], "", sealed), world.now())

    await store.write(add)
    await store.close()


async def _load_until_killed(live: LiveService, key: str, log: RequestLog, receiver: TlsServer) -> None:
    target = len(receiver.requests) + POSTS_BEFORE_KILL
    clients = asyncio.create_task(run_clients(live.base_url, key, log, CLIENTS))
    while len(receiver.requests) < target:
        assert not clients.done(), clients.result()
        await asyncio.sleep(0.005)
    live.process.kill()
    with contextlib.suppress(httpx.TransportError):  # it may still have repeated requests of the last round
        await clients


async def _wait_until_all_received(receiver: TlsServer, data: Path) -> None:
    while True:
        if _received(receiver) == _ended(data):
            return
        await asyncio.sleep(0.05)


def _received(receiver: TlsServer) -> set[str]:
    return {item["messageId"] for _, body in receiver.requests for item in json.loads(body)["data"]["items"]}


def _ended(data: Path) -> set[str]:
    connection = status_checker.connect(data)
    found = {row[0].hex() for row in connection.execute("select id from messages where status >= 2")}
    connection.close()
    return found


def _post_id(head: bytes) -> bytes:
    return next(line for line in head.lower().split(b"\r\n") if line.startswith(b"webhook-id:"))
