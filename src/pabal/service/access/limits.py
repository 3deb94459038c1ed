"""Limits how often a key may be used: a bucket that fills at the key's rate."""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from pabal.domain.dates import SECOND, Instant
from pabal.store import key_usage
from pabal.store.engine.base import Store, Tx
from pabal.store.key_usage import Grant
from pabal.world import World

MAX_BUCKETS = 10_000
AHEAD_PARTS = 100
"""Of a bucket that processes share, one takes at least this part of a second's worth at a time."""
AHEAD_FOR = 1 * SECOND
"""What was taken ahead and not used for so long is forgotten."""
CLOSED_FOR = 10 * SECOND
"""No bucket is empty for longer than a clock that is behind others may take it to be."""


class Allowance(NamedTuple):
    """Whether a request may pass, and what is left: the figures of the RateLimit headers."""

    is_granted: bool
    limit: int
    remaining: int
    reset_s: float
    """Until the bucket is full again."""
    retry_after_s: float


class Limiter:
    """The buckets of all keys in use, in the only process there is."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._buckets: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def take(self, key_id: int, rate: int) -> Allowance:
        """Take one request out of a key's bucket, which holds a second's worth."""
        now = self._world.stopwatch()
        left, since = self._buckets.get(key_id, (float(rate), now))
        left = min(rate, left + (now - since) * rate)
        is_granted = left >= 1
        if is_granted:
            left -= 1
        self._buckets[key_id] = (left, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        wait_s = 0.0 if is_granted else (1 - left) / rate
        return Allowance(is_granted, rate, int(left), (rate - left) / rate, wait_s)


class SharedLimiter:
    """The buckets of all keys in use, shared with other processes through the store.

    Each takes a few requests ahead, so that most pass without asking the store.
    """

    def __init__(self, store: Store, world: World) -> None:
        self._store = store
        self._world = world
        self._purses: OrderedDict[int, _Purse] = OrderedDict()

    async def take(self, key_id: int, rate: int) -> Allowance:
        """Take one request out of a key's bucket, which holds a second's worth.

        Raises StoreAway.
        """
        purse = self._purses.get(key_id)
        if purse is None:
            purse = self._purses[key_id] = _Purse()
            if len(self._purses) > MAX_BUCKETS:
                self._purses.popitem(last=False)
        purse.wanted += 1
        try:
            if not purse.has_some(self._world.now()):
                async with purse.filling:
                    await self._fill(purse, key_id, rate)
            return purse.spend(rate, self._world.now())
        finally:
            purse.wanted -= 1

    def _take_now(self, tx: Tx, key_id: int, rate: int, most: int) -> Grant:
        return key_usage.take(tx, key_id, rate, most, self._world.now())

    async def _fill(self, purse: "_Purse", key_id: int, rate: int) -> None:
        now = self._world.now()
        if purse.has_some(now) or purse.is_closed(now):  # somebody else has asked meanwhile
            return
        most = max(rate // AHEAD_PARTS, purse.wanted)
        grant = await self._store.note(self._take_now, key_id, rate, most)
        purse.left, purse.filled_at, purse.left_in_store = grant.granted, now, grant.left
        purse.closed_until = now if grant.granted else grant.next_at


class _Purse:
    """What one process has taken of a key's bucket, and knows of the rest."""

    def __init__(self) -> None:
        self.left = 0
        self.left_in_store = 0
        self.wanted = 0
        """How many callers wait to take one."""
        self.filled_at: Instant = 0
        self.closed_until: Instant = 0
        """The bucket has nothing before this time."""
        self.filling = asyncio.Lock()

    def has_some(self, now: Instant) -> bool:
        return self.left > 0 and 0 <= now - self.filled_at < AHEAD_FOR

    def is_closed(self, now: Instant) -> bool:
        """Say whether the bucket has nothing; not for ever, should the clock have been set back since."""
        return now < self.closed_until <= now + CLOSED_FOR

    def spend(self, rate: int, now: Instant) -> Allowance:
        is_granted = self.has_some(now)
        if is_granted:
            self.left -= 1
        left = self.left + self.left_in_store if is_granted else 0
        wait_s = 0.0 if is_granted else max(1 / rate, (self.closed_until - now) / SECOND)
        return Allowance(is_granted, rate, left, (rate - left) / rate, wait_s)
