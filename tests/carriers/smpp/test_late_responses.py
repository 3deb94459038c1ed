"""Responses that come after the deadline: they give their messages a second verdict."""

import asyncio

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Unknown, Verdict
from pabal.carriers.smpp import batch, protocol
from pabal.carriers.smpp.batch import LateMessage
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.domain.sends.message import Attempt, Outcome
from tests.fakes.smsc.scripted import SmscConnection, accept, no_response, respond_with_status
from tests.fixtures.smpp import LONG, PARTS, CarrierRunner, attempt, attempts

Verdicts = list[tuple[Attempt, Verdict]]


async def submit_unanswered(carrier: SmppCarrier, batch: list[Attempt]) -> Verdicts:
    """Submit messages that nobody answers in time; return the list that late verdicts are added to."""
    verdicts: Verdicts = []
    await carrier.submit(batch, verdicts.extend)
    assert [verdict for _, verdict in verdicts] == [Unknown(may_answer=True)] * len(batch)
    verdicts.clear()
    return verdicts


def answer(connection: SmscConnection, count: int | None = None, status: int = 0) -> None:
    """Answer the first of the unanswered submits, or all of them."""
    handler = respond_with_status(status) if status else accept
    for number in sorted(connection.unanswered)[:count]:
        handler(connection, connection.unanswered.pop(number))


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (0, Accepted("1")),
        (protocol.RTHROTTLED, Busy()),
        (protocol.RINVDSTADR, Rejected(Outcome.NUMBER_NOT_ASSIGNED)),
    ],
)
async def test_late_response_gives_a_second_verdict(runner: CarrierRunner, status: int, verdict: Verdict) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    batch = attempts(3)
    verdicts = await submit_unanswered(runner.carrier, batch)
    await asyncio.sleep(60)

    answer(runner.smsc.open_connection, 1, status)
    await asyncio.sleep(0.1)

    assert verdicts == [(batch[0], verdict)]
    assert runner.anomalies["late submit_sm_resp"] == 1


@pytest.mark.settings(long_messages="parts")
async def test_segmented_message_is_settled_when_all_its_responses_have_come(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    message = attempt(1, LONG)
    verdicts = await submit_unanswered(runner.carrier, [message])
    answer(runner.smsc.open_connection, PARTS - 1)
    await asyncio.sleep(0.1)
    assert verdicts == []

    answer(runner.smsc.open_connection)
    await asyncio.sleep(0.1)

    assert verdicts == [(message, Accepted("1", tuple(str(part) for part in range(2, PARTS + 1))))]


def test_late_submits_are_forgotten_after_a_time_and_beyond_a_number() -> None:
    submits = batch.LateSubmits()
    message = LateMessage([None], lambda results: None)
    submits.add(1, (message, 0), 0.0)
    submits.add(2, (message, 0), 10.0)

    submits.add(3, (message, 0), batch.MAX_LATE_S + 5)

    assert [submits.pop(number) is not None for number in (1, 2, 3, 3)] == [False, True, True, False]
    for number in range(batch.MAX_LATE_SUBMITS + 1):
        submits.add(number, (message, 0), batch.MAX_LATE_S)
    assert submits.pop(0) is None
    assert submits.pop(1) is not None


async def test_responses_of_a_closed_connection_are_not_awaited(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    verdicts: Verdicts = []
    sending = asyncio.create_task(runner.carrier.submit(attempts(1), verdicts.extend))
    await asyncio.sleep(1)
    runner.smsc.open_connection.pipe.reset()
    await sending

    assert [verdict for _, verdict in verdicts] == [Unknown(may_answer=False)]
