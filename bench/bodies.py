"""Request bodies of the load."""

import random

import msgspec

from bench.fill import REQUEST_RECEIVERS, TEXT, regular_receiver
from pabal.domain.base import dates
from pabal.domain.base.dates import HOUR
from pabal.service.policy import Policy
from tests.fakes.nhncloud.channel import SENDER_KEY, TEMPLATE_CODE

SEND_SMS = "/api/message/sendSMS.v1.0"
SEND_ALIMTALK = "/api/message/sendAlimtalk.v1.0"
SEND_BRAND_MESSAGE = "/api/message/sendBrandMessage.v1.0"
LIST = "/api/message/list.v1.0"
ONE_TEXT = "주문하신 상품이 오늘 도착합니다."
SINGLES_BEGIN = "0100"
"""Prefix of the receivers of `singles`; random numbers never start like this."""


def singles(count: int) -> list[bytes]:
    """Return `count` different sendSMS bodies with one receiver each."""
    return [msgspec.json.encode(_body([_receiver(number)])) for number in single_receivers(count)]


def single_receivers(count: int) -> list[str]:
    """Return the receivers of `singles`."""
    return [f"{SINGLES_BEGIN}{1_000_000 + one}" for one in range(count)]


def sends(count: int, receivers: int, send_date: str | None = None) -> list[bytes]:
    """Return `count` sendSMS bodies with random receivers."""
    rng = random.Random(2)
    return [msgspec.json.encode(_send(rng, receivers, send_date)) for _ in range(count)]


def campaigns(count: int, send_date: str | None = None) -> list[bytes]:
    """Return `count` sendSMS bodies with a thousand receivers each."""
    return sends(count, REQUEST_RECEIVERS, send_date)


def one_text(count: int, receivers: int) -> list[bytes]:
    """Return `count` sendSMS bodies with random receivers and one text for all."""
    rng = random.Random(3)
    return [
        msgspec.json.encode(
            {
                "content": ONE_TEXT,
                "sender": "02-1234-5678",
                "receivers": [{"phoneNumber": _number(rng)} for _ in range(receivers)],
            }
        )
        for _ in range(count)
    ]


def personal_texts(count: int, receivers: int) -> list[bytes]:
    """Return `count` sendSMS bodies with random receivers and a different text for each."""
    rng = random.Random(6)
    return [
        msgspec.json.encode(
            {
                "content": "#{name}님, 주문하신 상품이 오늘 도착합니다.",
                "sender": "02-1234-5678",
                "receivers": [
                    {"phoneNumber": _number(rng), "templateData": {"name": f"손님{number}"}}
                    for number in range(receivers)
                ],
            }
        )
        for _ in range(count)
    ]


def alimtalks(count: int, receivers: int, send_date: str | None = None) -> list[bytes]:
    """Return `count` sendAlimtalk bodies with random receivers and a different text for each."""
    rng = random.Random(4)
    return [
        msgspec.json.encode(
            {
                "senderKey": SENDER_KEY,
                "templateCode": TEMPLATE_CODE,
                **({"sendDate": send_date} if send_date else {}),
                "receivers": [
                    {"phoneNumber": _number(rng), "templateData": {"name": f"손님{number}"}}
                    for number in range(receivers)
                ],
            }
        )
        for _ in range(count)
    ]


def brand_messages(count: int, receivers: int, **fields: str) -> list[bytes]:
    """Return `count` sendBrandMessage bodies with random receivers, each with a name."""
    rng = random.Random(5)
    return [
        msgspec.json.encode(
            {
                "senderKey": SENDER_KEY,
                **fields,
                "receivers": [
                    {"phoneNumber": _number(rng), "templateData": {"name": f"손님{number}"}}
                    for number in range(receivers)
                ],
            }
        )
        for _ in range(count)
    ]


def lookups(regulars: int, page_size: int = 10) -> list[bytes]:
    """Return a message list body for each regular receiver."""
    return [
        msgspec.json.encode({"receivers": regular_receiver(one), "pageSize": page_size}) for one in range(regulars)
    ]


def later(policy: Policy, now: int) -> str:
    """Return a sendDate in a few hours, so that nothing is delivered during the benchmark."""
    return dates.format_timestamp(now + 5 * HOUR, policy.zone)[:16]


def _send(rng: random.Random, receivers: int, send_date: str | None) -> dict[str, object]:
    return _body([_receiver(_number(rng)) for _ in range(receivers)], send_date)


def _number(rng: random.Random) -> str:
    return f"010-{rng.randrange(1000, 10_000)}-{rng.randrange(1000, 10_000)}"


def _body(receivers: list[dict[str, object]], send_date: str | None = None) -> dict[str, object]:
    body: dict[str, object] = {"content": TEXT, "sender": "02-1234-5678"}
    if send_date:
        body["sendDate"] = send_date
    return body | {"receivers": receivers}


def _receiver(number: str) -> dict[str, object]:
    return {"phoneNumber": number, "templateData": {"name": "홍길동"}}
