"""How background work goes on: it waits for events, runs in rounds, and outlasts bugs and outages of the store."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pabal.service.errors import describe_error
from pabal.store.engine.base import StoreUnavailable

STORE_RETRY_DELAY_S = 1.0
"""Pause before trying again while the store is unavailable."""
RESTART_DELAY_S = 1.0
"""Pause before a loop that failed starts again."""

T = TypeVar("T")

log = logging.getLogger("pabal")


async def wait_for_event(event: asyncio.Event, timeout_s: float) -> None:
    """Return when the event is set, or after so many seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await event.wait()


async def until_available(work: Callable[[], Awaitable[T]]) -> T:
    """Return what some work on the store returns; while the store is unavailable, try again every second."""
    while True:
        try:
            return await work()
        except StoreUnavailable:
            log.debug("store unavailable; trying again in a moment")
            await asyncio.sleep(STORE_RETRY_DELAY_S)


async def run_rounds(
    run_round: Callable[[], Awaitable[None]], pause_s: float, *, begins_after_s: float = 0.0
) -> None:
    """Run rounds forever, with a pause after each; one that finds the store unavailable is left to the next."""
    await asyncio.sleep(begins_after_s)
    while True:
        try:
            await run_round()
        except StoreUnavailable:
            log.debug("store unavailable; the next round goes on")
        await asyncio.sleep(pause_s)


async def run_forever(loop: Callable[[], Awaitable[None]], **about: object) -> None:
    """Run a loop until it ends; after an error, which is a bug, log what it is about, and start it again."""
    while True:
        try:
            await loop()
            return
        except Exception as error:
            log.error("background loop failed; restarting it", extra={**describe_error(error), **about})
            await asyncio.sleep(RESTART_DELAY_S)
