"""What is counted of NHN Cloud's calls that differ here: fields, parameters, recipients, times, fallbacks."""

import pytest

from tests.compat.shared.test_differences import counts_of
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, nhn_caller, talk_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template

pytestmark = pytest.mark.settings(**SETTINGS)


async def test_what_differs_in_texts_is_counted(env: Environment) -> None:
    caller = await nhn_caller(env)
    recipients = [
        {"recipientNo": "01012345678", "surprise": 1, "01012345678": "x", "tagExpression": None},
        {"recipientNo": "01012345679", "surprise": 2},
        {"recipientNo": "1"},
        {"recipientNo": "01012345670", "countryCode": "81"},
    ]
    sent = await caller.send("sms", *recipients, userId="shop", autoSendYn="Y", requestDate="2026-11-16 10:00:30")
    await caller.send("sms", "01012345678", statsId="s")
    (row, _) = await caller.list("sms", requestId=sent["requestId"], telecomCode="1", pageSize=10)
    given = [{"requestId": sent["requestId"], "recipientSeq": 1}]
    await caller("PUT", "reservations/cancel", {"reservationList": given, "updateUser": "shop"})

    assert row["requestDate"].startswith("2026-11-16 10:01:00")
    assert await counts_of(env) == {
        ("field", "recipientList.surprise"): 1,
        ("field", "?"): 1,
        ("field", "autoSendYn"): 1,
        ("field", "updateUser"): 1,
        ("schedule", ""): 1,
        ("refused", "-2019"): 1,
        ("refused", "-2044"): 1,
        ("refusedCall", "POST sender/sms -2704"): 1,
        ("query", "telecomCode"): 1,
    }


async def test_what_differs_in_kakaotalk_is_counted(env: Environment, call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="T2", content="#{name}님, 어서 오세요.")
    caller = await talk_caller(env)
    resend = {"isResend": True, "resendSendNo": SENDER, "resendReason": "x"}
    values = {"name": "길동"}
    recipients = [
        {"recipientNo": "01012345678", "templateParameter": values, "resendParameter": resend},
        {"recipientNo": "01012345679", "templateParameter": values, "buttons": [{"ordering": 1, "type": "WL"}]},
        {"recipientNo": "1", "templateParameter": values},
    ]
    body = {"senderKey": sender_key, "templateCode": "T2", "recipientList": recipients, "messageKind": "x"}
    await caller("POST", "messages", body)
    coupon = {
        "title": "10% 할인 쿠폰",
        "description": "새 회원만",
        "linkMo": "https://shop.example",
        "color": "red",
    }
    brand = {
        "senderKey": sender_key,
        "chatBubbleType": "TEXT",
        "content": "새 상품",
        "coupon": coupon,
        "recipientList": [{"recipientNo": "01012345678", "resendParameter": {"isResend": False}}],
    }
    await caller.ok("POST", "freestyle-messages", brand, service="brand-message/v1.0")

    assert await counts_of(env) == {
        ("field", "messageKind"): 1,
        ("field", "recipientList.resendParameter.resendReason"): 1,
        ("field", "recipientList.buttons"): 1,
        ("field", "coupon.color"): 1,
        ("fallback", ""): 1,
        ("refused", "-5000"): 1,
        ("refused", "-3033"): 1,
    }
