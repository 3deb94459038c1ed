"""Delivery by NHN Cloud when something fails: nothing is lost, sent twice or left without an end."""

from pathlib import Path
from typing import Any

import pytest

from tests.carriers.nhncloud.delivery_fixture import MANY, NAMED, SENDS, ended
from tests.fixtures.nhncloud import (
    RELAY,
    SENDER,
    SENDER_KEY,
    UNSUBSCRIBE,
    NhnCloudFixture,
    build_relay_environment,
    run_scenario,
    with_channel,
)
from tests.fixtures.service import FakeCarrier
from tests.fixtures.virtual import Environment, VirtualWorld, open_store, run_in_virtual_time
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    call_ok,
    friendtalk_body,
    image_body,
    receivers_of,
    sms_body,
)

pytestmark = pytest.mark.slow


# What goes wrong: nothing is lost, nothing is doubled (run_scenario looks for duplicates), every message ends.

TROUBLES = {
    "lost on the way": ("lose request", {}),
    "answer lost": ("lose answer", {}),
    "no response in time": ("slow", {"seconds": 300}),
    "taken late": ("slow to accept", {"seconds": 15}),
    "answered twice": ("twice", {}),
    "garbage": ("garbage", {}),
    "a gateway's page": ("html 502", {}),
    "a gateway's page, but taken": ("html 502 accepted", {}),
    "system error": ("system error", {}),
    "system error, but taken": ("system error accepted", {}),
    "throttled": ("throttle", {}),
    "gone": ("refuse", {}),
}


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize(
    "kind",
    [
        "sms",
        "alimTalk",
        pytest.param("mms", marks=pytest.mark.torture),
        pytest.param("friendTalkImage", marks=pytest.mark.torture),
    ],
)
def test_every_message_ends_and_none_is_sent_twice(tmp_path: Path, kind: str, trouble: str) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        what, more = TROUBLES[trouble]
        path = {"alimTalk": "/raw-messages", "friendTalkImage": "/friendtalk/"}.get(kind, "/sender/")
        meddle = scenery.relay.inject_fault(what, path, times=2, **more)
        operation, body = SENDS[kind]
        await call_ok(call, operation, {**body, "receivers": receivers_of(*MANY[:20], **NAMED)})
        await env.wait(120)

        assert meddle.done
        assert {tuple(await ended(call, number)) for number in MANY[:20]} == {(f"{kind} completed 1000",)}
        assert len(scenery.taken) == 20

    run_scenario(tmp_path, scenario)


@pytest.mark.parametrize("kind", ["sms", "alimTalk"])
def test_lagging_lists_cause_no_duplicates(tmp_path: Path, kind: str) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        scenery.relay.inject_fault("lose answer", "raw-messages" if kind == "alimTalk" else "POST", times=3)
        operation, body = SENDS[kind]
        await call_ok(call, operation, {**body, "receivers": receivers_of(*MANY[:20], **NAMED)})
        await env.wait(600)

        assert {tuple(await ended(call, number)) for number in MANY[:20]} == {(f"{kind} completed 1000",)}
        assert len(scenery.taken) == 20

    run_scenario(tmp_path, scenario, manners={"lists_lag_s": 10})


