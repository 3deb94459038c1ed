"""Inbound messages of the SMPP carrier: parsed, stored before they are acknowledged, and in parts if long."""

import asyncio
from collections.abc import Sequence

import pytest

from pabal.carriers.base import InboundMessage, InboundPart, Inbox, RelayOptOut
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.pdu import Address, ShortMessage
from pabal.carriers.smpp.receipts import parse_inbound
from tests.fakes.smsc.scripted import ScriptedSmsc, receipt
from tests.fixtures.smpp import PHONE, SENDER, running_carrier, wait_until

UCS_2, CP949 = 8, 14
HEADER = bytes([5, 0, 3, 77, 2, 1])
WIDE_HEADER = bytes([6, 8, 4, 1, 77, 2, 2])


def written(octets: bytes, data_coding: int = 0, esm_class: int = 0, **tlvs: bytes) -> ShortMessage:
    by_tag = {getattr(protocol, name): value for name, value in tlvs.items()}
    to = Address(0, 1, SENDER)
    return ShortMessage(Address(1, 1, "821012345678"), to, octets, esm_class, data_coding, tlvs=by_tag)


@pytest.mark.parametrize(
    ("message", "content"),
    [
        (written(b"STOP"), "STOP"),
        (written(b"\x00 \x1b\x65"), "@ €"),
        (written("수신거부".encode("utf-16-be"), UCS_2), "수신거부"),
        (written("수신거부".encode("cp949"), CP949), "수신거부"),
        (written("수신거부".encode("cp949")), "수신거부"),
        (written(b"", UCS_2, MESSAGE_PAYLOAD="해지".encode("utf-16-be")), "해지"),
        (written(b"\xff\xff\xff", UCS_2), "\uffff\ufffd"),
        (written(b""), ""),
        (written(b"\x40" * 5, esm_class=0x40), ""),
    ],
)
def test_text_is_decoded_by_its_data_coding(message: ShortMessage, content: str) -> None:
    assert parse_inbound(message) == InboundMessage(PHONE, SENDER, content)


@pytest.mark.parametrize(
    ("address", "number"),
    [
        (Address(1, 1, "821012345678"), PHONE),
        (Address(1, 1, "+821012345678"), PHONE),
        (Address(0, 0, "01012345678"), PHONE),
        (Address(1, 1, "8215880000"), "15880000"),
        (Address(0, 0, "15880000"), "15880000"),
        (Address(1, 1, "14155550100"), "14155550100"),
        (Address(5, 0, "Shop\x07 \xe9"), "Shop"),
        (Address(0, 0, ""), ""),
    ],
)
def test_numbers_are_in_national_format(address: Address, number: str) -> None:
    parsed = parse_inbound(ShortMessage(address, address, b"hi"))

    assert (parsed.sender, parsed.receiver) == (number, number)


@pytest.mark.parametrize(
    ("message", "part"),
    [
        (written(HEADER + "가".encode("utf-16-be"), UCS_2, 0x40), InboundPart(77, 2, 1)),
        (written(WIDE_HEADER + "가".encode("utf-16-be"), UCS_2, 0x40), InboundPart(0x014D, 2, 2)),
        (written(bytes([8, 5, 1, 9, 0, 3, 7, 3, 2]) + "가".encode("utf-16-be"), UCS_2, 0x40), InboundPart(7, 3, 2)),
        (
            written(bytes([9, 5, 1, 9, 0, 3, 7, 3, 2]) + b"\x00" + "가".encode("utf-16-be"), UCS_2, 0x40),
            InboundPart(7, 3, 2),
        ),
        (
            written(
                "가".encode("utf-16-be"),
                UCS_2,
                SAR_MSG_REF_NUM=b"\x00\x09",
                SAR_TOTAL_SEGMENTS=b"\x03",
                SAR_SEGMENT_SEQNUM=b"\x02",
            ),
            InboundPart(9, 3, 2),
        ),
        (written(bytes([5, 0, 3, 77, 2, 3]) + "가".encode("utf-16-be"), UCS_2, 0x40), None),
        (written(bytes([5, 0, 3, 77, 1, 1]) + "가".encode("utf-16-be"), UCS_2, 0x40), None),
    ],
)
def test_part_of_a_long_message_is_recognized(message: ShortMessage, part: InboundPart | None) -> None:
    parsed = parse_inbound(message)

    assert parsed.part == part
    if part is not None:
        assert parsed.content == "가"


def test_surrogate_pair_that_parts_divide_is_kept_for_the_other_part() -> None:
    high, low = "😀".encode("utf-16-be")[:2], "😀".encode("utf-16-be")[2:]

    first = parse_inbound(written(HEADER + high, UCS_2, 0x40))
    second = parse_inbound(written(bytes([5, 0, 3, 77, 2, 2]) + low, UCS_2, 0x40))

    assert [first.content, second.content] == ["\ud83d", "\ude00"]


async def test_message_is_acknowledged_once_it_is_stored() -> None:
    may_store = asyncio.Event()
    stored: list[InboundMessage] = []

    async def store(messages: Sequence[InboundMessage]) -> None:
        await may_store.wait()
        stored.extend(messages)

    async def refuse(opt_outs: Sequence[RelayOptOut]) -> None:
        raise AssertionError

    smsc = ScriptedSmsc()
    async with running_carrier(smsc) as runner:
        runner.carrier.attach_inbox(Inbox(store, refuse))
        smsc.open_connection.deliver(1, written(b"STOP"))
        smsc.open_connection.deliver(2, receipt("7"))
        await asyncio.sleep(5)
        before = list(smsc.acknowledged)
        may_store.set()
        await wait_until(lambda: len(smsc.acknowledged) == 2)

        assert before == []
        assert smsc.acknowledged == [(1, protocol.OK), (2, protocol.OK)]
        assert stored == [InboundMessage(PHONE, SENDER, "STOP")]
        assert [each.reference for each in runner.received] == ["7"]
        assert runner.anomalies == {}
