"""Long texts in segments: one verdict for the message."""

import asyncio
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.carrier import SEGMENT_RETRY_DELAY_S, TIMEOUT_MARGIN_S, TIMEOUT_S
from pabal.domain.sends.message import Outcome
from tests.fakes.smsc.scripted import accept, in_sequence, no_response, respond_with_status
from tests.fixtures.smpp import (
    LONG,
    PARTS,
    CarrierRunner,
    attempt,
    describe_verdicts,
    kinds,
    now,
    wait_until,
)
from tests.fixtures.verdicts import submit

pytestmark = pytest.mark.settings(long_messages="parts")


async def sent_in_parts(runner: CarrierRunner) -> Verdict:
    (verdict,) = await submit(runner.carrier, [attempt(content=LONG)])
    return verdict


async def test_segmented_message_has_the_references_of_all_segments(runner: CarrierRunner) -> None:
    assert await submit(runner.carrier, [attempt(1), attempt(2, LONG), attempt(3)]) == [
        Accepted("1"),
        Accepted("2", ("3", "4", "5")),
        Accepted("6"),
    ]


async def test_busy_segment_is_retried_alone(runner: CarrierRunner) -> None:
    throttled = respond_with_status(protocol.RTHROTTLED)
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, throttled, accept, accept, throttled, accept)
    began = now()

    assert await sent_in_parts(runner) == Accepted("1", ("4", "2", "3"))
    assert now() - began == pytest.approx(2 * SEGMENT_RETRY_DELAY_S, abs=0.1)
    part_numbers = [submit.short_message[6] for submit in runner.smsc.submits]
    assert part_numbers == [1, 2, 3, 4, 2, 2]


@pytest.mark.settings(window=2)
async def test_unsent_segments_follow_on_the_next_connection(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    sending = asyncio.create_task(sent_in_parts(runner))
    await wait_until(lambda: len(runner.smsc.submits) == 2)
    connection = runner.smsc.open_connection
    connection.send(protocol.UNBIND, 9)
    for number in list(connection.unanswered):
        accept(connection, connection.unanswered[number])
    runner.smsc.handlers[protocol.SUBMIT_SM] = accept

    assert describe_verdicts([await sending]) == describe_verdicts([Accepted("1", ("2", "3", "4"))])
    assert [submit.short_message[6] for submit in runner.smsc.submits] == [1, 2, 3, 4]
    assert len(runner.smsc.connections) == 2


async def test_busy_segments_of_a_rejected_message_are_not_retried(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(
        accept, respond_with_status(protocol.RTHROTTLED), respond_with_status(protocol.RINVDSTADR), accept
    )
    assert describe_verdicts([await sent_in_parts(runner)]) == describe_verdicts(
        [Rejected(Outcome.NUMBER_NOT_ASSIGNED, code="0x0000000B")]
    )
    assert len(runner.smsc.submits) == PARTS


async def test_message_with_no_accepted_segment_is_busy(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = respond_with_status(protocol.RTHROTTLED)
    assert kinds([await sent_in_parts(runner)]) == [Busy]
    assert len(runner.smsc.submits) == PARTS


async def test_message_with_a_segment_busy_for_too_long_is_unknown(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, respond_with_status(protocol.RMSGQFUL))
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
    runner: CarrierRunner, others: Any, status: int, verdict: Verdict
) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(others, respond_with_status(status), others)
    assert describe_verdicts([await sent_in_parts(runner)]) == describe_verdicts([verdict])


async def test_message_with_an_unanswered_segment_is_unknown(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, no_response, accept)
    assert kinds([await sent_in_parts(runner)]) == [Unknown]


@pytest.mark.settings(window=2)
async def test_message_is_not_sent_only_if_no_segment_was_sent(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    sending = asyncio.create_task(submit(runner.carrier, [attempt(1, LONG), attempt(2, LONG)]))
    await wait_until(lambda: len(runner.smsc.submits) == 2)
    runner.smsc.open_connection.pipe.reset()

    assert kinds(await sending) == [Unknown, NotSent]


@pytest.mark.settings(encoding="cp949")
async def test_busy_segment_is_retried_beside_an_unencodable_message(runner: CarrierRunner) -> None:
    two_parts = "가" * 100
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, respond_with_status(protocol.RTHROTTLED), accept)
    verdicts = await submit(runner.carrier, [attempt(1, "🐎"), attempt(2, two_parts)])

    assert describe_verdicts(verdicts) == describe_verdicts(
        [Declined(Outcome.UNDELIVERABLE), Accepted("1", ("2",))]
    )
