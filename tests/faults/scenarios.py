"""Runs a service under load while a fault hits its store, then checks every message."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.faults.accounting import check_accounting, wait_until_all_ended
from tests.faults.clients import Load, check_log, wait_until_ready
from tests.faults.servers import DedicatedServer, use_store
from tests.fixtures import status_checker
from tests.fixtures.live import LiveService, run, serving

ANSWERS_BETWEEN_FAULTS = 40


class FaultScenario(NamedTuple):
    """A service under load, and the server of its store."""

    server: DedicatedServer
    live: LiveService
    load: Load

    def run(self, fault: Callable[[], Awaitable[None]]) -> None:
        """Send during the fault, then check that no message is lost, duplicated, stuck or invented."""

        async def run_load() -> None:
            await self.load.run_during(fault)
            await wait_until_ready(self.live.base_url)
            await wait_until_all_ended(self.live.data)

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
    with serving(data, store=address or server.store) as live:
        yield FaultScenario(server, live, Load([live.base_url], key))
