"""Receipts of messages in parts: every part counts."""

import pytest

from pabal.carriers.base import Accepted
from pabal.domain.sends.message import Outcome, Product, Status
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, count_rows, sms
from tests.fixtures.virtual import Environment

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


@pytest.mark.carrier(answer=lambda attempt: Accepted("a", ("b", "c")))
async def test_message_in_parts_is_completed_when_every_part_is_delivered(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms(product=Product.LMS))
    await env.wait(1)
    await carrier.report(("a", GOOD), ("a", GOOD))
    await carrier.report(("c", GOOD))
    assert await env.outcomes_of(request_id) == [(SENDING, None)]

    await carrier.report(("b", GOOD))

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert await count_rows(env, "receipts") == 0
    assert env.metric_value("pabal_messages_ended_total", product="lms", code="1000") == 1
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 0


@pytest.mark.parametrize(
    "further_references",
    [("a", "a"), ("a", "b"), ("b", "a", "b")],
    ids=["all the same", "two the same", "alternating"],
)
async def test_parts_with_the_same_reference_need_one_receipt(
    env: Environment, carrier: FakeCarrier, further_references: tuple[str, ...]
) -> None:
    carrier.answer = lambda attempt: Accepted("a", further_references)
    request_id = await env.send(sms(product=Product.LMS))
    await env.wait(1)
    for each in ("a", "b") if "b" in further_references else ("a",):
        assert await env.outcomes_of(request_id) == [(SENDING, None)]
        await carrier.report((each, GOOD))

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert await count_rows(env, "receipts") == 0


@pytest.mark.carrier(answer=lambda attempt: Accepted("a", ("b", "c")))
@pytest.mark.settings(sms_timeout_hours=1)
async def test_message_times_out_when_one_part_gets_no_receipt(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    await carrier.report(("a", GOOD), ("b", GOOD))
    await env.jump(3600 + 20)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.TIMED_OUT)]
    assert await count_rows(env, "receipts") == 0
