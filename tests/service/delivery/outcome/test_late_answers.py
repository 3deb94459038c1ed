"""Late answers of a carrier settle what they answer, and doubts are resent a bounded number of times."""

import asyncio
from collections.abc import Sequence

import pytest

from pabal.carriers.base import Accepted, Busy, OnVerdicts, Rejected, Unknown, Verdict
from pabal.domain.sends.message import Attempt, Outcome, Status
from pabal.service.delivery.outcome.settle import LATE_ANSWER_WAIT_MS
from pabal.store.queue.queue import Lane
from tests.fixtures.delivery import accept_without_receipt, leave_in_doubt, recorded_attempts
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    FakeCarrier,
    Start,
    count_rows,
    doubt_name_of,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import Environment, VirtualWorld

SENDING, FAILED = [(Status.SENDING, None)], [(Status.FAIL, Outcome.UNKNOWN)]
DONE = [(Status.COMPLETED, Outcome.DELIVERED)]
WAIT_S = LATE_ANSWER_WAIT_MS / 1000


class LateCarrier(FakeCarrier):
    """A carrier that leaves each attempt in doubt, and answers it after so many seconds; None: never."""

    def __init__(self, *answers: tuple[float, Verdict] | None, **options: int) -> None:
        super().__init__(**options)  # type: ignore[arg-type]
        self._answers = answers

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        await self.send(attempts)
        on_verdicts([(attempt, Unknown(may_answer=True)) for attempt in attempts])
        for attempt in attempts:
            if answer := self._answers[min(attempt.number, len(self._answers)) - 1]:
                asyncio.get_running_loop().call_later(answer[0], on_verdicts, [(attempt, answer[1])])


async def test_message_that_is_accepted_late_is_not_submitted_again(start: Start) -> None:
    carrier = LateCarrier((7, Accepted("late")))
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(600)

    assert len(carrier.submitted) == 1
    job = await env.job_of(message_id_of(request_id))
    assert job is not None
    assert job[1] == Lane.AWAITING_RECEIPT
    await carrier.report(("late", Outcome.DELIVERED))
    assert await env.outcomes_of(request_id) == DONE
    assert await count_rows(env, "receipts") == 0
    assert env.metric_value("pabal_carrier_late_answers_total", carrier=DEFAULT_CARRIER, verdict="taken") == 1


async def test_receipt_may_precede_the_late_answer(start: Start) -> None:
    carrier = LateCarrier((7, Accepted("late")))
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(5)
    await carrier.report(("late", Outcome.DELIVERED))
    await env.wait(10)

    assert await env.outcomes_of(request_id) == DONE
    assert await count_rows(env, "jobs") == 0


@pytest.mark.parametrize("receipt_of", ["first", "second"])
@pytest.mark.parametrize("first_s", [WAIT_S + 3, WAIT_S + 20])
async def test_receipts_of_both_attempts_lead_to_the_message(start: Start, receipt_of: str, first_s: float) -> None:
    """The first answer comes while the second attempt is in doubt, or after it was accepted."""
    carrier = LateCarrier((first_s, Accepted("first")), (10, Accepted("second")), delay_s=1)
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(300)
    assert len(carrier.submitted) == 2
    assert await env.outcomes_of(request_id) == SENDING

    await carrier.report((receipt_of, Outcome.DELIVERED))

    assert await env.outcomes_of(request_id) == DONE
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "receipts") == 0


@pytest.mark.parametrize("verdict", [Accepted("second"), Busy(), Unknown()])
async def test_late_answer_during_the_second_attempt_outlasts_its_verdict(start: Start, verdict: Verdict) -> None:

    class Resent(LateCarrier):
        async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
            if attempts[0].number == 1:
                return await super().submit(attempts, on_verdicts)
            self.delay_s = 10
            await self.send(attempts)
            on_verdicts([(attempt, verdict) for attempt in attempts])

    carrier = Resent((WAIT_S + 5, Accepted("first")))
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(600)
    assert len(carrier.submitted) == 2
    assert await env.outcomes_of(request_id) == SENDING

    await carrier.report(("first", Outcome.DELIVERED))

    assert await env.outcomes_of(request_id) == DONE
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "receipts") == 0


@pytest.mark.parametrize("holds_in_doubt", [False, True])
async def test_message_that_is_rejected_late_ends(start: Start, holds_in_doubt: bool) -> None:
    carrier = LateCarrier((7, Rejected(Outcome.SPAM)), holds_in_doubt=holds_in_doubt)
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(60)

    assert len(carrier.submitted) == 1
    assert await env.outcomes_of(request_id) == [(Status.FAIL, Outcome.SPAM)]


async def test_held_message_that_the_carrier_does_not_have_is_sent_again(start: Start) -> None:
    carrier = LateCarrier((7, Busy()), (1, Accepted(None)), holds_in_doubt=True)
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(60)

    assert len(carrier.submitted) == 2
    assert await env.outcomes_of(request_id) == DONE
    assert (1, DEFAULT_CARRIER, "busy") in await recorded_attempts(env)
    assert await count_rows(env, "receipts") == 0


async def test_answer_for_a_message_that_has_ended_changes_nothing(start: Start) -> None:
    carrier = LateCarrier((7, Rejected(Outcome.SPAM)), holds_in_doubt=True)
    env = await start(carrier)
    request_id = await env.send(sms())
    await env.wait(3)
    await carrier.report(("x", Outcome.DELIVERED, doubt_name_of(message_id_of(request_id))))
    await env.wait(60)

    assert await env.outcomes_of(request_id) == DONE


# The number of resends.


@pytest.mark.first_case
@pytest.mark.parametrize("max_resends", [0, 1, 3])
@pytest.mark.carrier(answer=leave_in_doubt)
@pytest.mark.settings(sms_timeout_hours=1)
async def test_message_in_doubt_is_resent_a_bounded_number_of_times(
    env: Environment, carrier: FakeCarrier, max_resends: int
) -> None:
    carrier.max_resends = max_resends
    request_id = await env.send(sms())
    await env.wait(1800)
    assert len(carrier.submitted) == 1 + max_resends
    assert await env.outcomes_of(request_id) == SENDING
    await env.wait(3600)

    assert len(carrier.submitted) == 1 + max_resends
    assert await env.outcomes_of(request_id) == FAILED
    assert await count_rows(env, "receipts") == 0


async def test_resend_at_the_next_carrier_counts(start: Start) -> None:
    first, second = FakeCarrier("first", leave_in_doubt), FakeCarrier("second", leave_in_doubt)
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(0.5)
    env.context.open_circuits.add("first")
    first.is_connected = False
    await env.wait(600)

    assert (len(first.submitted), len(second.submitted)) == (1, 1)
    assert await env.outcomes_of(request_id) == SENDING


async def test_doubts_after_crashes_count_as_resends(start: Start) -> None:
    carriers = [FakeCarrier(delay_s=1000, timeout_s=900) for _ in range(2)]
    carriers.append(FakeCarrier(answer=accept_without_receipt))
    for carrier in carriers:
        env = await start(carrier, world=VirtualWorld(), stop_seconds=1)
        if carrier is carriers[0]:
            await env.send(sms())
        await env.wait(2)

    assert [len(each.submitted) for each in carriers] == [1, 1, 0]
