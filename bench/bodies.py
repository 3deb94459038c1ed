"""Request bodies of the load."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

SEND_SMS = "/api/message/sendSMS.v1.0"
SEND_ALIMTALK = "/api/message/sendAlimtalk.v1.0"
SEND_BRAND_MESSAGE = "/api/message/sendBrandMessage.v1.0"
LIST = "/api/message/list.v1.0"
CAMPAIGN_RECEIVERS = 1000
TEXT = "#{name}님, 주문하신 상품이 오늘 도착합니다."
ONE_TEXT = "주문하신 상품이 오늘 도착합니다."
SENDER = "02-1234-5678"
SINGLES_BEGIN = "01001"
"""Prefix of the receivers of `singles`; other numbers never start like this."""
SPREAD = 7_654_321
"""A factor without a common divisor with the count of numbers."""
SEOUL = ZoneInfo("Asia/Seoul")


def singles(count: int, sender: str = SENDER) -> list[bytes]:
    """Return `count` different sendSMS bodies with one receiver each."""
    return [
        msgspec.json.encode({"content": TEXT, "sender": sender, "receivers": [_receiver(number)]})
        for number in single_receivers(count)
    ]


def single_receivers(count: int) -> list[str]:
    """Return the receivers of `singles`."""
    return [f"{SINGLES_BEGIN}{one:06}" for one in range(count)]


def sends(
    count: int,
    receivers: int,
    *,
    send_date: str | None = None,
    content: str = TEXT,
    sender: str = SENDER,
    own: tuple[str, ...] = (),
) -> list[bytes]:
    """Return `count` sendSMS bodies with different receivers; each starts with those of `own`."""
    shared: dict[str, object] = {"content": content, "sender": sender}
    if send_date:
        shared["sendDate"] = send_date
    return [
        msgspec.json.encode(
            shared | {"receivers": [_receiver(each) for each in (*own, *_numbers(one, receivers - len(own)))]}
        )
        for one in range(count)
    ]


def campaigns(count: int, send_date: str | None = None, sender: str = SENDER) -> list[bytes]:
    """Return `count` sendSMS bodies with a thousand receivers each."""
    return sends(count, CAMPAIGN_RECEIVERS, send_date=send_date, sender=sender)


def talks(count: int, receivers: int, **shared: str) -> list[bytes]:
    """Return `count` bodies of Alimtalks or brand messages with different receivers, each with a name."""
    return [
        msgspec.json.encode(
            {
                **shared,
                "receivers": [
                    {"phoneNumber": number, "templateData": {"name": f"손님{at}"}}
                    for at, number in enumerate(_numbers(one, receivers))
                ],
            }
        )
        for one in range(count)
    ]


def lookups(receivers: list[str], page_size: int = 10) -> list[bytes]:
    """Return a message list body for each receiver."""
    return [msgspec.json.encode({"receivers": each, "pageSize": page_size}) for each in receivers]


def later(**ahead: int) -> str:
    """Return a sendDate so far ahead, in hours if nothing is said, at a whole minute."""
    return format_date(datetime.now(SEOUL) + timedelta(**(ahead or {"hours": 5})))


def format_date(at: datetime) -> str:
    """Return a time as a sendDate."""
    return at.astimezone(SEOUL).strftime("%Y-%m-%d %H:%M")


def _numbers(part: int, count: int) -> list[str]:
    """Return phone numbers far from each other; no other part of the same size has one of them."""
    return [f"010{10_000_000 + (part * count + at) * SPREAD % 90_000_000}" for at in range(count)]


def _receiver(number: str) -> dict[str, object]:
    return {"phoneNumber": number, "templateData": {"name": "홍길동"}}
