"""Hostile and broken input is refused without affecting other callers."""

import asyncio
import json
import unicodedata
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pabal.checks.body import forms
from pabal.checks.body.large_bodies import MAX_VALUES_BYTES, parse_large_json
from pabal.models import bodies
from pabal.settings.settings import load
from pabal.store.accounts import accounts
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.virtual import (
    Caller,
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    run_in_virtual_time,
)
from tests.fixtures.web import PHONE, RunScenario, call_ok, friendtalk_body, list_messages, receivers_of, sms_body


def test_checking_a_list_stops_after_a_hundred_problems() -> None:
    raw = b'{"content":"a","sender":"02-123-4567","receivers":[' + b",".join([b"0"] * 50_000) + b"]}"

    form = forms.parse_json(bodies.SendSms, raw)

    assert len(form.problems) == 100
    assert len(form.body.receivers) == 100


@pytest.mark.parametrize(
    ("change", "result", "field"),
    [
        ({"sendDate": 5}, "INVALID_PARAMETER", "sendDate"),
        ({"sender": None}, "MISSING_PARAMETER", "sender"),
        ({"receivers": {}}, "INVALID_PARAMETER", "receivers"),
        (
            {"receivers": [{"phoneNumber": PHONE}, {"phoneNumber": 5}]},
            "INVALID_PARAMETER",
            "receivers[1].phoneNumber",
        ),
        ({"receivers": [{"templateData": {}}]}, "MISSING_PARAMETER", "receivers[0].phoneNumber"),
        (
            {"receivers": [{"phoneNumber": PHONE}, {"phoneNumber": PHONE, "templateData": 5}]},
            "INVALID_PARAMETER",
            "receivers[1].templateData",
        ),
        ({"receivers": [{"phoneNumber": PHONE, "templateData": {"a": "\ud800"}}]}, "INVALID_JSON", None),
        ({"content": "a\0"}, "UNSUPPORTED_CHARACTER", None),
        ({"sender": "\ud800"}, "INVALID_JSON", None),
    ],
)
async def test_long_body_is_refused_with_its_first_problem(
    call: Caller, change: dict[str, Any], result: str, field: str | None
) -> None:
    body = {**sms_body(), **change, "unknown": "x" * forms.MAX_EXPLAINED_BYTES}

    answer = await call("message/sendSMS", body)

    assert answer.result == result
    assert [each["field"] for each in answer.body.get("errors", [])] == ([field] if field else [])


@pytest.mark.parametrize(
    ("change", "result", "field"),
    [
        ({"buttons": [{"name": "a"}, {"name": 5}]}, "INVALID_BUTTON", "buttons[1].name"),
        ({"buttons": 5}, "INVALID_PARAMETER", "buttons"),
        ({"buttons": [{}] * 100_000}, "INVALID_BUTTON", "buttons"),
        (
            {"receivers": [{"phoneNumber": PHONE, "templateData": {"a": "x" * MAX_VALUES_BYTES}}]},
            "INVALID_PARAMETER",
            "receivers[0].templateData",
        ),
    ],
)
async def test_parts_of_a_long_body_are_refused_by_their_place(
    call: Caller, change: dict[str, Any], result: str, field: str
) -> None:
    body = {**friendtalk_body("a" * 40), **change, "unknown": "x" * forms.MAX_EXPLAINED_BYTES}

    answer = await call("message/sendFriendtalk", body)

    assert answer.result == result
    assert [each["field"] for each in answer.body["errors"]] == [field]


async def test_long_body_sends_each_receiver_its_values(call: Caller) -> None:
    given: list[dict[str, Any]] = [
        {"phoneNumber": f"010{number:08}", "templateData": {"name": number, "rest": "x" * 3000}}
        for number in range(1000)
    ]
    given[7]["templateData"]["name"] = 1.50
    refused = [*given[:-1], {"phoneNumber": given[-1]["phoneNumber"]}]
    answer = await call("message/sendSMS", sms_body(content="#{name}", receivers=refused))
    sent = await call_ok(call, "message/sendSMS", sms_body(content="#{name}", receivers=given))
    stored = await call_ok(call, "message/request", query={"requestId": sent.item["requestId"]})

    assert answer.result == "MISSING_VARIABLE"
    assert [each["field"] for each in answer.body["errors"]] == ["receivers[999].templateData"]
    assert stored.item["totalCount"] == 1000
    assert (await list_messages(call, "01000000007"))[0]["content"] == "1.5"
    assert (await list_messages(call, "01000000998"))[0]["content"] == "998"
    assert await list_messages(call, "01000000999") != []


