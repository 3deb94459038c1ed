"""Delivery by Solapi: sent messages and their outcomes."""

import pytest

from tests.carriers.relay.delivery_fixture import MANY, outcomes_for, send_of
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.solapi import SENDER_KEY, Solapi
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, image_body, sms_body

pytestmark = pytest.mark.slow


async def test_messages_of_several_requests_and_texts_share_a_call(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    fixture.set_reachable(False)
    await env.wait(10)
    for number in range(5):
        await call_ok(call, "message/sendSMS", sms_body(*MANY[:200], content=f"{number}번째 글"))
    fixture.set_reachable(True)
    await env.wait(20)

    assert fixture.calls("send-many") == [1000]
    assert len({each.text for each in fixture.accepted}) == 5
    assert await outcomes_for(call, MANY[7]) == ["sms completed 1000"] * 5


@pytest.mark.settings(routes={"sms": [RELAY, "telco"]})
async def test_declined_message_goes_to_the_next_carrier(env: Environment, call: Caller, fixture: Solapi) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE, content="똠방각하"))  # in CP949, not in EUC-KR
    await env.wait(10)

    assert fixture.accepted == []
    assert [each.content for _, each in fixture.telco.submitted] == ["똠방각하"]


async def test_picture_that_is_gone_is_uploaded_again(env: Environment, call: Caller, fixture: Solapi) -> None:
    fixture.relay.behavior.refusals = {MANY[0].replace("-", ""): "1024"}
    await call_ok(call, "message/sendMMS", sms_body(MANY[0], image=image_body()))
    await env.wait(5)
    fixture.relay.behavior.refusals = {}
    fixture.relay.files.clear()
    await env.wait(60)

    assert await outcomes_for(call, MANY[0]) == ["mms completed 1000"]
    assert len(fixture.calls("/files")) == 2


async def test_template_is_found_by_its_code_and_a_new_version_is_used(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    (old,) = fixture.relay.templates.values()
    await call_ok(call, *send_of("alimTalk", SENDER_KEY))
    await env.wait(10)
    new = fixture.relay.add_template(SENDER_KEY, "[T1/2] 배송", str(old.fields["content"]))
    await env.wait(700)
    await call_ok(call, *send_of("alimTalk", SENDER_KEY))
    await env.wait(10)

    used = [(each.kakao or {})["templateId"] for each in fixture.accepted]
    assert used == [old.template_id, new.template_id]


async def test_template_that_the_relay_does_not_have_is_declined(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    fixture.relay.templates.clear()
    await call_ok(call, *send_of("alimTalk", SENDER_KEY))
    await env.wait(10)

    assert await outcomes_for(call) == ["alimTalk fail 3018"]


async def test_exhausted_balance_is_told_and_messages_wait_for_it(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    fixture.relay.balance = 0
    await call_ok(call, *send_of("sms", SENDER_KEY))
    await env.wait(10)
    carrier = env.service.context.carriers[RELAY]
    assert carrier.problem == "the balance at Solapi is used up"
    assert fixture.anomalies == ["no balance"]
    fixture.relay.balance = 100
    await env.wait(60)

    assert await outcomes_for(call) == ["sms completed 1000"]
    assert carrier.problem == ""
