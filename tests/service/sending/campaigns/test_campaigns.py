"""Campaigns: every receiver of a validated file gets one message, despite restarts and failures."""

import asyncio
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Rejected
from pabal.domain.base.codes import Code
from pabal.domain.base.dates import DAY
from pabal.domain.content.button import Button
from pabal.domain.content.image import Image
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.sending import Sending, decode_shared, encode_shared
from pabal.service.relay.profiles import delete
from pabal.service.sending.campaigns import campaigns as service
from pabal.service.upkeep import housekeeping
from pabal.service.upkeep.abandoned_jobs import HALT_REASON, cancel_after_restore
from pabal.store.campaigns import campaigns
from tests.fixtures.audit import latest_entries
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
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, account_id_of, alimtalk, count_rows, later, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld, build_environment
from tests.fixtures.web import AWAY, FailingStore

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

LATER = later(NOON, 300)


async def test_every_receiver_gets_one_message_and_progress_completes(
    env: Environment, carrier: FakeCarrier
) -> None:
    campaign_id = await checked_campaign(env, phones(12), phones(5, 100), phones(1, 200))
    assert await start_campaign(env, campaign_id)
    assert not await start_campaign(env, campaign_id), "a campaign starts only once"
    await env.wait(10)

    assert received(carrier) == sorted([*phones(12), *phones(5, 100), *phones(1, 200)])
    campaign = await get_campaign(env, campaign_id)
    assert (campaign.state, campaign.requested, campaign.receivers) == (CampaignState.MADE, 18, 18)
    assert [(each.number, each.receivers, each.is_ended) for each in await campaign_parts(env, campaign_id)] == [
        (1, 12, True),
        (2, 5, True),
        (3, 1, True),
    ]
    assert (await campaign_progress(env, campaign_id))._asdict() == {
        "waiting": 0, "sending": 0, "completed": 18, "fail": 0, "cancel": 0, "fallbacks": 0,
        "fallbacks_completed": 0, "failures": (), "cost": None,
    }  # fmt: skip
    assert await count_rows(env, "campaign_blocks") == 0
    assert env.metric_value("pabal_messages_accepted_total", product="sms") == 18
    assert [each.action for each in await env.store.read(latest_entries, None, 5)] == ["campaign.test"]


async def test_campaign_that_was_not_started_is_not_sent(env: Environment, carrier: FakeCarrier) -> None:
    await checked_campaign(env, phones(3))
    await env.wait(60)
    assert carrier.submitted == []


@pytest.mark.first_case
@pytest.mark.parametrize("cut", [1, 2, 3, 5, 8])
async def test_restart_during_a_campaign_loses_and_duplicates_nothing(
    tmp_path: Path, carrier: FakeCarrier, cut: int
) -> None:
    wanted = [phones(3, 100 * number) for number in range(6)]
    world = VirtualWorld()
    env = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: carrier}, delivers=False)
    campaign_id = await checked_campaign(env, *wanted)
    campaign = await get_campaign(env, campaign_id)
    await service.start(env.context, campaign, "x", LATER, audit_entry(env))
    making = asyncio.create_task(service.advance_all(env.context))
    for _ in range(3 * cut):
        await asyncio.sleep(0)
    making.cancel()
    await asyncio.gather(making, return_exceptions=True)
    made = await count_rows(env, "campaign_requests")
    await env.service.stop()

    again = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: carrier})
    await again.wait(400)
    assert made <= 6
    assert received(carrier) == sorted(phone for block in wanted for phone in block)
    assert (await campaign_progress(again, campaign_id)).completed == 18
    await again.service.stop()


async def test_two_workers_create_the_requests_of_a_campaign_once(env: Environment, carrier: FakeCarrier) -> None:
    campaign_id = await checked_campaign(env, *[phones(2, 10 * number) for number in range(8)])
    await start_campaign(env, campaign_id)
    await asyncio.gather(service.advance_all(env.context), service.advance_all(env.context))
    await env.wait(10)

    assert len(received(carrier)) == len(set(received(carrier))) == 16
    assert (await get_campaign(env, campaign_id)).requested == 16


