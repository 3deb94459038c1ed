"""Limits how often a key may be used: a bucket that fills at the key's rate."""

import asyncio
from collections import OrderedDict
from typing import NamedTuple

from pabal.domain.dates import SECOND, Instant
from pabal.store import key_usage
from pabal.store.engine.base import Store, Tx
from pabal.store.key_usage import RateGrant
from pabal.world import World

MAX_BUCKETS = 10_000
PREFETCH_FRACTION = 100
"""Of a bucket that processes share, one takes at least this part of a second's worth at a time."""
PREFETCH_TTL_MS = 1 * SECOND
"""What was taken ahead and not used for so long is forgotten."""
MAX_EMPTY_MS = 10 * SECOND
"""No bucket is empty for longer than a clock that is behind others may take it to be."""


class RateLimitResult(NamedTuple):
    """Whether a request may pass, and what is left: the figures of the RateLimit headers."""

    is_allowed: bool
    limit: int
    remaining: int
    reset_s: float
    """Until the bucket is full again."""
    retry_after_s: float


class RateLimiter:
    """The buckets of all keys in use, in the only process there is."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._buckets: OrderedDict[int, tuple[float, float]] = OrderedDict()

    def take(self, key_id: int, rate: int) -> RateLimitResult:
        """Take one request out of a key's bucket, which holds a second's worth."""
        now = self._world.monotonic()
        left, since = self._buckets.get(key_id, (float(rate), now))
        left = min(rate, left + (now - since) * rate)
        is_granted = left >= 1
        if is_granted:
            left -= 1
        self._buckets[key_id] = (left, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        wait_s = 0.0 if is_granted else (1 - left) / rate
        return RateLimitResult(is_granted, rate, int(left), (rate - left) / rate, wait_s)


class SharedRateLimiter:
    """The buckets of all keys in use, shared with other processes through the store.

    Each takes a few requests ahead, so that most pass without asking the store.
    """

    def __init__(self, store: Store, world: World) -> None:
        self._store = store
        self._world = world
        self._shares: OrderedDict[int, _BucketShare] = OrderedDict()

    async def take(self, key_id: int, rate: int) -> RateLimitResult:
        """Take one request out of a key's bucket, which holds a second's worth.

        Raises StoreAway.
        """
        purse = self._shares.get(key_id)
        if purse is None:
            purse = self._shares[key_id] = _BucketShare()
            if len(self._shares) > MAX_BUCKETS:
                self._shares.popitem(last=False)
        purse.waiting_callers += 1
        try:
            if not purse.has_tokens(self._world.now()):
                async with purse.refill_lock:
                    await self._refill(purse, key_id, rate)
            return purse.spend(rate, self._world.now())
        finally:
            purse.waiting_callers -= 1

    def _take_now(self, tx: Tx, key_id: int, rate: int, most: int) -> RateGrant:
        return key_usage.take(tx, key_id, rate, most, self._world.now())

    async def _refill(self, purse: "_BucketShare", key_id: int, rate: int) -> None:
        now = self._world.now()
        if purse.has_tokens(now) or purse.is_known_empty(now):  # somebody else has asked meanwhile
            return
        most = max(rate // PREFETCH_FRACTION, purse.waiting_callers)
        grant = await self._store.write_relaxed(self._take_now, key_id, rate, most)
        purse.tokens, purse.filled_at, purse.tokens_in_store = grant.granted, now, grant.left
        purse.empty_until = now if grant.granted else grant.next_at


class _BucketShare:
    """What one process has taken of a key's bucket, and knows of the rest."""

    def __init__(self) -> None:
        self.tokens = 0
        self.tokens_in_store = 0
        self.waiting_callers = 0
        """How many callers wait to take one."""
        self.filled_at: Instant = 0
        self.empty_until: Instant = 0
        """The bucket has nothing before this time."""
        self.refill_lock = asyncio.Lock()

    def has_tokens(self, now: Instant) -> bool:
        return self.tokens > 0 and 0 <= now - self.filled_at < PREFETCH_TTL_MS

    def is_known_empty(self, now: Instant) -> bool:
        """Say whether the bucket has nothing; not for ever, should the clock have been set back since."""
        return now < self.empty_until <= now + MAX_EMPTY_MS

    def spend(self, rate: int, now: Instant) -> RateLimitResult:
        is_granted = self.has_tokens(now)
        if is_granted:
            self.tokens -= 1
        left = self.tokens + self.tokens_in_store if is_granted else 0
        wait_s = 0.0 if is_granted else max(1 / rate, (self.empty_until - now) / SECOND)
        return RateLimitResult(is_granted, rate, left, (rate - left) / rate, wait_s)
