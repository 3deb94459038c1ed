"""Carriers that are down and high failure rates are told of once, to webhooks and users."""

from collections import Counter
from typing import Any

import pytest

from pabal.domain.events.event import EventType
from pabal.domain.events.notice import NoticeKind
from pabal.service.notices.alerts import check_failures
from pabal.service.upkeep.statistics import update_statistics
from pabal.store.engine.base import Tx
from pabal.store.events import events, notices
from pabal.store.events.notices import Notice
from tests.fixtures.endpoints import FakeEndpoints, add_webhook
from tests.fixtures.service import FakeCarrier, Start, account_id_of
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, sms_body, world_at_noon

NOBODY = "010-0000-0001"
FAILS_EASILY: dict[str, Any] = {"notice_failure_messages": 10, "notice_failure_percent": 50}
SETTLED_S = 140.0
"""By then, what was sent has ended, is counted, and was looked at."""


def list_notices(tx: Tx) -> list[Notice]:
    return notices.list_some(tx, 100)[1]


async def told(env: Environment) -> list[tuple[NoticeKind, str]]:
    """Return kind and state of every notice so far."""
    found = await env.store.read(list_notices)
    return [(each.kind, each.data.get("state", "")) for each in found]


async def test_carrier_that_is_down_is_told_of_once_and_when_it_is_up_again(start: Start) -> None:
    world, carrier = world_at_noon(), FakeCarrier()
    env = await start(carrier, world=world)
    await env.wait(20)
    carrier.is_connected = False
    await env.wait(50)
    assert await told(env) == []

    await env.wait(60)
    world.move_clock(3 * 3600)
    await env.wait(60)
    assert await told(env) == [(NoticeKind.CARRIER, "down")]
    carrier.is_connected = True
    await env.wait(60)

    assert await told(env) == [(NoticeKind.CARRIER, "down"), (NoticeKind.CARRIER, "up")]
    (down, up) = await env.store.read(list_notices)
    assert (down.data["carrier"], down.account_id, up.data["carrier"]) == (carrier.name, None, carrier.name)
    assert {"sms", "alimTalk"} <= set(down.data["products"])


async def test_carrier_that_comes_and_goes_is_told_of_once_an_hour(start: Start) -> None:
    world, carrier = world_at_noon(), FakeCarrier()
    env = await start(carrier, world=world)
    for _ in range(6):  # more than two hours
        carrier.is_connected = False
        await env.wait(90)
        carrier.is_connected = True
        await env.wait(30)
        world.move_clock(1210)

    assert Counter(await told(env)) == {(NoticeKind.CARRIER, "down"): 2, (NoticeKind.CARRIER, "up"): 2}


async def test_high_failure_rate_is_told_of_once_until_it_is_over(start: Start) -> None:
    world = world_at_noon()
    env = await start(world=world, **FAILS_EASILY)
    call = await env.caller()
    await call_ok(call, "message/sendSMS", sms_body(*[NOBODY] * 6, "010-1234-5678"))
    await env.wait(SETTLED_S)
    assert await told(env) == []  # too few

    await call_ok(call, "message/sendSMS", sms_body(*[NOBODY] * 6))
    await env.wait(SETTLED_S)
    await call_ok(call, "message/sendSMS", sms_body(*[NOBODY] * 6))
    await env.wait(SETTLED_S)

    (found,) = await env.store.read(list_notices)
    assert (found.kind, found.account_id) == (NoticeKind.FAILURE, await account_id_of(env))
    assert (found.data["failed"], found.data["ended"], found.data["share"]) == (12, 13, 92)
    world.move_clock(2 * 3600)
    await env.wait(70)
    await call_ok(call, "message/sendSMS", sms_body(*[NOBODY] * 20))
    await env.wait(SETTLED_S)
    assert [kind for kind, _ in await told(env)] == [NoticeKind.FAILURE] * 2


@pytest.mark.settings(notice_failure_messages=10, notice_failure_percent=50)
async def test_at_most_one_failure_rate_is_told_of_in_an_hour(env: Environment) -> None:
    call = await env.caller()
    for bad, good in ((20, 30), (40, 80), (140, 1)):  # high, then low, each time within the hour
        await call_ok(call, "message/sendSMS", sms_body(*[NOBODY] * bad))
        await env.wait(SETTLED_S)
        await call_ok(call, "message/sendSMS", sms_body(*["010-1234-5678"] * good))
        await env.wait(SETTLED_S)

    assert [kind for kind, _ in await told(env)] == [NoticeKind.FAILURE]


async def test_receivers_who_opted_out_are_no_failures(start: Start) -> None:
    env = await start(world=world_at_noon(), **FAILS_EASILY)
    call = await env.caller()
    await call_ok(call, "optOut/add", {"phoneNumber": "010-1234-5678"})
    ad = {"adFlag": True, "optOutNumber": "080-123-4567"}
    for _ in range(20):
        await call_ok(call, "message/sendSMS", sms_body("010-1234-5678", **ad))
    await env.wait(5)
    await update_statistics(env.context)
    await check_failures(env.context)

    assert await told(env) == []


async def test_webhooks_get_carriers_and_failures_of_their_account_only(start: Start) -> None:
    endpoints, carrier = FakeEndpoints(), FakeCarrier()
    env = await start(carrier, poster=endpoints)
    await env.caller()
    await env.caller("other")
    await add_webhook(env, events=[EventType.CARRIER_STATUS, EventType.FAILURE_HIGH])
    carrier.is_connected = False
    await env.wait(120)

    (post,) = endpoints.posts
    assert [(each["carrier"], each["state"]) for each in post.items] == [(carrier.name, "down")]
    account_id = await account_id_of(env, "other")
    page = await env.store.read(events.read_after, account_id, {}, 10)
    assert page.events == []
