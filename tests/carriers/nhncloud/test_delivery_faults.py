"""Delivery by NHN Cloud when something fails: no message is lost, duplicated or left without an outcome."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.carriers.relay.delivery_fixture import MANY, outcomes_for, send_of
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import OPT_OUT, SENDER
from tests.fixtures.virtual import Caller, Environment, VirtualWorld
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    call_ok,
    friendtalk_body,
    image_body,
    sms_body,
)

pytestmark = pytest.mark.slow


# Faults: no message is lost or duplicated (the environment checks for duplicates), and every message ends.


def personal(first: int, count: int) -> list[dict[str, Any]]:
    """Return receivers who each get a text of their own."""
    numbers = range(30_000_000 + first, 30_000_000 + first + count)
    return [
        {"phoneNumber": f"010-{one // 10000:04}-{one % 10000:04}", "templateData": {"name": f"{one}번"}}
        for one in numbers
    ]


@pytest.mark.settings(behavior={"max_calls_per_second": 3})
async def test_throttling_does_not_count_as_tries(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    await env.wait(10)
    fixture.relay.inject_fault("slow", "POST", times=1e9, seconds=0.05)
    await call_ok(call, "message/sendSMS", sms_body(content="#{name}님", receivers=personal(0, 300)))
    await env.wait(900)

    ends = await env.store.read(
        lambda tx: tx.fetch_all("select status, outcome, count(*) from messages group by 1, 2")
    )
    assert [tuple(each) for each in ends] == [(2, 1000, 300)]


async def test_small_send_overtakes_a_campaign_of_small_calls(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await env.wait(10)
    fixture.relay.inject_fault("slow", "POST", times=1e9, seconds=0.2)
    for first in range(0, 3000, 1000):
        await call_ok(call, "message/sendSMS", sms_body(content="#{name}님", receivers=personal(first, 1000)))
    await env.wait(2)
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(2)

    assert MANY[0].replace("-", "") in {each.recipient_no for each in fixture.accepted}
    assert len(fixture.accepted) < 2000


@pytest.mark.settings(behavior={"refuses_whole_calls": True})
async def test_refused_campaign_is_not_sent_one_by_one(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    del fixture.relay.numbers[SENDER]
    await call_ok(call, "message/sendSMS", sms_body(*MANY))
    await env.wait(10)
    assert fixture.calls("/sender/sms") == [1000]
    fixture.relay.add_number(SENDER)
    fixture.relay.behavior.refusals = {number.replace("-", ""): -2019 for number in MANY}
    await call_ok(call, "message/sendSMS", sms_body(*MANY))
    await env.wait(1)

    assert len(fixture.calls("/sender/sms")) < 150


async def test_expired_upload_is_repeated(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    fixture.set_reachable(False)
    await env.wait(10)
    await call_ok(call, "message/sendMMS", sms_body(MANY[0], image=image_body(), sendDate="2026-11-15 12:05"))
    fixture.set_reachable(True)
    fixture.relay.inject_fault("lose request", "/sender/mms")
    await env.wait(301)
    fixture.relay.attachments.clear()
    await env.wait(120)

    assert await outcomes_for(call, MANY[0]) == ["mms completed 1000"]


async def test_advertising_texts_name_the_number_for_opting_out(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    body = friendtalk_body(SENDER_KEY, NO_USER, adFlag=True, **FALLBACK)
    await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(20)

    await call_ok(call, "message/sendLMS", sms_body(MANY[0], adFlag=True))
    await call_ok(call, "message/sendSMS", sms_body(MANY[1], content="[광고]새 소식"))
    await env.wait(20)

    sent = {(each.content, each.is_ad) for each in fixture.accepted[1:]}
    line = f"무료거부 {OPT_OUT}"
    assert sent == {
        (f"(광고)친구야\n{line}", True),
        (f"(광고)안녕하세요\n{line}", True),
        ("[광고]새 소식", False),
    }
    assert await outcomes_for(call, MANY[0]) == ["lms completed 1000"]


# Restarts.


@pytest.mark.parametrize("kind", ["sms", "alimTalk"])
async def test_crash_during_calls_causes_no_duplicates(tmp_path: Path, fixture: NhnCloud, kind: str) -> None:
    world = VirtualWorld()
    env = await fixture.start(tmp_path, world)
    call = await fixture.add_channel(env)
    await env.wait(10)
    fixture.relay.inject_fault("slow", "POST", times=1e9, seconds=5)
    for place in range(0, 40, 4):
        await call_ok(call, *send_of(kind, SENDER_KEY, *MANY[place : place + 4]))
    await env.wait(1)
    await _crash(env)
    assert len(fixture.accepted) > 0
    fixture.relay.faults.faults.clear()
    async with fixture.running(tmp_path, world=world) as env:
        call = await env.caller()
        await env.wait(300)

        assert {tuple(await outcomes_for(call, number)) for number in MANY[:40]} == {(f"{kind} completed 1000",)}
        assert len(fixture.accepted) == 40


@pytest.mark.settings(behavior={"receipt_after_s": 30})
async def test_results_of_a_downtime_are_read_after_start(tmp_path: Path, fixture: NhnCloud) -> None:
    world = VirtualWorld()
    async with fixture.running(tmp_path, world=world) as env:
        call = await fixture.add_channel(env)
        await call_ok(call, "message/sendSMS", sms_body(*MANY[:30]))
        await env.wait(10)
    await asyncio.sleep(50 * 60)
    async with fixture.running(tmp_path, world=world) as env:
        call = await env.caller()
        await env.wait(10)

        assert {tuple(await outcomes_for(call, number)) for number in MANY[:30]} == {("sms completed 1000",)}


async def _crash(env: Environment) -> None:
    """Stop a service like a killed process: messages in flight are not finished."""
    work = env.service._work
    assert work is not None
    tasks = [*work._tasks, *(task for each in work._deliverers for task in each._submitter._tasks)]
    for task in tasks:
        task.cancel()
    await env.store.close()
