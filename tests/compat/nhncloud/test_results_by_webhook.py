"""The webhooks of one service, in NHN Cloud's shape, are read by our own carrier of another service."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from pabal.carriers.nhncloud.results import WEBHOOK_POLL_S
from tests.carriers.relay.delivery_fixture import MANY, NAMED, outcomes_for
from tests.fakes.nhncloud.channel import SENDER_KEY
from tests.fixtures.brand_bodies import brand_body
from tests.fixtures.nhncloud_calls import APP_KEY, NOT_A_USER, SECRET, SENDER, SETTINGS, NhnCaller, talk_caller
from tests.fixtures.two_services import TwoServices
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import FALLBACK, NO_USER, alimtalk_body, call_ok, friendtalk_body, receivers_of, sms_body
from tests.fixtures.webhook_calls import create, poster_of

ADDRESS = "https://pabal.example"
pytestmark = [pytest.mark.slow, pytest.mark.settings(**SETTINGS, public_url=ADDRESS)]
UNASSIGNED = "01000000001"
BEFORE_A_POLL_S = WEBHOOK_POLL_S / 2
"""The first poll is that of the start; the second one comes after this."""


def hooks_of(env: Environment) -> list[dict[str, Any]]:
    """Return the results in the posts of a service."""
    return [each for post in poster_of(env).received for each in json.loads(post.body)["hooks"]]


async def test_results_of_every_kind_come_by_webhook(tmp_path: Path) -> None:
    services = TwoServices(tmp_path)

    async with services.running(has_webhook=True) as (first, _):
        call = await first.caller()
        await call_ok(call, "message/sendSMS", sms_body(MANY[0], UNASSIGNED))
        await call_ok(call, "message/sendLMS", sms_body(MANY[1], subject="제목", content="긴 글" * 100))
        receivers = receivers_of(MANY[2], NO_USER, **NAMED)
        await call_ok(call, "message/sendAlimtalk", alimtalk_body(SENDER_KEY, receivers=receivers, **FALLBACK))
        await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, MANY[3]))
        await call_ok(call, "message/sendBrandMessage", brand_body(SENDER_KEY, MANY[4]))
        await first.wait(BEFORE_A_POLL_S)

        kinds = ["sms", "lms", "alimTalk", "friendTalkText", "brandMessage"]
        for number, kind in zip(MANY, kinds, strict=False):
            assert await outcomes_for(call, number) == [f"{kind} completed 1000"]
        assert await outcomes_for(call, UNASSIGNED) == ["sms fail 3003"]
        assert await outcomes_for(call, NO_USER) == ["alimTalk fail 3019", "sms completed 1000"]

    assert {each["productName"] for each in services.hooks.posts} == {"SMS", "KakaoTalk Bizmessage"}
    assert set(services.hooks.answers) == {200}
    assert services.hooks.differences == []


async def test_text_in_place_of_a_failed_message_is_reported_where_others_were_refused(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    caller = await talk_caller(env)
    await create(call, events=["message.result"], format="nhncloud")
    resend = {"isResend": True, "resendSendNo": SENDER, "resendContent": "대신 보내는 문자"}
    recipients = [
        {"recipientNo": number, "templateParameter": {"name": "길동"}, "resendParameter": resend}
        for number in ("12", NOT_A_USER)
    ]
    body = {"senderKey": alimtalk_key, "templateCode": "T1", "recipientList": recipients}
    sent = await caller.ok("POST", "messages", body)
    await env.wait(20)
    (talk,), (text,) = (
        [each for each in hooks_of(env) if name in each] for name in ("kakaoMessageType", "senderType")
    )
    shown = await NhnCaller(env, APP_KEY)(
        "GET", f"sender/sms/{text['requestId']}", query={"recipientSeq": text["recipientSeq"]}
    )

    assert (talk["requestId"], talk["recipientSeq"]) == (sent["message"]["requestId"], 2)
    assert (text["senderType"], text["recipientNo"], text["resultCode"]) == ("NORMAL_SMS", NOT_A_USER, "1000")
    assert shown.body["body"]["data"]["body"] == "대신 보내는 문자"


async def test_links_of_results_lead_to_their_messages(env: Environment, call: Caller, alimtalk_key: str) -> None:
    talk, caller = await talk_caller(env), NhnCaller(env, APP_KEY)
    await create(call, events=["message.result"], format="nhncloud")
    await caller.send("sms", MANY[0])
    await caller.send("mms", MANY[0], title="제목")
    await caller.send("auth/sms", MANY[0], body="인증번호 1234")
    recipients = [{"recipientNo": MANY[0], "templateParameter": {"name": "인증번호 12"}}]
    body = {"senderKey": alimtalk_key, "templateCode": "T1", "recipientList": recipients}
    for path in ("messages", "auth/messages"):
        await talk.ok("POST", path, body)
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(20)
    links = [each["_links"]["self"]["href"] for each in hooks_of(env)]
    hidden = [each for each in links if "{appKey}" in each]

    assert len(links) == 6
    assert len(hidden) == 1  # that of our own API
    for link in set(links) - set(hidden):
        path, _, query = link.removeprefix(ADDRESS).partition("?")
        answer = await Caller(env.service, None)(
            path, query=dict(parse_qsl(query)), headers={"x-secret-key": SECRET}
        )
        assert answer.body["header"]["isSuccessful"], link
