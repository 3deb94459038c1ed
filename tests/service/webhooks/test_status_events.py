"""Changes of templates and sender profiles are posted, as the records of their lists at that moment."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pabal.domain.events.event import EVENT_ID_PREFIX
from pabal.domain.kakao.template import ReviewDecision
from pabal.service.relay import lookup, profiles
from pabal.service.upkeep import privacy
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.kakao import profiles as stored_profiles
from pabal.store.kakao import templates
from tests.fixtures import relay, web
from tests.fixtures.relay import CARRIER, CHANNEL, SYNC_ROUND_S, RelayEnvironment
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, register_channel
from tests.fixtures.webhook_calls import create, poster_of

SOON_S = 3
"""Within this time an event of this process is posted."""
EVENTS = ["template.status", "sender.auth"]


async def listening(env: Environment, account: str = "acme") -> Caller:
    """Return a caller whose account is told of everything about templates and profiles."""
    call = await env.caller(account)
    await create(call, url=f"https://{account}.example", events=EVENTS)
    return call


async def take(env: Environment, account: str = "acme") -> list[tuple[str, Any]]:
    """Return type and item of the events that an account was posted since the last call, without their ids."""
    await env.wait(SOON_S)
    received = poster_of(env).received
    bodies = [json.loads(each.body) for each in received if each.account == account]
    received[:] = [each for each in received if each.account != account]
    found = [(body["type"], item) for body in bodies for item in body["data"]["items"]]
    assert all(item.pop("eventId").startswith(EVENT_ID_PREFIX) for _, item in found)
    return found


async def template_record(call: Caller, code: str = "T1") -> tuple[str, Any]:
    """Return the event that tells of a template as it is now."""
    (item,) = (await call_ok(call, "template/list", query={"templateCode": code})).items
    return "template.status", item


async def sender_record(call: Caller) -> tuple[str, Any]:
    """Return the event that tells of the profile as it is now."""
    (item,) = (await call_ok(call, "sender/list")).items
    return "sender.auth", item


async def decide(env: Environment, *, is_approved: bool, comment: str | None = None) -> None:
    """Decide about the only template under review, as the console does."""
    (template,) = [each for each in await env.store.read(templates.list_all) if each.status.code == "inspecting"]
    entry = AuditEntry(env.world.now(), 1, "operator", template.account_id, "template.review")
    await lookup.decide_review(env.context, template, ReviewDecision(is_approved, comment), entry)


async def test_an_approved_profile_is_told_with_the_record_of_its_list(env: Environment) -> None:
    call, twin = await listening(env), await listening(env, "twin")
    await call_ok(call, "sender/create", web.channel_body())
    await call_ok(twin, "sender/create", web.channel_body())
    assert await take(env) == []

    await call_ok(call, "sender/auth", {"channelId": CHANNEL, "token": await web.get_latest_token(call)})

    told = await take(env)
    assert told == [await sender_record(call)]
    assert told[0][1]["category"]["label"] == "건강,병원,종합병원"
    assert (told[0][1]["authStatus"]["value"], told[0][1]["cellphone"]) == ("approval", "010-9999-0000")
    assert await take(env, "twin") == []


async def test_each_status_of_a_template_is_told_with_its_record(env: Environment) -> None:
    call, twin = await listening(env), await listening(env, "twin")
    key, _ = await register_channel(call), await register_channel(twin)
    await take(env), await take(env, "twin")
    body = web.template_body(key, name="배송 보류", buttons=[web.BUTTON])
    place = {"senderKey": key, "templateCode": "T1"}
    await call_ok(call, "template/create", body)
    await call_ok(call, "template/update", body)
    assert await take(env) == []

    await call_ok(call, "template/request", place)
    assert await take(env) == [await template_record(call)]
    await decide(env, is_approved=False, comment="내용을 확인해 주세요.")
    rejected = await take(env)
    assert rejected == [await template_record(call)]
    assert rejected[0][1]["comment"] == "내용을 확인해 주세요."
    await call_ok(call, "template/update", body)
    edited = await take(env)
    assert edited == [await template_record(call)]
    assert edited[0][1]["status"]["value"] == "registered"
    await call_ok(call, "template/request", place)
    await take(env)
    await decide(env, is_approved=True)
    assert await take(env) == [await template_record(call)]
    assert await take(env, "twin") == []


async def test_a_review_that_is_decided_at_once_is_told_once(env: Environment) -> None:
    call = await listening(env)
    key = await register_channel(call)
    await take(env)

    await web.approve_template(call, key)
    await web.approve_template(call, key, templateCode="T2", name="둘째")

    told = await take(env)
    assert told == [await template_record(call, code) for code in ("T1", "T2")]
    assert [item["status"]["value"] for _, item in told] == ["approved", "approved"]


async def test_a_profile_that_the_operator_disables_and_enables_is_told(env: Environment) -> None:
    call, twin = await listening(env), await listening(env, "twin")
    await register_channel(call), await register_channel(twin)
    (_, profile), (_, of_twin) = await take(env) + await take(env, "twin")
    for is_enabled in (False, False, True):
        await env.store.write(stored_profiles.set_enabled, int(profile["id"]), is_enabled, env.world.now())
        env.context.new_events.set()
        expected = await sender_record(call)
        told = await take(env)
        assert told in ([expected], [])
        if told:
            profile = expected[1]
            assert profile["enable"] is is_enabled

    assert profile["enable"] is True
    assert of_twin["enable"] is True
    assert await take(env, "twin") == []


async def test_a_replayed_change_says_what_it_said_before(env: Environment) -> None:
    call = await listening(env)
    key = await register_channel(call)
    await web.approve_template(call, key)
    first = await take(env)
    await env.wait(60)
    await call_ok(call, "template/update", web.template_body(key, content="다른 글"))
    await call_ok(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
    await call_ok(call, "sender/delete", {"senderKey": key})
    (edited,) = await take(env)

    (webhook,) = (await call_ok(call, "webhook/list")).items
    since = {"webhookId": webhook["webhookId"], "since": "2026-11-15 12:00"}
    await call_ok(call, "webhook/replay", since)

    assert sorted(await take(env), key=str) == sorted([*first, edited], key=str)
    assert edited[1]["status"]["value"] == "registered"


@pytest.mark.parametrize("damage", ["not JSON", '{"status": "unheard of"}'])
async def test_a_damaged_event_does_not_hold_up_the_others(env: Environment, damage: str) -> None:
    call = await listening(env)
    key = await register_channel(call)
    await env.store.write(lambda tx: tx.execute("update event_data set data = ?", (damage,)))
    await web.approve_template(call, key)

    assert await take(env) == [await template_record(call)]


async def test_the_record_of_an_erased_number_is_not_told(env: Environment) -> None:
    call, twin = await listening(env), await listening(env, "twin")
    await register_channel(call), await register_channel(twin)
    owner = await env.store.write(accounts.ensure_account, "acme", env.world.now())
    assert "01099990000" in await stored_data(env)
    await privacy.erase(env.context, owner, "01099990000")

    assert await take(env) == []
    assert await take(env, "twin") == [await sender_record(twin)]
    twin_id = await env.store.write(accounts.ensure_account, "twin", env.world.now())
    await privacy.erase(env.context, twin_id, "01099990000")
    assert "01099990000" not in await stored_data(env)


async def stored_data(env: Environment) -> str:
    """Return what all events say, as it is stored."""
    return str(await env.store.read(lambda tx: tx.fetch_all("select data from event_data")))


async def relay_caller(stage: RelayEnvironment, env: Environment) -> tuple[Caller, str]:
    """Return a caller with a profile at the relay, which was told of it."""
    await env.wait(1)
    call = await listening(env)
    key = await stage.register_channel(call)
    assert await take(env) == [await sender_record(call)]
    return call, key


async def test_what_a_relay_decides_is_told(stage: RelayEnvironment) -> None:
    env = await stage.start()
    call, key = await relay_caller(stage, env)
    console = stage.relay.console
    await call_ok(call, "template/create", relay.template_body(key))

    async def told(wait_s: float) -> str:
        await env.wait(wait_s)
        (event,) = await take(env)
        assert event == await template_record(call)
        reason = event[1].get("disabledReason", {"value": ""})["value"]
        return f"{event[1]['status']['value']} {event[1].get('comment', '')} {reason}".strip()

    await relay.request_review(call, key)
    assert await told(0) == "inspecting"
    console.reject(key, "T1", "왜요?")
    assert await told(SYNC_ROUND_S) == "rejected 왜요?"
    await call_ok(call, "template/update", relay.template_body(key, content="고친 글"))
    assert await told(0) == "registered"
    await relay.request_review(call, key)
    assert await told(0) == "inspecting"
    console.approve(key, "T1")
    assert await told(SYNC_ROUND_S) == "approved"
    console.block_template(key, "T1")
    assert await told(SYNC_ROUND_S) == "approved  blocked"
    console.block_template(key, "T1", False)
    assert await told(SYNC_ROUND_S) == "approved"
    console.change_template(key, "T1", templateContent="중계사에서 고친 글")
    assert await told(SYNC_ROUND_S) == "approved"
    console.remove_template(key, "T1")
    assert await told(SYNC_ROUND_S) == "approved  gone"


def block(stage: RelayEnvironment, key: str) -> None:
    stage.relay.console.block_profile(key)


def vanish(stage: RelayEnvironment, key: str) -> None:
    del stage.relay.profiles[key]


@pytest.mark.parametrize("happen", [block, vanish])
async def test_a_profile_that_a_relay_suspends_is_told(
    stage: RelayEnvironment, happen: Callable[[RelayEnvironment, str], None]
) -> None:
    env = await stage.start()
    call, key = await relay_caller(stage, env)
    happen(stage, key)
    await env.wait(SYNC_ROUND_S)

    told = await take(env)
    assert told == [await sender_record(call)]
    assert told[0][1]["enable"] is False


async def test_an_adopted_profile_and_its_templates_are_told_once(stage: RelayEnvironment) -> None:
    key = stage.relay.add_profile(CHANNEL).sender_key
    stage.relay.add_template(key, "T1", "배송이 시작되었습니다.")
    stage.relay.console.block_profile(key)
    await stage.connect()
    call, twin = await listening(stage.env), await listening(stage.env, "twin")
    owner = await stage.env.store.write(accounts.ensure_account, "acme", stage.env.world.now())
    for _ in range(2):
        await profiles.adopt(stage.env.context, owner, CARRIER, CHANNEL)
    assert await take(stage.env) == [await sender_record(call)]

    stage.relay.console.block_profile(key, False)
    await stage.wait(SYNC_ROUND_S)

    assert sorted(await take(stage.env)) == [await sender_record(call), await template_record(call)]
    assert twin is not None
    assert await take(stage.env, "twin") == []
