"""Fuzzes every operation of a real process from its OpenAPI document, with valid and invalid data."""

import os
import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.pytest.lazy import get_all_tests

from pabal.web.api_document import openapi
from pabal.web.endpoints.table import ENDPOINT_BY_PATH
from tests.fixtures.live import LiveService, serving
from tests.fixtures.web import CATEGORY, PHONE, SENDER, TEMPLATE_CATEGORY, channel_body, encode_jpeg, template_body

IS_TORTURE = bool(os.environ.get("PABAL_TORTURE"))
EXAMPLES = 50 if IS_TORTURE else 8
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
NOWHERE = "https://localhost:1/"
"""An address that no webhook may reach."""
SEOUL = ZoneInfo("Asia/Seoul")
ENVELOPE = {"time", "result", "resultMessage", "locale"}

QUICK = ("/api/message/sendSMS.v1.0", "/api/message/list.v1.0")
"""The operations that are fuzzed with every change, one of each kind; the torture tests fuzz all."""
SETTINGS = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@cache
def every_operation() -> Any:
    generation = GenerationConfig(with_security_parameters=False, deterministic=True)
    config = SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))
    return schemathesis.openapi.from_dict(openapi.build_document(), config=config)


class Target(NamedTuple):
    """A running service, and plausible values by field name."""

    live: LiveService
    plausible: dict[str, str]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A fresh service with an approved channel and template; its key has no rate limit."""
    with serving(tmp_path_factory.mktemp("fuzzed") / "data", key_rate=0) as live, live.client() as client:
        sender_key, webhook_id = _set_up_account(client)
        yield Target(
            live,
            {
                "phoneNumber": PHONE,
                "receivers": PHONE,
                "cellphone": PHONE,
                "sender": SENDER,
                "resendPhoneNumber": SENDER,
                "senderKey": sender_key,
                "channelId": "@shop",
                "templateCode": "T1",
                "contentType": "image/jpeg",
                "body": encode_jpeg(),
                "mobileUrl": "https://shop.example",
                "webhookId": webhook_id,
                "url": NOWHERE,
                "events": "message.result",
                "products": "sms",
                "since": datetime.now(SEOUL).strftime("%Y-%m-%d %H:%M"),
                "from": datetime.now(SEOUL).strftime("%Y-%m-%d"),
                "interval": "day",
                "groupBy": "product",
                "senderNumber": SENDER,
                "phoneNumbers": PHONE,
            },
        )


def _set_up_account(client: httpx.Client) -> tuple[str, str]:
    """Register a channel, a template and a webhook; return the sender key and the id of the webhook."""
    client.post("/api/sender/create.v1.0", json=channel_body())
    phone = client.get("/api/simulator/phone.v1.0", params={"phoneNumber": channel_body()["cellphone"]}).json()
    (token,) = re.findall(r"[0-9]{6}", phone["items"][0]["content"])
    client.post("/api/sender/auth.v1.0", json={"channelId": "@shop", "token": token})
    sender_key = str(client.get("/api/sender/list.v1.0").json()["items"][0]["senderKey"])
    client.post("/api/template/create.v1.0", json=template_body(sender_key, category=TEMPLATE_CATEGORY))
    place = {"senderKey": sender_key, "templateCode": "T1"}
    assert client.post("/api/template/request.v1.0", json=place).json()["result"] == "SUCCESS"
    made = client.post("/api/webhook/create.v1.0", json={"url": NOWHERE, "events": ["message.result"]}).json()
    return sender_key, made["item"]["webhookId"]


def _plausible_values(target: Target, path: str) -> dict[str, str]:
    """Return plausible values for an operation; none for those that would delete the channel or the webhook."""
    if path.startswith(("/api/sender/delete", "/api/webhook/delete")):
        return {}
    category = TEMPLATE_CATEGORY if path.startswith("/api/template/") else CATEGORY
    return {**target.plausible, "category": category}


def _fill_in(given: Any, plausible: dict[str, str], name: str = "") -> Any:
    """Return generated data with empty fields replaced by plausible values, to get past the first checks."""
    if isinstance(given, dict):
        return {each: _fill_in(value, plausible, each) for each, value in given.items()}
    if isinstance(given, list):
        return [_fill_in(value, plausible, name) for value in given]
    return plausible.get(name, "x") if given == "" else given


def check_answer(case: Any, target: Target) -> None:
    if case.headers:
        case.headers.pop("Idempotency-Key", None)  # it would make most sends a DUPLICATE
    case.body = _fill_in(case.body, _plausible_values(target, case.path))

    response = case.call(base_url=target.live.base_url, headers={"apiKey": target.live.key})

    case.validate_response(response, checks=CHECKS)
    said = response.json()
    assert set(said) >= ENVELOPE
    assert said["result"] not in ("UNAUTHORIZED", "NOT_FOUND")


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", [pytest.param(each, marks=() if each in QUICK else pytest.mark.torture) for each in ENDPOINT_BY_PATH]
)
def test_answers_to_fuzzed_requests_match_the_openapi_document(target: Target, path: str) -> None:
    """The cases are made here, not when tests are collected: that takes seconds."""
    schema = every_operation().include(path=path)
    made: list[Any] = [*get_all_tests(schema=schema, test_func=check_answer, settings=SETTINGS, given_kwargs=None)]
    ((_, run),) = [each.ok() for each in made]

    run(target=target)
