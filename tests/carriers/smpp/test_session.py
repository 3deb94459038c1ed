"""SMPP sessions: binding, submits and their responses."""

import pytest

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.session import (
    BIND_TIMEOUT_S,
    BindRequest,
    ConnectionLost,
)
from pabal.carriers.smpp.submit_group import SubmitGroup
from tests.carriers.smpp.session_fixture import WINDOW, Talk, answers, run_scenario, turn
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


def test_session_is_open_after_the_bind_response() -> None:
    async def scenario(talk: Talk) -> None:
        assert not talk.session.is_open
        await talk.begin()
        assert talk.session.free_window == 0
        await talk.session.bound

        assert (talk.session.is_open, talk.session.free_window) == (True, WINDOW)
        (heard,) = talk.smsc.received_pdus
        assert (heard.pdu.command, heard.pdu.sequence) == (protocol.BIND_TRANSCEIVER, 1)
        assert pdu.decode_bind(heard.pdu.body)[:2] == ("pabal", PASSWORD)

    run_scenario(scenario, is_bound=False)


def test_unanswered_bind_closes_the_connection() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.BIND_TRANSCEIVER] = no_response
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
        line.send(protocol.GENERIC_NACK, one.sequence, status=status)

    return act


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (respond_with_status(protocol.RINVPASWD), "bind refused: ESME_RINVPASWD"),
        (respond_with_status(0x4FF), "bind refused: 0x4ff"),
        (nack(protocol.RINVCMDID), "bind refused: ESME_RINVCMDID"),
        (nack(protocol.OK), "bind refused: ESME_RBINDFAIL"),
    ],
)
def test_refused_bind_closes_the_connection_with_the_reason(act: Handler, reason: str) -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.BIND_TRANSCEIVER] = act
        await talk.begin()

        with pytest.raises(ConnectionLost) as lost:
            await talk.session.bound

        assert (str(lost.value), now()) == (reason, 0)
        await turn()
        assert not talk.line.is_up

    run_scenario(scenario, is_bound=False)


def test_connection_closed_before_the_bind_response_says_so() -> None:
    async def scenario(talk: Talk) -> None:
        talk.smsc.handlers[protocol.BIND_TRANSCEIVER] = lambda line, _: line.pipe.close()
        await talk.begin()

        with pytest.raises(ConnectionLost, match="closed by the SMSC"):
            await talk.session.bound

    run_scenario(scenario, is_bound=False)


def test_second_bind_response_changes_nothing() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.send(protocol.BIND_TRANSCEIVER | protocol.RESPONSE, 1, b"\0", protocol.RINVPASWD)
        await turn()

        assert talk.session.is_open
        assert talk.anomalies == {"response without a request": 1}

    run_scenario(scenario)


def test_password_is_not_in_the_repr_of_bind_or_session() -> None:
    async def scenario(talk: Talk) -> None:
        bind = BindRequest(protocol.BIND_TRANSCEIVER, pdu.encode_bind("pabal", PASSWORD))

        assert PASSWORD not in f"{bind!r} {bind} {[bind]} {talk.session!r}"

    run_scenario(scenario)


# Submits and their answers.


def test_responses_match_submits_by_sequence_number() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(3)
        await turn()
        first, second, third = talk.numbers
        talk.line.send(SUBMIT_SM_RESP, third, b"c\0")
        talk.line.send(SUBMIT_SM_RESP, first, b"a\0")
        talk.line.send(SUBMIT_SM_RESP, second, status=protocol.RTHROTTLED)
        await turn()

        assert answers(group) == ["a", protocol.RTHROTTLED, "c"]
        assert talk.session.free_window == WINDOW

    run_scenario(scenario)


def test_response_with_an_unknown_sequence_number_is_an_anomaly() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit()
        await turn()
        talk.line.send(SUBMIT_SM_RESP, talk.numbers[0] + 7, b"x\0")
        await turn()

        assert (group.results, group.completed.done()) == ([None], False)
        assert (talk.session.free_window, talk.session.is_open) == (WINDOW - 1, True)
        assert talk.anomalies == {"submit_sm_resp without a submit_sm": 1}

    run_scenario(scenario)


def test_first_of_repeated_responses_counts() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(2)
        await turn()
        for body in (b"first\0", b"second\0", b"third\0"):
            talk.line.send(SUBMIT_SM_RESP, talk.numbers[0], body)
        talk.line.send(SUBMIT_SM_RESP, talk.numbers[1], b"other\0")
        await turn()

        assert answers(group) == ["first", "other"]
        assert talk.anomalies == {"submit_sm_resp without a submit_sm": 2}
        assert talk.session.free_window == WINDOW

    run_scenario(scenario)


