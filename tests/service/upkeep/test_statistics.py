"""Statistics for the overview: they equal the messages, and finished quarters are not read again."""

from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pabal.carriers.base import Accepted, Rejected, Verdict
from pabal.domain.base.dates import DAY, HOUR, MINUTE, Period, month_of
from pabal.domain.sends.message import PRODUCT_BY_NUMBER, STATUS_BY_NUMBER, Outcome
from pabal.service.sending.accept import accept
from pabal.service.sending.waiting import cancel_request
from pabal.service.upkeep.housekeeping import run_round
from pabal.service.upkeep.statistics import (
    GRACE_MS,
    MAX_GROUPS_PER_QUARTER,
    MAX_LOOKBACK_MS,
    STATISTICS_RETENTION_MS,
    bound_groups,
    update_statistics,
)
from pabal.store.engine.base import Tx
from pabal.store.messages import statistics
from pabal.store.messages.statistics import (
    OPEN_PREFIX,
    OTHER_KEYS,
    OTHERS,
    QUARTER,
    GroupCounts,
    StatisticsGroup,
    quarter_start,
)
from tests.fixtures.service import FakeCarrier, Start, account_id_of, alimtalk, sms
from tests.fixtures.virtual import NOON, Environment
from tests.fixtures.web import world_at_noon

ROUND_S = 61
SEOUL = ZoneInfo("Asia/Seoul")
EVER = Period(0, NOON + 400 * DAY)


async def seen(env: Environment, period: Period = EVER) -> dict[str, int]:
    """Return the statistics of the default account, such as `sms completed 1000`: 3."""
    columns = ["product", "status", "outcome"]
    rows = await env.store.read(statistics.list_groups, await account_id_of(env), [period], columns, 1000)
    return _format_counts({each.group: each.counts.messages for each in rows})


def _format_counts(found: dict[tuple[Any, ...], int]) -> dict[str, int]:
    return {
        f"{PRODUCT_BY_NUMBER[product].code} {STATUS_BY_NUMBER[status].code} {outcome}": number
        for (product, status, outcome), number in found.items()
    }


def _count_all_messages(tx: Tx) -> dict[str, int]:
    """Return the counts of a scan of all messages."""
    rows = tx.fetch_all(
        "select product, status, coalesce(outcome, 0), count(*) from messages"
        " group by product, status, coalesce(outcome, 0)"
    )
    return _format_counts({row[:3]: row[3] for row in rows})


async def advance(env: Environment, minutes: float) -> None:
    """Advance the clock, mostly in one step, and run housekeeping at the end."""
    env.world.move_clock(minutes * 60 - ROUND_S)
    await env.wait(ROUND_S)


async def test_messages_are_recounted_until_they_have_ended(start: Start) -> None:
    post = FakeCarrier()
    env = await start(post, world=world_at_noon())
    await env.send(sms("01000000001", "01000000002"))
    await env.send(sms("01000000003", scheduled_at=NOON + 1 * HOUR))
    await env.wait(1)
    await update_statistics(env.context)
    first = await seen(env)
    one, two = post.ids
    await post.report((one.hex(), Outcome.DELIVERED), (two.hex(), Outcome.PHONE_OFF))
    await update_statistics(env.context)
    second = await seen(env)
    await advance(env, 30)
    await update_statistics(env.context)
    (left,) = await env.store.read(statistics.list_unfinished)
    await advance(env, 31)
    await post.report((post.ids[2].hex(), Outcome.DELIVERED))
    await update_statistics(env.context)

    assert first == {"sms sending 0": 2, "sms waiting 0": 1}
    assert second == {"sms completed 1000": 1, "sms fail 2003": 1, "sms waiting 0": 1}
    assert not left.queue_digest.startswith(OPEN_PREFIX)
    assert await seen(env) == {"sms completed 1000": 2, "sms fail 2003": 1}
    assert await env.store.read(statistics.list_unfinished) == []


async def test_finished_quarter_is_never_counted_again(start: Start) -> None:
    env = await start(FakeCarrier(answer=lambda attempt: Accepted(None)), world=world_at_noon())
    await env.send(sms())
    await advance(env, 30)
    await update_statistics(env.context)
    kept = await seen(env)

    def change_message(tx: Tx) -> None:
        tx.execute("update messages set outcome = 9999")

    await env.store.write(change_message)
    await env.send(sms())
    await advance(env, 30)

    assert kept == {"sms completed 1000": 1}
    assert await seen(env) == {"sms completed 1000": 2}


async def test_statistics_are_separate_by_day_and_account(start: Start) -> None:
    env = await start(world=world_at_noon())
    await env.send(sms())
    other = await account_id_of(env, "other")
    await accept(env.context, other, sms())
    await advance(env, 13 * 60)
    await env.send(sms("01000000001", "01000000002"))
    await env.wait(61)

    midnight = NOON + 12 * HOUR
    periods = [Period(midnight - DAY, midnight), Period(midnight, midnight + DAY)]
    days = await env.store.read(statistics.list_groups, await account_id_of(env), periods, [], 1000)

    assert [each.counts.messages for each in days] == [1, 2]
    theirs = await env.store.read(statistics.list_groups, other, periods, [], 1000)
    assert [(each.since, each.counts.messages) for each in theirs] == [(midnight - DAY, 1)]


