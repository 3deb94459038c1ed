"""Limits how often a key may be used: a bucket that fills at the key's rate."""

from collections import OrderedDict
from typing import NamedTuple

from pabal.world import World

MAX_BUCKETS = 10_000


class Allowance(NamedTuple):
    """Whether a request may pass, and what is left: the figures of the RateLimit headers."""

    is_granted: bool
    limit: int
    remaining: int
    reset_s: float
    """Until the bucket is full again."""
    retry_after_s: float


class Limiter:
    """The buckets of all keys in use."""

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
