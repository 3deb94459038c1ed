"""Watches how late the event loop is: a turn that takes long delays every other request of the process."""

import asyncio
from collections.abc import Callable

from pabal.world import World

CHECK_INTERVAL_S = 0.1
"""How often a timer is set to see how late it fires."""


async def watch_loop_lag(world: World, observe: Callable[[float], None]) -> None:
    """Report the lag in seconds, forever."""
    while True:
        due_at = world.monotonic() + CHECK_INTERVAL_S
        await asyncio.sleep(CHECK_INTERVAL_S)
        observe(max(0.0, world.monotonic() - due_at))
