"""Every field of every endpoint with every kind of bad value: refused, nothing stored, never an error of ours."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from msgspec import inspect

from pabal.store.engine.base import Tx
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES, bodies_of, field_paths, replace_value, value_paths
from tests.fixtures.virtual import ApiResponse, Caller, Environment
from tests.fixtures.web import approve_template, register_channel
from tests.fixtures.webhook_calls import create

MARK = "@value@"
MAX_ANSWER_BYTES = 50_000
"""No refusal repeats what was sent, so it stays small."""
COUNTED_TABLES = (
    "requests",
    "messages",
    "jobs",
    "images",
    "idempotency_keys",
    "profiles",
    "tokens",
    "templates",
    "template_images",
    "webhooks",
    "webhook_posts",
    "webhook_deliveries",
    "opt_outs",
    "opt_out_changes",
    "hash_keys",
    "audit_log",
)


class BadValue(NamedTuple):
    """A value as it is spelled in JSON, and what must come of it."""

    label: str
    spelling: bytes
    is_json: bool = True
    is_refused: bool = False
    """Whether no string field may have it."""


def _spell(value: str) -> bytes:
    return json.dumps(value).encode()


BAD_VALUES = [
    BadValue("null", b"null"),
    BadValue("true", b"true", is_refused=True),
    BadValue("zero", b"0", is_refused=True),
    BadValue("negative", b"-1", is_refused=True),
    BadValue("negative zero", b"-0", is_refused=True),
    BadValue("fraction", b"1.5", is_refused=True),
    BadValue("beyond a double", b"1e400", is_refused=True),
    BadValue("beyond 64 bits", b"9" * 30, is_refused=True),
    BadValue("more digits than Python converts", b"9" * 5000, is_json=False),
    BadValue("NaN", b"NaN", is_json=False),
    BadValue("Infinity", b"-Infinity", is_json=False),
    BadValue("array", b"[]", is_refused=True),
    BadValue("array of arrays", b"[[[[]]]]", is_refused=True),
    BadValue("object", b"{}", is_refused=True),
    BadValue("depth of 100,000", b"[" * 100_000 + b"]" * 100_000, is_json=False),
    BadValue("empty", b'""'),
    BadValue("blank", _spell(" \t\u3000\u200b")),
    BadValue("line breaks", _spell("\r\n\r\n")),
    BadValue("NUL", _spell("a\0b"), is_refused=True),
    BadValue("lone surrogate", b'"\\ud800"', is_refused=True),
    BadValue("raw surrogate", b'"\xed\xa0\x80"', is_json=False),
    BadValue("invalid UTF-8", b'"\xff\xfe"', is_json=False),
    BadValue("UTF-16", '"가"'.encode("utf-16"), is_json=False),
    BadValue("control character", b'"a\x01b"', is_json=False),
    BadValue("escaped control character", _spell("a\x01\x7f\x85b")),
    BadValue("byte order mark", _spell("\ufeff")),
    BadValue("right-to-left override", _spell("\u202eabc")),
    BadValue("combining marks", _spell("a" + "\u0301" * 5000)),
    BadValue("unclosed variable", _spell("#{" * 2000)),
    BadValue("empty variables", _spell("#{}" * 2000)),
    BadValue("nested variables", _spell("#{a#{b}}")),
    BadValue("path", _spell("../../etc/passwd\n%00?x=1#y")),
    BadValue("long", _spell("x" * 10_001)),
    BadValue("long in Korean", _spell("가" * 10_001)),
    BadValue("blanks without end", _spell("0" + " " * 200_000)),
    BadValue("very long", _spell("x" * 1_000_000)),
]


def _substitute(given: Any, path: str, value: BadValue) -> bytes:
    """Return a body with one value replaced by a spelling that need not be JSON."""
    marked = json.dumps(replace_value(given, path, MARK), ensure_ascii=False).encode()
    return marked.replace(_spell(MARK), value.spelling)


def _drop(given: Any, path: str) -> Any:
    """Return a copy of a body without one field."""
    name, _, rest = path.partition(".")
    plain = name.removesuffix("[0]")
    if rest:
        inner = given[plain][0] if plain != name else given[plain]
        dropped = _drop(inner, rest)
        return {**given, plain: [dropped] if plain != name else dropped}
    return {key: value for key, value in given.items() if key != plain}


def _count_rows(tx: Tx) -> list[int]:
    return [int(tx.fetch_all(f"select count(*) from {table}")[0][0]) for table in COUNTED_TABLES]


def _is_about(field: str, path: str) -> bool:
    """Tell whether an error's field is the path, one of its parents or something within it."""
    return (
        field == path or path.startswith((f"{field}.", f"{field}[")) or field.startswith((f"{path}.", f"{path}["))
    )


def _check_refusal(answer: ApiResponse, path: str, label: str) -> None:
    raw = json.dumps(answer.body, ensure_ascii=False).encode()
    assert len(raw) <= MAX_ANSWER_BYTES, (path, label, len(raw))
    if answer.result in ("MISSING_PARAMETER", "INVALID_PARAMETER", "UNSUPPORTED_CHARACTER"):
        fields = [each["field"] for each in answer.body["errors"]]
        assert fields, (path, label, answer.body)