async def test_unavailable_store_only_delays_a_campaign(
    failing_store: FailingStore, env: Environment, carrier: FakeCarrier
) -> None:
    campaign_id = await checked_campaign(env, *[phones(2, 10 * number) for number in range(4)])
    await start_campaign(env, campaign_id)
    failing_store.error = AWAY
    await env.wait(30)
    assert carrier.submitted == []
    failing_store.error = None
    await env.wait(30)

    assert len(received(carrier)) == len(set(received(carrier))) == 8


async def test_campaign_of_a_deleted_profile_is_halted_and_can_be_resumed(
    env: Environment, carrier: FakeCarrier
) -> None:
    profile_id = await env.add_profile()
    talk = alimtalk(profile_id, fallback_text=None)._replace(template_code=None)
    campaign_id = await checked_campaign(env, phones(2), sending=talk, sender_key=f"{profile_id:040x}")
    await delete(env.context, await account_id_of(env), None, "@shop")
    await start_campaign(env, campaign_id)
    await env.wait(5)

    kept = await get_campaign(env, campaign_id)
    assert kept.state is CampaignState.HALTED
    assert kept.reason[1] == Code.SENDER_NOT_FOUND.text.en
    assert carrier.submitted == []
    assert await service.resume(env.context, kept, audit_entry(env))
    await env.wait(5)
    assert (await get_campaign(env, campaign_id)).state is CampaignState.HALTED
    assert await service.cancel_campaign(env.context, kept, audit_entry(env))
    assert (await get_campaign(env, campaign_id)).state is CampaignState.CANCELLED


async def test_failed_messages_and_their_fallbacks_are_counted(env: Environment, carrier: FakeCarrier) -> None:
    def answer(attempt: object) -> Accepted | Rejected:
        return Rejected(Outcome.NOT_A_USER) if attempt.product is Product.ALIMTALK else Accepted(None)  # type: ignore[attr-defined]

    carrier.answer = answer
    profile_id = await env.add_profile()
    campaign_id = await checked_campaign(
        env, phones(3), sending=alimtalk(profile_id), sender_key=f"{profile_id:040x}"
    )
    await start_campaign(env, campaign_id)
    await env.wait(20)

    found = await campaign_progress(env, campaign_id)
    assert (found.fail, found.fallbacks, found.total) == (3, 3, 3)


async def test_restored_campaign_creates_no_requests_until_resumed(env: Environment, carrier: FakeCarrier) -> None:
    campaign_id = await checked_campaign(env, phones(2), phones(2, 10))
    assert await env.store.write(campaigns.start, campaign_id, env.world.now(), "x", None, env.world.now())
    done = await env.store.write(cancel_after_restore, env.context.policy, env.world.now())
    await env.wait(10)

    assert done.halted_campaigns == 1
    kept = await get_campaign(env, campaign_id)
    assert (kept.state, kept.reason) == (CampaignState.HALTED, tuple(HALT_REASON))
    assert carrier.submitted == []
    await service.resume(env.context, kept, audit_entry(env))
    await env.wait(10)
    assert len(carrier.submitted) == 4


@pytest.mark.settings(retention_days=68)
async def test_campaigns_are_deleted_when_their_retention_ends(env: Environment) -> None:
    unsent = await checked_campaign(env, phones(2))
    sent = await checked_campaign(env, phones(2, 10))
    await start_campaign(env, sent)
    await env.wait(10)
    env.world.starts_at += 8 * DAY
    await housekeeping.run_round(env.context)
    assert await env.store.read(campaigns.get, unsent) is None
    assert (await get_campaign(env, sent)).state is CampaignState.MADE
    env.world.starts_at += 60 * DAY
    await housekeeping.run_round(env.context)
    assert await count_rows(env, "campaigns") == 0
    assert await count_rows(env, "campaign_requests") == 0
    assert await count_rows(env, "campaign_blocks") == 0


def test_shared_send_of_a_campaign_is_stored_completely() -> None:
    sending = Sending(
        Product.FRIENDTALK_IMAGE,
        "안녕 #{이름}",
        (),
        images=(Image("image/jpeg", "a.jpg", b"\xff\xd8\xff\x00"),),
        image_link="https://example.com",
        buttons=(Button(type="webLink", name="보기", mobile_url="https://example.com/#{이름}"),),
        is_ad=True,
        fallback=None,
        profile_id=3,
        variables=("이름",),
    )
    assert decode_shared(encode_shared(sending)) == sending
    text = sms(subject="제목")._replace(receivers=())
    assert decode_shared(encode_shared(text)) == text
