"""Tests, deliveries and replays of webhooks by their endpoints."""

import base64

import pytest

from pabal.domain.events.webhook import secret_context
from pabal.service.outgoing import REPLAY_PAUSE_S, WEBHOOK_TEST_PAUSE_S
from pabal.store.events import webhooks
from pabal.webhooks.poster import PostError, PostResult
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok
from tests.fixtures.webhook_calls import URL, create, poster_of, stored, verify


async def test_test_posts_a_signed_event_and_answers_with_what_came_back(env: Environment) -> None:
    call, poster = await env.caller("acme"), poster_of(env)
    made = await create(call)
    poster.results = [PostResult(418, "나는 주전자\0\xff".encode()[:12] + b"\xff\0", 7)]

    answered = await call_ok(call, "webhook/test", {"webhookId": made["webhookId"]})
    listed = (await call_ok(call, "webhook/deliveries", query={"webhookId": made["webhookId"]})).items

    (post,) = poster.received
    body = verify(made["secret"], post)
    (item,) = body["data"]["items"]
    assert (post.url, post.account, body["type"]) == (URL, "acme", "webhook.test")
    assert body["timestamp"] == "2026-11-15T12:00:00.000+09:00"
    assert answered.item["status"] == 418
    assert answered.item["durationMs"] == 7
    assert "error" not in answered.item
    assert listed[0]["eventIds"] == [item["eventId"]]
    assert listed[0]["id"] == post.headers["webhook-id"]
    assert (listed[0]["status"], listed[0]["tryNumber"], listed[0]["time"]) == (418, 1, "2026-11-15 12:00:00")
    assert listed[0]["answer"].startswith("나는 주")


async def test_test_says_why_there_was_no_answer(env: Environment, call: Caller) -> None:
    made = await create(call)
    poster_of(env).results = [PostResult(None, b"", 12, PostError.TLS, "certificate has expired")]

    item = (await call_ok(call, "webhook/test", {"webhookId": made["webhookId"]})).item

    assert item == {"answer": "", "error": "tls: certificate has expired", "durationMs": 12}


async def test_tests_are_limited_to_one_a_second(env: Environment) -> None:
    call, other = await env.caller(), await env.caller("other")
    webhook, theirs = [{"webhookId": (await create(each))["webhookId"]} for each in (call, other)]

    first = await call("webhook/test", webhook)
    second = await call("webhook/test", webhook)
    of_other = await other("webhook/test", theirs)
    await env.wait(WEBHOOK_TEST_PAUSE_S)
    third = await call("webhook/test", webhook)

    assert [each.result for each in (first, second, of_other, third)] == [
        "SUCCESS",
        "RATE_LIMITED",
        "SUCCESS",
        "SUCCESS",
    ]
    assert second.headers["retry-after"] == "1"


@pytest.mark.settings(secret_key=[base64.b64encode(bytes(32)).decode()])
async def test_secret_is_encrypted_in_the_store_if_a_key_is_set(env: Environment, call: Caller) -> None:
    made = await create(call)

    found = await stored(env, made["webhookId"])
    await call_ok(call, "webhook/test", {"webhookId": made["webhookId"]})

    raw = base64.b64decode(made["secret"][6:])
    assert raw not in found.secret
    assert env.context.secrets.open(found.secret, secret_context(found.account_id)) == raw
    verify(made["secret"], poster_of(env).received[0])


async def test_secret_of_a_lost_key_makes_posts_fail_and_says_so(env: Environment, call: Caller) -> None:
    made = await create(call)
    webhook = await stored(env, made["webhookId"])
    await env.store.write(webhooks.replace_secrets, webhook, b"\x01" + bytes(60), None)

    item = (await call_ok(call, "webhook/test", {"webhookId": made["webhookId"]})).item

    assert item["error"].startswith("unreadable_secret: ")
    assert poster_of(env).received == []


@pytest.mark.parametrize("spelling", ["2026-11-15 12:00", "2026-11-15 11:59", "2026-11-08 12:00"])
async def test_replay_goes_back_at_most_seven_days(call: Caller, spelling: str) -> None:
    webhook = {"webhookId": (await create(call))["webhookId"]}

    await call_ok(call, "webhook/replay", {**webhook, "since": spelling})
    for wrong in ("2026-11-08 11:59", "2026-11-15 12:01", "yesterday", "2026-11-15"):
        assert (await call("webhook/replay", {**webhook, "since": wrong})).result == "INVALID_DATE"
    assert (await call("webhook/replay", webhook)).result == "MISSING_PARAMETER"


async def test_webhook_is_replayed_at_most_once_a_minute(env: Environment) -> None:
    call, other = await env.caller(), await env.caller("other")
    one, two = [{"webhookId": (await create(call))["webhookId"], "since": "2026-11-15 11:00"} for _ in range(2)]

    answers = [await call("webhook/replay", body) for body in (one, one, two)]
    of_other = await other("webhook/replay", one)
    await env.wait(REPLAY_PAUSE_S)
    later = await call("webhook/replay", one)

    assert [each.result for each in answers] == ["SUCCESS", "RATE_LIMITED", "SUCCESS"]
    assert answers[1].headers["retry-after"] == "60"
    assert (of_other.result, later.result) == ("WEBHOOK_NOT_FOUND", "SUCCESS")


async def test_disabled_webhook_is_not_replayed(call: Caller) -> None:
    webhook = {"webhookId": (await create(call))["webhookId"]}
    await call_ok(call, "webhook/update", {**webhook, "enabled": False})

    refused = await call("webhook/replay", {**webhook, "since": "2026-11-15 11:00"})

    assert refused.result == "INVALID_STATE"


async def test_deliveries_are_paged_newest_first(env: Environment, call: Caller) -> None:
    webhook = {"webhookId": (await create(call))["webhookId"]}
    for status in (500, 501, 502):
        poster_of(env).results = [PostResult(status, b"", 1)]
        await call_ok(call, "webhook/test", webhook)
        await env.wait(2)

    first = await call_ok(call, "webhook/deliveries", query={**webhook, "pageSize": 2})
    last = await call_ok(call, "webhook/deliveries", query={**webhook, "pageSize": 2, "page": 2})

    assert [each["status"] for each in first.items + last.items] == [502, 501, 500]
    assert (first.body["totalCount"], first.body["pageCount"]) == (3, 2)
