"""Quotas of NHN Cloud: recognised, told to the operator, and waited out."""

import re
from typing import Any

import pytest

from pabal.store.queue import carriers
from tests.carriers.relay.delivery_fixture import MANY, NAMED, outcomes_for
from tests.fixtures.brand_bodies import brand_body
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.virtual import NOON, Caller, Environment, VirtualWorld
from tests.fixtures.web import alimtalk_body, call_ok, receivers_of, sms_body

pytestmark = pytest.mark.slow

HOUR_S = 3600
GAUGE = "pabal_carrier_quotas_exhausted"


def alimtalks(*numbers: str, **more: Any) -> dict[str, Any]:
    return alimtalk_body(SENDER_KEY, receivers=receivers_of(*numbers, **NAMED), **more)


async def counts(env: Environment) -> dict[tuple[int, int], int]:
    """Return how many messages have each status and outcome."""
    rows = await env.store.read(
        lambda tx: tx.fetch_all("select status, coalesce(outcome, 0), count(*) from messages group by 1, 2")
    )
    return {(status, outcome): count for status, outcome, count in rows}


@pytest.mark.settings(world=VirtualWorld(starts_at=NOON + 11 * HOUR_S * 1000), poll_seconds=60)
async def test_daily_quota_of_a_profile_is_waited_out(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    """Alimtalk ko/common-console-guide.md, "토큰 등록": a new profile sends 1,000 messages a day."""
    fixture.relay.clock = env.world.now
    fixture.relay.profiles[SENDER_KEY].daily_limit = 30
    await env.wait(70)
    await call_ok(call, "message/sendAlimtalk", alimtalks(*MANY[:50]))
    await call_ok(call, "message/sendSMS", sms_body(MANY[60]))
    await env.wait(30)
    carrier = env.context.carriers[RELAY]
    assert len(fixture.accepted) == 31
    assert re.fullmatch(r"@shop has used up its daily quota of 30 \(alimtalk\); .* midnight, .*", carrier.problem)
    assert carrier.is_connected
    assert env.metric_value(GAUGE, carrier=RELAY, quota="messages_per_day") == 1
    await env.jump(HOUR_S / 2)
    assert len(fixture.accepted) == 31
    await env.jump(HOUR_S / 2)
    await env.wait(HOUR_S / 4)

    assert {tuple(await outcomes_for(call, number)) for number in MANY[:50]} == {("alimTalk completed 1000",)}
    assert carrier.problem == ""
    assert env.metric_value(GAUGE, carrier=RELAY, quota="messages_per_day") == 0


@pytest.mark.torture
@pytest.mark.settings(behavior={"refuses_excess": True}, poll_seconds=60)
async def test_daily_quota_that_is_refused_with_a_code_is_waited_out(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.profiles[SENDER_KEY].daily_limit = 30
    await env.wait(70)
    await call_ok(call, "message/sendBrandMessage", brand_body(SENDER_KEY, *MANY[:50]))
    await env.wait(30)
    carrier = env.context.carriers[RELAY]
    assert len(fixture.accepted) == 30
    assert carrier.problem.startswith(f"the sender profile {SENDER_KEY[:8]}… has used up its daily quota (-1017")
    assert env.metric_value(GAUGE, carrier=RELAY, quota="messages_per_day") == 1
    calls = len(fixture.calls("/freestyle-messages"))
    await env.wait(HOUR_S)
    assert len(fixture.calls("/freestyle-messages")) <= calls + HOUR_S / 600
    fixture.relay.profiles[SENDER_KEY].daily_limit = 0
    await env.wait(1300)

    assert await counts(env) == {(2, 1000): 50}
    assert carrier.problem == ""


async def test_raised_daily_quota_is_used_soon(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    fixture.relay.profiles[SENDER_KEY].daily_limit = 10
    await env.wait(70)
    await call_ok(call, "message/sendAlimtalk", alimtalks(*MANY[:20]))
    await env.wait(60)
    fixture.relay.profiles[SENDER_KEY].daily_limit = 0
    await env.wait(800)

    assert await counts(env) == {(2, 1000): 20}


@pytest.mark.settings(behavior={"texts_per_month": 30}, poll_seconds=30)
async def test_monthly_quota_of_texts_is_told_and_probed_with_one_message(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    """SMS ko/sending-policy.md, "월 발송량 제한 안내": 5,000 a month at first; -2052."""

    await env.wait(10)
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:50]))
    await call_ok(call, "message/sendAlimtalk", alimtalks(MANY[60]))
    await env.wait(30)
    carrier = env.context.carriers[RELAY]
    assert carrier.problem.startswith("the organisation has used up its monthly quota of texts (-2052)")
    assert env.metric_value(GAUGE, carrier=RELAY, quota="texts_per_month") == 1
    (shown,) = await env.store.read(carriers.list_states)  # by `doctor` and by the console
    assert (shown.state, shown.reason) == ("up", carrier.problem)
    assert await outcomes_for(call, MANY[60]) == ["alimTalk completed 1000"]
    fixture.relay.calls.clear()
    await env.wait(HOUR_S)
    assert len(fixture.accepted) == 31
    assert {each for each in fixture.calls("/sender/sms") if each} == {1}
    assert len(fixture.calls("/sender/sms")) <= 7
    fixture.relay.behavior.texts_per_month = None
    await env.wait(1500)

    assert carrier.problem == ""
    assert await counts(env) == {(2, 1000): 51}
    assert env.metric_value(GAUGE, carrier=RELAY, quota="texts_per_month") == 0


@pytest.mark.settings(behavior={"texts_per_month": 30}, routes={"sms": [RELAY, "telco"]})
async def test_messages_beyond_a_quota_use_the_next_carrier_at_once(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await env.wait(10)
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:50]))
    await env.wait(10)

    assert (len(fixture.accepted), len(fixture.telco.submitted)) == (30, 20)
    assert env.metric_value("pabal_carrier_circuit_open", carrier=RELAY) == 0


async def test_quota_of_calls_is_waited_out(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    """API-Gateway ko/error-code.md, "요청 할당량 제한"."""
    await env.wait(10)
    fault = fixture.relay.inject_fault("call quota", "POST", times=1e9)
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:50]))
    await env.wait(30)
    carrier = env.context.carriers[RELAY]
    assert carrier.problem == "the usage quota of calls is exceeded (HTTP 429)"
    assert env.metric_value(GAUGE, carrier=RELAY, quota="calls") == 1
    assert fault.done < 5
    fault.times = 0
    await env.wait(200)

    assert carrier.problem == ""
    assert await counts(env) == {(2, 1000): 50}


@pytest.mark.settings(behavior={"max_calls_per_second": 5})
async def test_too_many_calls_a_second_are_told(env: Environment, call: Caller) -> None:
    await env.wait(10)
    for number in MANY[:20]:
        await call_ok(call, "message/sendSMS", sms_body(number, content=f"{number}님"))
    await env.wait(5)
    carrier = env.context.carriers[RELAY]
    assert carrier.problem == "too many calls a second (HTTP 429); calls go more slowly"
    assert env.metric_value(GAUGE, carrier=RELAY, quota="calls_per_second") == 1
    await env.wait(200)

    assert await counts(env) == {(2, 1000): 20}
    assert carrier.problem == ""
