"""Measures what a call costs in CPU time and memory, and searches for the shape of input that costs most."""

import gc
import os
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, NamedTuple

from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time
from tests.hostile import shapes
from tests.hostile.shapes import Genes

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
MAX_FACTOR = 10
REPEATS = 5
CONFIRMATIONS = 6
"""A shape that seems too expensive is measured so often again, with its yardsticks; the least costs count."""
MAX_OVERHEAD = 2
"""What any call and any stored message costs may double: messages with variables store their values."""
NOISE_S = 0.002
NOISE_BYTES = 500_000

Call = Callable[[], Awaitable[Any]]


class Cost(NamedTuple):
    """CPU time and peak memory."""

    seconds: float
    peak_bytes: int

    def least(self, other: "Cost") -> "Cost":
        """Return the lower values of two measurements of the same work: other processes only add to them."""
        return Cost(min(self.seconds, other.seconds), min(self.peak_bytes, other.peak_bytes))


async def measure(work: Call, repeats: int = 1) -> Cost:
    """Return the least cost of several calls, without the collection of garbage."""
    times = []
    gc.disable()
    for _ in range(repeats):
        began = process_time()
        await work()
        times.append(process_time() - began)
    gc.enable()
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
        self._call = call
        self.cost: Cost | None = None

    async def measure(self) -> Cost:
        """Measure it once more; return its least cost so far."""
        cost = await measure(self._call, REPEATS)
        self.cost = cost.least(self.cost) if self.cost else cost
        return self.cost


async def excess_factor(work: Call, decode: Callable[[], object], plain: Plain) -> float:
    """Return the cost of a call beyond that of a plain one, in costs of decoding; a high one is measured again."""
    allowed = plain.cost or await plain.measure()
    found, decoding = await measure(work), await _decoding_cost(decode)
    for _ in range(CONFIRMATIONS):
        factor = _excess(found, decoding, allowed)
        if factor <= MAX_FACTOR:
            break
        allowed = await plain.measure()
        found = found.least(await measure(work, REPEATS))
        decoding = decoding.least(await _decoding_cost(decode))
    return _excess(found, decoding, allowed)


async def search(
    choices: dict[str, tuple[Any, ...]],
    factor_of: Callable[[Genes], Awaitable[float]],
    rounds: int,
    most_seconds: float,
) -> tuple[float, Genes]:
    """Return the highest factor of random shapes and of changes of the worst of them, and its shape."""
    rng = Random(rounds)
    worst: tuple[float, Genes] = (0.0, shapes.random_genes(choices, rng))
    began = process_time()
    for number in range(rounds):
        is_new = number < rounds // 2
        genes = shapes.random_genes(choices, rng) if is_new else shapes.mutate(worst[1], choices, rng)
        factor = await factor_of(genes)
        if factor > worst[0]:
            worst = factor, genes
        if process_time() - began > most_seconds:
            break
    return worst


async def _decoding_cost(decode: Callable[[], object]) -> Cost:
    async def work() -> None:
        decode()

    return await measure(work, REPEATS)


def _excess(found: Cost, decoding: Cost, allowed: Cost) -> float:
    return max(
        (found.seconds - MAX_OVERHEAD * allowed.seconds - NOISE_S) / decoding.seconds,
        (found.peak_bytes - MAX_OVERHEAD * allowed.peak_bytes - NOISE_BYTES) / decoding.peak_bytes,
    )
