"""Messages in flight at a crash: submitted again, or held as in doubt."""

from typing import Any

import pytest

from pabal.domain.sends.message import Outcome, Status
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import PHONE, FakeCarrier, Start, count_rows, doubt_name_of, later, sms
from tests.fixtures.virtual import NOON, VirtualWorld

SENDING, DONE, GOOD = Status.SENDING, Status.COMPLETED, Outcome.DELIVERED


async def crash_with_full_window(start: Start, carrier: FakeCarrier, messages: int, **settings: Any) -> bytes:
    """Send more messages than the window of a carrier holds, and crash while it is full."""
    env = await start(carrier, stop_seconds=1, **settings)
    request_id = await env.send(sms(*[PHONE] * messages))
    await env.wait(1)
    assert len(carrier.submitted) == carrier.window
    return request_id


@pytest.mark.parametrize("pause_s", [2, 3600], ids=["within the lease", "long after the lease"])
async def test_messages_in_flight_at_a_crash_are_resent_where_doubt_is_not_held(start: Start, pause_s: int) -> None:
    request_id = await crash_with_full_window(start, FakeCarrier(window=10, delay_s=1000, timeout_s=900), 25)
    next_carrier = FakeCarrier(answer=accept_without_receipt, window=10, timeout_s=900)
    env = await start(next_carrier, world=VirtualWorld(1, later(NOON, pause_s)))
    await env.wait(0.5)
    assert 2 in [attempt.number for _, attempt in next_carrier.submitted]
    await env.wait(900 + 60)

    assert len(next_carrier.submitted) == len(set(next_carrier.ids)) == 25
    assert sorted(attempt.number for _, attempt in next_carrier.submitted) == [1] * 15 + [2] * 10
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)] * 25


@pytest.mark.first_case
@pytest.mark.parametrize("pause_s", [2, 1800], ids=["within the lease", "long after the lease"])
async def test_messages_in_flight_at_a_crash_are_held_where_doubt_is_held(start: Start, pause_s: int) -> None:
    carrier = FakeCarrier(window=10, delay_s=1000, timeout_s=900, holds_in_doubt=True)
    request_id = await crash_with_full_window(start, carrier, 25, sms_timeout_hours=1)
    next_carrier = FakeCarrier(answer=accept_without_receipt, window=10, timeout_s=900, holds_in_doubt=True)
    env = await start(next_carrier, world=VirtualWorld(1, later(NOON, pause_s)), sms_timeout_hours=1)
    await env.wait(60)
    assert set(next_carrier.ids).isdisjoint(carrier.ids)
    assert len(next_carrier.submitted) == len(set(next_carrier.ids)) == 15
    statuses = [status for status, _ in await env.outcomes_of(request_id)]
    assert (statuses.count(SENDING), statuses.count(DONE)) == (10, 15)

    await next_carrier.report(
        *((f"r{number}", GOOD, doubt_name_of(message_id)) for number, message_id in enumerate(carrier.ids[:4]))
    )
    await env.jump(3600)

    assert len(next_carrier.submitted) == 15
    outcomes = [outcome for _, outcome in await env.outcomes_of(request_id)]
    assert (outcomes.count(GOOD), outcomes.count(Outcome.UNKNOWN)) == (19, 6)
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "receipts") == 0


async def test_more_messages_in_doubt_than_one_round_handles_are_all_held(start: Start) -> None:
    carrier = FakeCarrier(window=1200, delay_s=1000, timeout_s=900, holds_in_doubt=True)
    request_id = await crash_with_full_window(start, carrier, 1200, max_receivers=2000)
    next_carrier = FakeCarrier(window=1200, holds_in_doubt=True)
    env = await start(next_carrier, world=VirtualWorld(1, later(NOON, 2)))
    await env.wait(60)

    assert next_carrier.submitted == []
    assert await env.outcomes_of(request_id) == [(SENDING, None)] * 1200
