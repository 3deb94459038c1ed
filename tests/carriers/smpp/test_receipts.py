"""Receipts of the SMPP carrier: stored before they are acknowledged."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Receipt
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Address, Pdu, ShortMessage
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Outcome
from tests.carriers.smpp.receipts_fixture import SlowReceiptStore
from tests.fakes.smsc.scripted import INTERMEDIATE, SUBMIT_SM_RESP, ScriptedSmsc, SmscConnection, receipt
from tests.fixtures.smpp import PHONE, CarrierRunner, attempt, running_carrier, wait_until
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import run_in_virtual_time

GOOD = Outcome.DELIVERED


def read(message: ShortMessage, **settings: Any) -> Receipt | None:
    """Return the receipt of a deliver_sm, if it is one; it must be acknowledged with status OK."""

    async def scenario() -> Receipt | None:
        smsc = ScriptedSmsc()
        async with running_carrier(smsc, **settings) as runner:
            smsc.open_connection.deliver(1, message)
            await wait_until(lambda: smsc.acknowledged)

            assert smsc.acknowledged == [(1, protocol.OK)]
            return runner.received[0] if runner.received else None

    return run_in_virtual_time(scenario())


# Content of receipts.


async def test_receipt_has_the_reference_of_its_message(runner: CarrierRunner) -> None:
    (verdict,) = await submit(runner.carrier, [attempt()])
    assert isinstance(verdict, Accepted)
    runner.smsc.open_connection.deliver(1, receipt("1"))
    await wait_until(lambda: runner.smsc.acknowledged)

    assert runner.received == [Receipt(str(verdict.reference), GOOD)]


async def test_ids_match_with_hex_responses_and_decimal_receipts() -> None:
    def handler(connection: SmscConnection, request: Pdu) -> None:
        connection.send(SUBMIT_SM_RESP, request.sequence, b"00FF\0")
        connection.deliver(1, receipt("0000000255"))

    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = handler
    async with running_carrier(smsc, submit_ids="hex", receipt_ids="decimal") as runner:
        verdicts = await submit(runner.carrier, [attempt()])
        await wait_until(lambda: runner.received)

        assert (verdicts, runner.received) == ([Accepted("255")], [Receipt("255", GOOD)])


def test_configured_error_code_decides_the_outcome() -> None:
    given = receipt("7", "UNDELIV", err="034")

    assert read(given, errors={"034": Outcome.PHONE_OFF}) == Receipt("7", Outcome.PHONE_OFF)


def test_unmarked_receipt_is_read_if_configured() -> None:
    assert read(receipt("7", esm_class=0), unmarked_receipts=True) == Receipt("7", GOOD)
    assert read(receipt("7", esm_class=0), unmarked_receipts=False) is None


def test_user_message_reference_finds_the_message_in_doubt() -> None:
    mark = identifiers.user_message_reference(attempt().message_id)
    name = identifiers.in_doubt_reference(mark, PHONE)

    assert read(receipt("7", reference=mark)) == Receipt("7", GOOD, name)
    assert read(receipt("", reference=mark)) == Receipt(name, GOOD, name)


@pytest.mark.parametrize(
    ("message", "noted"),
    [
        (receipt("7", esm_class=INTERMEDIATE), {}),
        (receipt("7", "ENROUTE"), {}),
        (receipt("7", "ACCEPTD"), {}),
        (receipt("7", "BUFFRED"), {}),
        (receipt("7", esm_class=0), {"deliver_sm that is not a receipt": 1}),
        (receipt(""), {"receipt without a message_id": 1}),
        (ShortMessage(Address(1, 1, PHONE), Address(0, 0, "15880000"), b"STOP"), {}),
        (
            ShortMessage(Address(1, 1, PHONE), Address(0, 0, "15880000"), b"ack", 0x08),
            {"deliver_sm that is not a receipt": 1},
        ),
    ],
)
async def test_what_is_no_final_receipt_is_acknowledged_and_not_stored(
    runner: CarrierRunner, message: ShortMessage, noted: dict[str, int]
) -> None:
    runner.smsc.open_connection.deliver(1, message)
    await wait_until(lambda: runner.smsc.acknowledged)

    assert runner.smsc.acknowledged == [(1, protocol.OK)]
    assert runner.received == []
    assert runner.anomalies == noted


async def test_invalid_deliver_sm_is_refused_and_the_connection_kept(runner: CarrierRunner) -> None:
    whole = pdu.encode_short_message(receipt("7"))
    runner.smsc.open_connection.send(protocol.DELIVER_SM, 1, b"")
    runner.smsc.open_connection.send(protocol.DELIVER_SM, 2, whole[:-5])
    runner.smsc.open_connection.send(protocol.DELIVER_SM, 3, whole + b"\x04\x27\xff\xff")
    runner.smsc.open_connection.send(protocol.DELIVER_SM, 4, whole)
    await wait_until(lambda: len(runner.smsc.acknowledged) == 4)

    assert runner.smsc.acknowledged == [
        (1, protocol.RINVMSGLEN),
        (2, protocol.RINVMSGLEN),
        (3, protocol.RINVMSGLEN),
        (4, protocol.OK),
    ]
    assert runner.received == [Receipt("7", GOOD)]
    assert runner.anomalies == {"invalid deliver_sm": 3}
    assert len(runner.smsc.connections) == 1


# Order and timing of receipts.


async def test_receipt_before_the_submit_response_is_stored() -> None:
    def handler(connection: SmscConnection, request: Pdu) -> None:
        connection.deliver(1, receipt("early"))
        asyncio.get_running_loop().call_later(
            5, lambda: connection.send(SUBMIT_SM_RESP, request.sequence, b"early\0")
        )

    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = handler
    async with running_carrier(smsc) as runner:
        sending = asyncio.create_task(submit(runner.carrier, [attempt()]))
        await wait_until(lambda: smsc.acknowledged)

        assert (runner.received, sending.done()) == ([Receipt("early", GOOD)], False)
        assert await sending == [Accepted("early")]


async def test_repeated_and_contradictory_receipts_are_stored_and_acknowledged(runner: CarrierRunner) -> None:
    await submit(runner.carrier, [attempt()])
    runner.smsc.open_connection.deliver(1, receipt("1"))
    runner.smsc.open_connection.deliver(2, receipt("1"))
    runner.smsc.open_connection.deliver(2, receipt("1", "UNDELIV"))
    runner.smsc.open_connection.deliver(3, receipt("never-seen"))
    await wait_until(lambda: len(runner.smsc.acknowledged) == 4)

    assert runner.smsc.acknowledged == [(1, 0), (2, 0), (2, 0), (3, 0)]
    assert runner.received == [
        Receipt("1", GOOD),
        Receipt("1", GOOD),
        Receipt("1", Outcome.UNDELIVERABLE),
        Receipt("never-seen", GOOD),
    ]


@pytest.mark.settings(bind="pair", binds=2)
async def test_receipts_are_acknowledged_on_the_connection_they_came_on(runner: CarrierRunner) -> None:
    await wait_until(lambda: len(runner.smsc.connections) == 4)
    receivers = runner.smsc.connections_bound_by(protocol.BIND_RECEIVER)
    for number, connection in enumerate(receivers):
        connection.deliver(10 + number, receipt(str(number)))
    await wait_until(lambda: len(runner.smsc.acknowledged) == 2)

    acknowledged = {
        (each.connection, each.pdu.sequence)
        for each in runner.smsc.received(protocol.DELIVER_SM | protocol.RESPONSE)
    }
    assert acknowledged == {(receivers[0], 10), (receivers[1], 11)}
    assert {each.reference for each in runner.received} == {"0", "1"}


async def test_receipts_that_failed_to_store_are_stored_again() -> None:
    async def fail(receipts: Sequence[Receipt]) -> None:
        raise ConnectionError("the disk is full")

    smsc = ScriptedSmsc()
    runner = CarrierRunner(smsc, on_receipts=fail)
    runner.start()
    await wait_until(lambda: runner.carrier.is_connected)
    smsc.open_connection.deliver(1, receipt("1"))
    assert runner.running is not None
    with pytest.raises(ConnectionError, match="the disk is full"):
        await runner.running
    assert smsc.acknowledged == []
    assert smsc.open_connections == []
    assert len(smsc.received(protocol.UNBIND)) == 1

    running = asyncio.create_task(runner.carrier.run(runner.store_receipts))
    await wait_until(lambda: runner.received)
    smsc.open_connection.deliver(1, receipt("1"))
    await wait_until(lambda: smsc.acknowledged)

    assert runner.received == [Receipt("1", GOOD)] * 2, "once from our memory, once as the SMSC has no answer"
    assert smsc.acknowledged == [(1, 0)]
    running.cancel()
    await asyncio.wait([running])


async def test_receipt_is_stored_even_if_its_connection_is_lost() -> None:
    smsc = ScriptedSmsc()
    slow = SlowReceiptStore()
    async with running_carrier(smsc, on_receipts=slow.store_receipts) as runner:
        smsc.open_connection.deliver(1, receipt("1"))
        await wait_until(lambda: slow.asked)
        smsc.open_connection.pipe.reset()
        await wait_until(lambda: len(smsc.connections) == 2 and runner.carrier.is_connected)
        slow.may_store.set()
        smsc.open_connection.deliver(1, receipt("1"))
        await wait_until(lambda: smsc.acknowledged)

        assert smsc.acknowledged == [(1, 0)]
        assert [each.reference for each in slow.stored] == ["1", "1"]
