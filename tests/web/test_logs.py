"""No personal data in logs: searches them for numbers, texts, values, tokens and keys from the calls."""

import contextlib
import gc
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal import logs
from pabal.store import accounts
from pabal.store.engine.base import StoreUnavailable
from pabal.web.endpoints import ENDPOINTS
from tests.fixtures.virtual import Caller, Environment, VirtualWorld, open_store
from tests.fixtures.web import (
    FailingStore,
    RunScenario,
    alimtalk_body,
    call_ok,
    channel_body,
    friendtalk_body,
    get_latest_token,
    image_body,
    sms_body,
    template_body,
)

RECEIVER, SENDER, ADMIN, RESENDER = "010-7291-8364", "02-3917-4628", "010-4826-1937", "02-8264-1739"
TEXT, SUBJECT, VALUE, NAME = "비밀문장XYZZY", "비밀제목PLUGH", "비밀값FROBOZZ", "비밀이름GUNST"
RESENT, REFERENCE, LINK = "비밀대체문장GNUSTO", "비밀참조REZROV", "https://secret.example/OZMOO"
WRONG_KEY, WRONG_TOKEN, IDEMPOTENCY_KEY = "pb_WRONGKEY" + "7" * 32, "WRONGTOKEN", "IDEMPOTENCYKEYVEZZA"
PLANTED_TEXTS = (TEXT, SUBJECT, VALUE, NAME, RESENT, REFERENCE, "OZMOO", WRONG_KEY, WRONG_TOKEN, IDEMPOTENCY_KEY)
PLANTED_NUMBERS = ("7291", "3917", "4826", "8264")
"""The middles of the planted numbers: a masked number shows only how it begins and ends."""


@pytest.fixture
def lines() -> Iterator[list[io.StringIO]]:
    """Capture all logs at all levels as text and as JSON, then restore the loggers."""
    root, own = logging.getLogger(), logging.getLogger("pabal")
    before = root.handlers, root.level, own.level
    streams = [io.StringIO(), io.StringIO()]
    handlers = []
    for kind, stream in zip(("text", "json"), streams, strict=True):
        logs.configure_logging(kind, ZoneInfo("Asia/Seoul"), stream)
        handlers += root.handlers
    root.handlers = handlers
    root.setLevel(logging.DEBUG)
    own.setLevel(logging.DEBUG)
    yield streams
    root.handlers = before[0]
    root.setLevel(before[1])
    own.setLevel(before[2])


def _check_no_secrets(streams: list[io.StringIO], *secrets: str) -> None:
    """Assert that something was logged, in both formats, without any of the secrets."""
    text, as_json = (stream.getvalue() for stream in streams)
    assert len(text.splitlines()) == len(as_json.splitlines()) > 0
    unescaped = "\n".join(str(json.loads(line)) for line in as_json.splitlines())
    for secret in (*PLANTED_TEXTS, *PLANTED_NUMBERS, *secrets):
        for page in (text, as_json, unescaped):
            assert secret not in page


async def _call_with_secrets(call: Caller, *, is_good: bool) -> list[str]:
    """Call every endpoint with data that must not be logged; return the secrets created on the way."""
    spoil = {} if is_good else {"category": "no-such-category"}
    await call("sender/create", channel_body(cellphone=ADMIN, channelId="@shop", **spoil))
    token = WRONG_TOKEN
    with contextlib.suppress(ValueError, AssertionError):
        token = await get_latest_token(call, ADMIN)
    await call("sender/auth", {"channelId": "@shop", "token": WRONG_TOKEN})
    await call("sender/auth", {"channelId": "@shop", "token": token if is_good else WRONG_TOKEN})
    listed = (await call("sender/list", query={"channelId": "@shop"})).body.get("items", [])
    sender_key = listed[0]["senderKey"] if listed and "senderKey" in listed[0] else "x"
    button = {"name": "비밀버튼", "mobileUrl": LINK}
    design = template_body(sender_key, content=f"{TEXT} #{{v}}", name=NAME, buttons=[button], **spoil)
    await call("template/create", design)
    await call("template/update", design)
    await call("template/request", {"senderKey": sender_key, "templateCode": "T1"})
    await call("template/list", query={"templateCode": TEXT})
    data = {"v": VALUE} if is_good else {"w": VALUE, "v": {"deep": VALUE}}
    numbers = [RECEIVER] if is_good else [RECEIVER, f"{RECEIVER}9", "010-7291-836x"]
    receivers = [{"phoneNumber": each, "templateData": data, "reference": REFERENCE} for each in numbers]
    fallback = {"resend": True, "resendPhoneNumber": RESENDER, "resendContent": RESENT}
    headers = {"idempotency-key": IDEMPOTENCY_KEY}
    text = sms_body(content=f"{TEXT} #{{v}}", sender=SENDER, receivers=receivers)
    for kind in ("SMS", "LMS", "MMS"):
        pictured = {"image": image_body(fileName=NAME)} if kind == "MMS" else {}
        await call(f"message/send{kind}", {**text, "subject": SUBJECT, **pictured}, headers=headers)
    await call("message/sendAlimtalk", alimtalk_body(sender_key, receivers=receivers, **fallback))
    talk = friendtalk_body(sender_key, content=f"{TEXT} #{{v}}", receivers=receivers, buttons=[button], **fallback)
    await call("message/sendFriendtalk", talk)
    await call("message/list", {"receivers": RECEIVER, "senderKey": VALUE})
    await call("message/list", query={"receivers": RECEIVER if is_good else f"{RECEIVER}9"})
    await call("message/cancel", {"requestId": TEXT})
    await call("message/request", query={"requestId": TEXT})
    await call("simulator/phone", query={"phoneNumber": RECEIVER if is_good else f"{RECEIVER}9"})
    await call("template/delete", {"senderKey": sender_key, "templateCode": TEXT})
    await call("sender/delete", {"senderKey": VALUE, "channelId": "@other"})
    await call("sender/categories")
    await call("template/categories", query={"q": TEXT})
    await call("sender/list", headers={"apikey": WRONG_KEY})
    await call(f"/api/{TEXT}")
    await call("message/sendSMS", TEXT.encode())
    await call("message/sendSMS", json.dumps(text).encode()[:-1])
    return [token, str(call.key)]