@pytest.mark.parametrize("status", [protocol.RINVCMDID, protocol.OK])
def test_generic_nack_refuses_its_submit(status: int) -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit()
        await turn()
        talk.line.send(protocol.GENERIC_NACK, talk.numbers[0], status=status)
        await turn()

        assert answers(group) == [status or protocol.RUNKNOWNERR]

    run_scenario(scenario)


@pytest.mark.parametrize("command", [SUBMIT_SM_RESP, protocol.GENERIC_NACK])
def test_rinvbndsts_aborts_the_session_but_other_responses_count(command: int) -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(4)
        await turn()
        one, two, three, _ = talk.numbers
        said = [(command, one, b"", protocol.RINVBNDSTS), (command, two, b"", protocol.RINVBNDSTS)]
        delivery = (protocol.DELIVER_SM, 9, pdu.encode_short_message(receipt("7")), 0)
        talk.line.transport.write(frames([*said, (SUBMIT_SM_RESP, three, b"three\0", 0), delivery]))
        await turn()

        assert answers(group) == [protocol.RINVBNDSTS, protocol.RINVBNDSTS, "three", None]
        assert await talk.session.closed == "the SMSC says that the session is not bound"
        assert talk.anomalies == {"session not bound": 1}
        assert len(talk.delivered) == 1
        assert (talk.session.is_open, talk.line.is_up) == (False, False)

    run_scenario(scenario)


def test_rinvbndsts_during_an_unbind_is_not_an_anomaly() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(2)
        await turn()
        talk.line.send(protocol.UNBIND, 77)
        talk.line.send(SUBMIT_SM_RESP, talk.numbers[1], status=protocol.RINVBNDSTS)
        await turn()
        talk.line.send(SUBMIT_SM_RESP, talk.numbers[0], b"one\0")
        await turn()

        assert answers(group) == ["one", protocol.RINVBNDSTS]
        assert await talk.session.closed == "unbound by the SMSC"
        assert talk.anomalies == {}

    run_scenario(scenario)


def test_generic_nack_without_a_request_is_an_anomaly() -> None:
    async def scenario(talk: Talk) -> None:
        talk.line.send(protocol.GENERIC_NACK, 0, status=protocol.RINVCMDLEN)
        await turn()

        assert talk.session.is_open
        assert talk.anomalies == {"generic_nack without a request": 1}

    run_scenario(scenario)


def test_pdus_may_arrive_octet_by_octet() -> None:
    async def scenario(talk: Talk) -> None:
        group = talk.submit(2)
        await turn()
        first, second = talk.numbers
        octets = frames(
            [
                (SUBMIT_SM_RESP, first, b"one\0", 0),
                (protocol.DELIVER_SM, 7, pdu.encode_short_message(receipt("one")), 0),
                (SUBMIT_SM_RESP, second, b"two\0", 0),
            ]
        )
        for octet in octets:
            talk.line.transport.write(bytes([octet]))
            await turn()

        assert answers(group) == ["one", "two"]
        assert [one.sequence for one in talk.delivered] == [7]

    run_scenario(scenario)


def test_sequence_numbers_wrap_to_one() -> None:
    async def scenario(talk: Talk) -> None:
        talk.session._sequence = 0x7FFFFFFE  # two thousand million submits would take a while
        talk.smsc.handlers[protocol.SUBMIT_SM] = accept
        group = talk.submit(3)
        await turn()

        assert talk.numbers == [0x7FFFFFFF, 1, 2]
        assert answers(group) == ["1", "2", "3"]

    run_scenario(scenario)


def test_abandoned_submits_free_the_window_and_late_responses_are_anomalies() -> None:
    async def scenario(talk: Talk) -> None:
        kept, forgotten = talk.submit(1), talk.submit(4)
        await turn()

        assert talk.session.abandon(forgotten) == 4
        assert (talk.session.free_window, talk.room_told) == (WINDOW - 1, 1)
        for number in talk.numbers:
            talk.line.send(SUBMIT_SM_RESP, number, b"x\0")
        await turn()
        assert answers(kept) == ["x"]
        assert forgotten.results == [None] * 4
        assert talk.anomalies == {"submit_sm_resp without a submit_sm": 4}

    run_scenario(scenario)


def test_empty_group_is_complete() -> None:
    async def scenario(talk: Talk) -> None:
        assert SubmitGroup(0).completed.done()

    run_scenario(scenario)
