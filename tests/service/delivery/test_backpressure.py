"""A carrier that is busy gets less at a time, and more again when it keeps up."""

from collections import deque

import pytest

from pabal.carriers.base import DEFAULT_BATCH_SIZE, Accepted, Busy, Verdict
from pabal.domain.message import Attempt, Outcome, Status
from pabal.service.delivery.backpressure import PAUSE_S, Backpressure
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, RunScenario, outcomes_of, send, sms
from tests.fixtures.virtual import Environment, VirtualWorld, run_in_virtual_time


def test_it_closes_and_halves_when_most_is_refused_and_grows_when_hardly_any_is() -> None:
    async def scenario() -> None:
        throttle = Backpressure(VirtualWorld(), DEFAULT_BATCH_SIZE)
        assert (throttle.limit, throttle.pause_s) == (DEFAULT_BATCH_SIZE, 0)

        throttle.record(60, 100)
        assert (throttle.limit, throttle.pause_s) == (50, PAUSE_S)
        throttle.record(40, 40)  # went out before
        assert throttle.limit == 50

        throttle.record(3, 10)
        assert throttle.limit == 50
        throttle.record(1, 10)
        assert throttle.limit == 63

    run_in_virtual_time(scenario())


def test_a_few_refusals_close_nothing() -> None:
    async def scenario() -> None:
        throttle = Backpressure(VirtualWorld(), DEFAULT_BATCH_SIZE)
        throttle.record(4, 4)
        assert (throttle.limit, throttle.pause_s) == (DEFAULT_BATCH_SIZE, 0)

    run_in_virtual_time(scenario())


@sqlite_only
@pytest.mark.slow
def test_a_campaign_at_a_carrier_that_takes_fifty_a_second_is_delivered_without_a_rate(
    run_scenario: RunScenario,
) -> None:
    lately: deque[float] = deque(maxlen=50)
    post = FakeCarrier(window=1000)

    def answer(attempt: Attempt) -> Verdict:
        at = post.times[-1]
        if len(lately) == 50 and at - lately[0] < 1:
            return Busy()
        lately.append(at)
        return Accepted(None)

    post.answer = answer

    async def scenario(env: Environment) -> None:
        requests = [
            await send(env, sms(*(f"010{20_000_000 + k * 500 + n}" for n in range(500)))) for k in range(20)
        ]

        await env.wait(1200)

        ended = [end for request_id in requests for end in await outcomes_of(env, request_id)]
        assert ended == [(Status.COMPLETED, Outcome.DELIVERED)] * 10_000
        assert len(post.submitted) < 3 * len(ended)

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post})
