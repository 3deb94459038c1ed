"""Advertisements: labelled, and never sent at night."""

from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment, build_environment
from tests.fixtures.web import (
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    receivers_of,
    register_channel,
    set_clock,
    sms_body,
    world_starting_at,
)


async def test_advertisement_is_labelled_and_the_label_counts(call: Caller, sender_key: str) -> None:
    receivers = [
        *receivers_of("010-1111-1111"),
        *receivers_of("010-2222-2222", content="나만"),
        *receivers_of("010-3333-3333"),
    ]
    receivers[2]["content"] = "(광고)이미"

    async def send(**fields: Any) -> str:
        return (await call("message/sendFriendtalk", friendtalk_body(sender_key, adFlag=True, **fields))).result

    results = [
        await send(receivers=receivers),
        await send(content="가" * 996, receivers=receivers_of("010-4444-4444")),
        await send(content="가" * 997, receivers=receivers_of("010-4444-4444")),
        await send(content="(광고)" + "가" * 996, receivers=receivers_of("010-4444-4444")),
    ]

    texts = [(await get_message(call, f"010-{n * 4}-{n * 4}"))["content"] for n in "123"]
    assert results == ["SUCCESS", "SUCCESS", "CONTENT_TOO_LONG", "SUCCESS"]
    assert texts == ["(광고)친구야", "(광고)나만", "(광고)이미"]


@pytest.mark.parametrize(
    ("clock", "send_date", "is_night"),
    [
        ("2026-11-15 20:49:59", None, False),
        ("2026-11-15 20:50", None, True),
        ("2026-11-15 12:00", "2026-11-15 20:50", True),
        ("2026-11-15 12:00", "2026-11-16 08:00", False),
    ],
)
async def test_advertisement_for_the_night_is_refused_and_other_messages_are_not(
    env: Environment, call: Caller, sender_key: str, clock: str, send_date: str | None, is_night: bool
) -> None:
    set_clock(env, clock)
    body = friendtalk_body(sender_key, sendDate=send_date)

    advertisement = await call("message/sendFriendtalk", {**body, "adFlag": True})
    other = await call("message/sendFriendtalk", {**body, "adFlag": False})

    assert advertisement.result == ("NIGHT_AD_RESTRICTED" if is_night else "SUCCESS")
    assert other.result == "SUCCESS"


@pytest.mark.parametrize(
    ("clock", "send_date", "scheduled"),
    [
        ("2026-11-15 20:50", None, "2026-11-16 08:00:00"),
        ("2026-11-15 12:00", "2026-11-20 23:00", "2026-11-21 08:00:00"),
        ("2026-11-15 20:49", None, "2026-11-15 20:49:00"),
    ],
)
@pytest.mark.settings(night_ads="move")
async def test_advertisement_for_the_night_is_moved_to_the_morning_if_configured(
    env: Environment, call: Caller, sender_key: str, clock: str, send_date: str | None, scheduled: str
) -> None:
    set_clock(env, clock)
    body = friendtalk_body(sender_key, adFlag=True, sendDate=send_date)

    await call_ok(call, "message/sendFriendtalk", body)

    assert (await get_message(call))["scheduledDate"] == scheduled


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("Friendtalk", {"adFlag": True}),
        ("SMS", {"adFlag": True, "optOutNumber": "080-123-4567"}),
        ("SMS", {"content": "(광고)봄"}),
    ],
)
async def test_advertisement_delayed_into_the_night_waits_until_morning(
    env: Environment, call: Caller, sender_key: str, kind: str, fields: dict[str, Any]
) -> None:
    set_clock(env, "2026-11-15 20:49:59")
    busy_at_first = "010-0000-0005"
    body = friendtalk_body(sender_key, busy_at_first) if kind == "Friendtalk" else sms_body(busy_at_first)

    await call_ok(call, f"message/send{kind}", body | fields)
    await env.wait(31)
    env.world.move_clock(11 * 3600 + 9 * 60)
    await env.wait(29)
    at_night = await get_message(call, busy_at_first)
    await env.wait(10)
    in_the_morning = await get_message(call, busy_at_first)

    assert describe_outcome(at_night) == "sending"
    assert describe_outcome(in_the_morning) == "completed 1000"
    assert in_the_morning["completedDate"] >= "2026-11-16 08:00:00"


async def test_advertisement_delayed_into_the_night_by_a_stop_waits_until_morning(tmp_path: Path) -> None:
    evening = await build_environment(tmp_path, world=world_starting_at("2026-11-15 20:40"))
    call = await evening.caller()
    sender_key = await register_channel(call)
    body = friendtalk_body(sender_key, adFlag=True, sendDate="2026-11-15 20:45")
    await call_ok(call, "message/sendFriendtalk", body)
    await evening.service.stop()

    world = world_starting_at("2026-11-15 21:00", seed=1)
    night = await build_environment(tmp_path, world=world)
    call = Caller(night.service, call.key)
    await night.wait(10)
    at_night = await get_message(call)
    world.move_clock(11 * 3600)
    await night.wait(31)
    in_the_morning = await get_message(call)
    await night.service.stop()

    assert describe_outcome(at_night) == "waiting"
    assert describe_outcome(in_the_morning) == "completed 1000"
    assert in_the_morning["completedDate"] >= "2026-11-16 08:00:00"
