"""Limits of accounts: never exceeded, counted once, across processes, restarts and days."""

import asyncio
from pathlib import Path

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import DAY, HOUR, SECOND
from pabal.domain.events.event import EventType
from pabal.domain.sends.account import AccountLimits
from pabal.domain.sends.campaign import CampaignState
from pabal.service.account_limiter import CAMPAIGN_PAUSE_S
from pabal.service.sending.accept import IdempotencyKey, accept
from pabal.store.accounts import account_limits
from pabal.store.engine.base import StoreUnavailable
from pabal.store.events import events
from tests.fixtures.campaigns import campaign_parts, checked_campaign, get_campaign, phones, start_campaign
from tests.fixtures.cluster import open_cluster
from tests.fixtures.service import PHONE, FakeCarrier, Start, account_id_of, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

pytestmark = pytest.mark.carrier(is_connected=False)


async def limit(env: Environment, *values: int) -> int:
    """Set limits of the first account and return its id; they hold when this returns."""
    account_id = await account_id_of(env)
    await env.store.write(account_limits.save, account_id, AccountLimits(*values))
    return account_id


async def try_to_send(env: Environment, receivers: int = 1, key: IdempotencyKey | None = None) -> Refused | None:
    """Send to this many receivers; return the refusal, if any."""
    try:
        await accept(env.context, await account_id_of(env), sms(*[PHONE] * receivers), key)
    except Refused as refused:
        return refused
    return None


async def accepted_of(env: Environment, tries: int, receivers: int = 1) -> int:
    """Return how many of some concurrent sends are accepted."""
    results = await asyncio.gather(*(try_to_send(env, receivers) for _ in range(tries)))
    return results.count(None)


async def test_account_without_limits_costs_no_transaction(env: Environment) -> None:
    assert await accepted_of(env, 20) == 20

    assert await count_rows(env, "limit_usage") == 0


@pytest.mark.parametrize("value", [1, 7, 250])
async def test_day_limit_is_exact_in_one_process(env: Environment, value: int) -> None:
    await limit(env, 0, value)

    assert await accepted_of(env, value + 20) == value
    assert await count_rows(env, "messages") == value


async def test_refusal_names_limit_use_and_reset_and_stores_nothing(env: Environment) -> None:
    await limit(env, 0, 100)
    assert await try_to_send(env, 95) is None

    refused = await try_to_send(env, 6)

    assert refused is not None
    (problem,) = refused.problems
    assert (problem.code, problem.field) == (Code.LIMIT_EXCEEDED, "receivers_per_day")
    assert "limit 100, used 95, this request 6" in problem.message("en")
    assert "2026-11-16 00:00:00" in problem.message("en")
    assert "하루 수신자: 한도 100, 사용 95" in problem.message("ko")
    assert await try_to_send(env, 5) is None
    assert await count_rows(env, "messages") == 100


async def test_day_ends_at_midnight_in_seoul_and_month_on_its_last_day(start: Start, carrier: FakeCarrier) -> None:
    world = VirtualWorld(starts_at=NOON + 12 * HOUR - SECOND)
    env = await start(carrier, world=world)
    await limit(env, 0, 10, 25)
    await env.wait(2)
    assert await accepted_of(env, 11) == 10
    world.starts_at += DAY
    assert await accepted_of(env, 11) == 10
    world.starts_at += DAY
    assert await accepted_of(env, 11) == 5

    refused = await try_to_send(env)

    assert refused is not None
    assert refused.problems[0].field == "receivers_per_month"
    assert "2026-12-01 00:00:00" in refused.problems[0].message("ko")
    world.starts_at += 15 * DAY
    assert await accepted_of(env, 11) == 10


async def test_repeats_and_refused_sends_count_nothing(env: Environment) -> None:
    await limit(env, 0, 10)
    key, other = IdempotencyKey("k", b"1"), IdempotencyKey("k", b"2")
    for _ in range(5):
        assert await try_to_send(env, 4, key) is None
    refused = [await try_to_send(env, 4, other), await try_to_send(env, 7)]
    assert [each.code for each in refused if each] == [Code.DUPLICATE, Code.LIMIT_EXCEEDED]

    assert await try_to_send(env, 6) is None
    assert await try_to_send(env, 1) is not None


