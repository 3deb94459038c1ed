"""SMPP sessions: binding, submits and their responses."""

import pytest

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.batch import SubmitGroup
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.session import (
    BIND_TIMEOUT_S,
    ConnectionLost,
)
from tests.carriers.smpp.session_fixture import WINDOW, SessionFixture, let_pdus_arrive, results_of
from tests.fakes.smsc.scripted import (
    SUBMIT_SM_RESP,
    Handler,
    SmscConnection,
    accept,
    frames,
    no_response,
    receipt,
    respond_with_status,
)
from tests.fixtures.smpp import PASSWORD, now

# Binding.


async def test_session_is_open_after_the_bind_response(unbound: SessionFixture) -> None:
    assert not unbound.session.is_open
    await unbound.connect()
    assert unbound.session.free_window == 0
    await unbound.session.bound

    assert (unbound.session.is_open, unbound.session.free_window) == (True, WINDOW)
    (heard,) = unbound.smsc.received_pdus
    assert (heard.pdu.command, heard.pdu.sequence) == (protocol.BIND_TRANSCEIVER, 1)
    assert pdu.decode_bind(heard.pdu.body)[:2] == ("pabal", PASSWORD)


async def test_unanswered_bind_closes_the_connection(unbound: SessionFixture) -> None:
    unbound.smsc.handlers[protocol.BIND_TRANSCEIVER] = no_response
    await unbound.connect()

    with pytest.raises(ConnectionLost, match="the SMSC does not answer the bind"):
        await unbound.session.bound

    assert now() == BIND_TIMEOUT_S
    assert await unbound.session.closed == "the SMSC does not answer the bind"
    await let_pdus_arrive()
    assert not unbound.smsc_connection.is_up


def nack(status: int) -> Handler:
    def handler(connection: SmscConnection, request: Pdu) -> None:
        connection.send(protocol.GENERIC_NACK, request.sequence, status=status)

    return handler


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (respond_with_status(protocol.RINVPASWD), "bind refused: ESME_RINVPASWD"),
        (respond_with_status(0x4FF), "bind refused: 0x4ff"),
        (nack(protocol.RINVCMDID), "bind refused: ESME_RINVCMDID"),
        (nack(protocol.OK), "bind refused: ESME_RBINDFAIL"),
    ],
)
async def test_refused_bind_closes_the_connection_with_the_reason(
    handler: Handler, reason: str, unbound: SessionFixture
) -> None:
    unbound.smsc.handlers[protocol.BIND_TRANSCEIVER] = handler
    await unbound.connect()

    with pytest.raises(ConnectionLost) as lost:
        await unbound.session.bound

    assert (str(lost.value), now()) == (reason, 0)
    await let_pdus_arrive()
    assert not unbound.smsc_connection.is_up


async def test_connection_closed_before_the_bind_response_says_so(unbound: SessionFixture) -> None:
    unbound.smsc.handlers[protocol.BIND_TRANSCEIVER] = lambda connection, _: connection.pipe.close()
    await unbound.connect()

    with pytest.raises(ConnectionLost, match="closed by the SMSC"):
        await unbound.session.bound


async def test_second_bind_response_changes_nothing(fixture: SessionFixture) -> None:
    await fixture.hear(protocol.BIND_TRANSCEIVER | protocol.RESPONSE, 1, b"\0", protocol.RINVPASWD)

    assert fixture.session.is_open
    assert fixture.anomalies == {"response without a request": 1}


# Submits and their responses.


async def test_responses_match_submits_by_sequence_number(fixture: SessionFixture) -> None:
    group = await fixture.submitted(3)
    first, second, third = fixture.sequence_numbers
    fixture.smsc_connection.send(SUBMIT_SM_RESP, third, b"c\0")
    fixture.smsc_connection.send(SUBMIT_SM_RESP, first, b"a\0")
    await fixture.hear(SUBMIT_SM_RESP, second, status=protocol.RTHROTTLED)

    assert results_of(group) == ["a", protocol.RTHROTTLED, "c"]
    assert fixture.session.free_window == WINDOW


async def test_first_of_repeated_responses_counts(fixture: SessionFixture) -> None:
    group = await fixture.submitted(2)
    for body in (b"first\0", b"second\0", b"third\0"):
        fixture.smsc_connection.send(SUBMIT_SM_RESP, fixture.sequence_numbers[0], body)
    await fixture.hear(SUBMIT_SM_RESP, fixture.sequence_numbers[1], b"other\0")

    assert results_of(group) == ["first", "other"]
    assert fixture.anomalies == {"submit_sm_resp without a submit_sm": 2}
    assert fixture.session.free_window == WINDOW


