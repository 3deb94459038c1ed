"""Limits how fast posts are made while messages are being delivered, which comes first."""

import asyncio

from pabal.service.context import Context

BUSY_IN_FLIGHT = 50
"""From so many messages in flight on, this process is busy with delivery."""
BUSY_EVENTS_PER_S = 2500
"""Events that become posts then, of all endpoints together: about a tenth of a processor."""


class PostPace:
    """The pace at which all endpoints of a process make posts."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._turn = asyncio.Lock()
        self._free_at = 0.0

    async def wait(self) -> None:
        """Wait for a turn."""
        async with self._turn:
            left_s = self._free_at - self._context.world.monotonic()
            if left_s > 0:
                await asyncio.sleep(left_s)

    def count(self, events: int) -> None:
        """Count events that became posts: if delivery is busy, the next turn comes later."""
        if len(self._context.in_flight) >= BUSY_IN_FLIGHT:
            now = self._context.world.monotonic()
            self._free_at = max(self._free_at, now) + events / BUSY_EVENTS_PER_S
