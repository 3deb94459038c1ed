"""Messages in doubt: a carrier that holds them gets none twice, and receipts settle them."""

import pytest

from pabal.carriers.base import Accepted, Unknown
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery.claiming.claim_tx import lease_duration_ms
from pabal.service.upkeep.housekeeping import UNMATCHED_RECEIPT_RETENTION_MS
from pabal.store.queue.queue import Lane
from tests.fixtures.delivery import (
    OmitsFirstVerdict,
    accept_without_receipt,
    at,
    friendtalk_ad,
    leave_in_doubt,
)
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    Start,
    alimtalk,
    answer_in_order,
    count_rows,
    doubt_name_of,
    later,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED)])
@pytest.mark.carrier(answer=leave_in_doubt, holds_in_doubt=True)
async def test_receipt_that_names_the_message_in_doubt_ends_it(
    env: Environment, carrier: FakeCarrier, outcome: Outcome, status: Status
) -> None:
    request_id = await env.send(sms())
    await env.wait(60)

    await carrier.report(("unknown reference", outcome, doubt_name_of(message_id_of(request_id))))

    assert await env.outcomes_of(request_id) == [(status, outcome)]
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "receipts") == 0
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 0
    await carrier.report(("unknown reference", BAD, doubt_name_of(message_id_of(request_id))))
    assert await env.outcomes_of(request_id) == [(status, outcome)]


@pytest.mark.first_case
@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED)])
@pytest.mark.carrier(answer=leave_in_doubt, delay_s=5, holds_in_doubt=True)
async def test_receipt_that_precedes_the_doubt_ends_the_message(
    env: Environment, carrier: FakeCarrier, outcome: Outcome, status: Status
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    opposite = BAD if outcome is GOOD else GOOD
    await carrier.report(
        ("a", outcome, doubt_name_of(message_id_of(request_id))),
        ("b", opposite, doubt_name_of(message_id_of(request_id))),
    )  # the first one counts
    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 2
    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(status, outcome)]
    assert await count_rows(env, "jobs") == 0
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 2
    await env.jump(UNMATCHED_RECEIPT_RETENTION_MS / SECOND + 120)
    assert await count_rows(env, "receipts") == 0


async def test_receipt_stored_before_a_crash_ends_its_message_at_the_next_start(start: Start) -> None:
    carrier = FakeCarrier(delay_s=1000, timeout_s=900, holds_in_doubt=True)
    env = await start(carrier, stop_seconds=1)
    sent = await env.send(sms())
    await env.wait(1)
    await carrier.report(("x", GOOD, doubt_name_of(message_id_of(sent))))
    next_carrier = FakeCarrier(holds_in_doubt=True)

    env = await start(next_carrier, world=VirtualWorld(1, later(NOON, 3 * 3600)))
    await env.wait(20)

    assert await env.outcomes_of(sent) == [(DONE, GOOD)]
    await env.service.stop()

    assert next_carrier.submitted == []


@pytest.mark.carrier(delay_s=5, holds_in_doubt=True)
async def test_early_receipt_with_reference_and_name_ends_an_accepted_message_once(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    await carrier.report((message_id_of(request_id).hex(), BAD, doubt_name_of(message_id_of(request_id))))
    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(FAILED, BAD)]
    assert env.metric_value("pabal_messages_ended_total", product="sms", code=str(BAD.number)) == 1


@pytest.mark.carrier(answer=leave_in_doubt, holds_in_doubt=True)
async def test_receipt_that_names_another_message_leaves_the_doubt_open(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id, other = await env.send(sms()), await env.send(sms("01099998888"))
    await env.wait(60)

    await carrier.report(
        ("a", GOOD),
        ("b", GOOD, doubt_name_of(message_id_of(request_id), "01000000000")),
        ("c", GOOD, doubt_name_of(message_id_of(request_id, 2))),
        ("d", GOOD, doubt_name_of(message_id_of(other), "01099998888")),
    )

    assert await env.outcomes_of(request_id) == [(SENDING, None)]
    assert await env.outcomes_of(other) == [(DONE, GOOD)]
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 3


@pytest.mark.carrier(
    answer=lambda attempt: Unknown() if attempt.receiver == PHONE else Accepted("r"), holds_in_doubt=True
)
@pytest.mark.settings(sms_timeout_hours=1)
async def test_message_in_doubt_ends_as_unknown_and_accepted_one_as_timed_out(env: Environment) -> None:
    request_id = await env.send(sms(PHONE, "01099998888"))
    await env.jump(3600 - 20)
    assert await env.outcomes_of(request_id) == [(SENDING, None)] * 2

    await env.wait(40)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.UNKNOWN), (FAILED, Outcome.TIMED_OUT)]
    assert await count_rows(env, "receipts") == 0
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="9001") == 1
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="2000") == 1


@pytest.mark.carrier(delay_s=1000, timeout_s=5, holds_in_doubt=True)
@pytest.mark.settings(stop_seconds=1)
async def test_batch_without_an_answer_is_in_doubt_as_a_whole(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(*[PHONE] * 3))
    await env.wait(600)
    assert len(carrier.submitted) == 3

    await carrier.report(("x", GOOD, doubt_name_of(message_id_of(request_id, 2))))

    assert await env.outcomes_of(request_id) == [(SENDING, None), (DONE, GOOD), (SENDING, None)]


@pytest.mark.carrier(holds_in_doubt=True)
async def test_alimtalk_in_doubt_that_fails_gets_its_fallback(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Unknown())
    request_id = await env.send(alimtalk(await env.add_profile(), fallback_text="대신"))
    await env.wait(1)
    carrier.answer = accept_without_receipt

    await carrier.report(("x", Outcome.NOT_A_USER, doubt_name_of(message_id_of(request_id))))
    await env.wait(1)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]


@pytest.mark.parametrize("holds_in_doubt", [True, False])
async def test_expired_lease_leaves_its_message_in_doubt(start: Start, holds_in_doubt: bool) -> None:
    carrier = OmitsFirstVerdict(answer=accept_without_receipt, timeout_s=2, holds_in_doubt=holds_in_doubt)
    env = await start(carrier, sms_timeout_hours=1)
    request_id = await env.send(sms(PHONE, PHONE))
    await env.wait(lease_duration_ms(carrier) / SECOND + 1)
    other = await env.send(sms())
    await env.wait(60)

    assert await env.outcomes_of(other) == [(DONE, GOOD)]
    if not holds_in_doubt:
        assert [attempt.number for _, attempt in carrier.submitted] == [1, 1, 2, 2, 1]
        assert await env.outcomes_of(request_id) == [(DONE, GOOD)] * 2
        return
    assert carrier.ids == [message_id_of(request_id, 1), message_id_of(request_id, 2), message_id_of(other)]
    await carrier.report(("x", GOOD, doubt_name_of(message_id_of(request_id, 2))))
    await env.jump(3600)
    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.UNKNOWN), (DONE, GOOD)]
    assert len(carrier.submitted) == 3


async def test_advertisement_in_doubt_is_held_at_night_too(start: Start) -> None:
    evening = at(20, 49, 55)
    carrier = OmitsFirstVerdict(answer=accept_without_receipt, timeout_s=2, holds_in_doubt=True)
    env = await start(carrier, world=VirtualWorld(0, evening))
    request_id = await env.send(friendtalk_ad(await env.add_profile()))
    await env.wait(60)

    assert carrier.ids == [message_id_of(request_id)]
    job = await env.job_of(message_id_of(request_id))
    assert job is not None
    assert job[1] == Lane.AWAITING_RECEIPT
