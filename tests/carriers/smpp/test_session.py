"""One connection to an SMSC that does all it should not: what is owed, and whether the connection is kept."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.session import (
    BIND_TIMEOUT_S,
    ENQUIRE_TIMEOUT_S,
    SUBMIT_QUIET_S,
    TICK_S,
    UNBIND_TIMEOUT_S,
    BindRequest,
    ConnectionLost,
    SmppSession,
)
from pabal.carriers.smpp.submit_group import SubmitGroup, SubmitResult
from tests.fakes.pipes import connect
from tests.fakes.smsc.scripted import (
    SUBMIT_ANSWER,
    Handler,
    ScriptedSmsc,
    SmscConnection,
    frames,
    receipt,
    refuse,
    silent,
    take,
)
from tests.fixtures.smpp import PASSWORD, now
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time

WINDOW = 10
ENQUIRE_S = 30.0
BODY = b"a body of a submit"


class WatchedWorld(VirtualWorld):
    """A world that knows how often it was asked for the time."""

    looks = 0

    def monotonic(self) -> float:
        self.looks += 1
        return super().monotonic()


class Talk:
    """A session and its far end."""

    def __init__(self, command: int = protocol.BIND_TRANSCEIVER) -> None:
        self.world = WatchedWorld()
        self.smsc = ScriptedSmsc()
        self.smsc.acts[protocol.SUBMIT_SM] = silent
        self.noted: Counter[str] = Counter()
        self.delivered: list[Pdu] = []
        self.room_told = 0
        self.faults: list[object] = []
        bind = BindRequest(command, pdu.encode_bind("pabal", PASSWORD))
        self.session = SmppSession(bind, WINDOW, ENQUIRE_S, self.world, self._note, self._deliver, self._tell_room)

    async def begin(self) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.faults.append(context))
        await connect(lambda: self.session, self.smsc.line())

    @property
    def line(self) -> SmscConnection:
        return self.smsc.lines[0]

    def submit(self, count: int = 1) -> SubmitGroup:
        lot = SubmitGroup(count)
        self.session.submit([BODY] * count, lot, 0)
        return lot

    @property
    def numbers(self) -> list[int]:
        """The sequence numbers of the submits that the far end has."""
        return [each.pdu.sequence for each in self.smsc.told(protocol.SUBMIT_SM)]

    def _note(self, what: str) -> None:
        self.noted[what] += 1

    def _deliver(self, session: SmppSession, pdus: list[Pdu]) -> None:
        assert session is self.session
        self.delivered += pdus

    def _tell_room(self) -> None:
        self.room_told += 1


def run_scenario(scenario: Callable[[Talk], Awaitable[None]], *, is_bound: bool = True) -> Talk:
    """Run a scenario with a bound session, or with one whose bind the scenario sees to."""

    async def whole() -> Talk:
        talk = Talk()
        if is_bound:
            await talk.begin()
            await talk.session.bound
        await scenario(talk)
        assert talk.faults == []
        return talk

    return run_in_virtual_time(whole())


async def turn() -> None:
    """Let everything that was said arrive, and be answered."""
    await asyncio.sleep(0.001)


def answers(lot: SubmitGroup) -> list[SubmitResult]:
    assert lot.completed.done()
    return lot.results


# Binding.


def test_session_is_open_after_the_bind_response() -> None:
    async def scenario(talk: Talk) -> None:
        assert not talk.session.is_open
        await talk.begin()
        assert talk.session.free_window == 0
        await talk.session.bound

        assert (talk.session.is_open, talk.session.free_window) == (True, WINDOW)
        (heard,) = talk.smsc.heard
        assert (heard.pdu.command, heard.pdu.sequence) == (protocol.BIND_TRANSCEIVER, 1)
        assert pdu.decode_bind(heard.pdu.body)[:2] == ("pabal", PASSWORD)

    run_scenario(scenario, is_bound=False)


def test_unanswered_bind_closes_the_connection() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.BIND_TRANSCEIVER] = silent
        await talk.begin()

        with pytest.raises(ConnectionLost, match="the SMSC does not answer the bind"):
            await talk.session.bound

        assert now() == BIND_TIMEOUT_S
        assert await talk.session.closed == "the SMSC does not answer the bind"
        await turn()
        assert not talk.line.is_up

    run_scenario(scenario, is_bound=False)


def nack(status: int) -> Handler:
    def act(line: SmscConnection, one: Pdu) -> None:
        line.say(protocol.GENERIC_NACK, one.sequence, status=status)

    return act


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (refuse(protocol.RINVPASWD), "bind refused: ESME_RINVPASWD"),
        (refuse(0x4FF), "bind refused: 0x4ff"),
        (nack(protocol.RINVCMDID), "bind refused: ESME_RINVCMDID"),
        (nack(protocol.OK), "bind refused: ESME_RBINDFAIL"),
    ],
)
def test_refused_bind_closes_the_connection_with_the_reason(act: Handler, reason: str) -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.BIND_TRANSCEIVER] = act
        await talk.begin()

        with pytest.raises(ConnectionLost) as lost:
            await talk.session.bound

        assert (str(lost.value), now()) == (reason, 0)
        await turn()
        assert not talk.line.is_up

    run_scenario(scenario, is_bound=False)


def test_connection_closed_before_the_bind_response_says_so() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.BIND_TRANSCEIVER] = lambda line, _: line.pipe.close()
        await talk.begin()

        with pytest.raises(ConnectionLost, match="closed by the SMSC"):
            await talk.session.bound

    run_scenario(scenario, is_bound=False)


def test_second_bind_response_changes_nothing() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.say(protocol.BIND_TRANSCEIVER | protocol.RESPONSE, 1, b"\0", protocol.RINVPASWD)
        await turn()

        assert talk.session.is_open
        assert talk.noted == {"response without a request": 1}

    run_scenario(scenario)


def test_password_is_not_in_the_repr_of_bind_or_session() -> None:
    async def scenario(talk: Talk) -> None:
        bind = BindRequest(protocol.BIND_TRANSCEIVER, pdu.encode_bind("pabal", PASSWORD))

        assert PASSWORD not in f"{bind!r} {bind} {[bind]} {talk.session!r}"

    run_scenario(scenario)


# Submits and their answers.


def test_responses_match_submits_by_sequence_number() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(3)
        await turn()
        first, second, third = talk.numbers
        talk.line.say(SUBMIT_ANSWER, third, b"c\0")
        talk.line.say(SUBMIT_ANSWER, first, b"a\0")
        talk.line.say(SUBMIT_ANSWER, second, status=protocol.RTHROTTLED)
        await turn()

        assert answers(lot) == ["a", protocol.RTHROTTLED, "c"]
        assert talk.session.free_window == WINDOW

    run_scenario(scenario)


def test_response_with_an_unknown_sequence_number_is_an_anomaly() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit()
        await turn()
        talk.line.say(SUBMIT_ANSWER, talk.numbers[0] + 7, b"x\0")
        await turn()

        assert (lot.results, lot.completed.done()) == ([None], False)
        assert (talk.session.free_window, talk.session.is_open) == (WINDOW - 1, True)
        assert talk.noted == {"submit_sm_resp without a submit_sm": 1}

    run_scenario(scenario)


def test_first_of_repeated_responses_counts() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(2)
        await turn()
        for body in (b"first\0", b"second\0", b"third\0"):
            talk.line.say(SUBMIT_ANSWER, talk.numbers[0], body)
        talk.line.say(SUBMIT_ANSWER, talk.numbers[1], b"other\0")
        await turn()

        assert answers(lot) == ["first", "other"]
        assert talk.noted == {"submit_sm_resp without a submit_sm": 2}
        assert talk.session.free_window == WINDOW

    run_scenario(scenario)


@pytest.mark.parametrize("status", [protocol.RINVCMDID, protocol.OK])
def test_generic_nack_refuses_its_submit(status: int) -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit()
        await turn()
        talk.line.say(protocol.GENERIC_NACK, talk.numbers[0], status=status)
        await turn()

        assert answers(lot) == [status or protocol.RUNKNOWNERR]

    run_scenario(scenario)


@pytest.mark.parametrize("command", [SUBMIT_ANSWER, protocol.GENERIC_NACK])
def test_rinvbndsts_aborts_the_session_but_other_responses_count(command: int) -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(4)
        await turn()
        one, two, three, _ = talk.numbers
        said = [(command, one, b"", protocol.RINVBNDSTS), (command, two, b"", protocol.RINVBNDSTS)]
        delivery = (protocol.DELIVER_SM, 9, pdu.encode_short_message(receipt("7")), 0)
        talk.line.transport.write(frames([*said, (SUBMIT_ANSWER, three, b"three\0", 0), delivery]))
        await turn()

        assert answers(lot) == [protocol.RINVBNDSTS, protocol.RINVBNDSTS, "three", None]
        assert await talk.session.closed == "the SMSC says that the session is not bound"
        assert talk.noted == {"session not bound": 1}
        assert len(talk.delivered) == 1
        assert (talk.session.is_open, talk.line.is_up) == (False, False)

    run_scenario(scenario)


def test_rinvbndsts_during_an_unbind_is_not_an_anomaly() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(2)
        await turn()
        talk.line.say(protocol.UNBIND, 77)
        talk.line.say(SUBMIT_ANSWER, talk.numbers[1], status=protocol.RINVBNDSTS)
        await turn()
        talk.line.say(SUBMIT_ANSWER, talk.numbers[0], b"one\0")
        await turn()

        assert answers(lot) == ["one", protocol.RINVBNDSTS]
        assert await talk.session.closed == "unbound by the SMSC"
        assert talk.noted == {}

    run_scenario(scenario)


def test_generic_nack_without_a_request_is_an_anomaly() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.say(protocol.GENERIC_NACK, 0, status=protocol.RINVCMDLEN)
        await turn()

        assert talk.session.is_open
        assert talk.noted == {"generic_nack without a request": 1}

    run_scenario(scenario)


def test_pdus_may_arrive_octet_by_octet() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(2)
        await turn()
        first, second = talk.numbers
        octets = frames(
            [
                (SUBMIT_ANSWER, first, b"one\0", 0),
                (protocol.DELIVER_SM, 7, pdu.encode_short_message(receipt("one")), 0),
                (SUBMIT_ANSWER, second, b"two\0", 0),
            ]
        )
        for octet in octets:
            talk.line.transport.write(bytes([octet]))
            await turn()

        assert answers(lot) == ["one", "two"]
        assert [one.sequence for one in talk.delivered] == [7]

    run_scenario(scenario)


def test_sequence_numbers_wrap_to_one() -> None:
    async def scenario(talk: Talk) -> None:
        talk.session._sequence = 0x7FFFFFFE  # two thousand million submits would take a while
        talk.smsc.acts[protocol.SUBMIT_SM] = take
        lot = talk.submit(3)
        await turn()

        assert talk.numbers == [0x7FFFFFFF, 1, 2]
        assert answers(lot) == ["1", "2", "3"]

    run_scenario(scenario)


def test_abandoned_submits_free_the_window_and_late_responses_are_anomalies() -> None:
    async def scenario(talk: Talk) -> None:
        kept, forgotten = talk.submit(1), talk.submit(4)
        await turn()

        assert talk.session.abandon(forgotten) == 4
        assert (talk.session.free_window, talk.room_told) == (WINDOW - 1, 1)
        for number in talk.numbers:
            talk.line.say(SUBMIT_ANSWER, number, b"x\0")
        await turn()
        assert answers(kept) == ["x"]
        assert forgotten.results == [None] * 4
        assert talk.noted == {"submit_sm_resp without a submit_sm": 4}

    run_scenario(scenario)


def test_empty_group_is_complete() -> None:
    async def scenario(talk: Talk) -> None:
        assert SubmitGroup(0).completed.done()

    run_scenario(scenario)


# What cannot be read.


@pytest.mark.parametrize("length", [0, 15, 2**32 - 1, pdu.MAX_PDU_OCTETS + 1])
@pytest.mark.parametrize("has_good_ones_before", [False, True])
def test_invalid_length_closes_the_session_but_earlier_pdus_count(
    length: int, has_good_ones_before: bool
) -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(2)
        await turn()
        good = [(SUBMIT_ANSWER, talk.numbers[0], b"good\0", 0), (protocol.DELIVER_SM, 5, b"", 0)]
        before = frames(good) if has_good_ones_before else b""
        talk.line.transport.write(before + length.to_bytes(4, "big") + bytes(20))
        await talk.session.closed

        assert answers(lot) == ["good" if has_good_ones_before else None, None]
        assert len(talk.delivered) == has_good_ones_before
        assert await talk.session.closed == f"the SMSC sent an invalid command_length {length}"
        assert not talk.session.is_open
        (said,) = talk.smsc.told(protocol.GENERIC_NACK)
        assert (said.pdu.sequence, said.pdu.status) == (0, protocol.RINVCMDLEN)
        await turn()
        assert not talk.line.is_up
        assert talk.noted == {"invalid command_length": 1}

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
        lot = talk.submit(2)
        await turn()
        whole = frames(
            [(SUBMIT_ANSWER, talk.numbers[0], b"one\0", 0), (SUBMIT_ANSWER, talk.numbers[1], b"two\0", 0)]
        )
        talk.line.transport.write(whole[:-3])
        await turn()
        talk.line.pipe.reset()
        await turn()

        assert answers(lot) == ["one", None]
        assert await talk.session.closed == "connection broken (ConnectionResetError)"
        assert (talk.session.is_open, talk.session.free_window) == (False, 0)

    run_scenario(scenario)


def test_eof_inside_a_pdu_leaves_submits_without_a_result() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit()
        await turn()
        talk.line.transport.write(frames([(SUBMIT_ANSWER, talk.numbers[0], b"one\0", 0)])[:-3])
        talk.line.transport.close()
        await turn()

        assert answers(lot) == [None]
        assert await talk.session.closed == "closed by the SMSC"

    run_scenario(scenario)


@pytest.mark.parametrize("command", [0x3, 0x7, 0x103, 0x112, 0x7FFFFFFF, 0x0])
def test_unknown_command_is_refused_and_the_connection_kept(command: int) -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.say(command, 77, b"what is this")
        await turn()

        (said,) = talk.smsc.told(protocol.GENERIC_NACK)
        assert (said.pdu.sequence, said.pdu.status) == (77, protocol.RINVCMDID)
        assert talk.session.is_open
        assert talk.noted == {"unknown command": 1}

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
        talk.line.say(command, 77)
        await turn()

        assert len(talk.smsc.heard) == 1, "only the bind"
        assert talk.session.is_open
        assert talk.noted == {"response without a request": 1}

    run_scenario(scenario)


# Life and death.


def test_enquire_link_is_answered() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.say(protocol.ENQUIRE_LINK, 4711)
        await turn()

        (said,) = talk.smsc.told(protocol.ENQUIRE_LINK | protocol.RESPONSE)
        assert (said.pdu.sequence, said.pdu.status, said.pdu.body) == (4711, 0, b"")

    run_scenario(scenario)


def test_quiet_connection_is_tested_and_kept_while_it_answers() -> None:
    async def scenario(talk: Talk) -> None:
        await asyncio.sleep(10 * ENQUIRE_S)

        tested_at = [each.at for each in talk.smsc.told(protocol.ENQUIRE_LINK)]
        assert 9 <= len(tested_at) <= 10
        assert all(ENQUIRE_S <= later - earlier <= ENQUIRE_S + 2 * TICK_S for earlier, later in pairwise(tested_at))
        assert talk.session.is_open

    run_scenario(scenario)


def test_quiet_connection_that_does_not_answer_is_aborted() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.ENQUIRE_LINK] = silent

        assert await talk.session.closed == "the SMSC does not answer enquire_link"
        assert ENQUIRE_S + ENQUIRE_TIMEOUT_S <= now() <= ENQUIRE_S + ENQUIRE_TIMEOUT_S + 2 * TICK_S
        assert len(talk.smsc.told(protocol.ENQUIRE_LINK)) == 1

    run_scenario(scenario)


def test_any_pdu_shows_that_a_connection_is_alive() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.ENQUIRE_LINK] = silent
        for number in range(10):
            await asyncio.sleep(ENQUIRE_S + 5)
            talk.line.say(protocol.ENQUIRE_LINK, number)

        assert talk.session.is_open

    run_scenario(scenario)


def test_connection_with_unanswered_submits_is_tested_soon_and_aborted() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.ENQUIRE_LINK] = silent
        lot = talk.submit(WINDOW)
        await talk.session.closed

        (tested,) = talk.smsc.told(protocol.ENQUIRE_LINK)
        assert SUBMIT_QUIET_S <= tested.at <= SUBMIT_QUIET_S + TICK_S
        assert now() <= tested.at + ENQUIRE_TIMEOUT_S + TICK_S
        assert answers(lot) == [None] * WINDOW

    run_scenario(scenario)


def test_unbind_without_submits_in_flight_is_answered_at_once() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.say(protocol.UNBIND, 9)
        await turn()

        (said,) = talk.smsc.told(protocol.UNBIND | protocol.RESPONSE)
        assert (said.pdu.sequence, said.pdu.status) == (9, 0)
        assert await talk.session.closed == "unbound by the SMSC"
        assert not talk.line.is_up

    run_scenario(scenario)


def test_after_an_unbind_responses_count_and_nothing_is_sent() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(WINDOW)
        await turn()
        talk.line.say(protocol.UNBIND, 9)
        await turn()
        assert (talk.session.is_open, talk.session.free_window) == (False, 0)
        assert talk.smsc.told(protocol.UNBIND | protocol.RESPONSE) == [], (
            "many hang up as soon as they have the answer"
        )
        await asyncio.sleep(UNBIND_TIMEOUT_S / 2)
        for number in talk.numbers:
            talk.line.say(SUBMIT_ANSWER, number, b"%d\0" % number)
        await turn()

        assert answers(lot) == [str(number) for number in talk.numbers]
        assert len(talk.smsc.told(protocol.UNBIND | protocol.RESPONSE)) == 1
        assert await talk.session.closed == "unbound by the SMSC"

    run_scenario(scenario)


def test_after_an_unbind_unanswered_submits_have_no_result() -> None:
    async def scenario(talk: Talk) -> None:
        lot = talk.submit(3)
        await turn()
        began = now()
        talk.line.say(protocol.UNBIND, 9)
        talk.line.say(SUBMIT_ANSWER, talk.numbers[1], b"mine\0")
        await talk.session.closed

        assert answers(lot) == [None, "mine", None]
        assert now() - began == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
        assert len(talk.smsc.told(protocol.UNBIND | protocol.RESPONSE)) == 1

    run_scenario(scenario)


def test_unbind_waits_for_missing_responses() -> None:
    async def scenario(talk: Talk) -> None:
        def answer_all_then_go(line: SmscConnection, one: Pdu) -> None:
            for number in list(line.owed):
                line.say(SUBMIT_ANSWER, number, b"late\0")
            line.say(protocol.UNBIND | protocol.RESPONSE, one.sequence)

        talk.smsc.acts[protocol.UNBIND] = answer_all_then_go
        lot = talk.submit(2)
        await turn()
        began = now()
        await talk.session.unbind()

        assert answers(lot) == ["late", "late"]
        assert now() - began < 0.1
        assert await talk.session.closed == "unbound by us"
        await turn()
        assert not talk.line.is_up

    run_scenario(scenario)


def test_unanswered_unbind_closes_after_a_timeout() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.acts[protocol.UNBIND] = silent
        lot = talk.submit(2)
        await talk.session.unbind()
        await turn()

        assert now() == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
        assert answers(lot) == [None, None]
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
        talk.smsc.acts[protocol.BIND_TRANSCEIVER] = silent
        await talk.begin()
        await talk.session.unbind()
        await turn()

        assert [each.pdu.command for each in talk.smsc.heard] == [protocol.BIND_TRANSCEIVER]
        assert not talk.line.is_up

    run_scenario(scenario, is_bound=False)


# One side does not read.


def flooded(talk: Talk) -> None:
    """Write more to the far end than lies between the two."""
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
        talk.smsc.acts[protocol.SUBMIT_SM] = take
        talk.session.pause()
        assert talk.session.free_window == 0
        lot = talk.submit()
        await asyncio.sleep(10 * ENQUIRE_S)
        assert (talk.session.is_open, lot.completed.done()) == (True, False)
        told = talk.room_told
        talk.session.resume()
        await turn()

        assert answers(lot) == ["1"]
        assert talk.session.free_window == WINDOW
        assert talk.room_told > told

    run_scenario(scenario)
