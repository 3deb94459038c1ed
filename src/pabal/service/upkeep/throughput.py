"""Tells how fast each carrier takes messages: every process writes down its own part, for whoever looks."""

from pabal.domain.dates import MINUTE
from pabal.service.context import Context
from pabal.store import carrier_states
from pabal.store.engine.base import Tx

TAKEN = "taken"


class ThroughputReporter:
    """What carriers have taken from this process, and when that was told last."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._reported_at = context.world.now()
        self._accepted = self._accepted_counts()
        self._rates: dict[str, int] = {}

    async def report(self) -> None:
        """Write down what each carrier took a minute since the last time; nothing where nothing moves."""
        context, now = self._context, self._context.world.now()
        passed = now - self._reported_at
        if passed <= 0:  # the clock was set back
            self._reported_at = now
            return
        taken = self._accepted_counts()
        paces = {name: round((count - self._accepted[name]) * MINUTE / passed) for name, count in taken.items()}
        news = {name: pace for name, pace in paces.items() if pace or self._rates.get(name)}
        if news:
            await context.store.write(_put_all, context.slots.worker, news, now)
        self._reported_at, self._accepted, self._rates = now, taken, paces

    def _accepted_counts(self) -> dict[str, int]:
        return {name: self._context.metrics.carrier_verdicts.count(name, TAKEN) for name in self._context.carriers}


def _put_all(tx: Tx, worker: str, paces: dict[str, int], now: int) -> None:
    for name, pace in paces.items():
        carrier_states.save_throughput(tx, name, worker, pace, now)
