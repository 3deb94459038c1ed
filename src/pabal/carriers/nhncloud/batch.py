"""What is handed over at once, and what has been told of it."""

from collections.abc import Sequence

from pabal.carriers.base import OnVerdicts, Verdict
from pabal.domain.message import Attempt
from pabal.world import World

MOST_SPLITS = 64


class Submission:
    """What was handed over at once: tells each message's verdict, the first that there is."""

    def __init__(self, tell: OnVerdicts, world: World, give_up_at: float) -> None:
        self._tell = tell
        self._world = world
        self._give_up_at = give_up_at
        self._told: set[bytes] = set()
        self._splits = 0

    @property
    def left_s(self) -> float:
        """How much time there is left."""
        return max(0.0, self._give_up_at - self._world.monotonic())

    def may_split(self) -> bool:
        """Say whether another call may be made in halves: if most of its messages are bad, that never ends."""
        self._splits += 1
        return self._splits <= MOST_SPLITS

    def say(self, attempts: Sequence[Attempt], verdict: Verdict) -> None:
        """Tell one verdict of several messages."""
        self.say_each([(each, verdict) for each in attempts])

    def say_each(self, said: Sequence[tuple[Attempt, Verdict]]) -> None:
        """Tell verdicts; of what was told before nothing more is."""
        new = [(each, verdict) for each, verdict in said if each.message_id not in self._told]
        if new:
            self._told.update(each.message_id for each, _ in new)
            self._tell(new)
