"""If a request has several errors, the result is the one that is checked first."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import FALLBACK, alimtalk_body, friendtalk_body, sms_body, summarize_refusal

NO_KEY = {"apikey": ""}


TEXT_TYPE = {"content-type": "text/plain"}


HUGE = {"content-length": str(2**30)}


@pytest.mark.parametrize(
    ("operation", "body", "options", "result", "field"),
    [
        ("/api/message/sendFax.v1.0", sms_body(), {"headers": NO_KEY, "method": "PUT"}, "NOT_FOUND", None),
        ("message/sendSMS", None, {"method": "PUT", "headers": HUGE}, "METHOD_NOT_ALLOWED", None),
        ("message/sendSMS", None, {"headers": {**NO_KEY, **HUGE}}, "PAYLOAD_TOO_LARGE", None),
        ("message/sendSMS", b"{", {"headers": {**NO_KEY, **TEXT_TYPE}}, "UNAUTHORIZED", None),
        ("message/sendSMS", b"{", {"headers": TEXT_TYPE}, "UNSUPPORTED_MEDIA_TYPE", None),
        ("message/sendSMS", b"{", {"headers": {"idempotency-key": ""}}, "INVALID_JSON", None),
        ("message/sendLMS", sms_body(subject="😀", content=""), {}, "UNSUPPORTED_CHARACTER", "subject"),
        ("message/sendSMS", sms_body(content="", sendDate="x"), {}, "MISSING_PARAMETER", "content"),
        ("message/sendSMS", sms_body(content="가" * 46, sendDate="x"), {}, "CONTENT_TOO_LONG", "content"),
        ("message/sendSMS", sms_body(sendDate="x", sender="119"), {}, "INVALID_DATE", "sendDate"),
        ("message/sendSMS", sms_body(sendDate=5, sender=None), {}, "INVALID_PARAMETER", "sendDate"),
        ("message/sendSMS", sms_body("119", sender="119"), {}, "INVALID_PHONE_NUMBER", "sender"),
        ("message/sendMMS", sms_body(sender="119", image={}), {}, "INVALID_PHONE_NUMBER", "sender"),
        ("message/sendMMS", sms_body("119", image={}), {}, "MISSING_PARAMETER", "image.contentType"),
        ("message/sendSMS", sms_body(*["119"] * 1001), {}, "TOO_MANY_RECEIVERS", "receivers"),
        ("message/sendAlimtalk", {"receivers": []}, {}, "MISSING_PARAMETER", "senderKey"),
        ("message/sendAlimtalk", alimtalk_body("x", sendDate="x", resend=5), {}, "INVALID_DATE", "sendDate"),
        (
            "message/sendAlimtalk",
            alimtalk_body("x", "119", resend=True),
            {},
            "MISSING_PARAMETER",
            "resendPhoneNumber",
        ),
        ("message/sendAlimtalk", alimtalk_body("x", "119"), {}, "INVALID_PHONE_NUMBER", "receivers[0].phoneNumber"),
        ("message/sendAlimtalk", alimtalk_body("x", templateCode="y"), {}, "SENDER_NOT_FOUND", "senderKey"),
        (
            "message/sendAlimtalk",
            alimtalk_body("KEY", templateCode="y", **FALLBACK),
            {},
            "TEMPLATE_NOT_FOUND",
            None,
        ),
        ("message/sendFriendtalk", friendtalk_body("x", messageType="x", image={}), {}, "INVALID_PARAMETER", None),
        ("message/sendFriendtalk", friendtalk_body("x", buttons=[{}], receivers=[]), {}, "INVALID_BUTTON", None),
        ("message/sendFriendtalk", friendtalk_body("x", "119"), {}, "INVALID_PHONE_NUMBER", None),
        ("message/sendFriendtalk", friendtalk_body("x", **FALLBACK), {}, "SENDER_NOT_FOUND", "senderKey"),
    ],
)
@pytest.mark.settings(check_sender_numbers=True)
async def test_result_is_the_error_that_is_checked_first(
    call: Caller,
    alimtalk_key: str,
    operation: str,
    body: Any,
    options: dict[str, Any],
    result: str,
    field: str | None,
) -> None:
    if isinstance(body, dict) and body.get("senderKey") == "KEY":
        body["senderKey"] = alimtalk_key

    answer = await call(operation, body, **options)

    assert answer.result == result
    if field is not None:
        assert next(iter(summarize_refusal(answer).errors)) == field


async def test_address_is_checked_before_the_rate_and_the_rate_before_the_body(env: Environment) -> None:
    call = await env.caller(allow=["10.0.0.0/8"], rate=1)

    outside = [await call("message/sendSMS", b"{") for _ in range(2)]
    inside = [await call("message/sendSMS", b"{", headers=TEXT_TYPE, peer="10.1.2.3") for _ in range(2)]

    assert [answer.result for answer in outside] == ["FORBIDDEN", "FORBIDDEN"]
    assert [answer.result for answer in inside] == ["UNSUPPORTED_MEDIA_TYPE", "RATE_LIMITED"]
