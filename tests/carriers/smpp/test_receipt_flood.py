"""Floods of receipts: reading stops while storing is slower."""

import asyncio

import pytest

from pabal.carriers.base import Accepted
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.receipts import BATCH_DELAY_S, MAX_RECEIPTS_PER_BATCH, MAX_WAITING_DELIVERS
from tests.carriers.smpp.receipts_fixture import SlowReceiptStore
from tests.fakes.pipes import WIRE_BYTES
from tests.fakes.smsc.scripted import ScriptedSmsc, frames, receipt
from tests.fixtures.smpp import CarrierRunner, attempt, running_carrier, wait_until
from tests.fixtures.verdicts import submit

FLOOD = 50_000


# A flood.


def flood(count: int) -> bytes:
    body = pdu.encode_short_message(receipt("12345"))
    return frames(
        (protocol.DELIVER_SM, number, body.replace(b"12345", b"%05d" % number), 0) for number in range(count)
    )


@pytest.mark.slow
async def test_flood_of_receipts_is_read_no_faster_than_stored() -> None:
    smsc = ScriptedSmsc()
    slow = SlowReceiptStore()
    octets = flood(FLOOD)
    size = len(octets) / FLOOD
    async with running_carrier(smsc, on_receipts=slow.store_receipts) as runner:
        smsc.open_connection.transport.write(octets)
        await asyncio.sleep(300)

        unread = smsc.open_connection.transport.get_write_buffer_size()
        most_read = MAX_WAITING_DELIVERS + 2 * WIRE_BYTES / size
        assert unread >= len(octets) - most_read * size - WIRE_BYTES
        assert (smsc.acknowledged, len(smsc.connections)) == ([], 1)
        assert runner.carrier.is_connected
        slow.may_store.set()
        await wait_until(lambda: len(smsc.received_pdus) > FLOOD)

        assert smsc.acknowledged == [(number, 0) for number in range(FLOOD)]
        assert [each.reference for each in slow.stored] == [f"{number:05}" for number in range(FLOOD)]
        assert max(map(len, slow.asked)) <= MAX_RECEIPTS_PER_BATCH
        assert len(smsc.connections) == 1


async def test_full_batches_of_receipts_do_not_wait_for_more(runner: CarrierRunner) -> None:
    runner.smsc.open_connection.transport.write(flood(1))
    await wait_until(lambda: len(runner.received) == 1)
    began_at = asyncio.get_running_loop().time()
    runner.smsc.open_connection.transport.write(flood(4 * MAX_RECEIPTS_PER_BATCH))
    await wait_until(lambda: len(runner.received) == 1 + 4 * MAX_RECEIPTS_PER_BATCH)

    assert asyncio.get_running_loop().time() - began_at < 2 * BATCH_DELAY_S


async def test_submits_wait_during_a_flood_of_receipts() -> None:
    smsc = ScriptedSmsc()
    slow = SlowReceiptStore()
    async with running_carrier(smsc, on_receipts=slow.store_receipts) as runner:
        smsc.open_connection.transport.write(flood(3 * MAX_WAITING_DELIVERS))
        await asyncio.sleep(1)
        sending = asyncio.create_task(submit(runner.carrier, [attempt()]))
        await asyncio.sleep(5)
        assert smsc.submits == [], "responses cannot be read while reading is paused"
        slow.may_store.set()

        assert await sending == [Accepted("1")]


async def test_flood_on_one_connection_does_not_block_the_other() -> None:
    smsc = ScriptedSmsc()
    slow = SlowReceiptStore()
    async with running_carrier(smsc, on_receipts=slow.store_receipts, binds=2) as runner:
        await wait_until(lambda: len(smsc.received(protocol.BIND_TRANSCEIVER)) == 2)
        smsc.connections[0].transport.write(flood(3 * MAX_WAITING_DELIVERS))
        await asyncio.sleep(1)

        assert await submit(runner.carrier, [attempt()]) == [Accepted("1")]
        assert smsc.received(protocol.SUBMIT_SM)[0].connection is smsc.connections[1]


async def test_connection_lost_while_paused_is_reopened() -> None:
    smsc = ScriptedSmsc()
    slow = SlowReceiptStore()
    async with running_carrier(smsc, on_receipts=slow.store_receipts) as runner:
        smsc.open_connection.transport.write(flood(3 * MAX_WAITING_DELIVERS))
        await asyncio.sleep(1)
        smsc.open_connection.pipe.reset()
        await asyncio.sleep(100)
        slow.may_store.set()
        await wait_until(lambda: len(slow.stored) > MAX_WAITING_DELIVERS and runner.carrier.is_connected)

        assert len(smsc.connections) == 2
        assert await submit(runner.carrier, [attempt()]) == [Accepted("1")]