def _called_paths(lines: list[io.StringIO]) -> set[str]:
    return {json.loads(line).get("path") for line in lines[1].getvalue().splitlines()}


@pytest.mark.parametrize("is_good", [True, False], ids=["success", "failure"])
def test_no_call_leaves_personal_data_in_the_log(
    run_scenario: RunScenario, lines: list[io.StringIO], is_good: bool
) -> None:
    secrets: list[str] = []

    async def scenario(env: Environment) -> None:
        secrets.extend(await _call_with_secrets(await env.caller(), is_good=is_good))
        await env.wait(60)

    run_scenario(scenario, log_requests="all")

    _check_no_secrets(lines, *secrets)
    assert {endpoint.path for endpoint in ENDPOINTS} <= _called_paths(lines)


def test_no_outcome_of_a_message_leaves_personal_data_in_the_log(
    run_scenario: RunScenario, lines: list[io.StringIO]
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        numbers = [f"010-0000-000{digit}" for digit in range(1, 9)]
        await call_ok(call, "message/sendSMS", sms_body(*numbers, content=TEXT, sender=SENDER))
        await env.wait(3600)
        await env.store.write(accounts.revoke_key, 1, env.world.now())
        await env.wait(1)
        await call("message/sendSMS", sms_body(content=TEXT))

    run_scenario(scenario)

    _check_no_secrets(lines, "0000-0005", "00000005")


def test_error_message_with_personal_data_is_not_logged(
    run_scenario: RunScenario, tmp_path: Path, lines: list[io.StringIO]
) -> None:
    world = VirtualWorld()
    store = FailingStore(open_store(tmp_path, world))
    secrets: list[str] = []

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await call("sender/list")
        words = f"{TEXT} {RECEIVER} {VALUE} {WRONG_TOKEN} {call.key}"
        store.error = RuntimeError(words)
        secrets.extend(await _call_with_failing_store(call))
        await env.wait(30)
        store.error = None
        secrets.append(str(call.key))

    run_scenario(scenario, world=world, store=store)
    gc.collect()

    _check_no_secrets(lines, *secrets)
    text = lines[0].getvalue()
    assert text.count("unhandled error") >= 5
    assert "error=RuntimeError" in text
    assert "web.py" in text


async def _call_with_failing_store(call: Caller) -> list[str]:
    """Call the interface and the pages while the store raises an unexpected error."""
    for operation, body in (
        ("message/sendSMS", sms_body(RECEIVER, content=TEXT)),
        ("message/list", {"receivers": RECEIVER}),
        ("sender/create", channel_body(cellphone=ADMIN)),
        ("sender/auth", {"channelId": "@shop", "token": WRONG_TOKEN}),
        ("sender/delete", {"senderKey": VALUE}),
        ("message/cancel", {"requestId": "f" * 26}),
    ):
        answer = await call(operation, body)
        assert answer.result == "INTERNAL_ERROR"
    for page in ("/readyz", "/metrics"):
        with contextlib.suppress(RuntimeError):  # raised again after the answer is sent
            await call(page)
    return [WRONG_TOKEN]


@pytest.mark.parametrize("trouble", [RuntimeError(f"{TEXT} {RECEIVER}"), StoreUnavailable("OSError")])
def test_delivery_error_is_logged_without_personal_data(
    run_scenario: RunScenario, tmp_path: Path, lines: list[io.StringIO], trouble: Exception
) -> None:
    world = VirtualWorld()
    store = FailingStore(open_store(tmp_path, world))

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        for wait_s in (0, 0.001, 0.1, 0.31):
            await call_ok(call, "message/sendSMS", sms_body(RECEIVER, content=TEXT, sender=SENDER))
            await env.wait(wait_s)
            store.write_error = trouble
            await env.wait(15)
            store.write_error = None
            await env.wait(15)
        found = await call("message/list", {"receivers": RECEIVER})
        assert {each["sendingStatus"]["value"] for each in found.items} == {"completed"}

    run_scenario(scenario, world=world, store=store)
    gc.collect()

    _check_no_secrets(lines)


def _logged_levels(streams: list[io.StringIO]) -> set[Any]:
    return {json.loads(line)["level"] for line in streams[1].getvalue().splitlines()}


def test_refused_requests_are_logged_by_path_result_and_id(
    run_scenario: RunScenario, lines: list[io.StringIO]
) -> None:
    ids: list[str] = []

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        await call_ok(call, "message/sendSMS", sms_body())
        ids.append((await call("message/sendSMS", {})).headers["x-request-id"])

    run_scenario(scenario)

    requests = [json.loads(line) for line in lines[1].getvalue().splitlines() if '"request"' in line]
    (request,) = [each for each in requests if each["event"] == "request"]
    assert request["path"] == "/api/message/sendSMS.v1.0"
    assert (request["result"], request["status"]) == ("MISSING_PARAMETER", 400)
    assert [request["request_id"]] == ids
    assert "error" not in _logged_levels(lines)
