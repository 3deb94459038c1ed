"""Campaigns: every receiver of a checked file gets its message once, whatever happens in between."""

import asyncio
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Rejected
from pabal.domain.button import Button
from pabal.domain.campaign import State
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import DAY, HOUR
from pabal.domain.image import Image
from pabal.domain.message import Outcome, Product, Status
from pabal.domain.sending import Sending, shared_from_json, shared_to_json
from pabal.service.relay.profiles import delete
from pabal.service.sending import campaigns as service
from pabal.service.upkeep import housekeeping
from pabal.service.upkeep.cancel_after_restore import RESTORED, stand_down
from pabal.store import campaigns
from pabal.store.engine.base import StoreAway
from tests.fixtures.audit import latest
from tests.fixtures.campaigns import checked, deed, get, parts, phones, progress, start
from tests.fixtures.service import (
    POST,
    Post,
    RunScenario,
    account,
    add_profile,
    alimtalk,
    count,
    counted,
    ends,
    later,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld, build_environment, in_virtual_time, open_store
from tests.fixtures.web import BreakingStore

LATER = later(NOON, 300)


def at_once() -> Post:
    """Return a carrier that delivers at once."""
    return Post(answer=lambda attempt: Accepted(None))


def idle() -> Post:
    post = Post()
    post.is_connected = False
    return post


def received(post: Post) -> list[str]:
    return sorted(attempt.receiver for _, attempt in post.handed)


async def until_made(env: Environment, least: int) -> None:
    """Let the others go on, turn by turn, until so many requests are made."""
    for _ in range(1000):
        if await count(env, "campaign_requests") >= least:
            return
        await asyncio.sleep(0)
    raise AssertionError("they are not made")


def test_every_receiver_gets_its_message_once_and_the_counts_come_to_an_end(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, phones(12), phones(5, 100), phones(1, 200))
        assert await start(env, campaign_id)
        assert not await start(env, campaign_id), "once is enough"
        await env.wait(10)

        assert received(post) == sorted([*phones(12), *phones(5, 100), *phones(1, 200)])
        campaign = await get(env, campaign_id)
        assert (campaign.state, campaign.made, campaign.receivers) == (State.MADE, 18, 18)
        assert [(each.number, each.receivers, each.is_ended) for each in await parts(env, campaign_id)] == [
            (1, 12, True),
            (2, 5, True),
            (3, 1, True),
        ]
        assert (await progress(env, campaign_id))._asdict() == {
            "waiting": 0, "sending": 0, "completed": 18, "fail": 0, "cancel": 0, "fallbacks": 0
        }  # fmt: skip
        assert await count(env, "campaign_blocks") == 0
        assert counted(env, "pabal_messages_accepted_total", product="sms") == 18
        assert [each.what for each in await env.store.read(latest, None, 5)] == ["campaign.test"]

    run_scenario(scenario, carriers={POST: post})


def test_what_was_not_asked_for_is_not_sent(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        await checked(env, phones(3))
        await env.wait(60)
        assert post.handed == []

    run_scenario(scenario, carriers={POST: post})


@pytest.mark.parametrize("cut", [1, 2, 3, 5, 8])
def test_a_restart_in_the_middle_neither_loses_nor_doubles(tmp_path: Path, cut: int) -> None:
    post = at_once()
    wanted = [phones(3, 100 * number) for number in range(6)]

    async def whole() -> None:
        world = VirtualWorld()
        store = BreakingStore(open_store(tmp_path, world))
        env = await build_environment(tmp_path, world=world, store=store, carriers={POST: post}, delivers=False)
        campaign_id = await checked(env, *wanted)
        campaign = await get(env, campaign_id)
        await service.start(env.context, campaign, "x", LATER, deed(env))
        making = asyncio.create_task(service.go_round(env.context))
        for _ in range(3 * cut):
            await asyncio.sleep(0)
        making.cancel()
        await asyncio.gather(making, return_exceptions=True)
        made = await count(env, "campaign_requests")
        await env.service.stop()

        again = await build_environment(tmp_path, world=world, carriers={POST: post})
        await again.wait(400)
        assert made <= 6
        assert received(post) == sorted(phone for block in wanted for phone in block)
        assert (await progress(again, campaign_id)).completed == 18
        await again.service.stop()

    in_virtual_time(whole())


def test_two_who_make_the_same_campaign_make_it_once(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, *[phones(2, 10 * number) for number in range(8)])
        await start(env, campaign_id)
        await asyncio.gather(service.go_round(env.context), service.go_round(env.context))
        await env.wait(10)

        assert len(received(post)) == len(set(received(post))) == 16
        assert (await get(env, campaign_id)).made == 16

    run_scenario(scenario, carriers={POST: post})


def test_the_store_being_away_only_delays_it(tmp_path: Path) -> None:
    post = at_once()

    async def whole() -> None:
        world = VirtualWorld()
        store = BreakingStore(open_store(tmp_path, world))
        env = await build_environment(tmp_path, world=world, store=store, carriers={POST: post})
        campaign_id = await checked(env, *[phones(2, 10 * number) for number in range(4)])
        await start(env, campaign_id)
        store.trouble = StoreAway()
        await env.wait(30)
        assert post.handed == []
        store.trouble = None
        await env.wait(30)

        assert len(received(post)) == len(set(received(post))) == 8
        await env.service.stop()

    in_virtual_time(whole())


def test_cancelled_in_the_middle_nothing_more_goes_out(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, *[phones(2, 10 * number) for number in range(4)])
        await start(env, campaign_id, LATER)
        campaign = await get(env, campaign_id)
        making = asyncio.create_task(service.go_round(env.context))
        await until_made(env, 2)
        assert await service.cancel_campaign(env.context, campaign, deed(env))
        await asyncio.gather(making)
        await env.wait(600)

        assert post.handed == []
        kept = await get(env, campaign_id)
        assert kept.state is State.CANCELLED
        found = await parts(env, campaign_id)
        assert 2 <= len(found) <= 4
        for each in found:
            assert {status for status, _ in await ends(env, each.request_id)} == {Status.CANCEL}
        assert (await progress(env, campaign_id)).cancel == kept.made
        assert await count(env, "campaign_blocks") == 0
        assert await count(env, "jobs") == 0
        assert not await service.cancel_campaign(env.context, campaign, deed(env))

    run_scenario(scenario, carriers={POST: post})


def test_a_cancel_that_was_cut_short_is_finished_by_whoever_keeps_campaigns(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, phones(2), phones(2, 10))
        await start(env, campaign_id, LATER)
        await env.wait(5)
        now = env.world.now()
        assert await env.store.write(campaigns.move, campaign_id, (State.MADE,), State.CANCELLING, now)
        await env.wait(600)

        assert post.handed == []
        assert (await get(env, campaign_id)).state is State.CANCELLED
        assert (await progress(env, campaign_id)).cancel == 4

    run_scenario(scenario, carriers={POST: post})


def test_what_is_on_its_way_is_not_cancelled_and_still_counted(run_scenario: RunScenario) -> None:
    post = Post()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, phones(2))
        await start(env, campaign_id)
        await env.wait(3)
        await service.cancel_campaign(env.context, await get(env, campaign_id), deed(env))
        await env.wait(3)
        assert (await progress(env, campaign_id)).sending == 2
        await post.report(*[(one.hex(), Outcome.DELIVERED) for one in post.ids])
        await env.wait(60)

        assert (await progress(env, campaign_id)).completed == 2
        assert all(each.is_ended for each in await parts(env, campaign_id))

    run_scenario(scenario, carriers={POST: post})


def test_a_scheduled_campaign_waits_for_its_time_and_can_be_hurried(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, phones(12), phones(2, 100))
        await start(env, campaign_id, LATER)
        await env.wait(60)
        assert post.handed == []
        assert (await progress(env, campaign_id)).waiting == 14

        assert await service.hurry_campaign(env.context, await get(env, campaign_id), deed(env))
        await env.wait(10)

        assert len(received(post)) == len(set(received(post))) == 14
        kept = await get(env, campaign_id)
        assert (kept.is_hurried, kept.scheduled_at) == (False, NOON + 60_000)
        assert (await progress(env, campaign_id)).completed == 14
        await env.wait(600)
        assert len(post.handed) == 14

    run_scenario(scenario, carriers={POST: post})


def test_hurried_while_it_is_made_all_of_it_goes_now(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, *[phones(2, 10 * number) for number in range(5)])
        await start(env, campaign_id, LATER)
        making = asyncio.create_task(service.go_round(env.context))
        await until_made(env, 2)
        await service.hurry_campaign(env.context, await get(env, campaign_id), deed(env))
        await asyncio.gather(making)
        await env.wait(20)

        assert len(received(post)) == len(set(received(post))) == 10

    run_scenario(scenario, carriers={POST: post})


def test_at_night_an_advertisement_is_not_hurried(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        ad = Sending(Product.FRIENDTALK_TEXT, "(광고) 봄", (), is_ad=True)
        campaign_id = await checked(env, phones(2), sending=ad)
        await start(env, campaign_id, LATER)
        with pytest.raises(Refused) as refusal:
            await service.hurry_campaign(env.context, await get(env, campaign_id), deed(env))
        assert refusal.value.code is Code.NIGHT_AD_RESTRICTED

    run_scenario(scenario, carriers={POST: idle()}, world=VirtualWorld(begins_at=NOON + 10 * HOUR))


def test_a_campaign_of_a_deleted_profile_is_halted_with_the_reason_and_can_go_on(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        profile_id = await add_profile(env)
        talk = alimtalk(profile_id, resend=None)._replace(template_code=None)
        campaign_id = await checked(env, phones(2), sending=talk, sender_key=f"{profile_id:040x}")
        await delete(env.context, await account(env), None, "@shop")
        await start(env, campaign_id)
        await env.wait(5)

        kept = await get(env, campaign_id)
        assert kept.state is State.HALTED
        assert kept.reason[1] == Code.SENDER_NOT_FOUND.words.en
        assert post.handed == []
        assert await service.go_on(env.context, kept, deed(env))
        await env.wait(5)
        assert (await get(env, campaign_id)).state is State.HALTED
        assert await service.cancel_campaign(env.context, kept, deed(env))
        assert (await get(env, campaign_id)).state is State.CANCELLED

    run_scenario(scenario, carriers={POST: post})


def test_failed_talks_and_the_texts_that_stand_in_for_them_are_counted(run_scenario: RunScenario) -> None:
    def answer(attempt: object) -> Accepted | Rejected:
        return Rejected(Outcome.NOT_A_USER) if attempt.product is Product.ALIMTALK else Accepted(None)  # type: ignore[attr-defined]

    async def scenario(env: Environment) -> None:
        profile_id = await add_profile(env)
        campaign_id = await checked(env, phones(3), sending=alimtalk(profile_id), sender_key=f"{profile_id:040x}")
        await start(env, campaign_id)
        await env.wait(20)

        found = await progress(env, campaign_id)
        assert (found.fail, found.fallbacks, found.total) == (3, 3, 3)

    run_scenario(scenario, carriers={POST: Post(answer=answer)})


def test_from_a_backup_nothing_more_is_made_until_someone_says_so(run_scenario: RunScenario) -> None:
    post = at_once()

    async def scenario(env: Environment) -> None:
        campaign_id = await checked(env, phones(2), phones(2, 10))
        assert await env.store.write(campaigns.start, campaign_id, env.world.now(), "x", None, env.world.now())
        done = await env.store.write(stand_down, env.context.policy, env.world.now())
        await env.wait(10)

        assert done.halted == 1
        kept = await get(env, campaign_id)
        assert (kept.state, kept.reason) == (State.HALTED, tuple(RESTORED))
        assert post.handed == []
        await service.go_on(env.context, kept, deed(env))
        await env.wait(10)
        assert len(post.handed) == 4

    run_scenario(scenario, carriers={POST: post})


def test_unsent_campaigns_are_forgotten_after_a_week_and_sent_ones_with_the_rest(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        unsent = await checked(env, phones(2))
        sent = await checked(env, phones(2, 10))
        await start(env, sent)
        await env.wait(10)
        env.world.begins_at += 8 * DAY
        await housekeeping.go_round(env.context)
        assert await env.store.read(campaigns.get, unsent) is None
        assert (await get(env, sent)).state is State.MADE
        env.world.begins_at += 60 * DAY
        await housekeeping.go_round(env.context)
        assert await count(env, "campaigns") == 0
        assert await count(env, "campaign_requests") == 0
        assert await count(env, "campaign_blocks") == 0

    run_scenario(scenario, carriers={POST: at_once()}, retention_days=65)


def test_what_many_requests_share_is_kept_whole() -> None:
    sending = Sending(
        Product.FRIENDTALK_IMAGE,
        "안녕 #{이름}",
        (),
        image=Image("image/jpeg", "a.jpg", b"\xff\xd8\xff\x00"),
        image_link="https://example.com",
        buttons=(Button(buttonType="webLink", name="보기", mobileUrl="https://example.com/#{이름}"),),
        is_ad=True,
        fallback=None,
        profile_id=3,
        variables=("이름",),
    )
    assert shared_from_json(shared_to_json(sending)) == sending
    text = sms(subject="제목")._replace(receivers=())
    assert shared_from_json(shared_to_json(text)) == text
