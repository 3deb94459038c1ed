"""Messages in doubt: a carrier that holds them gets none twice, and receipts settle them."""

from pathlib import Path

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
    recorded_attempts,
)
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    RunScenario,
    add_profile,
    alimtalk,
    answer_in_order,
    count_rows,
    doubt_name_of,
    job_of,
    later,
    message_id_of,
    metric_value,
    outcomes_of,
    run_scenario_with,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

SENDING, DONE, FAILED = Status.SENDING, Status.COMPLETED, Status.FAIL
GOOD, BAD = Outcome.DELIVERED, Outcome.PHONE_OFF


def test_held_message_in_doubt_is_never_submitted_again(tmp_path: Path) -> None:
    first, second = FakeCarrier("first", leave_in_doubt, holds_in_doubt=True), FakeCarrier("second")

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1800)

        assert (len(first.submitted), len(second.submitted)) == (1, 0)
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        job = await job_of(env, message_id_of(request_id))
        assert job is not None
        assert job[:2] == ("first", Lane.AWAITING_RECEIPT)
        assert await recorded_attempts(env) == [(1, "first", "unknown")]

    run_scenario_with(tmp_path, scenario, {"first": first, "second": second}, {"sms": ["first", "second"]})


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED)])
def test_receipt_that_names_the_message_in_doubt_ends_it(
    run_scenario: RunScenario, outcome: Outcome, status: Status
) -> None:
    carrier = FakeCarrier(answer=leave_in_doubt, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(60)

        await carrier.report(("unknown reference", outcome, doubt_name_of(message_id_of(request_id))))

        assert await outcomes_of(env, request_id) == [(status, outcome)]
        assert await count_rows(env, "jobs") == 0
        assert await count_rows(env, "receipts") == 0
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 0
        await carrier.report(("unknown reference", BAD, doubt_name_of(message_id_of(request_id))))
        assert await outcomes_of(env, request_id) == [(status, outcome)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})


@pytest.mark.parametrize(("outcome", "status"), [(GOOD, DONE), (BAD, FAILED)])
def test_receipt_that_precedes_the_doubt_ends_the_message(
    run_scenario: RunScenario, outcome: Outcome, status: Status
) -> None:
    carrier = FakeCarrier(answer=leave_in_doubt, delay_s=5, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        opposite = BAD if outcome is GOOD else GOOD
        await carrier.report(
            ("a", outcome, doubt_name_of(message_id_of(request_id))),
            ("b", opposite, doubt_name_of(message_id_of(request_id))),
        )  # the first one counts
        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 2
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(status, outcome)]
        assert await count_rows(env, "jobs") == 0
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 2
        await env.wait(UNMATCHED_RECEIPT_RETENTION_MS / SECOND + 120)
        assert await count_rows(env, "receipts") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})


def test_receipt_stored_before_a_crash_ends_its_message_at_the_next_start(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(delay_s=1000, timeout_s=900, holds_in_doubt=True)
    sent: list[bytes] = []

    async def scenario(env: Environment) -> None:
        sent.append(await send(env, sms()))
        await env.wait(1)
        await carrier.report(("x", GOOD, doubt_name_of(message_id_of(sent[0]))))

    async def next_start(env: Environment) -> None:
        await env.wait(20)

        assert await outcomes_of(env, sent[0]) == [(DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, stop_seconds=1)
    next_carrier = FakeCarrier(holds_in_doubt=True)
    run_scenario(next_start, carriers={DEFAULT_CARRIER: next_carrier}, world=VirtualWorld(1, later(NOON, 3 * 3600)))
    assert next_carrier.submitted == []


def test_early_receipt_with_reference_and_name_ends_an_accepted_message_once(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(delay_s=5, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms())
        await env.wait(1)
        await carrier.report((message_id_of(request_id).hex(), BAD, doubt_name_of(message_id_of(request_id))))
        await env.wait(5)

        assert await outcomes_of(env, request_id) == [(FAILED, BAD)]
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code=str(BAD.number)) == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})


