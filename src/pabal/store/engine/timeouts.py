"""Patience: whoever waits for too long is told that there is no answer, with one timer for all of them."""

import asyncio
from collections import deque
from typing import Any

from pabal.store.engine.base import StoreAway
from pabal.world import World

NO_ANSWER = "no answer in time"
LOOKS = 20
"""How often it is looked who waits for too long, within the time that they wait."""


class Patience:
    """Watches futures of one event loop, each for the same time."""

    def __init__(self, within_s: float, world: World) -> None:
        self._within_s = within_s
        self._world = world
        self._waiting: deque[tuple[float, asyncio.Future[Any]]] = deque()
        self._is_looking = False

    def watch(self, loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]") -> None:
        """Let a future be given up when nobody has resolved it in time."""
        self._waiting.append((self._world.stopwatch() + self._within_s, future))
        if not self._is_looking:
            self._is_looking = True
            loop.call_later(self._within_s / LOOKS, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, now = self._waiting, self._world.stopwatch()
        while waiting and (waiting[0][1].done() or waiting[0][0] <= now):
            _, future = waiting.popleft()
            if not future.done():
                future.set_exception(StoreAway(NO_ANSWER))
        self._is_looking = bool(waiting)
        if waiting:
            loop.call_later(self._within_s / LOOKS, self._look, loop)
