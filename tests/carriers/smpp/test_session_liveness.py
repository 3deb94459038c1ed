"""SMPP sessions: enquire_link, unbind, and a peer that does not read."""

import asyncio
from itertools import pairwise

import pytest

from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.session import (
    ENQUIRE_TIMEOUT_S,
    SUBMIT_QUIET_S,
    TICK_S,
    UNBIND_TIMEOUT_S,
)
from tests.carriers.smpp.session_fixture import (
    ENQUIRE_S,
    WINDOW,
    SessionFixture,
    let_pdus_arrive,
    results_of,
)
from tests.fakes.smsc.scripted import (
    SUBMIT_SM_RESP,
    SmscConnection,
    accept,
    no_response,
)
from tests.fixtures.smpp import now

# Liveness and closing.


async def test_enquire_link_is_answered(fixture: SessionFixture) -> None:
    await fixture.hear(protocol.ENQUIRE_LINK, 4711)

    (response,) = fixture.smsc.received(protocol.ENQUIRE_LINK | protocol.RESPONSE)
    assert (response.pdu.sequence, response.pdu.status, response.pdu.body) == (4711, 0, b"")


async def test_quiet_connection_is_tested_and_kept_while_it_answers(fixture: SessionFixture) -> None:
    await asyncio.sleep(10 * ENQUIRE_S)

    tested_at = [each.at for each in fixture.smsc.received(protocol.ENQUIRE_LINK)]
    assert 9 <= len(tested_at) <= 10
    assert all(ENQUIRE_S <= later - earlier <= ENQUIRE_S + 2 * TICK_S for earlier, later in pairwise(tested_at))
    assert fixture.session.is_open


async def test_quiet_connection_that_does_not_answer_is_aborted(fixture: SessionFixture) -> None:
    fixture.smsc.handlers[protocol.ENQUIRE_LINK] = no_response

    assert await fixture.session.closed == "the SMSC does not answer enquire_link"
    assert ENQUIRE_S + ENQUIRE_TIMEOUT_S <= now() <= ENQUIRE_S + ENQUIRE_TIMEOUT_S + 2 * TICK_S
    assert len(fixture.smsc.received(protocol.ENQUIRE_LINK)) == 1


async def test_any_pdu_shows_that_a_connection_is_alive(fixture: SessionFixture) -> None:
    fixture.smsc.handlers[protocol.ENQUIRE_LINK] = no_response
    for number in range(10):
        await asyncio.sleep(ENQUIRE_S + 5)
        fixture.smsc_connection.send(protocol.ENQUIRE_LINK, number)

    assert fixture.session.is_open


async def test_connection_with_unanswered_submits_is_tested_soon_and_aborted(fixture: SessionFixture) -> None:
    fixture.smsc.handlers[protocol.ENQUIRE_LINK] = no_response
    group = fixture.submit(WINDOW)
    await fixture.session.closed

    (tested,) = fixture.smsc.received(protocol.ENQUIRE_LINK)
    assert SUBMIT_QUIET_S <= tested.at <= SUBMIT_QUIET_S + TICK_S
    assert now() <= tested.at + ENQUIRE_TIMEOUT_S + TICK_S
    assert results_of(group) == [None] * WINDOW


async def test_unbind_without_submits_in_flight_is_answered_at_once(fixture: SessionFixture) -> None:
    await fixture.hear(protocol.UNBIND, 9)

    (response,) = fixture.smsc.received(protocol.UNBIND | protocol.RESPONSE)
    assert (response.pdu.sequence, response.pdu.status) == (9, 0)
    assert await fixture.session.closed == "unbound by the SMSC"
    assert not fixture.smsc_connection.is_up


async def test_after_an_unbind_responses_count_and_nothing_is_sent(fixture: SessionFixture) -> None:
    group = await fixture.submitted(WINDOW)
    await fixture.hear(protocol.UNBIND, 9)
    assert (fixture.session.is_open, fixture.session.free_window) == (False, 0)
    assert fixture.smsc.received(protocol.UNBIND | protocol.RESPONSE) == [], (
        "many SMSCs disconnect as soon as they have the response"
    )
    await asyncio.sleep(UNBIND_TIMEOUT_S / 2)
    for number in fixture.sequence_numbers:
        await fixture.hear(SUBMIT_SM_RESP, number, b"%d\0" % number)

    assert results_of(group) == [str(number) for number in fixture.sequence_numbers]
    assert len(fixture.smsc.received(protocol.UNBIND | protocol.RESPONSE)) == 1
    assert await fixture.session.closed == "unbound by the SMSC"