def test_receipt_that_names_another_message_leaves_the_doubt_open(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(answer=leave_in_doubt, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id, other = await send(env, sms()), await send(env, sms("01099998888"))
        await env.wait(60)

        await carrier.report(
            ("a", GOOD),
            ("b", GOOD, doubt_name_of(message_id_of(request_id), "01000000000")),
            ("c", GOOD, doubt_name_of(message_id_of(request_id, 2))),
            ("d", GOOD, doubt_name_of(message_id_of(other), "01099998888")),
        )

        assert await outcomes_of(env, request_id) == [(SENDING, None)]
        assert await outcomes_of(env, other) == [(DONE, GOOD)]
        assert metric_value(env, "pabal_receipts_unmatched_total", carrier=DEFAULT_CARRIER) == 3

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})


def test_message_in_doubt_ends_as_unknown_and_accepted_one_as_timed_out(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(
        answer=lambda attempt: Unknown() if attempt.receiver == PHONE else Accepted("r"), holds_in_doubt=True
    )

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(PHONE, "01099998888"))
        await env.wait(3600 - 20)
        assert await outcomes_of(env, request_id) == [(SENDING, None)] * 2

        await env.wait(40)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.UNKNOWN), (FAILED, Outcome.TIMED_OUT)]
        assert await count_rows(env, "receipts") == 0
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="9001") == 1
        assert metric_value(env, "pabal_messages_ended_total", product="sms", code="2000") == 1

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, sms_timeout_hours=1)


def test_batch_without_an_answer_is_in_doubt_as_a_whole(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(delay_s=1000, timeout_s=5, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(*[PHONE] * 3))
        await env.wait(600)
        assert len(carrier.submitted) == 3

        await carrier.report(("x", GOOD, doubt_name_of(message_id_of(request_id, 2))))

        assert await outcomes_of(env, request_id) == [(SENDING, None), (DONE, GOOD), (SENDING, None)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, stop_seconds=1)


def test_alimtalk_in_doubt_that_fails_gets_its_fallback(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(answer=answer_in_order(Unknown()), holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, alimtalk(await add_profile(env), fallback_text="대신"))
        await env.wait(1)
        carrier.answer = accept_without_receipt

        await carrier.report(("x", Outcome.NOT_A_USER, doubt_name_of(message_id_of(request_id))))
        await env.wait(1)

        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})


@pytest.mark.parametrize("holds_in_doubt", [True, False])
def test_expired_lease_leaves_its_message_in_doubt(run_scenario: RunScenario, holds_in_doubt: bool) -> None:
    carrier = OmitsFirstVerdict(answer=accept_without_receipt, timeout_s=2, holds_in_doubt=holds_in_doubt)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(PHONE, PHONE))
        await env.wait(lease_duration_ms(carrier) / SECOND + 1)
        other = await send(env, sms())
        await env.wait(60)

        assert await outcomes_of(env, other) == [(DONE, GOOD)]
        if not holds_in_doubt:
            assert [attempt.number for _, attempt in carrier.submitted] == [1, 1, 2, 2, 1]
            assert await outcomes_of(env, request_id) == [(DONE, GOOD)] * 2
            return
        assert carrier.ids == [message_id_of(request_id, 1), message_id_of(request_id, 2), message_id_of(other)]
        await carrier.report(("x", GOOD, doubt_name_of(message_id_of(request_id, 2))))
        await env.wait(3600)
        assert await outcomes_of(env, request_id) == [(FAILED, Outcome.UNKNOWN), (DONE, GOOD)]
        assert len(carrier.submitted) == 3

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, sms_timeout_hours=1)


def test_advertisement_in_doubt_is_held_at_night_too(run_scenario: RunScenario) -> None:
    evening = at(20, 49, 55)
    carrier = OmitsFirstVerdict(answer=accept_without_receipt, timeout_s=2, holds_in_doubt=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, friendtalk_ad(await add_profile(env)))
        await env.wait(60)

        assert carrier.ids == [message_id_of(request_id)]
        job = await job_of(env, message_id_of(request_id))
        assert job is not None
        assert job[1] == Lane.AWAITING_RECEIPT

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, world=VirtualWorld(0, evening))
