"""The bodies that the load sends."""

import random

import msgspec

from bench.fill import REQUEST_RECEIVERS, TEXT, regular
from pabal.domain import when
from pabal.domain.when import HOUR
from pabal.service.policy import Policy

SEND_SMS = "/api/message/sendSMS.v1.0"
LIST = "/api/message/list.v1.0"
SINGLES_BEGIN = "0100"
"""How the receivers of `singles` begin; nobody gets such a number by chance."""


def singles(count: int) -> list[bytes]:
    """Return so many bodies of sendSMS to one receiver each, no two of them the same."""
    return [msgspec.json.encode(_body([_receiver(f"{SINGLES_BEGIN}{1_000_000 + one}")])) for one in range(count)]


def sends(count: int, receivers: int, send_date: str | None = None) -> list[bytes]:
    """Return so many bodies of sendSMS, each to random receivers."""
    chance = random.Random(2)
    return [msgspec.json.encode(_send(chance, receivers, send_date)) for _ in range(count)]


def campaigns(count: int, send_date: str | None = None) -> list[bytes]:
    """Return so many bodies of sendSMS to a thousand receivers each."""
    return sends(count, REQUEST_RECEIVERS, send_date)


def lookups(regulars: int) -> list[bytes]:
    """Return a body of the message list for each regular receiver."""
    return [msgspec.json.encode({"receivers": regular(one)}) for one in range(regulars)]


def later(policy: Policy, now: int) -> str:
    """Return a sendDate in a few hours, so that nothing is delivered meanwhile."""
    return when.stamp(now + 5 * HOUR, policy.zone)[:16]


def _send(chance: random.Random, receivers: int, send_date: str | None) -> dict[str, object]:
    numbers = (f"010-{chance.randrange(1000, 10_000)}-{chance.randrange(1000, 10_000)}" for _ in range(receivers))
    return _body([_receiver(number) for number in numbers], send_date)


def _body(receivers: list[dict[str, object]], send_date: str | None = None) -> dict[str, object]:
    body: dict[str, object] = {"content": TEXT, "sender": "02-1234-5678"}
    if send_date:
        body["sendDate"] = send_date
    return body | {"receivers": receivers}


def _receiver(number: str) -> dict[str, object]:
    return {"phoneNumber": number, "templateData": {"name": "홍길동"}}
