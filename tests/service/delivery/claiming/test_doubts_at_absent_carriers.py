"""Messages in doubt at a carrier that stays away for ever: they end when their receipt would be overdue."""

import pytest

from pabal.carriers.base import NotSent, Unknown, Verdict
from pabal.domain.base.dates import HOUR, MINUTE, Instant
from pabal.domain.sends.message import Attempt, Outcome, Status
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, alimtalk, answer_in_order, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

SENDING, UNKNOWN = (Status.SENDING, None), (Status.FAIL, Outcome.UNKNOWN)


async def check_later(start: Start, sent: bytes, expected: tuple[Status, Outcome | None], now: Instant) -> None:
    """Check what has become of a message that its carrier, still away, could not look up until now."""
    env = await start(FakeCarrier(is_connected=False, can_look_up=True), world=VirtualWorld(1, now))
    await env.wait(120)
    assert await env.outcomes_of(sent) == [expected]
    assert await count_rows(env, "jobs") == (expected == SENDING)


@pytest.mark.parametrize(("is_sms", "hours"), [(True, 25), (False, 80)])
async def test_message_in_doubt_ends_at_its_timeout_if_nobody_can_look_it_up(
    start: Start, is_sms: bool, hours: int
) -> None:
    carrier = FakeCarrier(can_look_up=True)

    def leave_in_doubt_then_go_away(attempt: Attempt) -> Verdict:
        carrier.is_connected = False
        return Unknown()

    carrier.answer = leave_in_doubt_then_go_away
    env = await start(carrier)
    sending = sms() if is_sms else alimtalk(await env.add_profile())
    sent = await env.send(sending._replace(expire_minutes=1, fallback=None))
    await env.wait(180)
    assert await env.outcomes_of(sent) == [SENDING]

    await check_later(start, sent, SENDING, NOON + hours * HOUR - 5 * MINUTE)
    await check_later(start, sent, UNKNOWN, NOON + hours * HOUR + 1 * MINUTE)


@pytest.mark.carrier(can_look_up=True)
async def test_message_in_doubt_that_is_never_transmitted_again_ends_at_its_timeout(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(Unknown(), NotSent())
    request_id = await env.send(sms(expire_minutes=1))
    await env.wait(180)
    assert await env.outcomes_of(request_id) == [SENDING]
    env.world.starts_at += 25 * HOUR
    await env.wait(30)

    assert await env.outcomes_of(request_id) == [UNKNOWN]
    assert await count_rows(env, "jobs") == 0


@pytest.mark.first_case
@pytest.mark.parametrize("can_look_up", [False, True])
async def test_message_whose_lease_ran_out_ends_though_its_carrier_stays_away(
    start: Start, can_look_up: bool
) -> None:
    env = await start(FakeCarrier(is_connected=False, can_look_up=can_look_up))
    request_id = await env.send(sms(expire_minutes=1))
    asked = ClaimRequest(0, DEFAULT_CARRIER, 10, 1 * MINUTE, can_look_up=can_look_up)
    await env.store.write(claim, asked, env.context.policy, env.world.now())  # by a worker that died then
    await env.wait(10 * 60)
    assert await env.outcomes_of(request_id) == [SENDING]
    env.world.starts_at += 25 * HOUR
    await env.wait(10 * 60)

    message = await env.message_of(request_id)
    assert (message.status, message.outcome) == UNKNOWN
    assert await count_rows(env, "jobs") == 0


@pytest.mark.carrier(delay_s=25.0)
async def test_message_in_flight_is_left_to_its_verdict_when_the_clock_is_set_forward(
    env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms(expire_minutes=1))
    await env.wait(1)
    env.world.starts_at += 5 * MINUTE
    await env.wait(40)

    assert len(carrier.submitted) == 1
    assert await count_rows(env, "receipts") == 1  # accepted under the carrier's reference, not in doubt
    await carrier.report((f"{carrier.ids[0].hex()}", Outcome.DELIVERED))
    assert await env.outcomes_of(request_id) == [(Status.COMPLETED, Outcome.DELIVERED)]
