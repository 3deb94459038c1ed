"""Schedules: nothing is sent early, advertisements wait for the morning, deleted profiles send nothing."""

import pytest

from pabal.carriers.base import Busy
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Outcome, Status
from pabal.service.relay.profiles import delete
from pabal.service.sending.waiting import cancel_request
from tests.fixtures.delivery import accept_without_receipt, at, friendtalk_ad
from tests.fixtures.service import FakeCarrier, Start, account_id_of, alimtalk, later, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

WAITING, DONE, FAILED = Status.WAITING, Status.COMPLETED, Status.FAIL


@pytest.mark.carrier(answer=accept_without_receipt)
async def test_scheduled_message_is_sent_at_its_time_and_not_before(env: Environment, carrier: FakeCarrier) -> None:
    due_at = later(NOON, 600)
    request_id = await env.send(sms(scheduled_at=due_at))
    await env.wait(599.9)
    assert carrier.submitted == []
    assert await env.outcomes_of(request_id) == [(WAITING, None)]

    await env.wait(0.2)

    assert len(carrier.submitted) == 1
    assert NOON + carrier.times[0] * SECOND >= due_at
    assert await env.outcomes_of(request_id) == [(DONE, Outcome.DELIVERED)]


@pytest.mark.carrier(is_connected=False)
async def test_waiting_messages_of_a_deleted_profile_are_cancelled_when_due(
    env: Environment, carrier: FakeCarrier
) -> None:
    profile = await env.add_profile()
    request_id = await env.send(alimtalk(profile))
    await delete(env.context, await account_id_of(env), f"{profile:040x}", None)
    carrier.is_connected = True
    await env.wait(60)

    assert carrier.submitted == []
    assert await env.outcomes_of(request_id) == [(Status.CANCEL, None)]
    assert (await env.message_of(request_id)).completed_at is not None
    assert await env.job_of(message_id_of(request_id)) is None


@pytest.mark.carrier(answer=lambda attempt: Busy())
async def test_busy_message_of_a_deleted_profile_fails_without_fallback(
    env: Environment, carrier: FakeCarrier
) -> None:
    profile = await env.add_profile()
    request_id = await env.send(alimtalk(profile, fallback_text="대신"))
    await env.wait(0.1)
    await delete(env.context, await account_id_of(env), f"{profile:040x}", None)
    submitted_before = len(carrier.submitted)
    await env.wait(60)

    assert len(carrier.submitted) == submitted_before
    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.UNDELIVERABLE)]


async def test_advertisement_due_at_night_is_not_sent_but_a_notice_is(start: Start) -> None:
    carrier = FakeCarrier(answer=accept_without_receipt)
    env = await start(carrier, world=VirtualWorld(0, at(20, 49)))
    profile = await env.add_profile()
    ad = await env.send(friendtalk_ad(profile)._replace(scheduled_at=at(20, 50)))
    notice = await env.send(alimtalk(profile, scheduled_at=at(20, 50)))
    await env.wait(600)

    assert carrier.ids == [message_id_of(notice)]
    assert await env.outcomes_of(ad) == [(WAITING, None)]


async def test_advertisement_held_overnight_is_sent_at_eight_and_can_be_cancelled(start: Start) -> None:
    carrier = FakeCarrier(answer=accept_without_receipt)
    begins_at = at(7, 55)
    env = await start(carrier, world=VirtualWorld(0, begins_at))
    profile = await env.add_profile()
    remaining, cancelled_request = (
        await env.send(friendtalk_ad(profile)),
        await env.send(friendtalk_ad(profile)),
    )
    await env.wait(60)
    cancelled = await cancel_request(env.context, await account_id_of(env), cancelled_request, None)
    assert cancelled == (1, 1)
    await env.wait(300)

    assert carrier.ids == [message_id_of(remaining)]
    assert at(8) <= begins_at + carrier.times[0] * SECOND <= at(8) + SECOND
