"""Erases what is older than the retention: requests, partitions, events, and what was postponed."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.store.engine.base import Reader, StoreUnavailable, T, Tx, transaction
from pabal.store.engine.postgres import partitions
from pabal.store.engine.postgres.partitions import Partition
from pabal.store.events import events, webhook_posts
from pabal.store.messages import images, requests
from pabal.store.people import personal_data
from pabal.store.queue import cursors

ERASE_BATCH = 5
"""Most requests that one transaction erases: each may have thousands of messages."""
CHECK_BATCH = 200
"""Most postponed erasures that one transaction looks at."""
DELETE_BATCH = 500
"""Most stray rows, or events, that one transaction deletes."""
LOCK_TRIES = 5
"""How often a round tries to lock a table, a second each, before it leaves the rest to the next round."""
LOCK_PAUSE_S = 1.0
"""Pause between tries, and between steps: others queue behind them."""
_ERASED_CURSOR = "blanked"

log = logging.getLogger("pabal.partitions")


async def erase_expired(context: Context) -> int:
    """Erase the requests that are older than the retention, except those with messages in the queue.

    Returns how many were erased.
    """
    erased, looked_at = 0, ERASE_BATCH
    while looked_at:
        looked_at, count = await context.store.write(erase_old_requests, context.policy, context.world.now())
        erased += count
    return erased


async def erase_ended(context: Context) -> int:
    """Erase what was postponed and has ended since; return how many requests and messages."""
    erased, last = 0, b""
    while True:
        count, last = await context.store.write(erase_some_ended, last, context.world.now())
        erased += count
        if not last:
            return erased


def erase_old_requests(tx: Tx, policy: Policy, now: Instant) -> tuple[int, int]:
    """Erase some requests that are older than the retention; return how many were looked at, and how many erased.

    A request with a message in the queue is noted, and erased when that has ended. A partitioned store drops whole
    partitions instead.
    """
    if partitions.is_partitioned(tx):
        return 0, 0
    after = cursors.get(tx, _ERASED_CURSOR) or bytes(identifiers.REQUEST_ID_BYTES)
    before = identifiers.lowest_message_id(now - policy.retention_ms)[: identifiers.REQUEST_ID_BYTES]
    found = requests.ids_between(tx, after, before, ERASE_BATCH)
    queued = [one for one in found if personal_data.has_jobs(tx, one)]
    personal_data.postpone(tx, queued)
    for request_id in found:
        if request_id not in queued:
            personal_data.erase_request(tx, request_id)
    if found:
        cursors.put(tx, _ERASED_CURSOR, found[-1])
    return len(found), len(found) - len(queued)


@transaction(exclusive=True)  # what others note in the same transaction would be taken for committed
def erase_some_ended(tx: Tx, after: bytes, now: Instant) -> tuple[int, bytes]:
    """Erase some postponed requests and messages that have ended, and bytes of images that nobody uses.

    Returns how many, and after which id to go on; empty at the end.
    """
    found = personal_data.list_pending(tx, after, CHECK_BATCH)
    ended = [one for one in found if not personal_data.has_jobs(tx, one)][:ERASE_BATCH]
    by_account: dict[int, list[bytes]] = {}
    for one in ended:
        for message_id, account_id in personal_data.list_messages(tx, one):
            by_account.setdefault(account_id, []).append(message_id)
    erased = [one for one in ended if personal_data.erase(tx, one)]
    for account_id, ids in by_account.items():
        webhook_posts.erase(tx, account_id, ids)
    personal_data.delete_pending(tx, erased)
    if ended:
        personal_data.record_erased(tx, ended, now)
    if len(ended) == ERASE_BATCH:
        return len(erased), ended[-1]
    return len(erased), found[-1] if len(found) == CHECK_BATCH else b""


async def maintain_partitions(context: Context) -> None:
    """Create and drop partitions, if the store has any; what locks still prevent waits for the next round."""
    store, now = context.store, context.world.now()
    before = now - context.policy.retention_ms
    due = await store.read(partitions.pending_tasks, now, before)
    try:
        for part in due.missing:
            await _complete(context, part)
        for part in due.expired:
            if await store.read(partitions.is_droppable, part.month) and await _retry(
                context, partitions.drop_part, part
            ):
                log.info("dropped a partition older than the retention", extra={"partition": part.name})
        if due.has_expired_default_rows:
            while await store.write(partitions.delete_expired_default_rows, before, DELETE_BATCH, images.delete):
                pass
    except StoreUnavailable as error:
        log.warning("partitions could not be maintained; retrying in the next round", extra={"error": str(error)})


async def _complete(context: Context, part: Partition) -> None:
    """Create a partition, and move what the default partition has for it, some rows at a time."""
    while (step := await context.store.read(partitions.next_step, part)) is not None:
        await _retry(context, partitions.take_step, step)
        log.info("a partition got rows, or is new", extra={"partition": part.name, "until": step.until.hex()})
        await asyncio.sleep(LOCK_PAUSE_S)


async def _retry(context: Context, work: Callable[[Tx, T], bool], about: T) -> bool:
    """Return what a write returns that locks a table; it is tried a few times, for others may hold locks."""
    for _ in range(LOCK_TRIES - 1):
        with contextlib.suppress(StoreUnavailable):
            return await context.store.write(work, about)
        await asyncio.sleep(LOCK_PAUSE_S)
    return await context.store.write(work, about)


class EventRetention:
    """Deletes old events; every account is visited once a day, and once after a start."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._deleted: dict[int, int] = {}
        """By slot, the number up to which all events have been deleted."""

    async def run(self) -> None:
        """Delete what is too old by now.

        Raises StoreUnavailable.
        """
        context = self._context
        before = context.world.now() - context.policy.results_retention_ms
        for slot in context.slots.held:
            if await context.store.read(events.has_old, slot, before, self._deleted.get(slot, 0)):
                await self._delete(slot, before)
        self._deleted = {slot: number for slot, number in self._deleted.items() if slot in context.slots.held}

    async def _delete(self, slot: int, before: Instant) -> None:
        store = self._context.store
        until = await store.write(events.mark_deleted, slot, before)
        account = await store.read(_next_account, slot, 0)
        while account is not None:
            while await store.write(events.delete_old, account, slot, until, DELETE_BATCH):
                pass
            account = await store.read(_next_account, slot, account)
        self._deleted[slot] = until


@transaction(reader=Reader.BACKGROUND)
def _next_account(tx: Tx, slot: int, after: int) -> int | None:
    return events.next_account(tx, slot, after)