@pytest.mark.parametrize("body", [b"[1,", b"[" * 300_000, b"5" + b" " * 300_000, b'"' + b"x" * 300_000 + b'"'])
async def test_long_body_that_is_no_json_object_is_refused(call: Caller, body: bytes) -> None:
    answer = await call("message/sendSMS", body.ljust(forms.MAX_EXPLAINED_BYTES + 1))

    assert answer.result == "INVALID_JSON"


async def test_list_longer_than_any_setting_allows_is_refused_unchecked(call: Caller) -> None:
    many = b",".join([b"0"] * (forms.MAX_LIST_ITEMS + 1))

    head = b'{"content":"a","sender":"02-123-4567","receivers":['
    receivers = await call("message/sendSMS", head + many + b"]}")
    long = await call("message/sendSMS", head + many.replace(b"0", b'{"phoneNumber":""}') + b"]}")
    buttons = await call(
        "message/sendFriendtalk", b'{"senderKey":"a","content":"a","receivers":[{}],"buttons":[%b]}' % many
    )

    assert (receivers.result, long.result) == ("TOO_MANY_RECEIVERS", "TOO_MANY_RECEIVERS")
    assert buttons.result == "INVALID_BUTTON"


@pytest.mark.parametrize(
    "endpoint",
    [each for each in ENDPOINTS if each.input_source == "body"],
    ids=lambda endpoint: str(endpoint.id),
)
def test_long_bodies_are_decoded_like_short_ones(endpoint: Endpoint) -> None:
    operation = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")
    raw = json.dumps(FULL_BODIES[operation]).encode()

    long = asyncio.run(parse_large_json(endpoint.body, raw))

    assert type(long.body) is endpoint.body
    short = forms.parse_json(endpoint.body, raw)
    assert _without_nulls(msgspec.to_builtins(long.body)) == _without_nulls(msgspec.to_builtins(short.body))


@pytest.mark.parametrize("name", [unicodedata.normalize("NFD", "이름"), "a\r\nb"])
async def test_variable_in_a_receivers_own_text_may_have_any_spelling(
    call: Caller, sender_key: str, name: str
) -> None:
    key = unicodedata.normalize("NFC", name).replace("\r\n", "\n")
    receivers = receivers_of(PHONE, content=f"#{{{name}}}님", templateData={key: "길동"})

    await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, receivers=receivers))

    (record,) = await list_messages(call, PHONE)
    assert record["content"] == "길동님"


async def test_concurrent_readiness_checks_are_answered(call: Caller) -> None:
    answers = await asyncio.gather(*(call("/readyz") for _ in range(5)))

    assert [answer.status for answer in answers] == [200] * 5


def test_each_of_two_simulators_delivers_its_own_messages(tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text(
        '[carriers.a]\nkind = "simulator"\n[carriers.b]\nkind = "simulator"\n[routes]\nsms = ["a"]\nlms = ["b"]\n',
        encoding="utf-8",
    )

    async def whole() -> None:
        settings = load({}, file=config, data=tmp_path)
        env = await build_environment(tmp_path, settings=settings, world=VirtualWorld(5))
        call = await env.caller()
        for number in range(20):
            kind = "sendSMS" if number % 2 else "sendLMS"
            await call_ok(call, f"message/{kind}", sms_body(f"010-2222-{number:04}"))
            await env.wait(0.037 * (number % 5))
        await env.wait(5)
        ended = [await list_messages(call, f"010-2222-{number:04}") for number in range(20)]
        await env.service.stop()
        assert [record["sendingStatus"]["value"] for (record,) in ended] == ["completed"] * 20

    run_in_virtual_time(whole())


def test_revoked_key_stops_working_though_the_clock_is_set_back(run_scenario: RunScenario, tmp_path: Path) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        assert (await call("sender/categories", {})).result == "SUCCESS"
        elsewhere = open_store(tmp_path, env.world)
        (key,) = await elsewhere.read(accounts.list_keys)
        await elsewhere.write(accounts.revoke_key, key.id, env.world.now())
        await elsewhere.close()
        env.world.starts_at -= 3_600_000

        await env.wait(1)

        assert (await call("sender/categories", {})).result == "UNAUTHORIZED"

    run_scenario(scenario)


def _without_nulls(value: Any) -> Any:
    """Return what JSON holds without its nulls, which mean the same as absent fields."""
    if isinstance(value, dict):
        return {name: _without_nulls(each) for name, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value
