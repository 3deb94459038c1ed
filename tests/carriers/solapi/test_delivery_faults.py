"""Delivery by Solapi when something fails: no message is lost, duplicated or left without an outcome."""

import pytest

from tests.carriers.nhncloud.delivery_fixture import MANY, NAMED, outcomes_for
from tests.carriers.solapi.test_delivery import SENDS
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.solapi import Solapi
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, receivers_of, sms_body

pytestmark = pytest.mark.slow

FAULTS = {
    "request lost": ("lose request", {}),
    "answer lost": ("lose answer", {}),
    "no response in time": ("slow", {"seconds": 300}),
    "accepted late": ("slow to accept", {"seconds": 25}),
    "garbage": ("garbage", {}),
    "a gateway's page": ("unavailable", {}),
    "a gateway's page, but accepted": ("unavailable accepted", {}),
    "server error": ("system error", {}),
    "server error, but accepted": ("system error accepted", {}),
    "throttled": ("throttle", {}),
    "connection refused": ("refuse", {}),
}


@pytest.mark.parametrize("fault_name", FAULTS)
@pytest.mark.parametrize("kind", ["sms", pytest.param("alimTalk", marks=pytest.mark.torture)])
async def test_every_message_ends_and_none_is_sent_twice(
    kind: str, fault_name: str, env: Environment, fixture: Solapi
) -> None:
    call = await fixture.add_channel(env)
    what, more = FAULTS[fault_name]
    fault = fixture.relay.inject_fault(what, "send-many", times=2, **more)
    operation, body = SENDS[kind]
    await call_ok(call, operation, {**body, "receivers": receivers_of(*MANY[:20], **NAMED)})
    await env.wait(300)

    assert fault.done
    assert {tuple(await outcomes_for(call, number)) for number in MANY[:20]} == {(f"{kind} completed 1000",)}
    assert len(fixture.accepted) == 20


@pytest.mark.settings(behavior={"lists_lag_s": 40})
async def test_lagging_lists_cause_no_duplicates(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    fixture.relay.inject_fault("lose answer", "send-many", times=3)
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:20]))
    await env.wait(200)

    assert {tuple(await outcomes_for(call, number)) for number in MANY[:20]} == {("sms completed 1000",)}
    assert len(fixture.accepted) == 20


@pytest.mark.settings(on_doubt="hold", poll_seconds=60)
async def test_held_message_is_never_sent_again(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    fixture.relay.inject_fault("lose request", "send-many")
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(1800)

    assert fixture.accepted == []
    assert fixture.calls("send-many") == []
    assert await outcomes_for(call, MANY[0]) == ["sms sending"]


@pytest.mark.settings(behavior={"lists_lag_s": 300}, on_doubt="hold", poll_seconds=30)
async def test_held_message_that_lists_show_late_is_found(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    fixture.relay.inject_fault("lose answer", "send-many")
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(900)

    assert len(fixture.accepted) == 1
    assert await outcomes_for(call, MANY[0]) == ["sms completed 1000"]


@pytest.mark.settings(poll_seconds=5)
async def test_all_messages_of_a_lost_call_are_found_by_their_group(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    fixture.relay.inject_fault("lose answer", "send-many")
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:600]))
    await env.wait(30)

    lookups = [each for each in fixture.relay.calls if each.path.endswith("/list")]
    assert len(fixture.accepted) == 600
    assert {tuple(await outcomes_for(call, number)) for number in MANY[:3]} == {("sms completed 1000",)}
    assert len(lookups) < 100, "not one for each message"


async def test_one_unreadable_message_does_not_hold_up_the_others(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    fixture.relay.behavior.unreadable = MANY[3].replace("-", "")
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:20]))
    await env.wait(30)

    assert await outcomes_for(call, MANY[3]) == ["sms fail 9999"]
    assert len(fixture.accepted) == 19
    assert fixture.anomalies == ["error ValidationError"]


@pytest.mark.settings(routes={"sms": [RELAY, "telco"]}, failover_seconds=60)
async def test_message_in_doubt_waits_while_others_use_the_next_carrier(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    await env.wait(10)
    fixture.relay.inject_fault("lose answer", "POST")
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(0.1)
    fixture.set_reachable(False)
    await call_ok(call, "message/sendSMS", sms_body(MANY[1]))
    await env.wait(600)
    assert (len(fixture.accepted), [each.receiver for _, each in fixture.telco.submitted]) == (
        1,
        [MANY[1].replace("-", "")],
    )
    fixture.set_reachable(True)
    await env.wait(60)

    assert await outcomes_for(call, MANY[0]) == ["sms completed 1000"]
    assert len(fixture.telco.submitted) == 1


@pytest.mark.settings(behavior={"max_calls_per_second": 1}, window=2)
async def test_throttled_campaign_is_slower_but_completes(env: Environment, fixture: Solapi) -> None:
    call = await fixture.add_channel(env)
    for place in range(0, 40, 2):
        await call_ok(call, "message/sendSMS", sms_body(*MANY[place : place + 2], content=f"{place}번"))
    await env.wait(120)

    assert len(fixture.accepted) == 40
    assert any(each.status == 429 for each in fixture.relay.calls)
