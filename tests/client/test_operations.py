"""The client knows every operation and every result code of the service, as the service has them."""

import inspect

import msgspec
import pytest

from pabal.client import errors
from pabal.client.async_client import AsyncClient
from pabal.client.sync_client import Client
from pabal.domain.base.codes import Code
from pabal.models import operations
from pabal.models.answers import Envelope
from pabal.models.operations import Operation
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS

each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.operation_id)


@each_endpoint
def test_every_endpoint_has_its_operation_which_is_repeated_only_where_safe(endpoint: Endpoint) -> None:
    operation: Operation[Envelope] = getattr(operations, endpoint.operation_id.upper())

    assert operation.id == endpoint.operation_id
    assert operation.is_send == endpoint.is_send
    assert operation.is_repeatable or endpoint.scope == "manage"


@each_endpoint
@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_both_clients_have_a_documented_method_for_every_operation(endpoint: Endpoint, client: type) -> None:
    method = getattr(client, endpoint.operation_id)
    hints = inspect.get_annotations(method)

    assert inspect.getdoc(method)
    assert hints["return"] is endpoint.answer
    assert "body" in hints or not msgspec.structs.fields(endpoint.body)
    assert inspect.iscoroutinefunction(method) == (client is AsyncClient)


def test_no_operation_is_unknown_to_the_service() -> None:
    known = {name for name, value in vars(operations).items() if isinstance(value, Operation)}

    assert known == {endpoint.operation_id.upper() for endpoint in ENDPOINTS}


@pytest.mark.parametrize("code", [each for each in Code if each is not Code.SUCCESS])
def test_every_result_code_has_an_exception_of_its_own(code: Code) -> None:
    kind = errors.ERROR_BY_CODE[code.name]

    assert [each for each in Code if errors.ERROR_BY_CODE.get(each.name) is kind] == [code]
    assert code.name in (kind.__doc__ or "")
