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
from tests.carriers.smpp.session_fixture import ENQUIRE_S, WINDOW, Talk, answers, run_scenario, turn
from tests.fakes.smsc.scripted import (
    SUBMIT_SM_RESP,
    SmscConnection,
    accept,
    no_response,
)
from tests.fixtures.smpp import now

# Life and death.


def test_enquire_link_is_answered() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.send(protocol.ENQUIRE_LINK, 4711)
        await turn()

        (said,) = talk.smsc.received(protocol.ENQUIRE_LINK | protocol.RESPONSE)
        assert (said.pdu.sequence, said.pdu.status, said.pdu.body) == (4711, 0, b"")

    run_scenario(scenario)


def test_quiet_connection_is_tested_and_kept_while_it_answers() -> None:
    async def scenario(talk: Talk) -> None:
        await asyncio.sleep(10 * ENQUIRE_S)

        tested_at = [each.at for each in talk.smsc.received(protocol.ENQUIRE_LINK)]
        assert 9 <= len(tested_at) <= 10
        assert all(ENQUIRE_S <= later - earlier <= ENQUIRE_S + 2 * TICK_S for earlier, later in pairwise(tested_at))
        assert talk.session.is_open

    run_scenario(scenario)


def test_quiet_connection_that_does_not_answer_is_aborted() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.ENQUIRE_LINK] = no_response

        assert await talk.session.closed == "the SMSC does not answer enquire_link"
        assert ENQUIRE_S + ENQUIRE_TIMEOUT_S <= now() <= ENQUIRE_S + ENQUIRE_TIMEOUT_S + 2 * TICK_S
        assert len(talk.smsc.received(protocol.ENQUIRE_LINK)) == 1

    run_scenario(scenario)


def test_any_pdu_shows_that_a_connection_is_alive() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.ENQUIRE_LINK] = no_response
        for number in range(10):
            await asyncio.sleep(ENQUIRE_S + 5)
            talk.line.send(protocol.ENQUIRE_LINK, number)

        assert talk.session.is_open

    run_scenario(scenario)


def test_connection_with_unanswered_submits_is_tested_soon_and_aborted() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.ENQUIRE_LINK] = no_response
        group = talk.submit(WINDOW)
        await talk.session.closed

        (tested,) = talk.smsc.received(protocol.ENQUIRE_LINK)
        assert SUBMIT_QUIET_S <= tested.at <= SUBMIT_QUIET_S + TICK_S
        assert now() <= tested.at + ENQUIRE_TIMEOUT_S + TICK_S
        assert answers(group) == [None] * WINDOW

    run_scenario(scenario)


def test_unbind_without_submits_in_flight_is_answered_at_once() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.send(protocol.UNBIND, 9)
        await turn()

        (said,) = talk.smsc.received(protocol.UNBIND | protocol.RESPONSE)
        assert (said.pdu.sequence, said.pdu.status) == (9, 0)
        assert await talk.session.closed == "unbound by the SMSC"
        assert not talk.line.is_up

    run_scenario(scenario)


def test_after_an_unbind_responses_count_and_nothing_is_sent() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(WINDOW)
        await turn()
        talk.line.send(protocol.UNBIND, 9)
        await turn()
        assert (talk.session.is_open, talk.session.free_window) == (False, 0)
        assert talk.smsc.received(protocol.UNBIND | protocol.RESPONSE) == [], (
            "many hang up as soon as they have the answer"
        )
        await asyncio.sleep(UNBIND_TIMEOUT_S / 2)
        for number in talk.numbers:
            talk.line.send(SUBMIT_SM_RESP, number, b"%d\0" % number)
        await turn()

        assert answers(group) == [str(number) for number in talk.numbers]
        assert len(talk.smsc.received(protocol.UNBIND | protocol.RESPONSE)) == 1
        assert await talk.session.closed == "unbound by the SMSC"

    run_scenario(scenario)


