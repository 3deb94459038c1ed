"""Receipts: the first one counts, whether it arrives before or after the verdict."""

import pytest

from pabal.carriers.base import Accepted, Rejected, Unknown
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Outcome, Status
from pabal.service.upkeep.housekeeping import UNMATCHED_RECEIPT_RETENTION_MS
from tests.fixtures.delivery import reference_of
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    Start,
    answer_in_order,
    count_rows,
    sms,
)
from tests.fixtures.virtual import Environment, VirtualWorld

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED), (Outcome.SPAM, FAILED)])
async def test_receipt_ends_its_message(
    env: Environment, carrier: FakeCarrier, outcome: Outcome, status: Status
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    await env.wait(60)

    await carrier.report((reference_of(request_id), outcome))

    message = await env.message_of(request_id)
    assert (message.status, message.outcome, message.completed_at) == (status, outcome, env.world.now())
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "receipts") == 0
    code = str(outcome.number)
    assert env.metric_value("pabal_messages_ended_total", product="sms", code=code) == 1
    assert env.metric_value("pabal_receipts_total", carrier=DEFAULT_CARRIER) == 1


async def test_receipts_are_stored_when_the_callback_returns(start: Start) -> None:
    carrier = FakeCarrier()
    env = await start(carrier)
    sent = await env.send(sms())
    await env.wait(1)

    await carrier.report((reference_of(sent), GOOD))
    await env.store.close()  # nothing can be stored after this

    env = await start(FakeCarrier(), world=VirtualWorld(1))
    assert await env.outcomes_of(sent) == [(DONE, GOOD)]


@pytest.mark.carrier(delay_s=5)
async def test_receipt_that_precedes_the_verdict_waits_for_it(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    await carrier.report((reference_of(request_id), BAD))
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 1

    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(FAILED, BAD)]
    assert await count_rows(env, "receipts") == 0


@pytest.mark.parametrize("second_outcome", [GOOD, BAD])
async def test_second_receipt_changes_nothing(
    env: Environment, carrier: FakeCarrier, second_outcome: Outcome
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    await carrier.report((reference_of(request_id), GOOD))
    before = await env.messages_of(request_id)
    await env.wait(10)

    await carrier.report((reference_of(request_id), second_outcome))
    await carrier.report((reference_of(request_id), second_outcome))

    assert await env.messages_of(request_id) == before
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="1000") == 1


@pytest.mark.carrier(answer=lambda attempt: Rejected(Outcome.SPAM))
async def test_receipt_after_a_rejection_changes_nothing(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms())
    await env.wait(1)

    await carrier.report((reference_of(request_id), GOOD))

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.SPAM)]


@pytest.mark.first_case
async def test_unmatched_receipt_is_counted_and_deleted_after_an_hour(
    env: Environment, carrier: FakeCarrier
) -> None:
    await carrier.report(("nobody", GOOD))
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 1
    assert await count_rows(env, "receipts") == 1
    await env.jump(UNMATCHED_RECEIPT_RETENTION_MS / SECOND - 60)
    assert await count_rows(env, "receipts") == 1

    await env.wait(180)

    assert await count_rows(env, "receipts") == 0


@pytest.mark.first_case
@pytest.mark.carrier(answer=lambda attempt: Accepted("same"))
async def test_messages_that_share_a_reference_are_each_submitted_once(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms(*[PHONE] * 20))
    await env.wait(3600)

    assert len(carrier.submitted) == 20
    assert await env.outcomes_of(request_id) == [(SENDING, None)] * 20


async def test_receipt_of_an_attempt_in_doubt_matches_the_reference_of_a_later_attempt(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(Unknown(), Accepted("same"))
    request_id = await env.send(sms())
    await env.wait(0.5)
    await carrier.report(("same", GOOD))  # for the first attempt, whose verdict was lost
    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert len(carrier.submitted) == 2


@pytest.mark.carrier(window=1000)
async def test_thousand_receipts_at_once_end_a_thousand_messages(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(*[PHONE] * 1000))
    await env.wait(1)

    await carrier.report(*((message_id.hex(), GOOD) for message_id in carrier.ids))

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)] * 1000
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="1000") == 1000
