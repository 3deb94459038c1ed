"""The endpoints of webhooks: creating, changing, deleting, and what callers may say."""

import base64
from typing import Any

import pytest

from pabal.domain.base.dates import DAY
from pabal.domain.events.webhook import MAX_WEBHOOKS
from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import WebhookPost, pack_body
from tests.fixtures.virtual import NOON, ApiResponse, Caller, Environment
from tests.fixtures.web import call_ok
from tests.fixtures.webhook_calls import HOOK, URL, create, get_only, poster_of, stored, verify


async def test_webhook_is_created_and_listed_without_its_secret(call: Caller) -> None:
    made = await create(call, products=["sms", "alimTalk"], description=" 주문 알림 ")
    listed = await get_only(call)

    assert made["secret"].startswith("whsec_")
    assert len(base64.b64decode(made["secret"][6:])) == 32
    assert listed == {
        "id": made["webhookId"],
        "label": URL,
        "webhookId": made["webhookId"],
        "url": URL,
        "events": ["message.result", "template.status"],
        "products": ["sms", "alimTalk"],
        "description": "주문 알림",
        "format": "pabal",
        "state": {"value": "active", "label": "사용 중"},
        "failures": 0,
        "backlog": 0,
        "dropped": 0,
        "created": "2026-11-15 12:00:00",
        "changed": "2026-11-15 12:00:00",
    }


async def test_repeated_events_and_products_count_once(call: Caller) -> None:
    await create(call, events=["limit.near"] * 3, products=["sms", "sms"])

    listed = await get_only(call)
    assert (listed["events"], listed["products"]) == (["limit.near"], ["sms"])


@pytest.mark.parametrize(
    ("changes", "result", "field"),
    [
        ({"url": None}, "MISSING_PARAMETER", "url"),
        ({"url": ""}, "MISSING_PARAMETER", "url"),
        ({"url": "http://shop.example/"}, "INVALID_PARAMETER", "url"),
        ({"url": "https://user:password@shop.example/"}, "INVALID_PARAMETER", "url"),
        ({"url": "https://10.0.0.1/"}, "INVALID_PARAMETER", "url"),
        ({"url": "https://[::1]/"}, "INVALID_PARAMETER", "url"),
        ({"url": "https://169.254.169.254/latest"}, "INVALID_PARAMETER", "url"),
        ({"events": None}, "MISSING_PARAMETER", "events"),
        ({"events": []}, "MISSING_PARAMETER", "events"),
        ({"events": ["message.sent"]}, "INVALID_PARAMETER", "events[0]"),
        ({"events": ["message.result", "webhook.test"]}, "INVALID_PARAMETER", "events[1]"),
        ({"events": "message.result"}, "INVALID_PARAMETER", "events"),
        ({"events": [1]}, "INVALID_PARAMETER", "events[0]"),
        ({"products": ["fax"]}, "INVALID_PARAMETER", "products[0]"),
        ({"products": ["email"]}, "INVALID_PARAMETER", "products[0]"),
        ({"format": "kakao"}, "INVALID_PARAMETER", "format"),
    ],
)
async def test_wrong_webhook_is_refused_and_changes_nothing(
    call: Caller, changes: dict[str, Any], result: str, field: str
) -> None:
    made = await create(call)
    before = await get_only(call)

    refused = [await call("webhook/create", HOOK | changes)]
    if None not in changes.values() and "" not in changes.values():  # these change nothing
        refused.append(await call("webhook/update", {"webhookId": made["webhookId"], **changes}))

    for each in refused:
        assert (each.result, each.body["errors"][0]["field"]) == (result, field)
    assert await get_only(call) == before


async def test_account_has_at_most_ten_webhooks(env: Environment) -> None:
    call, other = await env.caller(), await env.caller("other")
    made = [await create(call) for _ in range(MAX_WEBHOOKS)]

    refused = await call("webhook/create", HOOK)

    assert (refused.result, "10" in refused.body["resultMessage"]) == ("INVALID_STATE", True)
    await create(other)
    await call_ok(call, "webhook/delete", {"webhookId": made[0]["webhookId"]})
    await create(call)


async def test_update_changes_only_what_it_names(env: Environment, call: Caller) -> None:
    made = await create(call, products=["sms"], description="one")
    before = await get_only(call)
    await env.wait(60)

    webhook = {"webhookId": made["webhookId"]}
    renamed = (await call_ok(call, "webhook/update", {**webhook, "description": "two"})).item
    moved = (await call_ok(call, "webhook/update", {**webhook, "url": "https://new.example/"})).item
    widened = (await call_ok(call, "webhook/update", {**webhook, "products": [], "description": ""})).item

    assert renamed == before | {"description": "two", "changed": "2026-11-15 12:01:00"}
    assert (moved["url"], moved["label"], moved["products"]) == ("https://new.example/",) * 2 + (["sms"],)
    assert widened["products"] == []
    assert "description" not in widened
    assert "secret" not in widened


