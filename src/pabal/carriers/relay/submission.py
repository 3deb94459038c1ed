"""The progress of one call of `submit`: its deadline, and the verdicts reported so far."""

from collections.abc import Sequence

from pabal.carriers.base import OnVerdicts, Verdict
from pabal.domain.sends.message import Attempt
from pabal.world import World

MAX_SPLITS = 64
"""How many calls of a submission may be repeated in halves: if most messages are bad, it would never end."""


class Submission:
    """Reports the verdict on each message, the first one only, and on the attempt that the service submitted."""

    def __init__(
        self, on_verdicts: OnVerdicts, world: World, deadline: float, attempts: Sequence[Attempt] = ()
    ) -> None:
        """`attempts` are those that the service submitted; a carrier may work with changed ones."""
        self._submitted = {attempt.message_id: attempt for attempt in attempts}
        self._on_verdicts = on_verdicts
        self._world = world
        self._deadline = deadline
        self._reported: set[bytes] = set()
        self._splits = 0

    @property
    def remaining_s(self) -> float:
        """How much time is left until the deadline."""
        return max(0.0, self._deadline - self._world.monotonic())

    def count_split(self) -> bool:
        """Count one more call to repeat in halves; return whether it may be."""
        self._splits += 1
        return self._splits <= MAX_SPLITS

    def report_all(self, attempts: Sequence[Attempt], verdict: Verdict) -> None:
        """Report the same verdict on several messages."""
        self.report([(attempt, verdict) for attempt in attempts])

    def report(self, verdicts: Sequence[tuple[Attempt, Verdict]]) -> None:
        """Report verdicts, except on messages that have one."""
        new = [
            (self._submitted.get(attempt.message_id, attempt), verdict)
            for attempt, verdict in verdicts
            if attempt.message_id not in self._reported
        ]
        if new:
            self._reported.update(attempt.message_id for attempt, _ in new)
            self._on_verdicts(new)
