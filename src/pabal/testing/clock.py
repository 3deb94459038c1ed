"""The clock of a service under test: it can be moved forward, so that no test waits for a scheduled send."""

from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from pabal.domain.base.dates import SECOND, Instant, parse_minute
from pabal.world import RealWorld


class MovableWorld(RealWorld):
    """The system's clock and randomness, with a time that lies ahead by as much as a test says.

    Durations, such as timeouts, are still those of the system.
    """

    ahead_ms = 0

    def now(self) -> Instant:
        return super().now() + self.ahead_ms


class Clock:
    """Moves the time of a service; it goes on from there as any clock does."""

    def __init__(self, world: MovableWorld, zone: ZoneInfo, on_move: Callable[[], object]) -> None:
        """`on_move` is called after each move: what is now due has to be looked for."""
        self._world = world
        self._zone = zone
        self._on_move = on_move

    def now(self) -> datetime:
        """Return the time of the service, in its time zone."""
        return datetime.fromtimestamp(self._world.now() / SECOND, self._zone)

    def move_to(self, moment: datetime | str) -> None:
        """Move to a moment: a datetime, or the text of a `sendDate`. Without a zone it is in that of the service.

        Raises ValueError for a moment that has passed; Refused for a text that is no time.
        """
        if isinstance(moment, str):
            at = parse_minute(moment, self._zone)
        else:
            at = round((moment if moment.tzinfo else moment.replace(tzinfo=self._zone)).timestamp() * SECOND)
        ahead_ms = at - self._world.now()
        if ahead_ms < 0:
            raise ValueError(f"{moment} has passed, and the clock only moves forward: it is {self.now():%F %T}")
        self._move(self._world.ahead_ms + ahead_ms)

    def move_by(self, duration: timedelta) -> None:
        """Move forward by a duration.

        Raises ValueError for a negative one.
        """
        self.move_to(self.now() + duration)

    def reset(self) -> None:
        """Return to the time of the system."""
        self._move(0)

    def _move(self, ahead_ms: int) -> None:
        if ahead_ms != self._world.ahead_ms:
            self._world.ahead_ms = ahead_ms
            self._on_move()