@pytest.mark.parametrize("status", [protocol.RINVCMDID, protocol.OK])
async def test_generic_nack_refuses_its_submit(status: int, fixture: SessionFixture) -> None:
    group = await fixture.submitted()
    await fixture.hear(protocol.GENERIC_NACK, fixture.sequence_numbers[0], status=status)

    assert results_of(group) == [status or protocol.RUNKNOWNERR]


@pytest.mark.parametrize("command", [SUBMIT_SM_RESP, protocol.GENERIC_NACK])
async def test_rinvbndsts_aborts_the_session_but_other_responses_count(
    command: int, fixture: SessionFixture
) -> None:
    group = await fixture.submitted(4)
    one, two, three, _ = fixture.sequence_numbers
    said = [(command, one, b"", protocol.RINVBNDSTS), (command, two, b"", protocol.RINVBNDSTS)]
    delivery = (protocol.DELIVER_SM, 9, pdu.encode_short_message(receipt("7")), 0)
    fixture.smsc_connection.transport.write(frames([*said, (SUBMIT_SM_RESP, three, b"three\0", 0), delivery]))
    await let_pdus_arrive()

    assert results_of(group) == [protocol.RINVBNDSTS, protocol.RINVBNDSTS, "three", None]
    assert await fixture.session.closed == "the SMSC says that the session is not bound"
    assert fixture.anomalies == {"session not bound": 1}
    assert len(fixture.delivered) == 1
    assert (fixture.session.is_open, fixture.smsc_connection.is_up) == (False, False)


async def test_rinvbndsts_during_an_unbind_is_not_an_anomaly(fixture: SessionFixture) -> None:
    group = await fixture.submitted(2)
    fixture.smsc_connection.send(protocol.UNBIND, 77)
    await fixture.hear(SUBMIT_SM_RESP, fixture.sequence_numbers[1], status=protocol.RINVBNDSTS)
    await fixture.hear(SUBMIT_SM_RESP, fixture.sequence_numbers[0], b"one\0")

    assert results_of(group) == ["one", protocol.RINVBNDSTS]
    assert await fixture.session.closed == "unbound by the SMSC"
    assert fixture.anomalies == {}


async def test_generic_nack_without_a_request_is_an_anomaly(fixture: SessionFixture) -> None:
    await fixture.hear(protocol.GENERIC_NACK, 0, status=protocol.RINVCMDLEN)

    assert fixture.session.is_open
    assert fixture.anomalies == {"generic_nack without a request": 1}


async def test_pdus_may_arrive_octet_by_octet(fixture: SessionFixture) -> None:
    group = await fixture.submitted(2)
    first, second = fixture.sequence_numbers
    octets = frames(
        [
            (SUBMIT_SM_RESP, first, b"one\0", 0),
            (protocol.DELIVER_SM, 7, pdu.encode_short_message(receipt("one")), 0),
            (SUBMIT_SM_RESP, second, b"two\0", 0),
        ]
    )
    for octet in octets:
        fixture.smsc_connection.transport.write(bytes([octet]))
        await let_pdus_arrive()

    assert results_of(group) == ["one", "two"]
    assert [one.sequence for one in fixture.delivered] == [7]


async def test_sequence_numbers_wrap_to_one(fixture: SessionFixture) -> None:
    fixture.session._sequence = 0x7FFFFFFE  # sending two billion submits would take too long
    fixture.smsc.handlers[protocol.SUBMIT_SM] = accept
    group = await fixture.submitted(3)

    assert fixture.sequence_numbers == [0x7FFFFFFF, 1, 2]
    assert results_of(group) == ["1", "2", "3"]


async def test_abandoned_submits_free_the_window_and_late_responses_are_anomalies(fixture: SessionFixture) -> None:
    answered, abandoned = fixture.submit(1), fixture.submit(4)
    await let_pdus_arrive()

    assert fixture.session.abandon(abandoned) == 4
    assert (fixture.session.free_window, fixture.room_reported) == (WINDOW - 1, 1)
    for number in fixture.sequence_numbers:
        await fixture.hear(SUBMIT_SM_RESP, number, b"x\0")
    assert results_of(answered) == ["x"]
    assert abandoned.results == [None] * 4
    assert fixture.anomalies == {"submit_sm_resp without a submit_sm": 4}


async def test_empty_group_is_complete() -> None:
    assert SubmitGroup(0).completed.done()
