"""Rate limits of API keys: a token bucket per key, refilled at the key's rate."""

import asyncio
from collections.abc import Hashable
from types import TracebackType
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.base.newest import Newest
from pabal.store.accounts import accounts
from pabal.store.accounts.accounts import RateGrant
from pabal.store.engine.base import Priority, Store, Tx, transaction
from pabal.world import World

MAX_BUCKETS = 10_000
PREFETCH_FRACTION = 100
"""A process takes at least 1/PREFETCH_FRACTION of a second's tokens from a shared bucket at a time."""
PREFETCH_LEFT_FRACTION = 10
"""Where more than that is left in the bucket, it takes up to one part in this many of it."""
PREFETCH_TTL_MS = 1 * SECOND
"""Prefetched tokens that are not used for this long are dropped."""
MAX_EMPTY_MS = 10 * SECOND
"""Longest time a bucket is believed empty, in case this process's clock is behind."""


class RateLimitResult(NamedTuple):
    """Whether a request is allowed, and the figures of the RateLimit headers."""

    is_allowed: bool
    limit: int
    remaining: int
    reset_s: float
    """Time until the bucket is full again."""
    retry_after_s: float


class RateLimiter:
    """Token buckets of all keys in use, for a single process."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._buckets: Newest[int, tuple[float, float]] = Newest(MAX_BUCKETS)

    def take(self, key_id: int, rate: int) -> RateLimitResult:
        """Take one token from a key's bucket, which holds one second's tokens."""
        now = self._world.monotonic()
        left, since = self._buckets.get(key_id, (float(rate), now))
        left = min(rate, left + (now - since) * rate)
        is_granted = left >= 1
        if is_granted:
            left -= 1
        self._buckets[key_id] = (left, now)
        wait_s = 0.0 if is_granted else (1 - left) / rate
        return RateLimitResult(is_granted, rate, int(left), (rate - left) / rate, wait_s)


class SharedRateLimiter:
    """Token buckets of all keys in use, shared with other processes through the store.

    Each process prefetches some tokens, so that most requests need no transaction.
    """

    def __init__(self, store: Store, world: World) -> None:
        self._store = store
        self._world = world
        self._shares: Newest[int, _BucketShare] = Newest(MAX_BUCKETS)

    async def take(self, key_id: int, rate: int) -> RateLimitResult:
        """Take one token from a key's bucket, which holds one second's tokens.

        Raises StoreUnavailable.
        """
        share, now = self._shares.get(key_id), self._world.now()
        if share is None:
            share = self._shares[key_id] = _BucketShare()
        if share.has_tokens(now):
            return share.spend(rate, now)
        share.waiting_callers += 1
        try:
            async with share.refill_lock:
                await self._refill(share, key_id, rate)
            return share.spend(rate, self._world.now())
        finally:
            share.waiting_callers -= 1

    @transaction(priority=Priority.PROMPT)
    def _take_now(self, tx: Tx, key_id: int, rate: int, limit: int) -> RateGrant:
        return accounts.take(tx, key_id, rate, limit, self._world.now())

    async def _refill(self, share: "_BucketShare", key_id: int, rate: int) -> None:
        now = self._world.now()
        if share.has_tokens(now) or share.is_known_empty(now):  # another caller has refilled it meanwhile
            return
        limit = max(share.prefetch_size(rate), share.waiting_callers)
        grant = await self._store.write_relaxed(self._take_now, key_id, rate, limit)
        now = self._world.now()  # a store that was busy for long must not make them look old
        share.tokens, share.filled_at, share.tokens_in_store = grant.granted, now, grant.left
        share.empty_until = now if grant.granted else grant.next_at


class _BucketShare:
    """The tokens that this process has prefetched from a key's bucket, and what it knows of the rest."""

    def __init__(self) -> None:
        self.tokens = 0
        self.tokens_in_store = 0
        self.waiting_callers = 0
        """Callers that wait for a token."""
        self.filled_at: Instant = 0
        self.empty_until: Instant = 0
        """The bucket is empty until this time."""
        self.refill_lock = asyncio.Lock()

    def prefetch_size(self, rate: int) -> int:
        """Return how many tokens to take ahead: none of a low rate, so that all processes together keep to it."""
        at_least = rate // PREFETCH_FRACTION
        return max(at_least, self.tokens_in_store // PREFETCH_LEFT_FRACTION) if at_least else 0

    def has_tokens(self, now: Instant) -> bool:
        return self.tokens > 0 and 0 <= now - self.filled_at < PREFETCH_TTL_MS

    def is_known_empty(self, now: Instant) -> bool:
        """Return whether the bucket is empty; never for long, in case the clock was set back."""
        return now < self.empty_until <= now + MAX_EMPTY_MS

    def spend(self, rate: int, now: Instant) -> RateLimitResult:
        is_granted = self.has_tokens(now)
        if is_granted:
            self.tokens -= 1
        left = self.tokens + self.tokens_in_store if is_granted else 0
        wait_s = 0.0 if is_granted else max(1 / rate, (self.empty_until - now) / SECOND)
        return RateLimitResult(is_granted, rate, left, (rate - left) / rate, wait_s)


RETRY_AFTER_S = 1.0
_CALLER_IS_FULL = Text(
    "이 호출자가 동시에 보내는 요청 본문이 너무 큽니다. 아무것도 접수하지 않았습니다.",
    "You are sending too many bytes at once; nothing was accepted.",
)
_SERVICE_IS_FULL = Text(
    "동시에 받고 있는 요청 본문이 너무 많아 이 요청은 접수하지 않았습니다.",
    "The service is receiving too many bytes at once; this request was not accepted.",
)


class BodyBudget:
    """The bytes that requests hold from their head to their answer.

    A caller that holds nothing may always hold one body, whatever its size: bodies have a limit of their own.
    """

    def __init__(self, max_bytes: int, max_bytes_per_caller: int) -> None:
        self.max_bytes = max_bytes
        self.held_bytes = 0
        self._max_per_caller = max_bytes_per_caller
        self._held_by_caller: dict[Hashable, int] = {}

    def hold(self, caller: Hashable, size: int) -> "HeldBody":
        """Return a reservation of `size` bytes, to be used in a `with` statement.

        Raises Refused: RATE_LIMITED if the caller holds too many bytes, SERVICE_UNAVAILABLE if all do.
        """
        held = HeldBody(self, caller)
        held.grow(size)
        return held

    def take(self, caller: Hashable, size: int, own: int = 0) -> None:
        """Count bytes of a caller, for a body of which `own` are counted already; raises Refused as `hold` does."""
        by_caller = self._held_by_caller.get(caller, 0)
        if by_caller > own and by_caller + size > self._max_per_caller:
            raise Refused(Code.RATE_LIMITED, detail=_CALLER_IS_FULL, retry_after_s=RETRY_AFTER_S)
        if self.held_bytes > by_caller and self.held_bytes + size > self.max_bytes:
            raise Refused(Code.SERVICE_UNAVAILABLE, detail=_SERVICE_IS_FULL, retry_after_s=RETRY_AFTER_S)
        self._held_by_caller[caller] = by_caller + size
        self.held_bytes += size

    def give_back(self, caller: Hashable, size: int) -> None:
        """Stop counting bytes of a caller."""
        self.held_bytes -= size
        left = self._held_by_caller[caller] - size
        if left:
            self._held_by_caller[caller] = left
        else:
            del self._held_by_caller[caller]


class HeldBody:
    """The bytes that one request holds; the end of the `with` block gives them back."""

    __slots__ = ("_budget", "_caller", "size")

    def __init__(self, budget: BodyBudget, caller: Hashable) -> None:
        self._budget = budget
        self._caller = caller
        self.size = 0

    def grow(self, size: int) -> None:
        """Hold at least `size` bytes from now on; raises Refused as `BodyBudget.hold` does."""
        if size > self.size:
            self._budget.take(self._caller, size - self.size, self.size)
            self.size = size

    def __enter__(self) -> "HeldBody":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.size:
            self._budget.give_back(self._caller, self.size)
            self.size = 0