def test_after_an_unbind_unanswered_submits_have_no_result() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(3)
        await turn()
        began = now()
        talk.line.send(protocol.UNBIND, 9)
        talk.line.send(SUBMIT_SM_RESP, talk.numbers[1], b"mine\0")
        await talk.session.closed

        assert answers(group) == [None, "mine", None]
        assert now() - began == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
        assert len(talk.smsc.received(protocol.UNBIND | protocol.RESPONSE)) == 1

    run_scenario(scenario)


def test_unbind_waits_for_missing_responses() -> None:
    async def scenario(talk: Talk) -> None:
        def answer_all_then_go(line: SmscConnection, one: Pdu) -> None:
            for number in list(line.owed):
                line.send(SUBMIT_SM_RESP, number, b"late\0")
            line.send(protocol.UNBIND | protocol.RESPONSE, one.sequence)

        talk.smsc.handlers[protocol.UNBIND] = answer_all_then_go
        group = talk.submit(2)
        await turn()
        began = now()
        await talk.session.unbind()

        assert answers(group) == ["late", "late"]
        assert now() - began < 0.1
        assert await talk.session.closed == "unbound by us"
        await turn()
        assert not talk.line.is_up

    run_scenario(scenario)


def test_unanswered_unbind_closes_after_a_timeout() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.UNBIND] = no_response
        group = talk.submit(2)
        await talk.session.unbind()
        await turn()

        assert now() == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
        assert answers(group) == [None, None]
        assert not talk.line.is_up

    run_scenario(scenario)


def test_unbind_works_while_reading_is_paused() -> None:
    async def scenario(talk: Talk) -> None:
        talk.session.pause()
        await talk.session.unbind()

        assert now() < 0.1

    run_scenario(scenario)


def test_closed_session_does_nothing_more() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.pipe.reset()
        await turn()
        looks = talk.world.looks
        await asyncio.sleep(100)

        assert (talk.session.closed.done(), talk.world.looks) == (True, looks)

    run_scenario(scenario)


def test_unbound_session_closes_without_unbind() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.BIND_TRANSCEIVER] = no_response
        await talk.begin()
        await talk.session.unbind()
        await turn()

        assert [each.pdu.command for each in talk.smsc.received_pdus] == [protocol.BIND_TRANSCEIVER]
        assert not talk.line.is_up

    run_scenario(scenario, is_bound=False)


# One side does not read.


def flooded(talk: Talk) -> None:
    """Write more to the SMSC than lies between the two."""
    talk.session.acknowledge([(number, 0) for number in range(20_000)])


def test_smsc_that_does_not_read_gets_no_submits_and_is_disconnected() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.transport.pause_reading()
        flooded(talk)

        assert (talk.session.free_window, talk.session.is_open) == (0, True)
        assert await talk.session.closed == "the SMSC does not read"
        assert ENQUIRE_TIMEOUT_S <= now() <= ENQUIRE_TIMEOUT_S + 2 * TICK_S

    run_scenario(scenario)


def test_smsc_that_reads_again_gets_submits_again() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.transport.pause_reading()
        flooded(talk)
        await asyncio.sleep(ENQUIRE_TIMEOUT_S / 2)
        talk.line.transport.resume_reading()
        told = talk.room_told
        await turn()

        assert (talk.session.free_window, talk.room_told) == (WINDOW, told + 1)
        await asyncio.sleep(2 * ENQUIRE_TIMEOUT_S)
        assert talk.session.is_open

    run_scenario(scenario)


def test_closing_has_a_timeout_if_the_smsc_does_not_read() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.transport.pause_reading()
        flooded(talk)
        talk.line.transport.write(bytes(4))
        await talk.session.closed

        assert now() == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)

    run_scenario(scenario)


def test_silence_does_not_count_while_reading_is_paused() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.SUBMIT_SM] = accept
        talk.session.pause()
        assert talk.session.free_window == 0
        group = talk.submit()
        await asyncio.sleep(10 * ENQUIRE_S)
        assert (talk.session.is_open, group.completed.done()) == (True, False)
        told = talk.room_told
        talk.session.resume()
        await turn()

        assert answers(group) == ["1"]
        assert talk.session.free_window == WINDOW
        assert talk.room_told > told

    run_scenario(scenario)
