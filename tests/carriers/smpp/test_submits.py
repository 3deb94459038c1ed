"""The submit_sm of a message, by the carrier's settings."""

from typing import Any

import pytest

from pabal.carriers.base import Accepted
from pabal.carriers.smpp import pdu, protocol
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Attempt, Product
from tests.fakes.smsc.scripted import ScriptedSmsc
from tests.fixtures.smpp import LONG, PARTS, PHONE, SENDER, attempt, kinds, running_carrier
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import NOON, run_in_virtual_time


def submitted(message: Attempt, **settings: Any) -> list[pdu.ShortMessage]:
    async def scenario() -> list[pdu.ShortMessage]:
        smsc = ScriptedSmsc()
        async with running_carrier(smsc, **settings) as runner:
            assert kinds(await submit(runner.carrier, [message])) == [Accepted]
        return smsc.submits

    return run_in_virtual_time(scenario())


def test_message_is_submitted_with_default_settings() -> None:
    (submit,) = submitted(attempt())

    assert (submit.source, submit.destination) == ((0, 0, SENDER), (0, 0, PHONE))
    assert submit.user_data.decode("utf-16-be") == "안녕하세요"
    assert (submit.data_coding, submit.esm_class, submit.registered_delivery) == (8, 0, 1)
    assert (submit.service_type, submit.validity, submit.schedule, dict(submit.tlvs)) == ("", "", "", {})


def test_operator_settings_are_applied() -> None:
    (submit,) = submitted(
        attempt(content="Hello"),
        source_ton=5,
        source_npi=8,
        dest_ton=1,
        dest_npi=18,
        service_type="BULK",
        numbers="international",
        validity_minutes=3 * 24 * 60 + 4 * 60 + 5,
        receipts=False,
        encoding="cp949",
        data_coding=0x84,
    )

    assert (submit.source, submit.destination) == ((5, 8, SENDER), (1, 18, "821012345678"))
    assert (submit.service_type, submit.validity) == ("BULK", "000003040500000R")
    assert (submit.registered_delivery, submit.data_coding, submit.user_data) == (0, 0x84, b"Hello")


@pytest.mark.parametrize(
    ("left_ms", "validity_minutes", "validity"),
    [
        (5 * 60_000, 0, "000000000500000R"),
        (3 * 24 * 60 * 60_000, 0, "000003000000000R"),
        (61_500, 0, "000000000102000R"),  # rounded up to whole seconds
        (0, 0, "000000000001000R"),
        (-5, 0, "000000000001000R"),
        (5 * 60_000, 3, "000000000300000R"),  # the operator's limit is shorter
        (5 * 60_000, 10, "000000000500000R"),
    ],
)
def test_operator_may_try_until_the_deadline(left_ms: int, validity_minutes: int, validity: str) -> None:
    message = attempt()._replace(expires_at=NOON + left_ms)

    (submit,) = submitted(message, validity_minutes=validity_minutes)

    assert submit.validity == validity


def test_subject_is_the_first_line() -> None:
    (submit,) = submitted(attempt(product=Product.LMS, subject="제목"))

    assert submit.user_data.decode("utf-16-be") == "제목\n안녕하세요"


def test_only_held_messages_have_a_user_message_reference() -> None:
    (held,) = submitted(attempt(), on_doubt="hold")
    (resent,) = submitted(attempt(), on_doubt="resend")

    assert held.tlvs == {
        protocol.USER_MESSAGE_REFERENCE: identifiers.user_message_reference(attempt().message_id).to_bytes(2, "big")
    }
    assert resent.tlvs == {}


def test_long_text_goes_as_message_payload() -> None:
    (submit,) = submitted(attempt(content=LONG))

    assert (submit.short_message, submit.esm_class) == (b"", 0)
    assert submit.tlvs[protocol.MESSAGE_PAYLOAD].decode("utf-16-be") == LONG


def test_long_text_goes_in_segments_with_a_header() -> None:
    parts = submitted(attempt(content=LONG), long_messages="parts")

    assert len(parts) == PARTS
    heads = [part.short_message[:7] for part in parts]
    assert {head[:5] for head in heads} == {heads[0][:5]}
    assert [tuple(head[5:]) for head in heads] == [(PARTS, number) for number in range(1, PARTS + 1)]
    assert b"".join(part.short_message[7:] for part in parts).decode("utf-16-be") == LONG
    assert {part.esm_class for part in parts} == {protocol.HAS_UDH}
    assert {part.registered_delivery for part in parts} == {1}


@pytest.mark.parametrize("encoding", ["auto", "ucs2", "cp949"])
@pytest.mark.parametrize("long_messages", ["parts", "payload"])
@pytest.mark.parametrize("content", ["가" * 70, "가" * 71, "a" * 160, "a" * 161, "{" * 70, "{" * 81, LONG])
def test_cost_of_a_message_is_its_number_of_submits(encoding: str, long_messages: str, content: str) -> None:
    settings: dict[str, Any] = {"encoding": encoding, "long_messages": long_messages}
    message = attempt(content=content)

    async def scenario() -> int:
        async with running_carrier(ScriptedSmsc(), **settings) as runner:
            return runner.carrier.cost([message, message])

    assert run_in_virtual_time(scenario()) == 2 * len(submitted(message, **settings))
