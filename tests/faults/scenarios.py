"""A service under load while something happens to its store, and the reckoning afterwards."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.faults.accounting import reckon, until_all_ended
from tests.faults.clients import Load, check_log, until_ready
from tests.faults.servers import OwnServer, kept_in
from tests.fixtures import status_checker
from tests.fixtures.live import Live, run, serving

ANSWERS_BETWEEN = 40


class Scenario(NamedTuple):
    """A service under load, and the server that it keeps everything in."""

    server: OwnServer
    live: Live
    load: Load

    def run(self, trouble: Callable[[], Awaitable[None]]) -> None:
        """Have clients send during the trouble; then see that nothing is lost, doubled, stuck or made up."""

        async def whole() -> None:
            await self.load.while_(trouble)
            await until_ready(self.live.base)
            await until_all_ended(self.live.data)

        asyncio.run(whole())
        assert self.live.stop() == 0
        reckon(self.live.data, self.load.wishes)
        check_log(self.live.log)


@contextlib.contextmanager
def under_load(
    server: OwnServer, folder: Path, address: str | None = None, seen_at: str | None = None
) -> Iterator[Scenario]:
    """Run a service on a server, or on an address that leads there; a witness notes what becomes of messages.

    `seen_at` is where the reckoning looks, if not at that server.
    """
    data = kept_in(seen_at or server.store, folder)
    assert run("migrate", data=data).returncode == 0
    key = run("key", "create", "--account", "acme", "--rate", "0", data=data).stdout.strip()
    status_checker.post(data)
    with serving(data, store=address or server.store) as live:
        yield Scenario(server, live, Load([live.base], key))
