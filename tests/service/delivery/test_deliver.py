"""Delivery of a message: the attempt is stored first, then the verdict of the carrier counts."""

from collections.abc import Sequence

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Unknown, Verdict
from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import Attempt, Outcome, Product, Status
from pabal.domain.sends.sending import Receiver
from pabal.service.delivery.claiming.claim_tx import lease_duration_ms
from pabal.service.delivery.outcome.settle import BatchVerdicts, settle
from pabal.store.queue import queue
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import DEFAULT_CARRIER, PHONE, FakeCarrier, Start, message_id_of, sms
from tests.fixtures.virtual import Environment

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL


async def test_attempt_is_stored_before_the_carrier_is_called(start: Start) -> None:

    class ReadsStore(FakeCarrier):
        seen: tuple[Status, int] | None = None

        async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
            request_id = attempts[0].message_id[:13]
            job = await self.env.job_of(attempts[0].message_id)
            assert job is not None
            self.seen = (await self.env.message_of(request_id)).status, job[3]
            return await super().send(attempts)

        env: Environment

    carrier = ReadsStore()
    env = await start(carrier)
    carrier.env = env
    await env.send(sms())
    await env.wait(1)

    assert carrier.seen == (SENDING, 1)
    assert carrier.submitted[0][1].number == 1


async def test_carrier_gets_the_message_as_its_receiver_will_see_it(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(content="안녕"))
    await env.wait(1)

    (_, attempt), *_ = carrier.submitted
    assert attempt._replace(expires_at=None) == Attempt(
        message_id_of(request_id), 1, 1, Product.SMS, PHONE, "0212345678", None, "안녕", tries=0
    )


@pytest.mark.first_case
async def test_accepted_message_is_not_submitted_again(env: Environment, carrier: FakeCarrier) -> None:
    await env.send(sms())
    await env.wait(3600)

    assert len(carrier.submitted) == 1


@pytest.mark.carrier(delay_s=1000, timeout_s=5)
async def test_message_is_submitted_again_when_the_carrier_does_not_answer_in_time(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms())
    await env.wait(4.9)
    job = await env.job_of(message_id_of(request_id))
    assert job is not None
    assert job[2] > env.world.now()  # still leased: no other worker can claim it
    await env.wait(0.5)
    assert env.metric_value("pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 1

    carrier.delay_s = 0
    await env.wait(6)

    assert [attempt.number for _, attempt in carrier.submitted] == [1, 2]
    assert 5.8 <= carrier.times[1] - carrier.times[0] <= 6.3
    assert await env.outcomes_of(request_id) == [(SENDING, None)]


async def test_message_is_submitted_again_when_the_carrier_raises(start: Start) -> None:

    class RaisesOnce(FakeCarrier):
        async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
            verdicts = await super().send(attempts)
            if len(self.submitted) == 1:
                raise ConnectionResetError
            return verdicts

    carrier = RaisesOnce()
    env = await start(carrier)
    await env.send(sms())
    await env.wait(3)

    assert [(attempt.number, attempt.tries) for _, attempt in carrier.submitted] == [(1, 0), (2, 1)]
    assert env.metric_value("pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 1


@pytest.mark.carrier(answer=accept_without_receipt)
async def test_message_that_cannot_be_composed_fails_alone(env: Environment) -> None:
    receivers = [Receiver(PHONE, ("값",)), Receiver(PHONE, ("하나", "둘이나")), Receiver(PHONE, ("값",))]
    request_id = await env.send(sms(content="#{x}", variables=("x",), receivers=receivers))
    other = await env.send(sms())
    await env.wait(5)

    delivered, failed = (DONE, Outcome.DELIVERED), (FAILED, Outcome.UNDELIVERABLE)
    assert await env.outcomes_of(request_id) == [delivered, failed, delivered]
    assert await env.outcomes_of(other) == [delivered]


async def test_batch_with_a_missing_verdict_counts_as_unknown(start: Start) -> None:

    class OmitsOneVerdict(FakeCarrier):
        async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
            verdicts = await super().send(attempts)
            return verdicts[1:] if len(self.submitted) == 2 else verdicts

    carrier = OmitsOneVerdict(answer=accept_without_receipt, timeout_s=2)
    env = await start(carrier)
    request_id = await env.send(sms(PHONE, PHONE))
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [(DONE, Outcome.DELIVERED)] * 2
    assert [attempt.number for _, attempt in carrier.submitted] == [1, 1, 2, 2]
    assert env.metric_value("pabal_carrier_verdicts_total", carrier=DEFAULT_CARRIER, verdict="unknown") == 2


@pytest.mark.carrier(delay_s=1000, timeout_s=900)
@pytest.mark.settings(stop_seconds=1)
async def test_verdict_on_an_outdated_attempt_changes_nothing(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(PHONE, "01099998888"))
    await env.wait(1)
    outdated = [attempt for _, attempt in carrier.submitted]
    lease_ends = env.world.now() + lease_duration_ms(carrier)
    await env.store.write(queue.claim, [each.message_id for each in outdated], lease_ends, lease_ends + HOUR)
    before = [await env.job_of(each.message_id) for each in outdated]

    for verdict in (Accepted(None), Accepted("r"), Rejected(Outcome.SPAM), Busy(), Unknown()):
        verdicts = BatchVerdicts(DEFAULT_CARRIER, [(each, verdict) for each in outdated])
        finished = await env.store.write(settle, verdicts, env.context.policy, 0.5, env.world.now())
        assert finished.ended == []

    assert [await env.job_of(each.message_id) for each in outdated] == before
    assert await env.outcomes_of(request_id) == [(SENDING, None)] * 2