async def test_statistics_always_equal_the_messages(start: Start) -> None:
    random = Random(7)
    ends: list[Verdict] = [Accepted(None), Rejected(Outcome.SPAM), Rejected(Outcome.NOT_A_USER)]
    post = FakeCarrier(answer=lambda attempt: random.choice(ends))
    env = await start(post, world=world_at_noon(), fallback_within_minutes=300)
    profile = await env.add_profile()
    for _ in range(30):
        at = env.world.now() + random.choice([0, 0, 20 * MINUTE, 3 * HOUR])
        sending = random.choice([sms("01000000001", "01000000002"), alimtalk(profile)])
        request_id = await env.send(sending._replace(scheduled_at=at))
        await advance(env, random.randrange(2, 10))
        if random.random() < 0.3:
            await cancel_request(env.context, await account_id_of(env), request_id, None)
    await update_statistics(env.context)
    in_between, then = await seen(env), await env.store.read(_count_all_messages)
    await advance(env, 4 * 60)

    assert in_between == then
    assert "sms waiting 0" in in_between
    assert await seen(env) == await env.store.read(_count_all_messages)
    assert not {each for each in await seen(env) if "waiting" in each or "sending" in each}
    assert {"sms cancel 0", "alimTalk fail 3019", "alimTalk cancel 0"} <= set(await seen(env))
    assert await env.store.read(statistics.list_unfinished) == []


async def test_first_count_covers_the_whole_displayed_period(start: Start) -> None:

    def forget(tx: Tx) -> None:
        for table in ("statistics", "statistics_quarters", "cursors"):
            tx.execute(f"delete from {table}")

    env = await start(FakeCarrier(answer=lambda attempt: Accepted(None)), world=world_at_noon())
    await env.send(sms())
    await env.wait(60)
    await env.store.write(forget)
    lost = await seen(env)
    env.world.move_clock((MAX_LOOKBACK_MS - QUARTER) / 1000)
    await update_statistics(env.context)
    again = await seen(env)
    await env.store.write(forget)
    env.world.move_clock(2 * QUARTER / 1000)
    await update_statistics(env.context)

    assert (lost, again, await seen(env)) == ({}, {"sms completed 1000": 1}, {})


async def test_old_quarters_are_merged_into_their_month(start: Start) -> None:
    month = month_of(NOON, SEOUL)

    async def count_quarters(env: Environment) -> list[int]:
        return [row[0] for row in await env.store.read(lambda tx: tx.fetch_all("select quarter from statistics"))]

    env = await start(FakeCarrier(answer=lambda attempt: Accepted(None)), world=world_at_noon())
    for _ in range(3):
        await env.send(sms())
        await advance(env, 30)
    await update_statistics(env.context)
    before = await seen(env)
    quarters = await count_quarters(env)

    env.world.move_clock((STATISTICS_RETENTION_MS + 2 * HOUR + GRACE_MS) / 1000)
    await run_round(env.context)
    await run_round(env.context)

    assert len(quarters) == 3
    assert await count_quarters(env) == [month.start]
    assert before == await seen(env, month) == await seen(env) == {"sms completed 1000": 3}
    assert await env.store.read(statistics.list_unfinished) == []


async def test_only_quick_quarters_are_counted_while_a_caller_waits(start: Start) -> None:
    env = await start(FakeCarrier(answer=lambda attempt: Accepted(None)), world=world_at_noon())
    await env.send(sms())
    await env.wait(1)
    await update_statistics(env.context, max_ms=50)
    first = await seen(env)

    def slow(tx: Tx) -> None:
        tx.execute("update statistics_quarters set duration_ms = 51")

    await env.store.write(slow)
    await env.send(sms())
    await env.wait(30)
    await update_statistics(env.context, max_ms=50)
    second = await seen(env)
    await env.wait(60)

    assert (first, second) == ({"sms completed 1000": 1}, {"sms completed 1000": 1})
    assert await seen(env) == {"sms completed 1000": 2}
    assert await env.store.read(statistics.counted_as_of) is not None


def test_quarters_start_on_the_quarter_hour() -> None:
    assert quarter_start(NOON + 14 * MINUTE) == NOON
    assert quarter_start(NOON + 15 * MINUTE) == NOON + QUARTER


def test_smallest_groups_beyond_the_limit_are_merged_as_others() -> None:
    busy = StatisticsGroup(1, 1, 2, 1000, "T", "0212345678", 7, "post")
    many = {
        busy._replace(template_code=f"T{number}"): GroupCounts(number + 1, 0, 1, 100)
        for number in range(MAX_GROUPS_PER_QUARTER + 5)
    }
    other = {busy._replace(account_id=2): GroupCounts(1)}

    bounded = bound_groups(many | other)

    merged = busy._replace(template_code=OTHERS, sender=OTHERS, key_id=OTHER_KEYS, user_id=OTHER_KEYS)
    assert len(bounded) == MAX_GROUPS_PER_QUARTER + 1 + 1
    assert bounded[merged] == GroupCounts(1 + 2 + 3 + 4 + 5, 0, 5, 500)
    assert sum(each.messages for each in bounded.values()) == sum(each.messages for each in (many | other).values())
