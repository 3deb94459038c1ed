"""Numbers events, so that callers can read them in order, and reads what has ended since a cursor."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.events.event import Event, EventType, Positions
from pabal.service.context import Context
from pabal.service.loops import STORE_RETRY_DELAY_S, wait_for_event
from pabal.store.engine.base import NodeUnavailable, Reader, StoreUnavailable, Tx, transaction
from pabal.store.events import events
from pabal.store.events.events import NumberedBatch
from pabal.store.messages import history, messages
from pabal.store.messages.history import ReadMessages

POLL_INTERVAL_S = 4.0
"""How often to look for events that other processes have recorded."""
MAX_IDLE_S = 30.0
"""Longest pause where no other process delivers: what commands record then wakes this one."""
GATHER_PAUSE_S = 0.1
"""Pause between two rounds, so that under load each is worth its transactions."""
BATCH_ROWS = 200
"""Most rows of waiting events that one transaction numbers."""
LOOK_BACK_MS = 1 * MINUTE
"""How far back a search begins: numbered rows before it may not have been vacuumed yet."""
FULL_SEARCH_MS = 1 * MINUTE
"""How often a search begins at the oldest event, for those of processes whose clock is behind."""

log = logging.getLogger("pabal.events")


async def run_numbering(context: Context) -> None:
    """Number events whenever some were recorded; while the store is unavailable, wait and try again."""
    numberer, was_available = Numberer(context), True
    while True:
        context.new_events.clear()
        try:
            await numberer.run()
        except StoreUnavailable:
            if was_available:
                log.warning("store unavailable; numbering the events later")
            was_available = False
            context.webhooks.announce_change()  # perhaps some were numbered, and nobody knows of which accounts
            await asyncio.sleep(STORE_RETRY_DELAY_S)
            continue
        was_available = True
        await asyncio.sleep(GATHER_PAUSE_S)
        pause_s = POLL_INTERVAL_S if context.slots.are_shared else MAX_IDLE_S
        await wait_for_event(context.new_events, pause_s - GATHER_PAUSE_S)


class Numberer:
    """Numbers the events of the slots that this process holds."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._searched_fully_at: dict[int, Instant] = {}

    async def run(self) -> None:
        """Number all events that wait in the held slots.

        Raises StoreUnavailable.
        """
        context = self._context
        now, held = context.world.now(), context.slots.held
        since = {slot: self._search_from(slot, now) for slot in held}
        searched: list[int] = []
        for slots in context.nodes.by_node(held):
            try:
                await self._number_slots({slot: since[slot] for slot in slots})
            except NodeUnavailable:
                continue
            searched += slots
        full = {slot: now for slot in searched if since[slot] == 0}
        self._searched_fully_at = {
            slot: at for slot, at in {**self._searched_fully_at, **full}.items() if slot in held
        }

    async def _number_slots(self, since: Mapping[int, Instant]) -> None:
        context = self._context
        for slot in await context.store.read(events.slots_with_new, since):
            batch = NumberedBatch(frozenset(), True)
            while batch.has_more:
                batch = await context.store.write(
                    events.number_some, slot, since[slot], context.world.now(), BATCH_ROWS
                )
                context.webhooks.announce_numbered(batch.accounts)

    def _search_from(self, slot: int, now: Instant) -> Instant:
        """Return from when on to search; a slot that this process has just got is searched fully."""
        at = self._searched_fully_at.get(slot)
        if at is None or not 0 <= now - at < FULL_SEARCH_MS:
            return 0
        return max(0, now - LOOK_BACK_MS)


_RESULTS = (EventType.MESSAGE_RESULT,)


class ResultPage(NamedTuple):
    """Ends of messages in order, these messages, and how far that is."""

    events: Sequence[Event]
    read: ReadMessages
    positions: dict[int, int]


async def read_results(
    context: Context, account_id: int, positions: Positions | None, limit: int
) -> ResultPage | None:
    """Return what has ended behind these positions, or from the oldest that is stored; None: they are too old.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a list that takes too long.
    """
    async with context.searches.acquire(account_id):
        return await context.store.read(_read_results, account_id, positions, limit)


@transaction(reader=Reader.SEARCHES)
def _read_results(tx: Tx, account_id: int, positions: Positions | None, limit: int) -> ResultPage | None:
    if positions is not None and events.is_expired(tx, positions):
        return None
    page = events.read_after(tx, account_id, positions or {}, limit, _RESULTS)
    return ResultPage(page.events, read_messages(tx, page.events), page.positions)


def read_messages(tx: Tx, ends: Sequence[Event]) -> ReadMessages:
    """Return the messages that have ended, with their requests."""
    ids = [each.id for each in ends]
    return history.join_requests(tx, ids, messages.get(tx, ids))
