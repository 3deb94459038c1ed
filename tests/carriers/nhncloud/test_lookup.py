"""Many messages in doubt are looked up in few calls, however slow the answers are."""

import pytest

from tests.carriers.relay.delivery_fixture import MANY, send_of
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, describe_outcome, sms_body

TEXTS, TALKS = "/sms/v3.0/appKeys/{appKey}/sender/sms", "/alimtalk/v2.3/appkeys/{appkey}/messages"


async def ends(call: Caller, numbers: list[str]) -> set[str]:
    """Return the status of the messages of some receivers."""
    return {
        describe_outcome(each) for one in numbers for each in (await call("message/list", {"receivers": one})).items
    }


def lists(fixture: NhnCloud, path: str) -> int:
    return sum(each.method == "GET" and each.path == path for each in fixture.relay.calls)


async def test_messages_of_a_request_are_looked_up_together(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.inject_fault("lose request", "/sender/sms")
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:300]))
    await env.wait(120)

    assert await ends(call, MANY[:300]) == {"completed 1000"}
    assert 0 < lists(fixture, TEXTS) < 50, "of 300, asked for several times"


async def test_messages_of_one_call_are_found_with_the_first(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await env.wait(10)
    for path in ("/sender/sms", "/raw-messages"):
        fixture.relay.inject_fault("lose answer", f"{path}")
    for number in MANY[:100]:
        await call_ok(call, "message/sendSMS", sms_body(number))
        await call_ok(call, *send_of("alimTalk", SENDER_KEY, number))
    await env.wait(90)

    assert await ends(call, MANY[:100]) == {"completed 1000"}
    assert len(fixture.accepted) == 200
    assert 0 < lists(fixture, TEXTS) < 40
    assert 0 < lists(fixture, TALKS) < 40


@pytest.mark.slow
async def test_slow_lists_delay_only_messages_in_doubt(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    await env.wait(10)
    fixture.relay.inject_fault("lose request", "POST", times=2)
    fixture.relay.inject_fault("slow", "GET /sms/v3.0/appKeys/smsAppKey0123456/sender/sms", times=1e9, seconds=9)
    for number in MANY[:60]:
        await call_ok(call, "message/sendSMS", sms_body(number))
    await env.wait(900)

    assert await ends(call, MANY[:60]) == {"completed 1000"}
    assert len(fixture.accepted) == 60
