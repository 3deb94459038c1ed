"""Delivery by Solapi when something fails: no message is lost, duplicated or left without an outcome."""

import pytest

from tests.carriers.relay.delivery_fixture import MANY, outcomes_for
from tests.fixtures.circuit_breaker import stored_states
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.solapi import Solapi
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

pytestmark = pytest.mark.slow


@pytest.mark.settings(on_doubt="hold", poll_seconds=60)
async def test_held_message_is_never_sent_again(env: Environment, call: Caller, fixture: Solapi) -> None:
    fixture.relay.inject_fault("lose request", "send-many")
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(1800)

    assert fixture.accepted == []
    assert fixture.calls("send-many") == []
    assert await outcomes_for(call, MANY[0]) == ["sms sending"]


@pytest.mark.settings(behavior={"lists_lag_s": 300}, on_doubt="hold", poll_seconds=30)
async def test_held_message_that_lists_show_late_is_found(env: Environment, call: Caller, fixture: Solapi) -> None:
    fixture.relay.inject_fault("lose answer", "send-many")
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(900)

    assert len(fixture.accepted) == 1
    assert await outcomes_for(call, MANY[0]) == ["sms completed 1000"]


@pytest.mark.settings(poll_seconds=5)
async def test_all_messages_of_a_lost_call_are_found_by_their_group(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    fixture.relay.inject_fault("lose answer", "send-many")
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:600]))
    await env.wait(30)

    lookups = [each for each in fixture.relay.calls if each.path.endswith("/list")]
    assert len(fixture.accepted) == 600
    assert {tuple(await outcomes_for(call, number)) for number in MANY[:3]} == {("sms completed 1000",)}
    assert len(lookups) < 100, "not one for each message"


async def test_one_unreadable_message_does_not_hold_up_the_others(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    fixture.relay.behavior.call_errors = {MANY[3].replace("-", ""): (400, "ValidationError")}
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:20]))
    await env.wait(30)

    assert await outcomes_for(call, MANY[3]) == ["sms fail 9999"]
    assert len(fixture.accepted) == 19
    assert fixture.anomalies == ["error ValidationError"]


@pytest.mark.settings(behavior={"max_calls_per_second": 1}, window=2)
async def test_throttled_campaign_is_slower_but_completes(env: Environment, call: Caller, fixture: Solapi) -> None:
    for place in range(0, 40, 2):
        await call_ok(call, "message/sendSMS", sms_body(*MANY[place : place + 2], content=f"{place}번"))
    await env.wait(120)

    assert len(fixture.accepted) == 40
    assert any(each.status == 429 for each in fixture.relay.calls)


async def test_wrong_secret_is_told_as_down_and_messages_wait_for_the_right_one(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    secret, fixture.relay.api_secret = fixture.relay.api_secret, "another one"
    await env.wait(10)
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    refused = (await stored_states(env))[RELAY]
    fixture.relay.api_secret = secret
    await env.wait(60)

    assert (refused.shown_state, refused.reason) == ("down", "Solapi says SignatureDoesNotMatch")
    assert (await stored_states(env))[RELAY].shown_state == "up"
    assert await outcomes_for(call, MANY[0]) == ["sms completed 1000"]
