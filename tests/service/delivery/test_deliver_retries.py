"""Retries: a busy carrier is tried again, then the next carrier of the route."""

import itertools

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Unknown, Verdict
from pabal.domain.sends.message import Outcome, Status
from pabal.domain.sends.route import MAX_TRIES
from pabal.store.engine.base import Tx
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import FakeCarrier, Start, answer_in_order, message_id_of, sms
from tests.fixtures.virtual import Environment

ALL_TRIES_S = 1.25 * 2 ** (MAX_TRIES - 1)
"""How long a carrier gets a message that it never accepts: pauses of 1, 2, 4 … seconds, a fifth longer at most."""
WAITING, DONE, FAILED = Status.WAITING, Status.COMPLETED, Status.FAIL


@pytest.mark.first_case
@pytest.mark.parametrize(("verdict", "outcome"), [(Busy(), Outcome.CARRIER_ERROR), (Unknown(), Outcome.UNKNOWN)])
@pytest.mark.carrier(max_resends=10)
async def test_busy_or_unknown_message_is_tried_ten_times_with_doubling_delays(
    env: Environment, carrier: FakeCarrier, verdict: Verdict, outcome: Outcome
) -> None:
    carrier.answer = lambda attempt: verdict
    request_id = await env.send(sms())
    await env.wait(ALL_TRIES_S)

    pauses = [after - before for before, after in itertools.pairwise(carrier.times)]
    assert len(carrier.submitted) == MAX_TRIES == 10
    for number, pause in enumerate(pauses):
        assert 0.79 * 2**number <= pause <= 1.21 * 2**number
    assert [attempt.tries for _, attempt in carrier.submitted] == list(range(10))
    assert await env.outcomes_of(request_id) == [(FAILED, outcome)]
    assert await env.job_of(message_id_of(request_id)) is None


async def test_attempts_without_a_final_verdict_are_recorded(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Busy(), Unknown(), Accepted(None))
    request_id = await env.send(sms())
    await env.wait(10)

    def recorded(tx: Tx) -> list[tuple[int, str]]:
        return [(row[0], row[1]) for row in tx.fetch_all("select number, verdict from attempts order by number")]

    assert await env.store.read(recorded) == [(1, "busy"), (2, "unknown")]
    assert await env.outcomes_of(request_id) == [(DONE, Outcome.DELIVERED)]


async def test_next_carrier_of_the_route_gets_the_message_after_the_last_try(start: Start) -> None:
    first = FakeCarrier("first", lambda attempt: Busy(), failover_after_s=3600)
    second = FakeCarrier("second", accept_without_receipt)
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(ALL_TRIES_S)

    assert (len(first.submitted), len(second.submitted)) == (10, 1)
    assert second.submitted[0][1].number == 11
    assert second.submitted[0][1].tries == 0
    assert await env.outcomes_of(request_id) == [(DONE, Outcome.DELIVERED)]


async def test_verdict_of_the_last_carrier_counts_when_no_carrier_accepts(start: Start) -> None:
    first = FakeCarrier("first", lambda attempt: Busy(), failover_after_s=3600)
    second = FakeCarrier("second", lambda attempt: Unknown(), max_resends=10)
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(2 * ALL_TRIES_S)

    assert (len(first.submitted), len(second.submitted)) == (10, 10)
    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.UNKNOWN)]


async def test_rejected_message_is_not_submitted_to_another_carrier(start: Start) -> None:
    first, second = FakeCarrier("first", lambda attempt: Rejected(Outcome.SPAM)), FakeCarrier("second")
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.SPAM)]
    assert second.submitted == []
