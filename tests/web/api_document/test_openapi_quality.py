"""The OpenAPI document says all that generators of clients and readers need."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from pabal.answers.statistics import Interval
from pabal.checks.body import forms
from pabal.checks.body.unknown_fields import closed_type
from pabal.checks.sends.friendtalk import FRIENDTALK_TYPES
from pabal.checks.webhooks import EVENT_CHOICES, PRODUCT_CHOICES
from pabal.models.descriptions import DESCRIPTIONS
from pabal.models.schema_details import CONSTRAINTS, SCHEMA_NAMES
from pabal.models.webhook_posts import POSTS
from pabal.web.api_document.example_bodies import EXAMPLE_BODIES
from pabal.web.api_document.openapi import build_document, encode_document
from pabal.web.api_document.schemas import build_schemas
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import bodies_of, replace_value, value_paths
from tests.fixtures.virtual import Caller
from tests.fixtures.web import approve_template, call_ok, register_channel
from tests.web.api_document.test_openapi_names import without_descriptions

DOCUMENT = build_document()
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = [operation for path in DOCUMENT["paths"].values() for operation in path.values()]
each_endpoint = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.id)


def _properties() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in SCHEMAS.items():
        for field, of in schema["properties"].items():
            yield f"{name}.{field}", of


def _find(part: Any, key: str) -> Iterator[Any]:
    if isinstance(part, dict):
        if key in part:
            yield part[key]
        for each in part.values():
            yield from _find(each, key)
    elif isinstance(part, list):
        for each in part:
            yield from _find(each, key)


def test_every_schema_and_every_property_is_described() -> None:
    undescribed = [name for name, of in _properties() if not of.get("description")]

    assert undescribed == []
    assert [name for name, of in _properties() if of["description"].startswith("yyyy-MM-dd")] == []
    assert [name for name, schema in SCHEMAS.items() if not schema["description"]] == []
    assert all(each["description"] for operation in OPERATIONS for each in operation["parameters"])


def _texts(part: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every summary and description of a part of the document, by its place."""
    if isinstance(part, dict | list):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            if key in ("summary", "description") and isinstance(value, str):
                yield f"{path}/{key}", value
            elif key not in ("example", "examples"):
                yield from _texts(value, f"{path}/{key}")


def test_every_text_has_a_korean_and_nothing_else_of_the_document_differs() -> None:
    korean, english = build_document("ko"), build_document("en")

    assert [place for place, text in _texts(korean) if not re.search("[가-힣]", text)] == []
    assert [place for place, text in _texts(english) if re.search("[가-힣]", re.sub("`.*?`", "", text))] == []
    assert dict(_texts(korean)).keys() == dict(_texts(english)).keys()
    assert without_descriptions(korean) == without_descriptions(english)


def test_optional_fields_are_only_not_required() -> None:
    assert [
        name for name, of in _properties() if "default" in of or "anyOf" in of or of.get("type") == "null"
    ] == []


def test_values_of_variables_are_strings() -> None:
    for name in ("Receiver", "TalkReceiver", "MessageItem"):
        values = SCHEMAS[name]["properties"]["templateData"]
        assert values["additionalProperties"]["type"] == "string"


def test_every_schema_in_the_document_is_used() -> None:
    referred = {ref.rpartition("/")[2] for ref in _find(DOCUMENT, "$ref")}

    assert set(SCHEMAS) <= referred
    assert referred <= {*SCHEMAS, *DOCUMENT["components"]["headers"]}


def test_every_constraint_and_description_is_of_a_field() -> None:
    fields = {name for schema in build_schemas().values() for name in schema["properties"]}
    full = {f"{name}.{field}" for name, schema in build_schemas().items() for field in schema["properties"]}

    assert [key for key in CONSTRAINTS if key not in fields | full] == []
    assert [key for key in DESCRIPTIONS if key not in fields | full] == []


def test_allowed_values_are_those_of_the_checks() -> None:
    assert CONSTRAINTS["ListStatistics.interval"]["enum"] == [each.code for each in Interval]
    assert CONSTRAINTS["events"]["items"]["enum"] == list(EVENT_CHOICES)
    assert CONSTRAINTS["products"]["items"]["enum"] == list(PRODUCT_CHOICES)
    assert set(CONSTRAINTS["SendFriendtalk.messageType"]["enum"]) < set(FRIENDTALK_TYPES)


