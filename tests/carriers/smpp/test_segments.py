"""Long texts in segments: one verdict for the message."""

import asyncio
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.carrier import SEGMENT_RETRY_DELAY_S, TIMEOUT_MARGIN_S, TIMEOUT_S
from pabal.domain.sends.message import Outcome
from tests.fakes.smsc.scripted import ScriptedSmsc, accept, in_sequence, no_response, respond_with_status
from tests.fixtures.smpp import (
    LONG,
    PARTS,
    CarrierRunner,
    attempt,
    describe_verdicts,
    kinds,
    now,
    running_carrier,
    wait_until,
)
from tests.fixtures.verdicts import submit


async def sent_in_parts(runner: CarrierRunner) -> Verdict:
    (verdict,) = await submit(runner.carrier, [attempt(content=LONG)])
    return verdict


async def test_segmented_message_has_the_references_of_all_segments() -> None:
    async with running_carrier(ScriptedSmsc(), long_messages="parts") as runner:
        assert await submit(runner.carrier, [attempt(1), attempt(2, LONG), attempt(3)]) == [
            Accepted("1"),
            Accepted("2", ("3", "4", "5")),
            Accepted("6"),
        ]


async def test_busy_segment_is_retried_alone() -> None:
    smsc = ScriptedSmsc()
    throttled = respond_with_status(protocol.RTHROTTLED)
    smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, throttled, accept, accept, throttled, accept)
    async with running_carrier(smsc, long_messages="parts") as runner:
        began = now()

        assert await sent_in_parts(runner) == Accepted("1", ("4", "2", "3"))
        assert now() - began == pytest.approx(2 * SEGMENT_RETRY_DELAY_S, abs=0.1)
        part_numbers = [submit.short_message[6] for submit in smsc.submits]
        assert part_numbers == [1, 2, 3, 4, 2, 2]


async def test_unsent_segments_follow_on_the_next_connection() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    async with running_carrier(smsc, long_messages="parts", window=2) as runner:
        sending = asyncio.create_task(sent_in_parts(runner))
        await wait_until(lambda: len(smsc.submits) == 2)
        connection = smsc.open_connection
        connection.send(protocol.UNBIND, 9)
        for number in list(connection.unanswered):
            accept(connection, connection.unanswered[number])
        smsc.handlers[protocol.SUBMIT_SM] = accept

        assert describe_verdicts([await sending]) == describe_verdicts([Accepted("1", ("2", "3", "4"))])
        assert [submit.short_message[6] for submit in smsc.submits] == [1, 2, 3, 4]
        assert len(smsc.connections) == 2


async def test_busy_segments_of_a_rejected_message_are_not_retried() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = in_sequence(
        accept, respond_with_status(protocol.RTHROTTLED), respond_with_status(protocol.RINVDSTADR), accept
    )
    async with running_carrier(smsc, long_messages="parts") as runner:
        assert describe_verdicts([await sent_in_parts(runner)]) == describe_verdicts(
            [Rejected(Outcome.NUMBER_NOT_ASSIGNED, code="0x0000000B")]
        )
        assert len(smsc.submits) == PARTS


async def test_message_with_no_accepted_segment_is_busy() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = respond_with_status(protocol.RTHROTTLED)
    async with running_carrier(smsc, long_messages="parts") as runner:
        assert kinds([await sent_in_parts(runner)]) == [Busy]
        assert len(smsc.submits) == PARTS


async def test_message_with_a_segment_busy_for_too_long_is_unknown() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, respond_with_status(protocol.RMSGQFUL))
    async with running_carrier(smsc, long_messages="parts") as runner:
        began = now()

        assert kinds([await sent_in_parts(runner)]) == [Unknown]
        assert now() - began <= TIMEOUT_S - TIMEOUT_MARGIN_S


DECLINED = Declined(Outcome.UNDELIVERABLE, code="0x0000000A")


@pytest.mark.parametrize(
    ("others", "status", "verdict"),
    [
        (accept, protocol.RINVDSTADR, Rejected(Outcome.NUMBER_NOT_ASSIGNED, code="0x0000000B")),
        (accept, protocol.RINVSRCADR, Rejected(Outcome.UNDELIVERABLE, code="0x0000000A")),
        (respond_with_status(protocol.RINVSRCADR), protocol.RINVSRCADR, DECLINED),
        (respond_with_status(protocol.RTHROTTLED), protocol.RINVSRCADR, DECLINED),
    ],
)
async def test_partly_accepted_message_with_a_refused_segment_is_rejected(
    others: Any, status: int, verdict: Verdict
) -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = in_sequence(others, respond_with_status(status), others)
    async with running_carrier(smsc, long_messages="parts") as runner:
        assert describe_verdicts([await sent_in_parts(runner)]) == describe_verdicts([verdict])


async def test_message_with_an_unanswered_segment_is_unknown() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, no_response, accept)
    async with running_carrier(smsc, long_messages="parts") as runner:
        assert kinds([await sent_in_parts(runner)]) == [Unknown]


async def test_message_is_not_sent_only_if_no_segment_was_sent() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    async with running_carrier(smsc, long_messages="parts", window=2) as runner:
        sending = asyncio.create_task(submit(runner.carrier, [attempt(1, LONG), attempt(2, LONG)]))
        await wait_until(lambda: len(smsc.submits) == 2)
        smsc.open_connection.pipe.reset()

        assert kinds(await sending) == [Unknown, NotSent]


async def test_busy_segment_is_retried_beside_an_unencodable_message() -> None:
    smsc = ScriptedSmsc()
    two_parts = "가" * 100
    smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, respond_with_status(protocol.RTHROTTLED), accept)
    async with running_carrier(smsc, long_messages="parts", encoding="cp949") as runner:
        verdicts = await submit(runner.carrier, [attempt(1, "🐎"), attempt(2, two_parts)])

        assert describe_verdicts(verdicts) == describe_verdicts(
            [Declined(Outcome.UNDELIVERABLE), Accepted("1", ("2",))]
        )
