"""Remembers what was made at a relay once for many calls: uploads, and ids that had to be looked up."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from pabal.world import World

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MAX_CACHED = 1000
"""How many values are remembered."""


class SharedCalls(Generic[K, V]):
    """Makes one call for each key, for all that wait for it, and remembers its result unless it failed."""

    def __init__(self, make: Callable[[K, float], Awaitable[V]], ttl_s: float, world: World) -> None:
        """`make` gets a key and a timeout in seconds."""
        self._make = make
        self._ttl_s = ttl_s
        self._world = world
        self._calls: OrderedDict[K, tuple[float, asyncio.Task[V]]] = OrderedDict()

    async def get(self, key: K, timeout_s: float) -> V:
        """Return the value of a key. Raises what the call raises."""
        found = self._calls.get(key)
        if found is None or found[0] + self._ttl_s < self._world.monotonic() or _has_failed(found[1]):
            task = asyncio.ensure_future(self._run(key, timeout_s))
            self._calls[key] = found = self._world.monotonic(), task
            while len(self._calls) > MAX_CACHED:
                self._calls.popitem(last=False)
        return await asyncio.shield(found[1])

    def forget(self, key: K) -> None:
        """Make the call again when the value is needed next."""
        self._calls.pop(key, None)

    async def _run(self, key: K, timeout_s: float) -> V:
        return await self._make(key, timeout_s)


def _has_failed(task: "asyncio.Task[V]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