@each_endpoint
def test_body_has_an_example_without_problems(endpoint: Endpoint) -> None:
    example = EXAMPLE_BODIES[endpoint.id]

    form = forms.parse_fields(endpoint.body, example)

    assert not form.problems
    assert not form.warnings
    schema = {"components": DOCUMENT["components"], **build_schemas()[SCHEMA_NAMES[endpoint.body]]}
    jsonschema_rs.validate(schema, example)


@each_endpoint
def test_answers_have_examples_of_their_types(endpoint: Endpoint) -> None:
    responses = DOCUMENT["paths"][endpoint.path][endpoint.method.lower()]["responses"]

    content = responses["200"]["content"]["application/json"]
    msgspec.convert(content["example"], closed_type(endpoint.answer))
    for status, response in responses.items():
        if status != "200":
            examples = response["content"]["application/json"]["examples"]
            assert set(examples) == {code.name for code in endpoint.codes if str(code.http_status) == status}


@pytest.mark.parametrize("event", POSTS, ids=lambda event: event.code)
def test_every_event_has_a_webhook_with_an_example(event: Any) -> None:
    post = DOCUMENT["webhooks"][event.code]["post"]
    content = post["requestBody"]["content"]["application/json"]

    assert content["schema"]["$ref"].endswith(POSTS[event].__name__)
    jsonschema_rs.validate({"components": DOCUMENT["components"], **content["schema"]}, content["example"])
    assert {each["name"] for each in post["parameters"]} == {"webhook-id", "webhook-timestamp", "webhook-signature"}


NAMING = {"senderKey", "requestId", "messageId", "webhookId", "token"}
"""Fields that name what must be there before."""


async def test_examples_of_bodies_are_accepted(call: Caller) -> None:
    for endpoint in ENDPOINTS:
        example = EXAMPLE_BODIES[endpoint.id]
        if not NAMING & example.keys():
            operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")
            given = {"query": example} if endpoint.method == "GET" else {"body": example}
            await call_ok(call, operation, **given)


def test_receivers_are_as_many_as_the_operator_allows() -> None:
    wide = msgspec.json.decode(encode_document("ko", 5000))["components"]["schemas"]

    assert SCHEMAS["SendSms"]["properties"]["receivers"]["maxItems"] == 1000
    assert wide["SendSms"]["properties"]["receivers"]["maxItems"] == 5000
    assert "maxItems" not in wide["ListMessages"]["properties"]["receivers"]


def _limited_paths(operation: str, schema: str) -> Iterator[tuple[dict[str, Any], str, int]]:
    """Yield a body, the path of a text in it, and how long that may be."""
    for body in bodies_of(operation):
        for path in value_paths(body):
            of: Any = SCHEMAS.get(schema) or build_schemas()[schema]
            for name in path.replace("[0]", "").split("."):
                of = of["properties"][name]
                of = of.get("items", of)
                of = SCHEMAS[of["$ref"].rpartition("/")[2]] if "$ref" in of else of
            if "maxLength" in of:
                yield body, path, of["maxLength"]


UNLIMITED = {"senderKey", "requestId", "messageId", "templateCode", "cursor", "webhookId"}
"""Fields that are looked up: a longer value is not found, instead of refused for its length."""


@pytest.mark.parametrize(
    "endpoint",
    [each for each in ENDPOINTS if each.method == "POST"],
    ids=lambda endpoint: endpoint.id,
)
async def test_text_that_is_longer_than_the_document_says_is_refused(call: Caller, endpoint: Endpoint) -> None:
    operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")
    sender_key = await register_channel(call, channelId="@first")
    await approve_template(call, sender_key, templateCode="T0")
    for given, path, limit in _limited_paths(operation, SCHEMA_NAMES[endpoint.body]):
        if path.rpartition(".")[2] in UNLIMITED:
            continue
        body = {name: sender_key if value == "KEY" else value for name, value in given.items()}

        answer = await call(operation, replace_value(body, path, "1" * (limit + 1)))

        assert answer.status in (400, 422, 404), (path, limit, answer.body)
