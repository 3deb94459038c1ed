"""How a carrier does: one that is gone or fails at everything for too long is set aside, and tried again."""

from collections.abc import Sequence
from enum import Enum

from pabal.carriers.base import Busy, Carrier, NotSent, Unknown, Verdict
from pabal.world import World

OPEN_S = 30.0
"""How long a carrier that fails at everything is set aside before it is tried again."""
FAILING_REASON = "it takes nothing"


class CarrierStatus(Enum):
    """What an operator sees of a carrier."""

    UP = "up"
    DOWN = "down"
    """Not connected; its messages wait for it."""
    CIRCUIT_OPEN = "aside"
    """Its messages go to the next carrier of their route, if there is one."""


class CircuitBreaker:
    """Watches one carrier."""

    def __init__(self, carrier: Carrier, world: World) -> None:
        self.status = CarrierStatus.UP
        self.reason = ""
        """Why it is not up; or, where it is, what it lacks."""
        self.is_probing = False
        """Whether it has been given a message to see how it does, and has not said a word to it."""
        self._carrier = carrier
        self._world = world
        self._down_since: float | None = None
        self._failing_since: float | None = None
        self._open_until = 0.0

    @property
    def allows_only_probes(self) -> bool:
        """Whether it has failed for too long, and is to be given as little as it takes to see how it does."""
        return self._has_lasted(self._failing_since)

    def update(self) -> None:
        """Look at the carrier."""
        is_aside = self._world.monotonic() < self._open_until or (self.is_probing and self.allows_only_probes)
        if not self._carrier.is_connected:
            if self._down_since is None:
                self._down_since = self._world.monotonic()
            self.status = (
                CarrierStatus.CIRCUIT_OPEN if is_aside or self._has_lasted(self._down_since) else CarrierStatus.DOWN
            )
            self.reason = self._carrier.problem
        else:
            self._down_since = None
            self.status, self.reason = (
                (CarrierStatus.CIRCUIT_OPEN, FAILING_REASON)
                if is_aside
                else (CarrierStatus.UP, self._carrier.problem)
            )

    def record(self, verdicts: Sequence[Verdict]) -> None:
        """Take in what the carrier said to a batch; any clear word shows that it works."""
        if not verdicts:
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