async def test_send_of_unknown_outcome_is_at_most_refused_early(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        process = await cluster.start_process("one", delivers=False)
        env = process.env
        account_id = await limit(env, 0, 1000)
        assert await try_to_send(env) is None  # now it has a share
        process.store_proxy.is_unavailable = True
        with pytest.raises(StoreUnavailable):
            await accept(env.context, account_id, sms(*[PHONE] * 5))
        process.store_proxy.is_unavailable = False

        assert await accepted_of(env, 1010) == 994


async def test_processes_never_exceed_a_limit_together(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        processes = [await cluster.start_process(name, delivers=False) for name in ("one", "two", "three")]
        await limit(processes[0].env, 0, 500)

        done = await asyncio.gather(*(accepted_of(each.env, 400) for each in processes))

        assert 500 - 2 * 5 <= sum(done) <= 500
        assert await count_rows(processes[0].env, "messages") == sum(done)


async def test_stopped_process_gives_its_share_back_and_a_killed_one_loses_one_share(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        first = await cluster.start_process("one", delivers=False)
        await limit(first.env, 0, 1000)
        assert await try_to_send(first.env) is None
        await first.leave()
        second = await cluster.start_process("two", delivers=False)
        assert await try_to_send(second.env) is None
        await second.die()
        third = await cluster.start_process("three", delivers=False)

        done = 2 + await accepted_of(third.env, 1000)

        assert 1000 - 10 <= done <= 1000


async def test_limit_holds_across_restarts(start: Start, carrier: FakeCarrier) -> None:
    total = 0
    for seed in range(4):  # each process makes ids of its own
        env = await start(carrier, world=VirtualWorld(seed))
        await limit(env, 0, 100)
        total += await accepted_of(env, 30)
    assert total == 100


async def test_lowered_limit_holds_at_once_and_a_raised_one_too(env: Environment) -> None:
    await limit(env, 0, 10_000)
    assert await accepted_of(env, 20) == 20

    await limit(env, 0, 30)
    assert await accepted_of(env, 20) == 10

    await limit(env, 0, 35)
    assert await accepted_of(env, 20) == 5
    await limit(env, 0, 0)
    assert await accepted_of(env, 20) == 20


async def test_rate_takes_a_whole_request_then_waits_until_it_is_paid_off(env: Environment) -> None:
    await limit(env, 100)
    assert await try_to_send(env, 500) is None

    refused = await try_to_send(env)

    assert refused is not None
    assert (refused.code, refused.problems[0].field) == (Code.RATE_LIMITED, "receivers_per_second")
    assert refused.retry_after_s == pytest.approx(4, abs=0.01)
    await env.wait(4.01)
    assert await try_to_send(env) is None


async def test_rate_is_shared_by_processes(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        processes = [await cluster.start_process(name, delivers=False) for name in ("one", "two")]
        await limit(processes[0].env, 50)

        done = 0
        for _ in range(100):
            done += sum(await asyncio.gather(*(accepted_of(each.env, 5) for each in processes)))
            await cluster.wait(0.1)

        assert 0.9 * 50 * 10 <= done <= 50 * 11 + 10


async def test_coming_near_a_limit_is_logged_counted_and_told(
    env: Environment, caplog: pytest.LogCaptureFixture
) -> None:
    await limit(env, 0, 100)
    for receivers in (60, 15, 20, 10):
        await try_to_send(env, receivers)

    for percent in ("70", "100"):
        labels = {"limit": "receivers_per_day", "percent": percent}
        assert env.metric_value("pabal_limits_near_total", **labels) == 1
    await env.wait(40)
    account_id = await account_id_of(env)
    page = await env.store.read(events.read_after, account_id, {}, 10, [EventType.LIMIT_NEAR])
    data = await env.store.read(events.get_data, [each.id for each in page.events])
    shares = sorted((data[each.id].data for each in page.events), key=lambda one: int(one["share"]))
    assert [each["share"] for each in shares] == [70, 100]
    assert (shares[0]["limit"], shares[0]["value"]) == ("receivers_per_day", 100)
    assert 70 <= shares[0]["used"] <= 100
    await env.service.stop()

    told = [record for record in caplog.records if getattr(record, "event", "") == "limit.near"]
    assert [record.__dict__["share"] for record in told] == [70, 100]


async def test_campaign_waits_for_its_accounts_limit_and_goes_on(env: Environment) -> None:
    await limit(env, 0, 25)
    numbers = phones(30)
    campaign_id = await checked_campaign(env, numbers[:10], numbers[10:20], numbers[20:])
    assert await start_campaign(env, campaign_id)
    await env.wait(CAMPAIGN_PAUSE_S)

    paused = await get_campaign(env, campaign_id)
    assert (paused.state, len(await campaign_parts(env, campaign_id))) == (CampaignState.MAKING, 2)
    assert "used 20, this request 10" in paused.reason[1]

    await limit(env, 0, 30)
    await env.wait(CAMPAIGN_PAUSE_S / 2)

    done = await get_campaign(env, campaign_id)
    assert (done.state, done.reason, done.requested) == (CampaignState.MADE, (), 30)


async def test_campaign_keeps_to_the_rate_of_its_account(env: Environment) -> None:
    await limit(env, 10)
    numbers = phones(60)
    campaign_id = await checked_campaign(env, numbers[:20], numbers[20:40], numbers[40:])
    assert await start_campaign(env, campaign_id)
    await env.wait(0.5)
    assert len(await campaign_parts(env, campaign_id)) == 1

    await env.wait(30)

    assert (await get_campaign(env, campaign_id)).state is CampaignState.MADE