each_body_endpoint = pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in ENDPOINTS if endpoint.input_source != "query"],
    ids=lambda endpoint: endpoint.path,
)
each_query_endpoint = pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in ENDPOINTS if endpoint.input_source != "body"],
    ids=lambda endpoint: endpoint.path,
)


async def _set_up(env: Environment, operation: str) -> tuple[Caller, list[dict[str, Any]]]:
    """Return a caller with a channel, a template and a webhook, and bodies that name them."""
    call = await env.caller()
    sender_key = await register_channel(call)
    await approve_template(call, sender_key)
    own = {("senderKey", "KEY"): sender_key, ("webhookId", "1"): (await create(call))["webhookId"]}
    bodies = bodies_of(operation) if operation.startswith("optOut/") else [FULL_BODIES[operation]]
    return call, [
        {name: own.get((name, value), value) if isinstance(value, str) else value for name, value in body.items()}
        for body in bodies
    ]


def _operation(endpoint: Endpoint) -> str:
    return endpoint.path.removeprefix("/api/").removesuffix(".v1.0")


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_full_bodies_of_these_tests_have_every_field(endpoint: Endpoint) -> None:
    given = {path for body in bodies_of(_operation(endpoint)) for path in value_paths(body)}

    assert given == set(field_paths(inspect.type_info(endpoint.body)))


@pytest.mark.first_case
@each_body_endpoint
async def test_bad_value_of_any_field_is_refused_and_stores_nothing(env: Environment, endpoint: Endpoint) -> None:
    operation = _operation(endpoint)
    call, bodies = await _set_up(env, operation)
    for given, path in ((each, path) for each in bodies for path in value_paths(each)):
        for value in BAD_VALUES:
            before = await env.store.read(_count_rows)

            answer = await call(operation, _substitute(given, path, value))

            assert answer.status < 500, (path, value.label, answer.body)
            if not value.is_json:
                assert answer.result == "INVALID_JSON", (path, value.label, answer.body)
            if answer.result == "SUCCESS":
                continue
            _check_refusal(answer, path, value.label)
            assert await env.store.read(_count_rows) == before, (path, value.label, answer.body)


@each_body_endpoint
async def test_value_that_no_string_may_have_is_refused_by_the_name_of_its_field(
    env: Environment, endpoint: Endpoint
) -> None:
    operation = _operation(endpoint)
    wrong = [value for value in BAD_VALUES if value.is_refused]
    call, bodies = await _set_up(env, operation)
    for given, path, original in ((each, *found) for each in bodies for found in _string_values(each)):
        for value in wrong:
            answer = await call(operation, _substitute(given, path, value))

            assert answer.status == 400, (path, value.label, answer.body)
            fields = [each["field"] for each in answer.body["errors"]]
            assert any(_is_about(field, path) for field in fields), (path, original, value.label, answer.body)


def _string_values(given: Any) -> Iterator[tuple[str, str]]:
    for path in value_paths(given):
        value = given
        for name in path.split("."):
            plain = name.removesuffix("[0]")
            value = value[plain][0] if plain != name else value[plain]
        if isinstance(value, str):
            yield path, value


@each_body_endpoint
async def test_absent_and_repeated_fields_never_cause_an_internal_error(
    env: Environment, endpoint: Endpoint
) -> None:
    operation = _operation(endpoint)
    call, bodies = await _set_up(env, operation)
    for given, path in ((each, path) for each in bodies for path in value_paths(each)):
        before = await env.store.read(_count_rows)
        absent = await call(operation, _drop(given, path))
        name = path.rpartition(".")[2].removesuffix("[0]")
        whole = json.dumps(given, ensure_ascii=False)
        spelled = f"{json.dumps(name)}: "
        twice = await call(operation, whole.replace(spelled, f"{spelled}[7], {spelled}", 1).encode())

        for answer in (absent, twice):
            assert answer.status < 500, (path, answer.body)
        if absent.result != "SUCCESS" and twice.result != "SUCCESS":
            assert await env.store.read(_count_rows) == before, (path, absent.body, twice.body)


@each_query_endpoint
async def test_bad_value_in_a_query_is_refused_and_stores_nothing(env: Environment, endpoint: Endpoint) -> None:
    operation = _operation(endpoint)
    spellings = [
        "",
        " ",
        "\0",
        "%00",
        "\ufeff",
        "-1",
        "0",
        "1e400",
        "9" * 30,
        "NaN",
        "null",
        "[]",
        "~",
        "~~",
        "x" * 5000,
    ]
    call, (given,) = await _set_up(env, operation)
    before = await env.store.read(_count_rows)
    for path in value_paths(given):
        for spelling in spellings:
            answer = await call(operation, query={**given, path: spelling})

            assert answer.status < 500, (path, spelling, answer.body)
            assert len(json.dumps(answer.body)) <= MAX_ANSWER_BYTES, (path, spelling)
            assert spelling != "\0" or answer.status == 400, (path, answer.body)
    assert await env.store.read(_count_rows) == before
