"""Verdicts: a declined message goes to the next carrier, and one that was not sent is retried."""

import itertools

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.sends.message import Outcome, Status
from pabal.domain.sends.route import MAX_TRIES
from pabal.store.queue.queue import Lane
from tests.fixtures.delivery import accept_without_receipt, decline_as_spam, recorded_attempts
from tests.fixtures.service import FakeCarrier, Start, answer_in_order, message_id_of, sms
from tests.fixtures.virtual import Environment

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF
SPAM = Outcome.SPAM


async def test_declined_message_goes_to_the_next_carrier_at_once(start: Start) -> None:
    first, second = (
        FakeCarrier("first", decline_as_spam),
        FakeCarrier("second", answer_in_order(Busy(), Accepted(None))),
    )
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(0.3)
    assert len(second.submitted) == 1
    await env.wait(5)

    assert len(first.submitted) == 1
    assert [(attempt.number, attempt.tries) for _, attempt in second.submitted] == [(2, 0), (3, 1)]
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert await recorded_attempts(env) == [(1, "first", "declined"), (2, "second", "busy")]
    assert env.metric_value("pabal_carrier_verdicts_total", carrier="first", verdict="declined") == 1


async def test_verdict_of_the_last_carrier_counts_when_all_decline(start: Start) -> None:
    carriers = {name: FakeCarrier(name, decline_as_spam) for name in ("first", "second", "third")}
    carriers["third"].answer = lambda attempt: Declined(BAD)
    env = await start(*carriers.values())
    request_id = await env.send(sms())
    await env.wait(5)

    assert [len(carrier.submitted) for carrier in carriers.values()] == [1, 1, 1]
    assert await env.outcomes_of(request_id) == [(FAILED, BAD)]


async def test_declined_message_skips_carriers_with_an_open_circuit(start: Start) -> None:
    carriers = {
        name: FakeCarrier(name, accept_without_receipt, failover_after_s=5) for name in ("first", "second", "third")
    }
    carriers["first"].answer = decline_as_spam
    carriers["second"].is_connected = False
    env = await start(*carriers.values())
    await env.wait(10)
    request_id = await env.send(sms())
    await env.wait(0.5)

    assert [len(carrier.submitted) for carrier in carriers.values()] == [1, 0, 1]
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]


async def test_each_message_of_a_batch_follows_its_own_verdict(start: Start) -> None:
    verdicts: dict[str, Verdict] = {
        "01000000011": Accepted(None),
        "01000000012": Rejected(BAD),
        "01000000013": Declined(SPAM),
        "01000000014": Busy(),
        "01000000015": NotSent(),
        "01000000016": Unknown(),
    }
    first, second = (
        FakeCarrier("first", lambda attempt: verdicts[attempt.receiver]),
        FakeCarrier("second", accept_without_receipt),
    )
    env = await start(first, second)
    request_id = await env.send(sms(*verdicts))
    await env.wait(0.5)

    delivered, failed, sending = (DONE, GOOD), (FAILED, BAD), (SENDING, None)
    assert await env.outcomes_of(request_id) == [delivered, failed, delivered, sending, sending, sending]
    assert [attempt.receiver for _, attempt in second.submitted] == ["01000000013"]
    jobs = [await env.job_of(message_id_of(request_id, number)) for number in (4, 5, 6)]
    assert [(each[0], each[1], each[4]) for each in jobs if each] == [
        ("first", Lane.SMALL, 1),
        ("first", Lane.SMALL, 0),
        ("first", Lane.SMALL, 1),
    ]


async def test_message_that_was_not_sent_is_retried_after_a_second_and_uses_no_try(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(*[NotSent()] * (MAX_TRIES + 5), Busy(), Accepted(None))
    request_id = await env.send(sms())
    await env.wait(MAX_TRIES + 5.5)
    pauses = [after - before for before, after in itertools.pairwise(carrier.times)]
    assert all(1 <= pause <= 1.1 for pause in pauses)
    assert {attempt.tries for _, attempt in carrier.submitted} == {0}
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert [attempt.tries for _, attempt in carrier.submitted[-2:]] == [0, 1]
    assert [verdict for _, _, verdict in await recorded_attempts(env)] == ["busy"]


async def test_message_that_was_not_sent_keeps_its_count_of_tries(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Busy(), Busy(), NotSent(), NotSent(), Busy(), Accepted(None))
    await env.send(sms())
    await env.wait(20)

    assert [attempt.tries for _, attempt in carrier.submitted] == [0, 1, 2, 2, 2, 3]
