"""Reports changes of a carrier's status to the store, the log and the metrics."""

import json
import logging

from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.service.delivery.carrier.circuit_breaker import CarrierStatus, CircuitBreaker
from pabal.store.queue import carriers
from pabal.store.queue.carriers import CarrierState

_LOG_EVENTS = {
    CarrierStatus.UP: "carrier is up",
    CarrierStatus.DOWN: "carrier is down; its messages wait for it",
    CarrierStatus.CIRCUIT_OPEN: "carrier circuit opened; its messages go to the next carrier of their route",
}

log = logging.getLogger("pabal.deliver")


class StatusReporter:
    """Tells everyone who should know when the status of one carrier changes."""

    def __init__(self, context: Context, carrier: str, breaker: CircuitBreaker) -> None:
        self._context = context
        self._carrier = carrier
        self._breaker = breaker
        self._reported: tuple[CarrierStatus, str] | None = None
        self._quotas: dict[str, int] = {}
        self._since: Instant = 0

    async def update(self) -> None:
        """Update the circuit breaker, and report its status if that has changed.

        Raises StoreUnavailable; the next call then reports again.
        """
        self._breaker.update()
        quotas = dict(self._context.carriers[self._carrier].exhausted_quotas)
        self._context.metrics.set_exhausted_quotas(self._carrier, quotas)
        status, reason = current = (self._breaker.status, self._breaker.reason)
        if current != self._reported:
            self._publish(status)
            self._log(status, reason)
        if current != self._reported or quotas != self._quotas:
            await self._store(status, reason, quotas)
            self._reported, self._quotas = current, quotas

    def _publish(self, status: CarrierStatus) -> None:
        is_open = status is CarrierStatus.CIRCUIT_OPEN
        open_circuits = self._context.open_circuits
        (open_circuits.add if is_open else open_circuits.discard)(self._carrier)
        self._context.metrics.set_carrier_status(
            self._carrier, is_up=status is CarrierStatus.UP, is_circuit_open=is_open
        )

    def _log(self, status: CarrierStatus, reason: str) -> None:
        if self._reported or status is CarrierStatus.CIRCUIT_OPEN:  # at the start, connecting takes a moment
            level = logging.WARNING if reason or status is not CarrierStatus.UP else logging.INFO
            log.log(level, _LOG_EVENTS[status], extra={"carrier": self._carrier, "reason": reason})

    async def _store(self, status: CarrierStatus, reason: str, quotas: dict[str, int]) -> None:
        if self._reported is None or self._reported[0] is not status:
            self._since = self._context.world.now()
        state = CarrierState(
            self._carrier,
            status.value,
            self._since,
            reason,
            self._context.slots.worker,
            quotas=json.dumps(quotas) if quotas else None,
        )
        await self._context.store.write(carriers.save_state, state)
