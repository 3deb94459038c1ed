"""The most expensive bodies within the limits cost at most ten times their decoding, in time and in memory."""

import json
import unicodedata
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

import pytest

from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES, bodies_of
from tests.fixtures.virtual import Environment
from tests.fixtures.web import approve_template, call_ok, register_channel
from tests.hostile import shapes
from tests.hostile.cost import IS_TORTURE, MAX_FACTOR, Plain, excess_factor, run_undelivered
from tests.hostile.shapes import BRAND_SHAPES, FIELD_SHAPES, SEND_SHAPES, SendShape

MAX_BYTES = 200_000 if IS_TORTURE else 60_000
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


def test_every_endpoint_is_measured() -> None:
    measured = {f"/api/{name}.v1.0" for name in (*SENDS, *(name for name, _ in OTHERS))}

    assert measured == {endpoint.path for endpoint in ENDPOINTS}


@pytest.mark.first_case
@pytest.mark.parametrize("operation", SENDS)
def test_send_of_any_shape_costs_ten_times_its_decoding_and_its_messages(tmp_path: Path, operation: str) -> None:
    """Messages that are accepted cost what those of a plain send cost: they are stored."""

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
        await approve_template(call, sender_key, **shapes.template_with_variables(sender_key))
        await approve_template(call, sender_key, templateCode=shapes.PLAIN_TEMPLATE)

        @cache
        def plain_send(count: int) -> Plain:
            body = json.dumps(shapes.plain_send(operation, sender_key, count), ensure_ascii=False).encode()
            return Plain(lambda: call_ok(call, operation, body))

        tried = dict(SEND_SHAPES)
        if operation.endswith("BrandMessage"):
            tried |= {name: SendShape(body=body) for name, body in BRAND_SHAPES.items()}
        for name, shape in tried.items():
            raw, count = shapes.build_send(operation, sender_key, shape, MAX_BYTES)
            answer = await call(operation, raw)
            plain = plain_send(count if answer.result == "SUCCESS" else 1)
            factor = await excess_factor(partial(call, operation, raw), decode_json(raw), plain)
            print(f"{operation}: {factor:.1f} times its decoding, for {name}")
            assert factor <= MAX_FACTOR, name

    run_undelivered(tmp_path, scenario)


@pytest.mark.first_case
@pytest.mark.parametrize(("operation", "number"), OTHERS)
def test_body_of_any_endpoint_costs_ten_times_its_decoding(tmp_path: Path, operation: str, number: int) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await approve_template(call, await register_channel(call))
        endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
        fields = bodies_of(operation)[number]
        is_query = endpoint.input_source == "query"
        plain = Plain(partial(call, operation, query=fields) if is_query else partial(call, operation, fields))
        for name, text in FIELD_SHAPES.items():
            given = shapes.change_fields(fields, text, MAX_BYTES)
            raw = json.dumps(given, ensure_ascii=False).encode()
            work, decode = partial(call, operation, raw), decode_json(raw)
            if is_query:
                work, decode = partial(call, operation, query=given), partial(parse_qsl, urlencode(given))
            factor = await excess_factor(work, decode, plain)
            print(f"{operation}: {factor:.1f} times its decoding, for {name}")
            assert factor <= MAX_FACTOR, name

    run_undelivered(tmp_path, scenario)
