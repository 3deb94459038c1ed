"""Tokens that approve a channel."""

from typing import Any

import pytest

from pabal.store.kakao import profiles
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, channel_body, get_latest_token, list_phone_messages, summarize_refusal

ADMIN = "010-9999-0000"


async def test_token_is_not_in_the_answer_and_not_in_the_store(env: Environment, call: Caller) -> None:
    created = await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)

    stored = await env.store.read(profiles.newest_token, 1)
    assert token not in str({**created.body, "time": ""})
    assert stored is not None
    assert token.encode() not in stored.hash


async def test_registering_again_while_waiting_invalidates_the_old_token(env: Environment, call: Caller) -> None:
    await call_ok(call, "sender/create", channel_body())
    old = await get_latest_token(call)
    await env.wait(60)
    other = {"cellphone": "010-7777-0000", "category": "00100010002"}

    again = await call("sender/create", channel_body(**other))
    new = await get_latest_token(call, "010-7777-0000")
    by_old = await call("sender/auth", {"channelId": "@shop", "token": old})
    (waiting,) = (await call("sender/list")).items
    by_new = await call("sender/auth", {"channelId": "@shop", "token": new})

    assert again.item["cellphone"] == waiting["cellphone"] == "010-7777-0000"
    assert waiting["category"]["value"] == "00100010002"
    assert (waiting["created"], waiting["changed"]) == ("2026-11-15 12:00:00", "2026-11-15 12:01:00")
    assert [by_old.result, by_new.result] == ["TOKEN_INVALID", "SUCCESS"]


@pytest.mark.parametrize(
    ("vary", "field"),
    [
        (lambda n: {"cellphone": f"010-9999-000{n}"}, "channelId"),
        (lambda n: {"channelId": f"@shop{n}"}, "cellphone"),
    ],
)
async def test_five_tokens_an_hour_go_out_for_a_channel_and_to_a_number(
    env: Environment, call: Caller, vary: Any, field: str
) -> None:
    neighbour = await env.caller("neighbour")

    results = [(await call("sender/create", channel_body(**vary(n)))).result for n in range(5)]
    sixth = await call("sender/create", channel_body(**vary(6)))
    others = await neighbour("sender/create", channel_body(**vary(6)))
    env.world.move_clock(3600 - 1)
    still = await call("sender/create", channel_body(**vary(7)))
    env.world.move_clock(1)
    later = await call("sender/create", channel_body(**vary(7)))

    assert results == ["SUCCESS"] * 5
    assert summarize_refusal(sixth) == ("RATE_LIMITED", {field: "RATE_LIMITED"})
    assert sixth.status == 429
    assert int(sixth.headers["retry-after"]) >= 1
    assert others.result == "SUCCESS"
    assert [still.result, later.result] == ["RATE_LIMITED", "SUCCESS"]


async def test_deleting_a_profile_does_not_reset_the_token_limit(call: Caller) -> None:
    for _ in range(5):
        await call_ok(call, "sender/create", channel_body())
        await call_ok(call, "sender/delete", {"channelId": "@shop"})

    answer = await call("sender/create", channel_body())

    assert answer.result == "RATE_LIMITED"
    assert len(await list_phone_messages(call, ADMIN)) == 5


async def test_right_token_is_locked_after_five_wrong_attempts(call: Caller) -> None:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)
    guesses = [str((int(token) + n) % 10**6).zfill(6) for n in range(1, 6)]

    wrong = [(await call("sender/auth", {"channelId": "@shop", "token": each})).result for each in guesses]
    right = await call("sender/auth", {"channelId": "@shop", "token": token})
    await call_ok(call, "sender/create", channel_body())
    fresh = await call("sender/auth", {"channelId": "@shop", "token": await get_latest_token(call)})

    assert wrong == ["TOKEN_INVALID"] * 5
    assert summarize_refusal(right) == ("TOKEN_LOCKED", {"token": "TOKEN_LOCKED"})
    assert fresh.result == "SUCCESS"


@pytest.mark.parametrize("token", ["x", "12345", "1234567", "1" * 1000, "１２３４５６", " 123456", "가", "-1"])
async def test_wrong_token_of_any_form_is_invalid(call: Caller, token: str) -> None:
    await call_ok(call, "sender/create", channel_body())

    answer = await call("sender/auth", {"channelId": "@shop", "token": token})

    assert summarize_refusal(answer) == ("TOKEN_INVALID", {"token": "TOKEN_INVALID"})


@pytest.mark.parametrize(
    ("body", "result", "field"),
    [
        ({"channelId": "@nobody", "token": "123456"}, "SENDER_NOT_FOUND", "channelId"),
        ({"token": "123456"}, "MISSING_PARAMETER", "channelId"),
        ({"channelId": "@shop"}, "MISSING_PARAMETER", "token"),
        ({"channelId": "@shop", "token": 123456}, "INVALID_PARAMETER", "token"),
    ],
)
async def test_token_needs_its_channel(call: Caller, body: dict[str, Any], result: str, field: str) -> None:
    await call_ok(call, "sender/create", channel_body())

    answer = await call("sender/auth", body)

    assert summarize_refusal(answer) == (result, {field: result})


@pytest.mark.parametrize(
    ("waited_s", "result"), [(1799, "SUCCESS"), (1800, "TOKEN_EXPIRED"), (86_400, "TOKEN_EXPIRED")]
)
async def test_token_is_valid_for_thirty_minutes(
    env: Environment, call: Caller, waited_s: int, result: str
) -> None:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)

    env.world.move_clock(waited_s)
    answer = await call("sender/auth", {"channelId": "@shop", "token": token})

    assert answer.result == result


@pytest.mark.settings(token_minutes=1)
async def test_validity_of_tokens_is_a_setting(env: Environment, call: Caller) -> None:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)

    env.world.move_clock(60)

    assert (await call("sender/auth", {"channelId": "@shop", "token": token})).result == "TOKEN_EXPIRED"


async def test_token_deleted_by_housekeeping_is_reported_as_expired(env: Environment, call: Caller) -> None:
    await call_ok(call, "sender/create", channel_body())
    token = await get_latest_token(call)

    env.world.move_clock(3 * 3600)
    await env.wait(11)
    answer = await call("sender/auth", {"channelId": "@shop", "token": token})

    assert answer.result == "TOKEN_EXPIRED"
