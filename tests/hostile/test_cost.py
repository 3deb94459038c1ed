"""The worst body within the limits costs at most ten times the decoding of it, in time and in memory."""

import gc
import json
import os
import tracemalloc
import unicodedata
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

import pytest

from pabal.web.endpoints import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.virtual import Environment, build_environment, run_in_virtual_time
from tests.fixtures.web import approve_template, register_channel
from tests.hostile import shapes
from tests.hostile.shapes import FIELD_GENES, SEND_GENES, Genes

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
MAX_FACTOR = 10
SEND_ROUNDS = 200 if IS_TORTURE else 25
"""How many shapes a search tries for one endpoint."""
OTHER_ROUNDS = 60 if IS_TORTURE else 10
MAX_BYTES = 200_000 if IS_TORTURE else 60_000
MAX_QUERY_BYTES = 60_000
REPEATS = 5
"""A shape that seems too expensive is measured so often, and its least cost counts."""
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


async def excess_factor(work: Call, decode: Callable[[], object], allowed: Cost) -> float:
    """Return the cost of a call beyond what any call costs, in costs of decoding; a high one is measured again."""
    for repeats in (1, REPEATS):
        decoding, found = await decoding_cost(decode), await measure(work, repeats)
        factor = max(
            (found.seconds - MAX_OVERHEAD * allowed.seconds - NOISE_S) / decoding.seconds,
            (found.peak_bytes - MAX_OVERHEAD * allowed.peak_bytes - NOISE_BYTES) / decoding.peak_bytes,
        )
        if factor <= MAX_FACTOR:
            break
    return factor


async def search(
    choices: dict[str, tuple[Any, ...]], factor_of: Callable[[Genes], Awaitable[float]], rounds: int
) -> tuple[float, Genes]:
    """Return the highest factor of random shapes and of changes of the worst of them, and its shape."""
    rng = Random(rounds)
    worst: tuple[float, Genes] = (0.0, shapes.random_genes(choices, rng))
    for number in range(rounds):
        is_new = number < rounds // 2
        genes = shapes.random_genes(choices, rng) if is_new else shapes.mutate(worst[1], choices, rng)
        factor = await factor_of(genes)
        if factor > worst[0]:
            worst = factor, genes
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
        plain: dict[int, Cost] = {}

        async def cost_of_messages(count: int) -> Cost:
            if count not in plain:
                body = shapes.plain_send(operation, sender_key, count)
                plain[count] = await measure(lambda: call(operation, body), REPEATS)
            return plain[count]

        async def factor_of(genes: Genes) -> float:
            raw, count = shapes.build_send(operation, sender_key, genes, MAX_BYTES)
            answer = await call(operation, raw)
            allowed = await cost_of_messages(count if answer.result == "SUCCESS" else 1)
            return await excess_factor(lambda: call(operation, raw), decode_json(raw), allowed)

        factor, genes = await search(SEND_GENES, factor_of, SEND_ROUNDS)

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
            return await excess_factor(lambda: call(operation, raw), decode_json(raw), allowed)

        async def from_query(genes: Genes) -> float:
            query = shapes.change_fields(fields, genes, MAX_QUERY_BYTES)
            encoded = urlencode(query)
            return await excess_factor(lambda: call(operation, query=query), lambda: parse_qsl(encoded), allowed)

        if endpoint.input_source == "query":
            allowed = await measure(lambda: call(operation, query=fields), REPEATS)
            factor, genes = await search(FIELD_GENES, from_query, OTHER_ROUNDS)
        else:
            allowed = await measure(lambda: call(operation, fields), REPEATS)
            factor, genes = await search(FIELD_GENES, from_body, OTHER_ROUNDS)

        print(f"{operation}: {factor:.1f} times its decoding, for {genes}")
        assert factor <= MAX_FACTOR, genes

    run_undelivered(tmp_path, scenario)