async def test_after_an_unbind_unanswered_submits_have_no_result(fixture: SessionFixture) -> None:
    group = await fixture.submitted(3)
    began = now()
    fixture.smsc_connection.send(protocol.UNBIND, 9)
    fixture.smsc_connection.send(SUBMIT_SM_RESP, fixture.sequence_numbers[1], b"mine\0")
    await fixture.session.closed

    assert results_of(group) == [None, "mine", None]
    assert now() - began == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
    assert len(fixture.smsc.received(protocol.UNBIND | protocol.RESPONSE)) == 1


async def test_unbind_waits_for_missing_responses(fixture: SessionFixture) -> None:
    def answer_all_then_unbind(connection: SmscConnection, request: Pdu) -> None:
        for number in list(connection.unanswered):
            connection.send(SUBMIT_SM_RESP, number, b"late\0")
        connection.send(protocol.UNBIND | protocol.RESPONSE, request.sequence)

    fixture.smsc.handlers[protocol.UNBIND] = answer_all_then_unbind
    group = await fixture.submitted(2)
    began = now()
    await fixture.session.unbind()

    assert results_of(group) == ["late", "late"]
    assert now() - began < 0.1
    assert await fixture.session.closed == "unbound by us"
    await let_pdus_arrive()
    assert not fixture.smsc_connection.is_up


async def test_unanswered_unbind_closes_after_a_timeout(fixture: SessionFixture) -> None:
    fixture.smsc.handlers[protocol.UNBIND] = no_response
    group = fixture.submit(2)
    await fixture.session.unbind()
    await let_pdus_arrive()

    assert now() == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
    assert results_of(group) == [None, None]
    assert not fixture.smsc_connection.is_up


async def test_unbind_works_while_reading_is_paused(fixture: SessionFixture) -> None:
    fixture.session.pause()
    await fixture.session.unbind()

    assert now() < 0.1


async def test_closed_session_does_nothing_more(fixture: SessionFixture) -> None:
    fixture.smsc_connection.pipe.reset()
    await let_pdus_arrive()
    looks = fixture.world.looks
    await asyncio.sleep(100)

    assert (fixture.session.closed.done(), fixture.world.looks) == (True, looks)


async def test_unbound_session_closes_without_unbind(unbound: SessionFixture) -> None:
    unbound.smsc.handlers[protocol.BIND_TRANSCEIVER] = no_response
    await unbound.connect()
    await unbound.session.unbind()
    await let_pdus_arrive()

    assert [each.pdu.command for each in unbound.smsc.received_pdus] == [protocol.BIND_TRANSCEIVER]
    assert not unbound.smsc_connection.is_up


# One side does not read.


def flooded(fixture: SessionFixture) -> None:
    """Write more to the SMSC than the connection buffers."""
    fixture.session.acknowledge([(number, 0) for number in range(20_000)])


async def test_smsc_that_does_not_read_gets_no_submits_and_is_disconnected(fixture: SessionFixture) -> None:
    fixture.smsc_connection.transport.pause_reading()
    flooded(fixture)

    assert (fixture.session.free_window, fixture.session.is_open) == (0, True)
    assert await fixture.session.closed == "the SMSC does not read"
    assert ENQUIRE_TIMEOUT_S <= now() <= ENQUIRE_TIMEOUT_S + 2 * TICK_S


async def test_smsc_that_reads_again_gets_submits_again(fixture: SessionFixture) -> None:
    fixture.smsc_connection.transport.pause_reading()
    flooded(fixture)
    await asyncio.sleep(ENQUIRE_TIMEOUT_S / 2)
    fixture.smsc_connection.transport.resume_reading()
    reported = fixture.room_reported
    await let_pdus_arrive()

    assert (fixture.session.free_window, fixture.room_reported) == (WINDOW, reported + 1)
    await asyncio.sleep(2 * ENQUIRE_TIMEOUT_S)
    assert fixture.session.is_open


async def test_closing_has_a_timeout_if_the_smsc_does_not_read(fixture: SessionFixture) -> None:
    fixture.smsc_connection.transport.pause_reading()
    flooded(fixture)
    fixture.smsc_connection.transport.write(bytes(4))
    await fixture.session.closed

    assert now() == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)


async def test_silence_does_not_count_while_reading_is_paused(fixture: SessionFixture) -> None:
    fixture.smsc.handlers[protocol.SUBMIT_SM] = accept
    fixture.session.pause()
    assert fixture.session.free_window == 0
    group = fixture.submit()
    await asyncio.sleep(10 * ENQUIRE_S)
    assert (fixture.session.is_open, group.completed.done()) == (True, False)
    reported = fixture.room_reported
    fixture.session.resume()
    await let_pdus_arrive()

    assert results_of(group) == ["1"]
    assert fixture.session.free_window == WINDOW
    assert fixture.room_reported > reported
