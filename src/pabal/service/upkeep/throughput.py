"""Reports the throughput of each carrier: every process stores its own share."""

from pabal.carriers.base import Accepted
from pabal.domain.base.dates import MINUTE
from pabal.service.context import Context
from pabal.store.engine.base import Tx
from pabal.store.queue import carrier_states

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
        carrier_states.save_throughput(tx, name, worker, rate, now)
