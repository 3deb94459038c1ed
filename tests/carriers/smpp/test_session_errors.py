"""SMPP sessions: invalid PDUs and broken connections."""

import pytest

from pabal.carriers.smpp import pdu, protocol
from tests.carriers.smpp.session_fixture import SessionFixture, let_pdus_arrive, results_of
from tests.fakes.smsc.scripted import (
    SUBMIT_SM_RESP,
    frames,
)

# Invalid PDUs.


@pytest.mark.parametrize("length", [0, 15, 2**32 - 1, pdu.MAX_PDU_OCTETS + 1])
@pytest.mark.parametrize("has_good_ones_before", [False, True])
async def test_invalid_length_closes_the_session_but_earlier_pdus_count(
    length: int, has_good_ones_before: bool, fixture: SessionFixture
) -> None:
    group = await fixture.submitted(2)
    good = [(SUBMIT_SM_RESP, fixture.sequence_numbers[0], b"good\0", 0), (protocol.DELIVER_SM, 5, b"", 0)]
    before = frames(good) if has_good_ones_before else b""
    fixture.smsc_connection.transport.write(before + length.to_bytes(4, "big") + bytes(20))
    await fixture.session.closed

    assert results_of(group) == ["good" if has_good_ones_before else None, None]
    assert len(fixture.delivered) == has_good_ones_before
    assert await fixture.session.closed == f"the SMSC sent an invalid command_length {length}"
    assert not fixture.session.is_open
    (response,) = fixture.smsc.received(protocol.GENERIC_NACK)
    assert (response.pdu.sequence, response.pdu.status) == (0, protocol.RINVCMDLEN)
    await let_pdus_arrive()
    assert not fixture.smsc_connection.is_up
    assert fixture.anomalies == {"invalid command_length": 1}


async def test_invalid_length_is_detected_in_the_first_four_octets(fixture: SessionFixture) -> None:
    fixture.smsc_connection.transport.write(bytes(3))
    await let_pdus_arrive()
    assert fixture.session.is_open
    fixture.smsc_connection.transport.write(bytes(1))
    await let_pdus_arrive()

    assert fixture.session.closed.done()


@pytest.mark.parametrize("is_reset", [True, False])
async def test_connection_lost_inside_a_pdu_leaves_a_submit_without_a_result(
    is_reset: bool, fixture: SessionFixture
) -> None:
    group = await fixture.submitted(2)
    one, two = fixture.sequence_numbers
    whole = frames([(SUBMIT_SM_RESP, one, b"one\0", 0), (SUBMIT_SM_RESP, two, b"two\0", 0)])
    fixture.smsc_connection.transport.write(whole[:-3])
    await let_pdus_arrive()
    (fixture.smsc_connection.pipe.reset if is_reset else fixture.smsc_connection.transport.close)()
    await let_pdus_arrive()

    assert results_of(group) == ["one", None]
    reason = "connection broken (ConnectionResetError)" if is_reset else "closed by the SMSC"
    assert await fixture.session.closed == reason
    assert (fixture.session.is_open, fixture.session.free_window) == (False, 0)


@pytest.mark.parametrize("command", [0x3, 0x7, 0x103, 0x112, 0x7FFFFFFF, 0x0])
async def test_unknown_command_is_refused_and_the_connection_kept(command: int, fixture: SessionFixture) -> None:
    await fixture.hear(command, 77, b"what is this")

    (response,) = fixture.smsc.received(protocol.GENERIC_NACK)
    assert (response.pdu.sequence, response.pdu.status) == (77, protocol.RINVCMDID)
    assert fixture.session.is_open
    assert fixture.anomalies == {"unknown command": 1}


@pytest.mark.parametrize(
    "command",
    [
        0x80000003,
        0x80000103,
        0xFFFFFFFF,
        protocol.BIND_RECEIVER | protocol.RESPONSE,
        protocol.UNBIND | protocol.RESPONSE,
    ],
)
async def test_unknown_response_is_an_anomaly_and_not_answered(command: int, fixture: SessionFixture) -> None:
    await fixture.hear(command, 77)

    assert len(fixture.smsc.received_pdus) == 1, "only the bind"
    assert fixture.session.is_open
    assert fixture.anomalies == {"response without a request": 1}
