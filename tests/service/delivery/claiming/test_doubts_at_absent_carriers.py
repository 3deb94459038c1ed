"""Messages in doubt at a carrier that stays away for ever: they end when their receipt would be overdue."""

import pytest

from pabal.carriers.base import NotSent, Unknown, Verdict
from pabal.domain.base.dates import HOUR, MINUTE, Instant
from pabal.domain.sends.message import Attempt, Outcome, Status
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from tests.fixtures.delivery import disconnected_carrier
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    FakeCarrier,
    RunScenario,
    add_profile,
    alimtalk,
    answer_in_order,
    count_rows,
    message_of,
    outcomes_of,
    send,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

SENDING, UNKNOWN = (Status.SENDING, None), (Status.FAIL, Outcome.UNKNOWN)


def absent_carrier(*, can_look_up: bool) -> FakeCarrier:
    carrier = disconnected_carrier()
    carrier.can_look_up = can_look_up
    return carrier


def run_later(
    run_scenario: RunScenario, sent: bytes, expected: tuple[Status, Outcome | None], now: Instant
) -> None:
    """Check what has become of a message that its carrier, still away, could not look up until now."""

    async def scenario(env: Environment) -> None:
        await env.wait(120)
        assert await outcomes_of(env, sent) == [expected]
        assert await count_rows(env, "jobs") == (expected == SENDING)

    carriers = {DEFAULT_CARRIER: absent_carrier(can_look_up=True)}
    run_scenario(scenario, carriers=carriers, world=VirtualWorld(1, now))


@pytest.mark.parametrize(("is_sms", "hours"), [(True, 25), (False, 80)])
def test_message_in_doubt_ends_at_its_timeout_if_nobody_can_look_it_up(
    run_scenario: RunScenario, is_sms: bool, hours: int
) -> None:
    carrier = FakeCarrier(can_look_up=True)
    sent: list[bytes] = []

    def leave_in_doubt_then_go_away(attempt: Attempt) -> Verdict:
        carrier.is_connected = False
        return Unknown()

    carrier.answer = leave_in_doubt_then_go_away

    async def scenario(env: Environment) -> None:
        sending = sms() if is_sms else alimtalk(await add_profile(env))
        sent.append(await send(env, sending._replace(expire_minutes=1, fallback=None)))
        await env.wait(180)
        assert await outcomes_of(env, sent[0]) == [SENDING]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})
    run_later(run_scenario, sent[0], SENDING, NOON + hours * HOUR - 5 * MINUTE)
    run_later(run_scenario, sent[0], UNKNOWN, NOON + hours * HOUR + 1 * MINUTE)


def test_message_in_doubt_that_is_never_transmitted_again_ends_at_its_timeout(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(answer=answer_in_order(Unknown(), NotSent()), can_look_up=True)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(expire_minutes=1))
        await env.wait(180)
        assert await outcomes_of(env, request_id) == [SENDING]
        env.world.starts_at += 25 * HOUR
        await env.wait(30)

        assert await outcomes_of(env, request_id) == [UNKNOWN]
        assert await count_rows(env, "jobs") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})


@pytest.mark.parametrize("can_look_up", [False, True])
def test_message_whose_lease_ran_out_ends_though_its_carrier_stays_away(
    run_scenario: RunScenario, can_look_up: bool
) -> None:
    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(expire_minutes=1))
        asked = ClaimRequest(0, DEFAULT_CARRIER, 10, 1 * MINUTE, can_look_up=can_look_up)
        await env.store.write(claim, asked, env.context.policy, env.world.now())  # by a worker that died then
        await env.wait(2 * 60 * 60)
        assert await outcomes_of(env, request_id) == [SENDING]
        env.world.starts_at += 25 * HOUR
        await env.wait(10 * 60)

        message = await message_of(env, request_id)
        assert (message.status, message.outcome) == UNKNOWN
        assert await count_rows(env, "jobs") == 0

    run_scenario(scenario, carriers={DEFAULT_CARRIER: absent_carrier(can_look_up=can_look_up)})


def test_message_in_flight_is_left_to_its_verdict_when_the_clock_is_set_forward(run_scenario: RunScenario) -> None:
    carrier = FakeCarrier(delay_s=25.0)

    async def scenario(env: Environment) -> None:
        request_id = await send(env, sms(expire_minutes=1))
        await env.wait(1)
        env.world.starts_at += 5 * MINUTE
        await env.wait(40)

        assert len(carrier.submitted) == 1
        assert await count_rows(env, "receipts") == 1  # accepted under the carrier's reference, not in doubt
        await carrier.report((f"{carrier.ids[0].hex()}", Outcome.DELIVERED))
        assert await outcomes_of(env, request_id) == [(Status.COMPLETED, Outcome.DELIVERED)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier})
