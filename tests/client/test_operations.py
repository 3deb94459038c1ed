"""The client knows every operation and every result code of the service, as the service has them."""

import asyncio
import inspect
import json
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from pabal.client import errors
from pabal.client.async_client import AsyncClient
from pabal.client.sync_client import Client
from pabal.domain.base.codes import Code
from pabal.web.api_document.example_answers import answer_example
from pabal.web.api_document.example_bodies import EXAMPLE_BODIES
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.scripted_service import ScriptedAnswer, ScriptedService

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.id)


@each_endpoint
def test_only_a_change_may_be_unsafe_to_repeat(endpoint: Endpoint) -> None:
    assert endpoint.is_repeatable or endpoint.scope == "manage"


@each_endpoint
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_both_clients_have_a_documented_method_for_every_operation(endpoint: Endpoint, client: type) -> None:
    method = getattr(client, endpoint.id)
    hints = inspect.get_annotations(method)

    assert inspect.getdoc(method)
    assert hints["return"] is endpoint.answer
    assert "body" in hints or not msgspec.structs.fields(endpoint.body)
    assert inspect.iscoroutinefunction(method) == (client is AsyncClient)


@each_endpoint
def test_both_clients_call_every_operation_with_its_body_and_return_its_answer(endpoint: Endpoint) -> None:
    example = EXAMPLE_BODIES[endpoint.id]
    given = [msgspec.convert(example, endpoint.body)] if example else []
    answered = ScriptedAnswer(200, json.dumps(answer_example(endpoint.id)).encode())

    async def call_asynchronously(url: str) -> Any:
        async with AsyncClient(url, "pb_key") as client:
            return await getattr(client, endpoint.id)(*given)

    with ScriptedService(lambda _: answered) as scripted, Client(scripted.base_url, "pb_key") as client:
        answers = [getattr(client, endpoint.id)(*given), asyncio.run(call_asynchronously(scripted.base_url))]

    assert [msgspec.to_builtins(each) for each in answers] == [answer_example(endpoint.id)] * 2
    for seen in scripted.seen:
        path, _, query = seen.path.partition("?")
        assert (path, seen.headers["apikey"]) == (endpoint.path, "pb_key")
        sent = json.loads(seen.body) if seen.body else dict(parse_qsl(query))
        assert msgspec.convert(sent, endpoint.body, strict=False) == msgspec.convert(example, endpoint.body)


@pytest.mark.parametrize("code", [each for each in Code if each is not Code.SUCCESS])
def test_every_result_code_has_an_exception_of_its_own(code: Code) -> None:
    kind = errors.ERROR_BY_CODE[code.name]

    assert [each for each in Code if errors.ERROR_BY_CODE.get(each.name) is kind] == [code]
    assert code.name in (kind.__doc__ or "")
