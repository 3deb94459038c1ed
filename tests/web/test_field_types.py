"""Fields of the wrong type and forbidden characters, in every endpoint."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import inspect

from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES, bodies_of, field_paths, replace_value, value_paths
from tests.fixtures.virtual import Caller
from tests.fixtures.web import approve_template, list_messages, summarize_refusal

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=[endpoint.path for endpoint in ENDPOINTS])


@each_endpoint
def test_full_bodies_of_these_tests_have_every_field(endpoint: Endpoint) -> None:
    operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")

    given = {path for body in bodies_of(operation) for path in value_paths(body)}

    assert given == set(field_paths(inspect.type_info(endpoint.body)))


def _strings(operation: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each path of a string once, with a body that has it."""
    seen: set[str] = set()
    for body in bodies_of(operation):
        for path in value_paths(body):
            found: list[Any] = []
            replace_value(body, path, found.append)
            if path not in seen and isinstance(found[0], str | dict):
                seen.add(path)
                yield body, path


def _corrupt(value: Any, by: str) -> Any:
    return {"name": f"a{by}"} if isinstance(value, dict) else f"{value}{by}"


@pytest.mark.parametrize("operation", FULL_BODIES)
async def test_nul_and_lone_surrogates_are_refused_in_every_string(
    call: Caller, sender_key: str, operation: str
) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
    spoilers = ["\0"] if endpoint.input_source == "query" else ["\0", "\ud800", "\udfff"]
    await approve_template(call, sender_key)
    for body, path in _strings(operation):
        for by in spoilers:
            given = {name: sender_key if value == "KEY" else value for name, value in body.items()}
            bad = replace_value(given, path, lambda value, by=by: _corrupt(value, by))

            answer = await (
                call(operation, query=bad) if endpoint.input_source == "query" else call(operation, bad)
            )

            errors = summarize_refusal(answer).errors
            assert errors.get(path) in ("UNSUPPORTED_CHARACTER", "INVALID_BUTTON"), (path, by, answer.body)
            json.dumps(answer.body, ensure_ascii=False).encode()
    assert await list_messages(call) == []
