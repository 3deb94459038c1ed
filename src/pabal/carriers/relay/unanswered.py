"""Remembers when the calls began that put messages in doubt, because they got no answer."""

from collections.abc import Iterable, Sequence

from pabal.domain.sends.message import Attempt
from pabal.world import World

REMEMBERED_S = 900.0
"""Longer than any pause between two lookups of a message."""


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
