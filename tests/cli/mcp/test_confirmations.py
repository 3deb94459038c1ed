"""A confirmation is of one send, good once, and for some minutes."""

from typing import Any

import pytest

from pabal.cli.calling.confirmations import LIFETIME_S, MAX_CONFIRMATIONS, Confirmations, NotConfirmed
from pabal.client import ReceiverBody, SendSms
from pabal.world import RealWorld


class MovedWorld(RealWorld):
    passed_s = 0.0

    def monotonic(self) -> float:
        return self.passed_s


def sms(**changes: Any) -> SendSms:
    data = {"name": "홍길동", "order": "1001"}
    fields: dict[str, Any] = {"content": "안녕하세요", "sender": "02-1234-5678", "data": data} | changes
    receivers = [ReceiverBody(phoneNumber="010-1234-5678", templateData=fields.pop("data"))]
    return SendSms(receivers=receivers, **fields)


def test_confirmation_is_good_once() -> None:
    confirmations = Confirmations(MovedWorld())
    token = confirmations.issue("sms", sms())

    key = confirmations.take(token, "sms", sms(data={"order": "1001", "name": "홍길동"})).idempotency_key

    assert token in key
    with pytest.raises(NotConfirmed, match="unknown, used or expired"):
        confirmations.take(token, "sms", sms())


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("lms", sms()),
        ("sms", sms(content="안녕하세요.")),
        ("sms", sms(data={"name": "홍길동"})),
        ("sms", sms(sendDate="2030-12-24 18:00")),
    ],
)
def test_confirmation_of_another_send_is_refused_and_stays_good_for_its_own(kind: str, message: SendSms) -> None:
    confirmations = Confirmations(MovedWorld())
    token = confirmations.issue("sms", sms())

    with pytest.raises(NotConfirmed, match="of another send"):
        confirmations.take(token, kind, message)

    assert confirmations.take(token, "sms", sms())


def test_confirmation_expires_and_the_oldest_is_forgotten() -> None:
    world = MovedWorld()
    confirmations = Confirmations(world)
    first, second, *_ = [confirmations.issue("sms", sms()) for _ in range(MAX_CONFIRMATIONS + 1)]
    world.passed_s = LIFETIME_S

    assert confirmations.take(second, "sms", sms())
    world.passed_s += 1
    for token in (first, confirmations.issue("sms", sms())[:-1], "", second):
        with pytest.raises(NotConfirmed, match="unknown, used or expired"):
            confirmations.take(token, "sms", sms())
