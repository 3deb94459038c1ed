"""SMPP sessions: invalid PDUs and broken connections."""

import pytest

from pabal.carriers.smpp import pdu, protocol
from tests.carriers.smpp.session_fixture import Talk, answers, run_scenario, turn
from tests.fakes.smsc.scripted import (
    SUBMIT_SM_RESP,
    frames,
)

# What cannot be read.


@pytest.mark.parametrize("length", [0, 15, 2**32 - 1, pdu.MAX_PDU_OCTETS + 1])
@pytest.mark.parametrize("has_good_ones_before", [False, True])
def test_invalid_length_closes_the_session_but_earlier_pdus_count(length: int, has_good_ones_before: bool) -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(2)
        await turn()
        good = [(SUBMIT_SM_RESP, talk.numbers[0], b"good\0", 0), (protocol.DELIVER_SM, 5, b"", 0)]
        before = frames(good) if has_good_ones_before else b""
        talk.line.transport.write(before + length.to_bytes(4, "big") + bytes(20))
        await talk.session.closed

        assert answers(group) == ["good" if has_good_ones_before else None, None]
        assert len(talk.delivered) == has_good_ones_before
        assert await talk.session.closed == f"the SMSC sent an invalid command_length {length}"
        assert not talk.session.is_open
        (said,) = talk.smsc.received(protocol.GENERIC_NACK)
        assert (said.pdu.sequence, said.pdu.status) == (0, protocol.RINVCMDLEN)
        await turn()
        assert not talk.line.is_up
        assert talk.anomalies == {"invalid command_length": 1}

    run_scenario(scenario)


def test_invalid_length_is_detected_in_the_first_four_octets() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.transport.write(bytes(3))
        await turn()
        assert talk.session.is_open
        talk.line.transport.write(bytes(1))
        await turn()

        assert talk.session.closed.done()

    run_scenario(scenario)


def test_reset_inside_a_pdu_leaves_submits_without_a_result() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(2)
        await turn()
        whole = frames(
            [(SUBMIT_SM_RESP, talk.numbers[0], b"one\0", 0), (SUBMIT_SM_RESP, talk.numbers[1], b"two\0", 0)]
        )
        talk.line.transport.write(whole[:-3])
        await turn()
        talk.line.pipe.reset()
        await turn()

        assert answers(group) == ["one", None]
        assert await talk.session.closed == "connection broken (ConnectionResetError)"
        assert (talk.session.is_open, talk.session.free_window) == (False, 0)

    run_scenario(scenario)


def test_eof_inside_a_pdu_leaves_submits_without_a_result() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit()
        await turn()
        talk.line.transport.write(frames([(SUBMIT_SM_RESP, talk.numbers[0], b"one\0", 0)])[:-3])
        talk.line.transport.close()
        await turn()

        assert answers(group) == [None]
        assert await talk.session.closed == "closed by the SMSC"

    run_scenario(scenario)


@pytest.mark.parametrize("command", [0x3, 0x7, 0x103, 0x112, 0x7FFFFFFF, 0x0])
def test_unknown_command_is_refused_and_the_connection_kept(command: int) -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.send(command, 77, b"what is this")
        await turn()

        (said,) = talk.smsc.received(protocol.GENERIC_NACK)
        assert (said.pdu.sequence, said.pdu.status) == (77, protocol.RINVCMDID)
        assert talk.session.is_open
        assert talk.anomalies == {"unknown command": 1}

    run_scenario(scenario)


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
def test_unknown_response_is_an_anomaly_and_not_answered(command: int) -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.send(command, 77)
        await turn()

        assert len(talk.smsc.received_pdus) == 1, "only the bind"
        assert talk.session.is_open
        assert talk.anomalies == {"response without a request": 1}

    run_scenario(scenario)
