"""The circuit breaker of a carrier: open while it is gone, or fails at everything, for too long."""

from collections.abc import Sequence
from enum import Enum, auto

from pabal.carriers.base import Busy, Carrier, NotSent, Unknown, Verdict
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

    UP = "up"
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