def test_messages_wait_for_an_unreachable_relay(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        await env.wait(10)
        scenery.leave()
        await call_ok(call, "message/sendSMS", sms_body(*MANY[:50]))
        await env.wait(3600)
        assert scenery.taken == []
        scenery.come_back()
        await env.wait(30)

        assert {tuple(await ended(call, number)) for number in MANY[:50]} == {("sms completed 1000",)}
        assert len(scenery.taken) == 50

    run_scenario(tmp_path, scenario)


def test_message_in_doubt_waits_while_others_use_the_next_carrier(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        await env.wait(10)
        scenery.relay.inject_fault("lose answer", "POST")
        await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
        await env.wait(0.1)
        scenery.leave()
        await call_ok(call, "message/sendSMS", sms_body(MANY[1]))
        await env.wait(1800)
        assert (len(scenery.taken), [each.receiver for _, each in telco.submitted]) == (
            1,
            [MANY[1].replace("-", "")],
        )
        scenery.come_back()
        await env.wait(60)

        assert await ended(call, MANY[0]) == ["sms completed 1000"]
        assert len(telco.submitted) == 1

    telco = FakeCarrier("telco")
    run_scenario(tmp_path, scenario, others={"telco": telco}, routes={"sms": [RELAY, "telco"]}, failover_seconds=60)


def test_throttled_campaign_is_slower_but_completes(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        for place in range(0, 100, 2):
            await call_ok(call, "message/sendSMS", sms_body(*MANY[place : place + 2], content=f"{place}번"))
        await env.wait(300)

        assert {tuple(await ended(call, number)) for number in MANY[:100]} == {("sms completed 1000",)}
        assert any(each.status == 429 for each in scenery.relay.calls)

    run_scenario(tmp_path, scenario, manners={"max_calls_per_second": 5})


def personal(first: int, count: int) -> list[dict[str, Any]]:
    """Return receivers who each get a text of their own."""
    numbers = range(30_000_000 + first, 30_000_000 + first + count)
    return [
        {"phoneNumber": f"010-{one // 10000:04}-{one % 10000:04}", "templateData": {"name": f"{one}번"}}
        for one in numbers
    ]


def test_throttling_does_not_count_as_tries(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        await env.wait(10)
        scenery.relay.inject_fault("slow", "POST", times=1e9, seconds=0.05)
        await call_ok(call, "message/sendSMS", sms_body(content="#{name}님", receivers=personal(0, 300)))
        await env.wait(900)

        ends = await env.store.read(
            lambda tx: tx.fetch_all("select status, outcome, count(*) from messages group by 1, 2")
        )
        assert [tuple(each) for each in ends] == [(2, 1000, 300)]

    run_scenario(tmp_path, scenario, manners={"max_calls_per_second": 3})


def test_small_send_overtakes_a_campaign_of_small_calls(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        await env.wait(10)
        scenery.relay.inject_fault("slow", "POST", times=1e9, seconds=0.2)
        for first in range(0, 3000, 1000):
            await call_ok(call, "message/sendSMS", sms_body(content="#{name}님", receivers=personal(first, 1000)))
        await env.wait(2)
        await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
        await env.wait(2)

        assert MANY[0].replace("-", "") in {each.recipient_no for each in scenery.taken}
        assert len(scenery.taken) < 2000

    run_scenario(tmp_path, scenario)


def test_bad_receiver_fails_alone_even_if_the_call_is_refused(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        bad = {MANY[3]: -2019, MANY[11]: -6001}
        scenery.relay.behavior.refusals = {number.replace("-", ""): code for number, code in bad.items()}
        await call_ok(call, "message/sendSMS", sms_body(*MANY[:16]))
        await env.wait(60)

        ends = {number: await ended(call, number) for number in MANY[:16]}
        assert (ends.pop(MANY[3]), ends.pop(MANY[11])) == (["sms fail 3003"], ["sms fail 3006"])
        assert list(ends.values()) == [["sms completed 1000"]] * 14

    run_scenario(tmp_path, scenario, manners={"refuses_whole_calls": True})


def test_refused_campaign_is_not_sent_one_by_one(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        del scenery.relay.numbers[SENDER]
        call = await with_channel(env)
        await call_ok(call, "message/sendSMS", sms_body(*MANY))
        await env.wait(10)
        assert scenery.calls("/sender/sms") == [1000]
        scenery.relay.add_number(SENDER)
        scenery.relay.behavior.refusals = {number.replace("-", ""): -2019 for number in MANY}
        await call_ok(call, "message/sendSMS", sms_body(*MANY))
        await env.wait(1)

        assert len(scenery.calls("/sender/sms")) < 150

    run_scenario(tmp_path, scenario, manners={"refuses_whole_calls": True})


def test_unregistered_sender_number_uses_the_next_carrier(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        del scenery.relay.numbers[SENDER]
        call = await with_channel(env)
        await call_ok(call, "message/sendSMS", sms_body())
        await env.wait(10)

        assert (scenery.taken, len(telco.submitted)) == ([], 1)

    telco = FakeCarrier("telco")
    run_scenario(tmp_path, scenario, others={"telco": telco}, routes={"sms": [RELAY, "telco"]})


@pytest.mark.parametrize("signed_out", [{"sms_secret_key": "wrong"}, {"sms_app_key": "wrong"}])
def test_wrong_key_delays_messages_and_is_not_shown(tmp_path: Path, signed_out: dict[str, str]) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        right = scenery.relay.sms_app_key, scenery.relay.sms_secret_key
        scenery.relay.sms_app_key = signed_out.get("sms_app_key", right[0])
        scenery.relay.sms_secret_key = signed_out.get("sms_secret_key", right[1])
        call = await with_channel(env)
        await env.wait(10)
        await call_ok(call, "message/sendSMS", sms_body())
        await env.wait(300)
        trouble = env.context.carriers[RELAY].problem
        assert "-1000" in trouble
        assert not any(secret in trouble for secret in right)
        scenery.relay.sms_app_key, scenery.relay.sms_secret_key = right
        await env.wait(20)

        assert await ended(call) == ["sms completed 1000"]

    run_scenario(tmp_path, scenario)


def test_expired_upload_is_repeated(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        scenery.leave()
        await env.wait(10)
        await call_ok(call, "message/sendMMS", sms_body(MANY[0], image=image_body(), sendDate="2026-11-15 12:05"))
        scenery.come_back()
        scenery.relay.inject_fault("lose request", "/sender/mms")
        await env.wait(301)
        scenery.relay.attachments.clear()
        await env.wait(120)

        assert await ended(call, MANY[0]) == ["mms completed 1000"]

    run_scenario(tmp_path, scenario)


def test_advertising_texts_name_the_unsubscribe_number(tmp_path: Path) -> None:
    async def scenario(env: Environment, scenery: NhnCloudFixture) -> None:
        call = await with_channel(env)
        body = friendtalk_body(SENDER_KEY, NO_USER, adFlag=True, **FALLBACK)
        await call_ok(call, "message/sendFriendtalk", body)
        await env.wait(20)

        _, text = scenery.taken
        assert (text.content, text.is_ad) == (f"(광고)친구야\n무료거부 {UNSUBSCRIBE}", True)

    run_scenario(tmp_path, scenario)


# Restarts.


@pytest.mark.parametrize("kind", ["sms", "alimTalk"])
def test_crash_during_calls_causes_no_duplicates(tmp_path: Path, kind: str) -> None:
    async def whole() -> None:
        scenery, world = NhnCloudFixture(), VirtualWorld()
        store = open_store(tmp_path, world)
        env = await build_relay_environment(tmp_path, scenery, store, world)
        call = await with_channel(env)
        await env.wait(10)
        scenery.relay.inject_fault("slow", "POST", times=1e9, seconds=5)
        operation, body = SENDS[kind]
        for place in range(0, 40, 4):
            await call_ok(call, operation, {**body, "receivers": receivers_of(*MANY[place : place + 4], **NAMED)})
        await env.wait(1)
        await _crash(env)
        assert len(scenery.taken) > 0
        scenery.relay.faults.faults.clear()
        store = open_store(tmp_path, world)
        env = await build_relay_environment(tmp_path, scenery, store, world)
        call = await with_another_key(env)
        await env.wait(300)

        assert {tuple(await ended(call, number)) for number in MANY[:40]} == {(f"{kind} completed 1000",)}
        assert (len(scenery.taken), scenery.relay.duplicates()) == (40, {})
        await env.service.stop()

    run_in_virtual_time(whole())


def test_results_of_a_downtime_are_read_after_start(tmp_path: Path) -> None:
    async def whole() -> None:
        scenery, world = NhnCloudFixture(receipt_after_s=30), VirtualWorld()
        env = await build_relay_environment(tmp_path, scenery, open_store(tmp_path, world), world)
        call = await with_channel(env)
        await call_ok(call, "message/sendSMS", sms_body(*MANY[:30]))
        await env.wait(10)
        await env.service.stop()
        await env.wait(50 * 60)
        env = await build_relay_environment(tmp_path, scenery, open_store(tmp_path, world), world)
        call = await with_another_key(env)
        await env.wait(10)

        assert {tuple(await ended(call, number)) for number in MANY[:30]} == {("sms completed 1000",)}
        await env.service.stop()

    run_in_virtual_time(whole())


async def with_another_key(env: Environment) -> Any:
    """Return a caller of the account that is there already."""
    return await env.caller()


async def _crash(env: Environment) -> None:
    """End a service as a killed process ends: nothing in hand is finished."""
    work = env.service._work
    assert work is not None
    tasks = [*work._tasks, *(task for each in work._deliverers for task in each._submitter._tasks)]
    for task in tasks:
        task.cancel()
    await env.store.close()
