"""Fields of the wrong type and forbidden characters, in every endpoint."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import inspect

from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES, bodies_of, field_paths, replace_value, value_paths
from tests.fixtures.virtual import Environment
from tests.fixtures.web import (
    RunScenario,
    approve_template,
    list_messages,
    register_channel,
    summarize_refusal,
)

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
def test_nul_and_lone_surrogates_are_refused_in_every_string(run_scenario: RunScenario, operation: str) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
    spoilers = ["\0"] if endpoint.input_source == "query" else ["\0", "\ud800", "\udfff"]

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await register_channel(call)
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

    run_scenario(scenario)


WRONG: list[Any] = [[], {}, 5, True, 1.5, -(10**30), "x" * 10_000]


@pytest.mark.parametrize("operation", FULL_BODIES)
def test_value_of_the_wrong_type_never_causes_an_internal_error(run_scenario: RunScenario, operation: str) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        for body, path in ((each, path) for each in bodies_of(operation) for path in value_paths(each)):
            for wrong in WRONG:
                bad = replace_value(body, path, wrong)

                answer = await (
                    call(operation, query=bad) if endpoint.input_source == "query" else call(operation, bad)
                )

                assert answer.status < 500, (path, wrong)

    run_scenario(scenario)
