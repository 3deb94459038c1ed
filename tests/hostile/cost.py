"""Measures what a call costs in CPU time and memory."""

import gc
import os
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any, NamedTuple

from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
MAX_FACTOR = 10
REPEATS = 5
CONFIRMATIONS = 9
"""A shape that seems too expensive is timed so often again, each time beside its yardsticks; the median counts."""
MAX_OVERHEAD = 2
"""What any call and any stored message costs may double: messages with variables store their values."""
NOISE_S = 0.002
NOISE_BYTES = 500_000

Call = Callable[[], Awaitable[Any]]


class Cost(NamedTuple):
    """CPU time and peak memory."""

    seconds: float
    peak_bytes: int


async def measure(work: Call, repeats: int = 1) -> Cost:
    """Return the least cost of several calls, without the collection of garbage."""
    times = [await _time(work) for _ in range(repeats)]
    tracemalloc.start()
    await work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Cost(min(times), peak)


def run_undelivered(folder: Path, scenario: Callable[[Environment], Awaitable[None]]) -> None:
    """Run a scenario in which nothing is delivered, so that only calls cost something."""

    async def run() -> None:
        env = await build_environment(folder, delivers=False)
        try:
            await scenario(env)
        finally:
            await env.service.stop()

    run_in_virtual_time(run())


class Plain:
    """A plain call, whose cost any call may have."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self._cost: Cost | None = None

    async def cost(self) -> Cost:
        """Return its least cost, measured once."""
        self._cost = self._cost or await measure(self.call, REPEATS)
        return self._cost


async def excess_factor(work: Call, decode: Callable[[], object], plain: Plain) -> float:
    """Return the cost of a call beyond that of a plain one, in costs of decoding; a high one is confirmed."""

    async def decode_once() -> None:
        decode()

    allowed = await plain.cost()
    found, decoding = await measure(work), await measure(decode_once, REPEATS)
    factor = _excess(found.seconds, allowed.seconds, NOISE_S) / decoding.seconds
    if factor > MAX_FACTOR:
        decodings = max(1, round(found.seconds / decoding.seconds))
        factor = median([await _time_beside(work, decode, decodings, plain) for _ in range(CONFIRMATIONS)])
    peak = found.peak_bytes
    if _excess(peak, allowed.peak_bytes, NOISE_BYTES) / decoding.peak_bytes > MAX_FACTOR:
        peak = (await measure(work)).peak_bytes  # the first one may have filled a cache
    return max(factor, _excess(peak, allowed.peak_bytes, NOISE_BYTES) / decoding.peak_bytes)


async def _time_beside(work: Call, decode: Callable[[], object], decodings: int, plain: Plain) -> float:
    """Return the factor of one call, timed beside a plain one and so many decodings that take about as long.

    Another process on the same core slows all three of them; a decoding alone is over before it can be disturbed.
    """

    async def decode_often() -> None:
        for _ in range(decodings):
            decode()

    allowed, found, decoding = [await _time(each) for each in (plain.call, work, decode_often)]
    return _excess(found, allowed, NOISE_S) / (decoding / decodings)


async def _time(work: Call) -> float:
    """Return the CPU time of a call, without the collection of garbage."""
    gc.disable()
    try:
        began = process_time()
        await work()
        return process_time() - began
    finally:
        gc.enable()


def _excess(found: float, allowed: float, noise: float) -> float:
    return found - MAX_OVERHEAD * allowed - noise
