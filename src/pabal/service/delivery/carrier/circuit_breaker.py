"""The circuit breaker of a carrier: open while it is gone, or fails at everything, for too long."""

import json
import logging
from collections.abc import Sequence
from enum import Enum, auto

from pabal.carriers.base import Busy, Carrier, NotSent, Unknown, Verdict
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.store.queue import carriers
from pabal.store.queue.carriers import CarrierState
from pabal.world import World

OPEN_S = 30.0
"""How long a circuit stays open after a failure before it is half-open."""
FAILING_REASON = "it takes nothing"


class BreakerState(Enum):
    """Whether messages go to the carrier."""

    CLOSED = auto()
    """They do."""
    HALF_OPEN = auto()
    """Single messages do, as probes."""
    OPEN = auto()
    """They go to the next carrier of their route, if there is one."""


class CarrierStatus(Enum):
    """What an operator sees of a carrier; the values are the words that are stored."""

    UP = carriers.UP
    """Connected; with a reason, only in part: that of the reason waits."""
    DOWN = "down"
    """Not connected; its messages wait for it."""
    CIRCUIT_OPEN = "aside"
    """Its messages go to the next carrier of their route, if there is one."""


class CircuitBreaker:
    """Watches one carrier: its connection, and its verdicts."""

    def __init__(self, carrier: Carrier, world: World) -> None:
        self.state = BreakerState.CLOSED
        self.reason = ""
        """Why the carrier is not up, or what it lacks while it is."""
        self.is_probing = False
        """Whether the carrier has a probe that it has not answered yet."""
        self._carrier = carrier
        self._world = world
        self._is_connected = True
        self._down_since: float | None = None
        self._failing_since: float | None = None
        self._open_until = 0.0

    @property
    def status(self) -> CarrierStatus:
        """The status as of the last update."""
        if self.state is BreakerState.OPEN:
            return CarrierStatus.CIRCUIT_OPEN
        return CarrierStatus.UP if self._is_connected else CarrierStatus.DOWN

    @property
    def is_failing(self) -> bool:
        """Whether the carrier took nothing of what it answered last."""
        return self._failing_since is not None

    @property
    def allows_only_probes(self) -> bool:
        """Whether the carrier has failed at everything for too long: it gets one message at a time."""
        return self._has_lasted(self._failing_since)

    def update(self) -> None:
        """Look at the carrier's connection and at the clock."""
        is_failing = self._world.monotonic() < self._open_until or (self.is_probing and self.allows_only_probes)
        self._is_connected = self._carrier.is_connected
        if self._is_connected:
            self._down_since = None
        elif self._down_since is None:
            self._down_since = self._world.monotonic()
        if is_failing or self._has_lasted(self._down_since):
            self.state = BreakerState.OPEN
        else:
            self.state = BreakerState.HALF_OPEN if self.allows_only_probes else BreakerState.CLOSED
        self.reason = FAILING_REASON if is_failing and self._is_connected else self._carrier.problem

    def record(self, verdicts: Sequence[Verdict]) -> None:
        """Take in the verdicts on a batch; any acceptance or rejection shows that the carrier works."""
        verdicts = [each for each in verdicts if not (isinstance(each, NotSent) and each.retry_after_s is not None)]
        if not verdicts:  # none, or all of them wait for a quota, which says nothing
            return
        if not all(isinstance(verdict, Busy | NotSent | Unknown) for verdict in verdicts):
            self._failing_since, self._open_until = None, 0.0
            return
        now = self._world.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if self._has_lasted(self._failing_since):
            self._open_until = now + OPEN_S

    def _has_lasted(self, since: float | None) -> bool:
        return since is not None and self._world.monotonic() - since >= self._carrier.failover_after_s


_LOG_EVENTS = {
    CarrierStatus.UP: "carrier is up",
    CarrierStatus.DOWN: "carrier is down; its messages wait for it",
    CarrierStatus.CIRCUIT_OPEN: "carrier circuit opened; its messages go to the next carrier of their route",
}

_PARTLY_UP_EVENT = "carrier is partly up; messages wait for the part that has a problem"

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
            is_partly_up = status is CarrierStatus.UP and bool(reason)
            event = _PARTLY_UP_EVENT if is_partly_up else _LOG_EVENTS[status]
            log.log(level, event, extra={"carrier": self._carrier, "reason": reason})

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
