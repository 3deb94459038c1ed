"""Shared parts of the tests of delivery by NHN Cloud."""

from typing import Any

from tests.fixtures.nhncloud import SENDER_KEY
from tests.fixtures.web import (
    PHONE,
    alimtalk_body,
    describe_outcome,
    friendtalk_body,
    image_body,
    list_messages,
    product_of,
    receivers_of,
    sms_body,
)

MANY = [f"010-{number // 10000:04}-{number % 10000:04}" for number in range(20_000_000, 20_001_000)]


NAMED = {"templateData": {"name": "길동"}}


SENDS: dict[str, tuple[str, dict[str, Any]]] = {
    "sms": ("message/sendSMS", sms_body()),
    "lms": ("message/sendLMS", sms_body(content="가" * 500, subject="알림")),
    "mms": ("message/sendMMS", sms_body(image=image_body())),
    "alimTalk": ("message/sendAlimtalk", alimtalk_body(SENDER_KEY, receivers=receivers_of(PHONE, **NAMED))),
    "friendTalkText": ("message/sendFriendtalk", friendtalk_body(SENDER_KEY)),
    "friendTalkImage": ("message/sendFriendtalk", friendtalk_body(SENDER_KEY, image=image_body())),
    "friendTalkWideImage": (
        "message/sendFriendtalk",
        friendtalk_body(SENDER_KEY, image=image_body(), messageType="friendTalkWideImage"),
    ),
}


async def outcomes_for(call: Any, number: str = PHONE) -> list[str]:
    """Return product and outcome of a receiver's messages, oldest first."""
    return [f"{product_of(each)} {describe_outcome(each)}" for each in reversed(await list_messages(call, number))]
