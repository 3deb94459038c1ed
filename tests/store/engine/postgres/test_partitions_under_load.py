"""Months are created and dropped at the first try while messages are stored, claimed, settled and ended."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from functools import wraps
from typing import Any

from psycopg.conninfo import make_conninfo

from pabal.carriers.base import Accepted, Receipt
from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.delivery.outcome.settle import BatchVerdicts, settle
from pabal.service.delivery.receipts import receive
from pabal.service.policy import build_policy
from pabal.settings.settings import load
from pabal.store.engine.base import StoreUnavailable, T, Tx
from pabal.store.engine.postgres import partitions
from pabal.store.engine.postgres.partitions import PARTITION_KEYS, Partition
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.messages import messages
from pabal.store.queue import queue, slots
from tests.fixtures.postgres_store import open_postgres, query_outside
from tests.fixtures.rows import ACCOUNT, CARRIER, add_request, present, sms
from tests.fixtures.virtual import NOON

POLICY = build_policy(load({}))
SLOTS = (0, 1, 2, 3)
MONTHS_AHEAD = (202702, 202703)
OLD = 202601
ROUNDS_BETWEEN = 5
"""Messages of each slot between two changes of the tables."""


def keep(tx: Tx, slot: int, number: int) -> bytes:
    """Store a request of one message in a slot."""
    one = identifiers.make_request_id(NOON, slot, number)
    sending = sms()
    add_request(tx, one, ACCOUNT, sending, NOON)
    messages.add_all(tx, messages.build_rows(one, ACCOUNT, sending.product, sending.receivers))
    queue.add_requests(tx, [queue.NewJobs(one, CARRIER, sending.lane, NOON)])
    return one


class Load:
    """Messages of one slot, one after the other, from their send to their receipt."""

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.delivered = 0
        self.progress = asyncio.Event()

    async def run(self, store: PostgresStore) -> None:
        for number in itertools.count():
            await store.write(keep, self.slot, number)
            claimed = await store.write(claim, ClaimRequest(self.slot, CARRIER, 10, MINUTE), POLICY, NOON)
            taken = [
                (Attempt(one.id, one.attempt, ACCOUNT, Product.SMS, "", "", None, ""), Accepted(one.id.hex()))
                for one, _, _ in claimed.leased
            ]
            await store.write(settle, BatchVerdicts(CARRIER, list(taken)), POLICY, 0.5, NOON)
            incoming = [Receipt(one.id.hex(), Outcome.DELIVERED) for one, _, _ in claimed.leased]
            ended = await store.write(receive, CARRIER, incoming, POLICY, NOON)
            self.delivered += len(ended.finished.ended)
            self.progress.set()

    async def wait_for_more(self) -> None:
        """Return when some more messages have been delivered."""
        until = self.delivered + ROUNDS_BETWEEN
        while self.delivered < until:
            self.progress.clear()
            await self.progress.wait()


def counted(work: Callable[[Tx, T], bool], runs: list[T]) -> Callable[[Tx, T], bool]:
    """Return the work, which notes what it is about each time it runs: the store retries after a deadlock."""

    @wraps(work)
    def run(tx: Tx, about: T) -> bool:
        runs.append(about)
        return work(tx, about)

    return run


async def change_months(store: PostgresStore, loads: list[Load]) -> list[str]:
    """Create two months ahead and drop an old one, each table at its first try; return what was changed.

    A try that did not get its lock in time was none: on a busy machine, a commit may take longer than it waits.
    """
    changed: list[str] = []
    runs: list[Any] = []

    async def take(work: Callable[[Tx, T], bool], about: T) -> bool:
        while True:
            try:
                return await store.write(counted(work, runs), about)
            except StoreUnavailable as error:
                if str(error) != "LockNotAvailable":
                    raise
                runs.pop()

    for month in MONTHS_AHEAD:
        for table in PARTITION_KEYS:
            step = present(await store.read(partitions.next_step, Partition(table, month)))
            assert await take(partitions.take_step, step)
            changed.append(step.part.name)
            await asyncio.gather(*(each.wait_for_more() for each in loads))
    for table in reversed(PARTITION_KEYS):
        assert await take(partitions.drop_part, Partition(table, OLD))
        changed.append(f"{table}_{OLD}")
        await asyncio.gather(*(each.wait_for_more() for each in loads))
    assert len(runs) == len(changed)
    return changed


async def test_months_are_created_and_dropped_at_the_first_try_under_load(address: str) -> None:
    loads = [Load(slot) for slot in SLOTS]
    address = make_conninfo(address, options="-c deadlock_timeout=100ms")  # a lock is given up after a second
    async with open_postgres(address, writers=4) as store, open_postgres(address, writers=1) as housekeeping:
        await store.write(slots.ensure_slots, len(SLOTS))
        await store.write(lambda tx: partitions.create_past(tx, partitions.month_start(OLD), NOON))
        tasks = [asyncio.create_task(each.run(store)) for each in loads]
        changing = asyncio.create_task(change_months(housekeeping, loads))
        await asyncio.wait([changing, *tasks], return_when=asyncio.FIRST_COMPLETED)
        failed = [task.exception() for task in tasks if task.done()]
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

        changed = await changing

    assert failed == []
    names = {row[0] for row in query_outside(address, "select relname from pg_class where relispartition")}
    assert names.issuperset(changed[:8])
    assert names.isdisjoint(changed[8:])
