"""The worst body within the limits costs at most ten times the decoding of it, in time and in memory."""

import gc
import json
import os
import tracemalloc
import unicodedata
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import pytest

from pabal.web.endpoints import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time
from tests.fixtures.web import approve_template, call_ok, register_channel
from tests.hostile import shapes
from tests.hostile.shapes import FIELD_GENES, SEND_GENES, Genes

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
MAX_FACTOR = 10
SEND_ROUNDS = 200 if IS_TORTURE else 25
"""How many shapes a search tries for one endpoint, unless its time is up."""
OTHER_ROUNDS = 60 if IS_TORTURE else 10
SEND_SEARCH_S = 10.0 if IS_TORTURE else 2.0
"""The CPU time after which a search for one endpoint ends."""
OTHER_SEARCH_S = 1.5 if IS_TORTURE else 0.6
MAX_BYTES = 200_000 if IS_TORTURE else 60_000
MAX_QUERY_BYTES = 60_000
REPEATS = 5
CONFIRMATIONS = 6
"""A shape that seems too expensive is measured so often again, with its yardsticks; the least costs count."""
MAX_OVERHEAD = 2
"""What any call and any stored message costs may double: messages with variables store their values."""
NOISE_S = 0.002
NOISE_BYTES = 500_000
SENDS = [name for name in FULL_BODIES if name.startswith("message/send")]
OTHERS = [name for name in FULL_BODIES if name not in SENDS]

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


def decode_json(raw: bytes) -> Callable[[], object]:
    """Return the yardstick of a JSON body: to decode it and to normalize its text."""
    text = json.dumps(json.loads(raw), ensure_ascii=False)
    return lambda: (json.loads(raw), unicodedata.normalize("NFC", text))


async def decoding_cost(decode: Callable[[], object]) -> Cost:
    """Return what decoding alone costs."""

    async def work() -> None:
        decode()

    return await measure(work, REPEATS)


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
    found, decoding = await measure(work), await decoding_cost(decode)
    for _ in range(CONFIRMATIONS):
        factor = _excess(found, decoding, allowed)
        if factor <= MAX_FACTOR:
            break
        allowed = await plain.measure()
        found = found.least(await measure(work, REPEATS))
        decoding = decoding.least(await decoding_cost(decode))
    return _excess(found, decoding, allowed)


def _excess(found: Cost, decoding: Cost, allowed: Cost) -> float:
    return max(
        (found.seconds - MAX_OVERHEAD * allowed.seconds - NOISE_S) / decoding.seconds,
        (found.peak_bytes - MAX_OVERHEAD * allowed.peak_bytes - NOISE_BYTES) / decoding.peak_bytes,
    )


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


def test_every_endpoint_is_searched() -> None:
    searched = {f"/api/{name}.v1.0" for name in (*SENDS, *OTHERS)}

    assert searched == {endpoint.path for endpoint in ENDPOINTS}


@pytest.mark.parametrize("operation", SENDS)
def test_worst_send_costs_ten_times_its_decoding_and_its_messages(tmp_path: Path, operation: str) -> None:
    """Messages that are accepted cost what those of a plain send cost: they are stored."""

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
        await approve_template(
            call, sender_key, **shapes.template_with_variables(sender_key) | {"templateCode": "T1"}
        )
        await approve_template(call, sender_key, templateCode=shapes.PLAIN_TEMPLATE)

        @cache
        def plain_send(count: int) -> Plain:
            body = shapes.plain_send(operation, sender_key, count)
            return Plain(lambda: call_ok(call, operation, body))

        async def factor_of(genes: Genes) -> float:
            raw, count = shapes.build_send(operation, sender_key, genes, MAX_BYTES)
            answer = await call(operation, raw)
            plain = plain_send(count if answer.result == "SUCCESS" else 1)
            return await excess_factor(lambda: call(operation, raw), decode_json(raw), plain)

        factor, genes = await search(SEND_GENES, factor_of, SEND_ROUNDS, SEND_SEARCH_S)

        print(f"{operation}: {factor:.1f} times its decoding, for {genes}")
        assert factor <= MAX_FACTOR, genes

    run_undelivered(tmp_path, scenario)


@pytest.mark.parametrize("operation", OTHERS)
def test_worst_body_of_an_endpoint_costs_ten_times_its_decoding(tmp_path: Path, operation: str) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await approve_template(call, await register_channel(call))
        endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
        fields = FULL_BODIES[operation]

        async def from_body(genes: Genes) -> float:
            raw = shapes.build_fields(operation, genes, MAX_BYTES)
            return await excess_factor(lambda: call(operation, raw), decode_json(raw), plain)

        async def from_query(genes: Genes) -> float:
            query = shapes.change_fields(fields, genes, MAX_QUERY_BYTES)
            encoded = urlencode(query)
            return await excess_factor(lambda: call(operation, query=query), lambda: parse_qsl(encoded), plain)

        if endpoint.input_source == "query":
            plain = Plain(lambda: call(operation, query=fields))
            factor, genes = await search(FIELD_GENES, from_query, OTHER_ROUNDS, OTHER_SEARCH_S)
        else:
            plain = Plain(lambda: call(operation, fields))
            factor, genes = await search(FIELD_GENES, from_body, OTHER_ROUNDS, OTHER_SEARCH_S)

        print(f"{operation}: {factor:.1f} times its decoding, for {genes}")
        assert factor <= MAX_FACTOR, genes

    run_undelivered(tmp_path, scenario)
