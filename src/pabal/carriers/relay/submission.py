"""The progress of one call of `submit`, and since when messages are in doubt without an answer."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol, Self, TypeVar

from pabal.carriers.base import Busy, NotSent, OnVerdicts, Rejected, Verdict
from pabal.carriers.pace import Pacer
from pabal.carriers.relay.call_queue import CallQueue
from pabal.domain.sends.message import Attempt, Outcome
from pabal.world import World

MIN_TIMEOUT_S = 0.1
MIN_CALL_S = 1.0
"""With less time left no call is begun."""
MAX_SPLITS = 64
"""How many calls of a submission may be repeated in halves: if most messages are bad, it would never end."""
REMEMBERED_S = 900.0
"""Longer than any pause between two lookups of a message."""


class RelayCall(Protocol):
    """A call that submits messages."""

    @property
    def attempts(self) -> list[Attempt]:
        """The messages of the call."""

    def halves(self) -> tuple[Self, Self]:
        """Return the same call in two halves."""


C = TypeVar("C", bound=RelayCall)


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

    def timeout_s(self, longest_s: float) -> float:
        """Return how long the next call may take."""
        return max(MIN_TIMEOUT_S, min(longest_s, self.remaining_s))

    async def send(
        self, call: C, pacer: Pacer, queue: CallQueue, make: Callable[[C, "Submission"], Awaitable[Sequence[C]]]
    ) -> None:
        """Make a call when it may go out; `make` reports verdicts, or returns the halves to send instead.

        The halves of a refused call do not wait for the rate again: nothing of it was accepted.
        """
        count = len(call.attempts)
        await pacer.wait(pacer.reserve(count), count - 1, 1)  # the call goes out when its last message may
        pending = [call]
        while pending:
            each = pending.pop()
            timeout_s = max(0.0, self.remaining_s - MIN_CALL_S)
            if not await queue.acquire(timeout_s, is_small=each.attempts[0].is_small):
                self.report_all(each.attempts, NotSent())
                continue
            try:
                pending.extend(reversed(await make(each, self)))
            finally:
                queue.release()

    def halves_of(self, call: C) -> tuple[C, ...]:
        """Return the halves of a call that was refused, perhaps because of one message; none after too many."""
        self._splits += 1
        if self._splits <= MAX_SPLITS:
            return call.halves()
        self.report_all(call.attempts, Busy())
        return ()

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

    def report_looked_up(self, found: Iterable[tuple[Attempt, Verdict | None]]) -> list[Attempt]:
        """Report the verdicts on messages in doubt, and return those without one, which are to be sent again.

        Those of them that are past their deadline end here.
        """
        now = self._world.now()
        missing: list[Attempt] = []
        verdicts: list[tuple[Attempt, Verdict]] = []
        for attempt, verdict in found:
            if verdict is not None:
                verdicts.append((attempt, verdict))
            elif attempt.expires_at is not None and attempt.expires_at <= now:
                verdicts.append((attempt, Rejected(Outcome.EXPIRED)))
            else:
                missing.append(attempt)
        self.report(verdicts)
        return missing


class UnansweredMessages:
    """When a call with a message began, or when this process first heard that the message is in doubt."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._since: dict[bytes, float] = {}
        """About in the order of time."""

    def add(self, attempts: Sequence[Attempt], began_at: float) -> None:
        """Record that a call with these messages, begun at this time, got no answer."""
        while self._since and next(iter(self._since.values())) < began_at - REMEMBERED_S:
            self._since.pop(next(iter(self._since)))
        for attempt in attempts:
            self._since.pop(attempt.message_id, None)
            self._since[attempt.message_id] = began_at

    def add_missing(self, attempts: Sequence[Attempt]) -> None:
        """Record messages that another process, or this one before a restart, may have submitted just now."""
        now = self._world.monotonic()
        for attempt in attempts:
            self._since.setdefault(attempt.message_id, now)

    def discard(self, message_ids: Iterable[bytes]) -> None:
        """Forget messages that are no longer in doubt."""
        for message_id in message_ids:
            self._since.pop(message_id, None)

    def age_s(self, message_id: bytes, at: float) -> float:
        """Return how long before a time the call with a message began."""
        return at - self._since.get(message_id, at)
