"""Timeouts of many futures, with one timer for all of them."""

import asyncio
from collections import deque
from typing import Any

from pabal.store.engine.base import StoreUnavailable
from pabal.world import World

TIMED_OUT = "no answer in time"
CHECKS_PER_TIMEOUT = 20
"""How often futures are checked within one timeout."""


class Timeouts:
    """Fails futures of one event loop that are not resolved in time; all have the same timeout."""

    def __init__(self, timeout_s: float, world: World) -> None:
        self._timeout_s = timeout_s
        self._world = world
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._is_checking = False

    def add(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]") -> None:
        """Fail a future with StoreUnavailable unless it is resolved in time."""
        self._waiting.append((self._world.monotonic() + self._timeout_s, future))
        if not self._is_checking:
            self._is_checking = True
            loop.call_later(self._timeout_s / CHECKS_PER_TIMEOUT, self._check, loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, now = self._waiting, self._world.monotonic()
        while waiting and (waiting[0][1].done() or waiting[0][0] <= now):
            _, future = waiting.popleft()
            if not future.done():
                future.set_exception(StoreUnavailable(TIMED_OUT))
        self._is_checking = bool(waiting)
        if waiting:
            loop.call_later(self._timeout_s / CHECKS_PER_TIMEOUT, self._check, loop)
