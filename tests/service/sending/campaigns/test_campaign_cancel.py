"""Campaigns that are cancelled or sent now."""

import asyncio

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.base.dates import HOUR
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Sending
from pabal.service.sending.campaigns import campaigns as service
from pabal.store.campaigns import campaigns
from tests.fixtures.campaigns import (
    audit_entry,
    campaign_parts,
    campaign_progress,
    checked_campaign,
    get_campaign,
    phones,
    received,
    start_campaign,
)
from tests.fixtures.delivery import accept_without_receipt, disconnected_carrier
from tests.fixtures.refusals import refused
from tests.fixtures.service import FakeCarrier, Start, count_rows, later
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

LATER = later(NOON, 300)


async def until_created(env: Environment, least: int) -> None:
    """Let other tasks run until this many requests exist."""
    for _ in range(1000):
        if await count_rows(env, "campaign_requests") >= least:
            return
        await asyncio.sleep(0)
    raise AssertionError("they are not made")


async def test_cancelled_campaign_sends_nothing_more(env: Environment, carrier: FakeCarrier) -> None:
    campaign_id = await checked_campaign(env, *[phones(2, 10 * number) for number in range(4)])
    await start_campaign(env, campaign_id, LATER)
    campaign = await get_campaign(env, campaign_id)
    making = asyncio.create_task(service.advance_all(env.context))
    await until_created(env, 2)
    assert await service.cancel_campaign(env.context, campaign, audit_entry(env))
    await asyncio.gather(making)
    await env.wait(600)

    assert carrier.submitted == []
    kept = await get_campaign(env, campaign_id)
    assert kept.state is CampaignState.CANCELLED
    found = await campaign_parts(env, campaign_id)
    assert 2 <= len(found) <= 4
    for each in found:
        assert {status for status, _ in await env.outcomes_of(each.request_id)} == {Status.CANCEL}
    assert (await campaign_progress(env, campaign_id)).cancel == kept.requested
    assert await count_rows(env, "campaign_blocks") == 0
    assert await count_rows(env, "jobs") == 0
    assert not await service.cancel_campaign(env.context, campaign, audit_entry(env))


async def test_interrupted_cancel_is_finished_by_run_campaigns(env: Environment, carrier: FakeCarrier) -> None:
    campaign_id = await checked_campaign(env, phones(2), phones(2, 10))
    await start_campaign(env, campaign_id, LATER)
    await env.wait(5)
    now = env.world.now()
    assert await env.store.write(
        campaigns.change_state, campaign_id, (CampaignState.MADE,), CampaignState.CANCELLING, now
    )
    await env.wait(600)

    assert carrier.submitted == []
    assert (await get_campaign(env, campaign_id)).state is CampaignState.CANCELLED
    assert (await campaign_progress(env, campaign_id)).cancel == 4


@pytest.mark.carrier
async def test_messages_in_flight_are_not_cancelled_and_are_counted(env: Environment, carrier: FakeCarrier) -> None:
    campaign_id = await checked_campaign(env, phones(2))
    await start_campaign(env, campaign_id)
    await env.wait(3)
    await service.cancel_campaign(env.context, await get_campaign(env, campaign_id), audit_entry(env))
    await env.wait(3)
    assert (await campaign_progress(env, campaign_id)).sending == 2
    await carrier.report(*[(one.hex(), Outcome.DELIVERED) for one in carrier.ids])
    await env.wait(60)

    assert (await campaign_progress(env, campaign_id)).completed == 2
    assert all(each.is_ended for each in await campaign_parts(env, campaign_id))


async def test_scheduled_campaign_waits_for_its_time_and_can_be_sent_now(
    env: Environment, carrier: FakeCarrier
) -> None:
    campaign_id = await checked_campaign(env, phones(12), phones(2, 100))
    await start_campaign(env, campaign_id, LATER)
    await env.wait(60)
    assert carrier.submitted == []
    assert (await campaign_progress(env, campaign_id)).waiting == 14

    assert await service.send_campaign_now(env.context, await get_campaign(env, campaign_id), audit_entry(env))
    await env.wait(10)

    assert len(received(carrier)) == len(set(received(carrier))) == 14
    kept = await get_campaign(env, campaign_id)
    assert (kept.is_expedited, kept.scheduled_at) == (False, NOON + 60_000)
    assert (await campaign_progress(env, campaign_id)).completed == 14
    await env.wait(600)
    assert len(carrier.submitted) == 14


async def test_campaign_sent_now_while_requests_are_created_is_sent_completely(
    env: Environment, carrier: FakeCarrier
) -> None:
    campaign_id = await checked_campaign(env, *[phones(2, 10 * number) for number in range(5)])
    await start_campaign(env, campaign_id, LATER)
    making = asyncio.create_task(service.advance_all(env.context))
    await until_created(env, 2)
    await service.send_campaign_now(env.context, await get_campaign(env, campaign_id), audit_entry(env))
    await asyncio.gather(making)
    await env.wait(20)

    assert len(received(carrier)) == len(set(received(carrier))) == 10


async def test_advertisement_cannot_be_sent_now_at_night(start: Start) -> None:
    env = await start(disconnected_carrier(), world=VirtualWorld(starts_at=NOON + 10 * HOUR))
    ad = Sending(Product.FRIENDTALK_TEXT, "(광고) 봄", (), is_ad=True)
    campaign_id = await checked_campaign(env, phones(2), sending=ad)
    await start_campaign(env, campaign_id, LATER)
    with refused(Code.NIGHT_AD_RESTRICTED):
        await service.send_campaign_now(env.context, await get_campaign(env, campaign_id), audit_entry(env))
