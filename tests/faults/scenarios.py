"""Runs a service under load while a fault hits its store, then checks every message."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.crash.announcements import ResultsReader, create_webhook, wait_until_all_told, webhook_settings
from tests.faults.accounting import check_accounting, wait_until_all_ended
from tests.faults.clients import Load, check_log, wait_until_ready
from tests.faults.servers import DedicatedServer, use_store
from tests.fixtures import status_checker
from tests.fixtures.live import LiveService, run, serving
from tests.fixtures.processes import free_ports
from tests.fixtures.webhooks import http_answer, serving_tls

ANSWERS_BETWEEN_FAULTS = 40


class FaultScenario(NamedTuple):
    """A service under load, and the server of its store."""

    server: DedicatedServer
    live: LiveService
    load: Load
    port: int
    """Where the webhook of the account is, once `run` is called."""

    def run(self, fault: Callable[[], Awaitable[None]]) -> None:
        """Send during the fault, then check that no message is lost, duplicated, stuck or invented.

        Every end must be posted to a webhook, and be listed once by cursor.
        """

        async def run_load() -> None:
            urls = [self.live.base_url]
            async with serving_tls(http_answer(b"ok"), port=self.port) as receiver:
                reader = ResultsReader(self.load.key)
                reading = asyncio.create_task(reader.keep_reading(urls))
                await self.load.run_during(fault)
                reading.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await reading
                await wait_until_ready(self.live.base_url)
                await wait_until_all_ended(self.live.data)
                await wait_until_all_told(self.live.data, receiver, reader, urls)

        asyncio.run(run_load())
        assert self.live.stop() == 0
        check_accounting(self.live.data, self.load.log)
        check_log(self.live.log)


@contextlib.contextmanager
def under_load(
    server: DedicatedServer, folder: Path, address: str | None = None, checked_at: str | None = None
) -> Iterator[FaultScenario]:
    """Run a service on a server, or on `address`, and record every change of a message's status.

    The accounting reads from `checked_at` instead of the server where it is given.
    """
    data = use_store(checked_at or server.store, folder)
    assert run("migrate", data=data).returncode == 0
    key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
    status_checker.install(data)
    port = free_ports()
    create_webhook(data, port)
    with serving(data, store=address or server.store, **webhook_settings(port)) as live:
        yield FaultScenario(server, live, Load([live.base_url], key), port)
