"""The Idempotency-Key: the same request gets the same answer and is sent once."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from pabal.store.engine.base import StoreUnavailable
from tests.fixtures.virtual import ApiResponse, Caller, Environment, build_environment
from tests.fixtures.web import (
    PHONE,
    FailingStore,
    approve_template,
    call_ok,
    friendtalk_body,
    list_messages,
    list_phone_messages,
    sms_body,
    summarize_refusal,
    world_starting_at,
)


async def _send(call: Caller, key: str = "k1", body: Any = None, operation: str = "message/sendSMS") -> ApiResponse:
    return await call(operation, sms_body() if body is None else body, headers={"Idempotency-Key": key})


async def test_same_request_gets_the_same_answer_and_is_sent_once(env: Environment, call: Caller) -> None:
    first = await _send(call)
    await env.wait(5)
    again = await _send(call)
    await env.wait(5)

    assert again.item == first.item
    assert again.body["time"] > first.body["time"]
    assert len(await list_messages(call)) == len(await list_phone_messages(call)) == 1


async def test_same_body_with_another_key_or_none_is_sent_again(call: Caller) -> None:
    ids = {
        (await _send(call, "k1")).request_id,
        (await _send(call, "k2")).request_id,
        (await _send(call, "K1")).request_id,
        (await call("message/sendSMS", sms_body())).request_id,
        (await call("message/sendSMS", sms_body())).request_id,
    }

    assert len(ids) == len(await list_messages(call)) == 5


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("message/sendSMS", sms_body(content="다른 글")),
        ("message/sendSMS", json.dumps(sms_body(), indent=1).encode()),
        ("message/sendSMS", {}),
        ("message/sendLMS", sms_body()),
        ("message/sendMMS", sms_body()),
    ],
)
async def test_key_with_another_body_or_path_is_a_duplicate(call: Caller, operation: str, body: Any) -> None:
    await call_ok(call, "message/sendSMS", sms_body(), headers={"Idempotency-Key": "k1"})

    answer = await _send(call, "k1", body, operation)

    assert summarize_refusal(answer) == ("DUPLICATE", {"Idempotency-Key": "DUPLICATE"})
    assert answer.status == 409
    assert len(await list_messages(call)) == 1


async def test_every_kind_of_send_may_be_repeated(call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key)
    body = {**sms_body(), **friendtalk_body(sender_key), "templateCode": "T1"}

    for kind in ("SMS", "LMS", "MMS", "Alimtalk", "Friendtalk"):
        first = await _send(call, kind, body, f"message/send{kind}")
        again = await _send(call, kind, body, f"message/send{kind}")

        assert again.request_id == first.request_id

    assert len(await list_messages(call)) == 5


async def test_idempotency_keys_of_two_accounts_are_independent(env: Environment) -> None:
    ours, theirs = await env.caller("ours"), await env.caller("theirs")
    also_ours = await env.caller("ours")

    first = await _send(ours)
    other = await _send(theirs, body=sms_body(content="다른 글"))
    same_account = await _send(also_ours)

    assert other.request_id != first.request_id
    assert same_account.request_id == first.request_id


@pytest.mark.parametrize(("waited_s", "is_same"), [(86_399, True), (86_401, False)])
async def test_idempotency_key_is_valid_for_a_day(
    env: Environment, call: Caller, waited_s: int, is_same: bool
) -> None:
    first = await _send(call)

    env.world.move_clock(waited_s)
    before_housekeeping = await _send(call)
    await env.wait(0)

    assert (before_housekeeping.request_id == first.request_id) is is_same
    assert (await _send(call)).request_id == before_housekeeping.request_id


async def test_idempotency_key_can_be_used_for_another_body_after_a_day(env: Environment, call: Caller) -> None:
    await _send(call)

    env.world.move_clock(86_401)
    await env.wait(11)
    answer = await _send(call, body=sms_body(content="다른 글"))

    assert answer.result == "SUCCESS"


async def test_one_of_two_concurrent_bodies_with_the_same_key_is_a_duplicate(call: Caller) -> None:
    answers = await asyncio.gather(_send(call), _send(call, body=sms_body(content="다른 글")))

    assert sorted(answer.result for answer in answers) == ["DUPLICATE", "SUCCESS"]
    assert len(await list_messages(call)) == 1


async def test_idempotency_key_is_valid_across_a_restart(tmp_path: Path) -> None:
    before = await build_environment(tmp_path, world=world_starting_at("2026-11-15 12:00"))
    call = await before.caller()
    first = await _send(call)
    await before.service.stop()

    after = await build_environment(tmp_path, world=world_starting_at("2026-11-15 12:30", seed=1))
    call = Caller(after.service, call.key)
    again = await _send(call)
    other = await _send(call, body=sms_body(content="다른 글"))
    await after.wait(2)
    found = await list_messages(call)
    await after.service.stop()

    assert again.item == first.item
    assert other.result == "DUPLICATE"
    assert len(found) == 1


@pytest.mark.parametrize(
    ("bad", "result"),
    [
        (b"{", "INVALID_JSON"),
        ({}, "MISSING_PARAMETER"),
        (sms_body("119"), "INVALID_PHONE_NUMBER"),
        (sms_body(sendDate="2026-11-14 12:00"), "INVALID_DATE"),
    ],
)
async def test_idempotency_key_of_a_refused_request_can_be_used_again(call: Caller, bad: Any, result: str) -> None:
    refused = await _send(call, body=bad)
    mended = await _send(call)

    assert refused.result == result
    assert mended.result == "SUCCESS"


async def test_send_refused_by_a_failing_store_can_be_repeated(failing_store: FailingStore, call: Caller) -> None:
    failing_store.write_error = StoreUnavailable("full")
    away = await _send(call)
    failing_store.write_error = None
    first = await _send(call)
    again = await _send(call)

    assert away.result == "SERVICE_UNAVAILABLE"
    assert away.headers["retry-after"] == "1"
    assert first.request_id == again.request_id
    assert len(await list_messages(call)) == 1


async def test_repeated_request_is_answered_even_if_it_would_now_be_refused(
    env: Environment, call: Caller, sender_key: str
) -> None:
    text, talk = sms_body(sendDate="2026-11-15 12:01"), friendtalk_body(sender_key, sendDate="2026-11-15 12:01")
    first = [await _send(call, "k1", text), await _send(call, "k2", talk, "message/sendFriendtalk")]

    env.world.move_clock(3600)
    await call_ok(call, "sender/delete", {"senderKey": sender_key})
    again = [await _send(call, "k1", text), await _send(call, "k2", talk, "message/sendFriendtalk")]
    anew = await call("message/sendSMS", text)

    assert [answer.item for answer in again] == [answer.item for answer in first]
    assert anew.result == "INVALID_DATE"


@pytest.mark.parametrize(
    ("key", "is_good"),
    [
        ("k", True),
        ("k" * 255, True),
        ("with blank", True),
        ("~!@#", True),
        ("", False),
        ("k" * 256, False),
        ("caf\u00e9", False),
        ("tab\there", False),
        ("\u007f", False),
    ],
)
async def test_key_has_1_to_255_printable_characters(call: Caller, key: str, is_good: bool) -> None:
    answer = await _send(call, key)

    if is_good:
        assert answer.result == "SUCCESS"
    else:
        assert summarize_refusal(answer) == ("INVALID_PARAMETER", {"Idempotency-Key": "INVALID_PARAMETER"})
        assert await list_messages(call) == []


async def test_idempotency_key_applies_to_sends_only(call: Caller) -> None:
    headers = {"Idempotency-Key": "k1"}

    before = await call("message/list", {"receivers": PHONE}, headers=headers)
    await call_ok(call, "message/sendSMS", sms_body(), headers=headers)
    after = await call("message/list", {"receivers": PHONE}, headers=headers)
    bad_key = await call("message/list", {"receivers": PHONE}, headers={"Idempotency-Key": ""})

    assert [before.body["totalCount"], after.body["totalCount"]] == [0, 1]
    assert bad_key.result == "SUCCESS"
