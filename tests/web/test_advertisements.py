"""Advertisements: marked as such, and never sent at night."""

from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment, build_environment, in_virtual_time
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    RunScenario,
    accepted,
    end,
    friendtalk,
    open_channel,
    record,
    records,
    to,
    world_at,
)


def test_an_advertisement_is_marked_and_the_mark_counts(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await open_channel(call)
        receivers = [*to("010-1111-1111"), *to("010-2222-2222", content="나만"), *to("010-3333-3333")]
        receivers[2]["content"] = "(광고)이미"

        async def send(**fields: Any) -> str:
            return (await call("message/sendFriendtalk", friendtalk(sender_key, adFlag=True, **fields))).result

        results = [
            await send(receivers=receivers),
            await send(content="가" * 996, receivers=to("010-4444-4444")),
            await send(content="가" * 997, receivers=to("010-4444-4444")),
            await send(content="(광고)" + "가" * 996, receivers=to("010-4444-4444")),
        ]

        texts = [(await record(call, f"010-{n * 4}-{n * 4}"))["content"] for n in "123"]
        assert results == ["SUCCESS", "SUCCESS", "CONTENT_TOO_LONG", "SUCCESS"]
        assert texts == ["(광고)친구야", "(광고)나만", "(광고)이미"]

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("clock", "send_date", "is_night"),
    [
        ("2026-11-15 20:49:59", None, False),
        ("2026-11-15 20:50", None, True),
        ("2026-11-16 07:59:59", None, True),
        ("2026-11-16 08:00", None, False),
        ("2026-11-15 12:00", "2026-11-15 20:49", False),
        ("2026-11-15 12:00", "2026-11-15 20:50", True),
        ("2026-11-15 12:00", "2026-11-16 00:00", True),
        ("2026-11-15 12:00", "2026-11-16 07:59", True),
        ("2026-11-15 12:00", "2026-11-16 08:00", False),
        ("2026-11-15 23:00", "2026-11-16 09:00", False),
    ],
)
def test_an_advertisement_is_not_taken_for_the_night_and_other_messages_are(
    run_scenario: RunScenario, clock: str, send_date: str | None, is_night: bool
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, sendDate=send_date)

        advertisement = await call("message/sendFriendtalk", {**body, "adFlag": True})
        other = await call("message/sendFriendtalk", {**body, "adFlag": False})

        assert advertisement.result == ("NIGHT_AD_RESTRICTED" if is_night else "SUCCESS")
        assert other.result == "SUCCESS"

    run_scenario(scenario, world=world_at(clock))


@pytest.mark.parametrize(
    ("clock", "send_date", "scheduled"),
    [
        ("2026-11-15 20:50", None, "2026-11-16 08:00:00"),
        ("2026-11-16 00:30", None, "2026-11-16 08:00:00"),
        ("2026-11-15 12:00", "2026-11-20 23:00", "2026-11-21 08:00:00"),
        ("2026-11-15 20:49", None, "2026-11-15 20:49:00"),
    ],
)
def test_an_advertisement_for_the_night_is_moved_to_the_morning_if_so_set(
    run_scenario: RunScenario, clock: str, send_date: str | None, scheduled: str
) -> None:
    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, adFlag=True, sendDate=send_date)

        await accepted(call, "message/sendFriendtalk", body)

        assert (await record(call))["scheduledDate"] == scheduled

    run_scenario(scenario, world=world_at(clock), night_ads="move")


def test_an_advertisement_that_comes_due_at_night_by_delay_waits_for_the_morning(run_scenario: RunScenario) -> None:
    world = world_at("2026-11-15 20:49:59")
    busy_at_first = "010-0000-0005"

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, busy_at_first, adFlag=True)

        await accepted(call, "message/sendFriendtalk", body)
        await env.wait(31)
        world.leap(11 * 3600 + 9 * 60)
        await env.wait(29)
        at_night = await record(call, busy_at_first)
        await env.wait(10)
        in_the_morning = await record(call, busy_at_first)

        assert end(at_night) == "sending"
        assert end(in_the_morning) == "completed 1000"
        assert in_the_morning["completedDate"] >= "2026-11-16 08:00:00"

    run_scenario(scenario, world=world)


def test_an_advertisement_that_a_stop_delayed_into_the_night_waits_for_the_morning(tmp_path: Path) -> None:
    async def scenario() -> None:
        evening = await build_environment(tmp_path, world=world_at("2026-11-15 20:40"))
        call = await evening.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, adFlag=True, sendDate="2026-11-15 20:45")
        await accepted(call, "message/sendFriendtalk", body)
        await evening.service.stop()

        world = world_at("2026-11-15 21:00", seed=1)
        night = await build_environment(tmp_path, world=world)
        call = Caller(night.service, call.key)
        await night.wait(10)
        at_night = await record(call)
        world.leap(11 * 3600)
        await night.wait(31)
        in_the_morning = await record(call)
        await night.service.stop()

        assert end(at_night) == "waiting"
        assert end(in_the_morning) == "completed 1000"
        assert in_the_morning["completedDate"] >= "2026-11-16 08:00:00"

    in_virtual_time(scenario())


def test_the_fallback_of_an_advertisement_waits_for_the_morning(run_scenario: RunScenario) -> None:
    world = world_at("2026-11-15 20:49:59.900")

    async def scenario(env: Environment) -> None:
        call = await env.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, NO_USER, adFlag=True, **FALLBACK)

        await accepted(call, "message/sendFriendtalk", body)
        await env.wait(31)
        world.leap(11 * 3600 + 9 * 60)
        at_night = [end(each) for each in await records(call, NO_USER)]
        await env.wait(31)

        in_the_morning = [end(each) for each in await records(call, NO_USER)]
        assert at_night == ["waiting", "fail 3019"]
        assert in_the_morning == ["completed 1000", "fail 3019"]

    run_scenario(scenario, world=world)
