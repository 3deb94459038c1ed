"""Fills stores in bulk, with the service's own transactions."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

from bench.store_reader import settings_of
from pabal.app import open_store
from pabal.domain.base import identifiers
from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.policy import Policy, build_policy
from pabal.service.sending.accept import NewRequest, store_request
from pabal.settings.settings import load
from pabal.store.engine.base import Store
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from pabal.store.messages import messages, requests
from pabal.store.queue import slots
from pabal.world import RealWorld

T = TypeVar("T")

REQUEST_RECEIVERS = 1000
TEXT = "#{name}님, 주문하신 상품이 오늘 도착합니다."
SENDER = "0212345678"
PROGRESS_EVERY = 100_000

POLICY: Policy = build_policy(load({}))
CARRIER = POLICY.routes.first(Product.SMS) or ""
WORLD = RealWorld()


def with_store(data: Path, work: Callable[[Store], Awaitable[T]], *, is_durable: bool = True) -> T:
    """Open the store of a data directory, run `work`, and close it; PostgreSQL is always durable."""
    settings = settings_of(data)

    async def run() -> T:
        store: Store
        if settings.is_on_postgresql:
            store = open_store(settings, WORLD)
        else:
            store = SqliteStore(settings.store_path, WORLD, is_durable=is_durable)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def slots_of(data: Path) -> int:
    """Return how many slots the store of a data directory has."""
    return with_store(data, lambda store: store.read(slots.count_slots))


def campaigns(count: int, rng: random.Random, scheduled_at: Instant | None, regulars: int = 0) -> Iterator[Sending]:
    """Yield `count` sends to 1,000 random receivers; each of the `regulars` is in ten of them."""
    rounds = max(1, count // 10)
    for number in range(count):
        own = [
            Receiver(regular_receiver(one), ("단골",)) for one in range(regulars) if one % rounds == number % rounds
        ]
        others = [
            Receiver(f"010{rng.randrange(10_000_000, 100_000_000)}", ("홍길동",))
            for _ in range(REQUEST_RECEIVERS - len(own))
        ]
        yield Sending(Product.SMS, TEXT, own + others, scheduled_at, SENDER, variables=("name",))


def regular_receiver(one: int) -> str:
    """Return the phone number of a regular receiver; no random number is the same."""
    return f"0100009{one:04}"


def build_new_request(
    sending: Sending, at: Instant, rng: random.Random, slot: int = 0, carrier: str = CARRIER
) -> NewRequest:
    """Return a send as the argument of `store_request`."""
    request_id = identifiers.make_request_id(at, slot, rng.getrandbits(identifiers.RANDOM_BITS))
    scheduled_at = at if sending.scheduled_at is None else sending.scheduled_at
    return NewRequest(
        request_id,
        1,
        requests.build_row(request_id, 1, sending, scheduled_at),
        messages.build_rows(request_id, 1, sending.product, sending.receivers),
        None,
        carrier,
        sending.lane,
        scheduled_at,
        at,
        None,
        0,
    )


async def store_one(store: Store, new_request: NewRequest) -> None:
    """Store a send in one transaction."""
    await store.write(store_request, new_request)


def fill(
    data: Path,
    count: int,
    *,
    scheduled_after: int | None = None,
    regulars: int = 0,
    carrier: str = CARRIER,
    report_progress: Callable[[str], None] = lambda words: None,
) -> None:
    """Store `count` campaigns for a carrier in the slots in turn, as if accepted during the last hour.

    They are due at once, or `scheduled_after` milliseconds from now.
    """
    rng = random.Random(1)
    now = WORLD.now()

    async def work(store: Store) -> None:
        numbers = await store.read(slots.list_numbers)
        scheduled_at = None if scheduled_after is None else now + scheduled_after
        for number, sending in enumerate(campaigns(count, rng, scheduled_at, regulars)):
            at = now - HOUR + number * HOUR // count
            await store_one(store, build_new_request(sending, at, rng, numbers[number % len(numbers)], carrier))
            done = (number + 1) * REQUEST_RECEIVERS
            if done % PROGRESS_EVERY == 0:
                report_progress(f"  {done:,} messages are in the store")

    with_store(data, work, is_durable=False)
    os.sync()  # else the system writes it while something is measured