async def test_rotated_secret_is_shown_once_and_the_old_one_signs_along_for_a_day(env: Environment) -> None:
    call, posts = await env.caller(), poster_of(env).received
    old = await create(call)
    webhook = {"webhookId": old["webhookId"]}

    rotated = (await call_ok(call, "webhook/update", {**webhook, "rotateSecret": True})).item
    await call_ok(call, "webhook/test", webhook)
    found = await stored(env, old["webhookId"])
    await env.store.write(webhooks.change, found._replace(previous_until=NOON), NOON)
    await env.wait(1)
    await call_ok(call, "webhook/test", webhook)

    assert rotated["previousSecretUntil"] == "2026-11-16 12:00:00"
    assert found.previous_until == NOON + DAY
    assert rotated["secret"] != old["secret"]
    assert "secret" not in await get_only(call)
    for secret in (old["secret"], rotated["secret"]):
        verify(secret, posts[0])
    verify(rotated["secret"], posts[1])
    assert len(posts[1].headers["webhook-signature"].split()) == 1


async def test_disabled_webhook_is_enabled_again(call: Caller) -> None:
    webhook = {"webhookId": (await create(call))["webhookId"]}

    off = (await call_ok(call, "webhook/update", {**webhook, "enabled": False})).item
    on = (await call_ok(call, "webhook/update", {**webhook, "enabled": True})).item

    assert (off["state"]["value"], on["state"]["value"]) == ("disabled", "active")
    assert off["disabledReason"] == "owner"
    assert "disabledReason" not in on


async def test_webhook_that_answered_410_is_enabled_with_or_without_what_it_has_missed(
    env: Environment, call: Caller
) -> None:
    ids = [(await create(call))["webhookId"] for _ in range(2)]
    for each in ids:
        await env.store.write(_disable_with_backlog, int(each))
    before = (await call_ok(call, "webhook/list")).items

    replayed = (await call_ok(call, "webhook/update", {"webhookId": ids[0], "enabled": True})).item
    skipped = (await call_ok(call, "webhook/update", {"webhookId": ids[1], "enabled": True, "replay": False})).item

    assert [(each["state"]["value"], each["disabledReason"], each["backlog"]) for each in before] == [
        ("disabled", "gone", 1)
    ] * 2
    assert [(each["state"]["value"], each["backlog"], each["dropped"]) for each in (replayed, skipped)] == [
        ("active", 1, 0),
        ("active", 0, 1),
    ]


def _disable_with_backlog(tx: Tx, webhook_id: int) -> None:
    webhooks.record_failure(tx, webhook_id, NOON, is_gone=True)
    webhooks.disable(tx, webhook_id, NOON, is_gone=True)
    post = WebhookPost(
        webhook_id.to_bytes(16, "big"), webhook_id, [bytes(16)], pack_body(b"{}"), NOON, 1, NOON + DAY
    )
    webhook_posts.add(tx, [post])


async def test_enabling_a_paused_webhook_tries_its_backlog_at_once(env: Environment, call: Caller) -> None:
    made = await create(call)
    webhook_id = int(made["webhookId"])
    await env.store.write(_pause_with_backlog, webhook_id)
    paused = await get_only(call)

    await call_ok(call, "webhook/update", {"webhookId": made["webhookId"], "enabled": True})

    assert (paused["state"]["value"], paused["backlog"], paused["failures"]) == ("paused", 1, 1)
    assert (await get_only(call))["state"]["value"] == "active"


def _pause_with_backlog(tx: Tx, webhook_id: int) -> None:
    webhooks.record_failure(tx, webhook_id, NOON, is_gone=False)
    webhooks.pause(tx, webhook_id, NOON + DAY)
    body = b'{"type":"message.result","data":{"items":[]}}'
    webhook_posts.add(tx, [WebhookPost(b"p" * 16, webhook_id, [b"e" * 16], pack_body(body), NOON, 1, NOON + DAY)])


@pytest.mark.parametrize("webhook_id", ["0", "2", "999999999999999999", "9" * 30, "-1", "1.0", "x", "１", "가"])
async def test_unknown_webhook_is_not_found(call: Caller, webhook_id: str) -> None:
    await create(call)
    body = {"webhookId": webhook_id}

    answers: list[ApiResponse] = [
        await call("webhook/update", {**body, "enabled": False}),
        await call("webhook/delete", body),
        await call("webhook/test", body),
        await call("webhook/replay", {**body, "since": "2026-11-15 11:00"}),
        await call("webhook/deliveries", query=body),
    ]

    assert {(each.status, each.result) for each in answers} == {(404, "WEBHOOK_NOT_FOUND")}


async def test_deleted_webhook_leaves_nothing_behind(env: Environment, call: Caller) -> None:
    made = await create(call)
    await call_ok(call, "webhook/test", {"webhookId": made["webhookId"]})

    await call_ok(call, "webhook/delete", {"webhookId": made["webhookId"]})

    assert (await call_ok(call, "webhook/list")).items == []
    assert await env.store.read(webhook_posts.count_tries, int(made["webhookId"])) == 0


async def test_changes_are_written_to_the_audit_log(env: Environment, call: Caller) -> None:
    webhook = {"webhookId": (await create(call))["webhookId"]}
    await call_ok(call, "webhook/update", {**webhook, "description": "x"})
    await call_ok(call, "webhook/replay", {**webhook, "since": "2026-11-15 11:00"})
    await call_ok(call, "webhook/delete", webhook)

    rows = await env.store.read(lambda tx: tx.fetch_all("select action, target, actor from audit_log order by id"))

    ours = [tuple(row) for row in rows if row[0].startswith("webhook.")]
    assert [action for action, _, _ in ours] == [
        "webhook.create",
        "webhook.update",
        "webhook.replay",
        "webhook.delete",
    ]
    assert {row[1:] for row in ours} == {(webhook["webhookId"], "API key")}
