"""A busy carrier gets smaller batches, and larger ones again when it keeps up."""

from collections import deque

import pytest

from pabal.carriers.base import DEFAULT_BATCH_SIZE, Accepted, Busy, Verdict
from pabal.domain.sends.message import Attempt, Outcome, Status
from pabal.service.delivery.carrier.flow_control import PAUSE_S, Backpressure
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import FakeCarrier, sms
from tests.fixtures.virtual import Environment, VirtualWorld


async def test_batches_halve_when_most_verdicts_are_busy_and_grow_when_few_are() -> None:
    backpressure = Backpressure(VirtualWorld(), DEFAULT_BATCH_SIZE)
    assert (backpressure.limit, backpressure.pause_s) == (DEFAULT_BATCH_SIZE, 0)

    backpressure.record(60, 100)
    assert (backpressure.limit, backpressure.pause_s) == (50, PAUSE_S)
    backpressure.record(40, 40)  # submitted before the pause
    assert backpressure.limit == 50

    backpressure.record(3, 10)
    assert backpressure.limit == 50
    backpressure.record(1, 10)
    assert backpressure.limit == 63


async def test_a_few_busy_verdicts_change_nothing() -> None:
    backpressure = Backpressure(VirtualWorld(), DEFAULT_BATCH_SIZE)
    backpressure.record(4, 4)
    assert (backpressure.limit, backpressure.pause_s) == (DEFAULT_BATCH_SIZE, 0)


@sqlite_only
@pytest.mark.slow
@pytest.mark.carrier(window=1000)
async def test_a_campaign_is_delivered_by_a_slow_carrier_that_has_no_rate_configured(
    env: Environment, carrier: FakeCarrier
) -> None:
    recent_times: deque[float] = deque(maxlen=50)

    def answer(attempt: Attempt) -> Verdict:
        at = carrier.times[-1]
        if len(recent_times) == 50 and at - recent_times[0] < 1:
            return Busy()
        recent_times.append(at)
        return Accepted(None)

    carrier.answer = answer
    requests = [
        await env.send(sms(*(f"010{20_000_000 + campaign * 500 + number}" for number in range(500))))
        for campaign in range(5)
    ]

    await env.wait(300)

    outcomes = [outcome for request_id in requests for outcome in await env.outcomes_of(request_id)]
    assert outcomes == [(Status.COMPLETED, Outcome.DELIVERED)] * 2_500
    assert len(carrier.submitted) < 3 * len(outcomes)
