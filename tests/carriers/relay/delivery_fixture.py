"""Shared parts of the tests of delivery by relays."""

from typing import Any

from tests.fixtures.brand_bodies import brand_body
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
PRODUCTS = ("sms", "lms", "mms", "alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage")


def send_of(kind: str, sender_key: str, *numbers: str, **changes: Any) -> tuple[str, dict[str, Any]]:
    """Return the operation that sends this kind of message, and a body, by default to PHONE."""
    if kind == "alimTalk":
        receivers = receivers_of(*numbers, **NAMED)
        return "message/sendAlimtalk", alimtalk_body(sender_key, receivers=receivers) | changes
    if kind == "brandMessage":
        return "message/sendBrandMessage", brand_body(sender_key, *numbers) | changes
    if kind == "friendTalkText":
        return "message/sendFriendtalk", friendtalk_body(sender_key, *numbers, **changes)
    if kind.startswith("friendTalk"):
        picture = {"image": image_body(), "messageType": kind}
        return "message/sendFriendtalk", friendtalk_body(sender_key, *numbers, **picture) | changes
    more: dict[str, dict[str, Any]] = {
        "sms": {},
        "lms": {"content": "가" * 500, "subject": "알림"},
        "mms": {"image": image_body()},
    }
    return f"message/send{kind.upper()}", sms_body(*numbers, **more[kind] | changes)


async def outcomes_for(call: Any, number: str = PHONE) -> list[str]:
    """Return product and outcome of a receiver's messages, oldest first."""
    return [f"{product_of(each)} {describe_outcome(each)}" for each in reversed(await list_messages(call, number))]
