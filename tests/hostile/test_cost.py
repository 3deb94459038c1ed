"""The worst body within the limits costs at most ten times the decoding of it, in time and in memory."""

import json
import unicodedata
from collections.abc import Callable
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest

from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES, bodies_of
from tests.fixtures.virtual import Environment
from tests.fixtures.web import approve_template, call_ok, register_channel
from tests.hostile import shapes
from tests.hostile.cost import IS_TORTURE, MAX_FACTOR, Plain, excess_factor, run_undelivered, search
from tests.hostile.shapes import FIELD_GENES, SEND_GENES, Genes

SEND_ROUNDS = 200 if IS_TORTURE else 25
"""How many shapes a search tries for one endpoint, unless its time is up."""
OTHER_ROUNDS = 60 if IS_TORTURE else 10
SEND_SEARCH_S = 10.0 if IS_TORTURE else 1.0
"""The CPU time after which a search for one endpoint ends."""
OTHER_SEARCH_S = 1.5 if IS_TORTURE else 0.3
MAX_BYTES = 200_000 if IS_TORTURE else 60_000
MAX_QUERY_BYTES = 60_000
SENDS = [name for name in FULL_BODIES if name.startswith("message/send")]
OTHERS = [
    (name, number)
    for name in FULL_BODIES
    if name not in SENDS
    for number in range(len(bodies_of(name)) if name.startswith("optOut/") else 1)
]
"""The other endpoints, and which of their bodies."""


def decode_json(raw: bytes) -> Callable[[], object]:
    """Return the yardstick of a JSON body: to decode it and to normalize its text."""
    text = json.dumps(json.loads(raw), ensure_ascii=False)
    return lambda: (json.loads(raw), unicodedata.normalize("NFC", text))


def test_every_endpoint_is_searched() -> None:
    searched = {f"/api/{name}.v1.0" for name in (*SENDS, *(name for name, _ in OTHERS))}

    assert searched == {endpoint.path for endpoint in ENDPOINTS}


@pytest.mark.first_case
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

        print(f"{operation}: {factor:.1f} times its decoding, for {shapes.describe(genes)}")
        assert factor <= MAX_FACTOR, shapes.describe(genes)

    run_undelivered(tmp_path, scenario)


@pytest.mark.first_case
@pytest.mark.parametrize(("operation", "number"), OTHERS)
def test_worst_body_of_an_endpoint_costs_ten_times_its_decoding(
    tmp_path: Path, operation: str, number: int
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await approve_template(call, await register_channel(call))
        endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
        fields = bodies_of(operation)[number]

        async def from_body(genes: Genes) -> float:
            raw = shapes.build_fields(fields, genes, MAX_BYTES)
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

        print(f"{operation}: {factor:.1f} times its decoding, for {shapes.describe(genes)}")
        assert factor <= MAX_FACTOR, shapes.describe(genes)

    run_undelivered(tmp_path, scenario)
