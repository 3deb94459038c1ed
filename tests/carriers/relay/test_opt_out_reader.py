"""The list of opt-outs at a relay is read on, whatever happens to one read."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from pabal.carriers.base import InboundMessage, Inbox, RelayOptOut
from pabal.carriers.relay.carrier import FIRST_READ_S, OVERLAP_MS, READ_INTERVAL_S, OptOutList, OptOutReader
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import StoreUnavailable
from tests.carriers.conformance import InMemoryCursor
from tests.fixtures.virtual import NOON, VirtualWorld

ONE = RelayOptOut("01012345678", sender="0212345678")


class ListOfOne(OptOutList):
    """A list with one opt-out, which notes what it was asked for."""

    name = "list"
    server_time: Instant | None = None

    def __init__(self) -> None:
        self.asked: list[Instant | None] = []

    async def pages(self, since: Instant | None) -> AsyncIterator[Sequence[RelayOptOut]]:
        self.asked.append(since)
        yield [ONE]
        yield []


async def ignore(arrived: Sequence[InboundMessage]) -> None:
    """Store nothing."""


async def read_for(reader: OptOutReader, inbox: Inbox, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await reader.run(inbox)


async def test_opt_outs_are_read_again_after_the_store_was_away() -> None:
    source, stored = ListOfOne(), list[RelayOptOut]()

    async def keep(arrived: Sequence[RelayOptOut]) -> None:
        if len(source.asked) == 1:
            raise StoreUnavailable("away")
        stored.extend(arrived)

    reader = OptOutReader("relay", source, InMemoryCursor(), VirtualWorld(), logging.getLogger("pabal.test"))
    await read_for(reader, Inbox(ignore, keep), FIRST_READ_S + 2 * READ_INTERVAL_S + 1)

    second_read = NOON + round(1000 * (FIRST_READ_S + READ_INTERVAL_S))
    assert source.asked == [None, None, second_read - OVERLAP_MS]
    assert stored == [ONE, ONE]


async def test_another_process_reads_for_all() -> None:
    source, cursor = ListOfOne(), InMemoryCursor()
    cursor.is_ours = False
    reader = OptOutReader("relay", source, cursor, VirtualWorld(), logging.getLogger("pabal.test"))

    async def keep(arrived: Sequence[RelayOptOut]) -> None:
        raise AssertionError

    await read_for(reader, Inbox(ignore, keep), FIRST_READ_S + READ_INTERVAL_S)

    assert source.asked == []
