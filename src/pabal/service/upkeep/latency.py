"""How quick carriers are: what they accept in a minute, and the time that they take to answer."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.carriers.base import Accepted
from pabal.domain.base.dates import DAY, MINUTE, Instant
from pabal.service.context import Context
from pabal.service.metrics import RESPONSE_BOUNDS_S
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers
from pabal.store.queue.carriers import MinuteLatency

LATENCY_RETENTION_MS = 1 * DAY
SHARES = (0.50, 0.95, 0.99)


class Percentiles(NamedTuple):
    """How long the answers of a carrier took, in seconds."""

    answers: int
    p50: float
    p95: float
    p99: float


class LatencyReporter:
    """Stores how long carriers took to answer this process, one row for each carrier and minute."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._minute = _minute_of(context.world.now())
        self._base = context.metrics.count_responses()
        self._stored: dict[str, tuple[int, ...]] = {}

    async def report(self) -> None:
        """Store what was answered since the minute began; nothing if that has not changed."""
        context = self._context
        counts = context.metrics.count_responses()
        changed = {
            name: new
            for name, each in counts.items()
            if any(new := _difference(each, self._base.get(name, (0,) * len(each))))
        }
        if changed != self._stored:
            worker = context.slots.worker
            rows = [MinuteLatency(name, self._minute, worker, each) for name, each in changed.items()]
            await context.store.write(carriers.save_latencies, rows)
            self._stored = changed
        minute = _minute_of(context.world.now())
        if minute != self._minute:
            self._minute, self._base, self._stored = minute, counts, {}


def add_up(rows: Iterable[MinuteLatency]) -> tuple[int, ...]:
    """Return the counts of some rows together; rows of another version, with other classes, are left out."""
    total = [0] * (len(RESPONSE_BOUNDS_S) + 1)
    for each in rows:
        if len(each.counts) == len(total):
            total = [ours + theirs for ours, theirs in zip(total, each.counts, strict=True)]
    return tuple(total)


def find_percentiles(counts: Sequence[int]) -> Percentiles | None:
    """Return the percentiles of counts by class, each found by interpolation within its class; None without any.

    What took longer than all classes counts as the longest bound.
    """
    answers = sum(counts)
    if not answers:
        return None
    return Percentiles(answers, *(_find_percentile(counts, share * answers) for share in SHARES))


def _find_percentile(counts: Sequence[int], rank: float) -> float:
    passed = 0
    bounds = (0.0, *RESPONSE_BOUNDS_S, RESPONSE_BOUNDS_S[-1])
    for place, count in enumerate(counts):
        if count and passed + count >= rank:
            low, high = bounds[place], bounds[place + 1]
            return low + (high - low) * (rank - passed) / count
        passed += count
    return RESPONSE_BOUNDS_S[-1]


def _difference(counts: Sequence[int], base: Sequence[int]) -> tuple[int, ...]:
    return tuple(ours - before for ours, before in zip(counts, base, strict=True))


def _minute_of(at: Instant) -> Instant:
    return at - at % MINUTE


_ACCEPTED = Accepted(None).label


class ThroughputReporter:
    """Counts what carriers accepted from this process since the last report."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._reported_at = context.world.now()
        self._accepted = self._accepted_counts()
        self._rates: dict[str, int] = {}

    async def report(self) -> None:
        """Store how many messages a minute each carrier accepted since the last report; nothing if none did."""
        context, now = self._context, self._context.world.now()
        passed = now - self._reported_at
        if passed <= 0:  # the clock was set back
            self._reported_at = now
            return
        accepted = self._accepted_counts()
        rates = {name: round((count - self._accepted[name]) * MINUTE / passed) for name, count in accepted.items()}
        changed = {name: rate for name, rate in rates.items() if rate or self._rates.get(name)}
        if changed:
            await context.store.write(_store_rates, context.slots.worker, changed, now)
        self._reported_at, self._accepted, self._rates = now, accepted, rates

    def _accepted_counts(self) -> dict[str, int]:
        return {
            name: self._context.metrics.carrier_verdicts.count(name, _ACCEPTED) for name in self._context.carriers
        }


def _store_rates(tx: Tx, worker: str, rates: dict[str, int], now: int) -> None:
    for name, rate in rates.items():
        carriers.save_throughput(tx, name, worker, rate, now)
