"""Counting for the overview: it says what the messages say, whenever they end, and old ones cost nothing."""

from random import Random

from pabal.carriers.base import Rejected, Taken, Verdict
from pabal.domain.dates import DAY, HOUR, MINUTE, Period
from pabal.domain.message import PRODUCT_BY_NUMBER, STATUS_BY_NUMBER, Outcome
from pabal.service.sending.accept import accept
from pabal.service.sending.cancel import cancel_request
from pabal.service.upkeep.housekeeping import go_round
from pabal.service.upkeep.statistics import GRACE, KEPT_FOR, REACH, count
from pabal.store import statistics
from pabal.store.engine.base import Tx
from pabal.store.statistics import OPEN, QUARTER, quarter_of
from tests.fixtures.service import POST, Play, Post, account, add_profile, alimtalk, send, sms
from tests.fixtures.virtual import NOON, Town
from tests.fixtures.web import LeapingWorld, world_at_noon

ROUND_S = 61
EVER = Period(0, NOON + 400 * DAY)


async def seen(town: Town, period: Period = EVER) -> dict[str, int]:
    """Return what is counted of the usual account, such as `sms completed 1000`: 3."""
    (found,) = await town.store.read(statistics.of_account, await account(town), [period])
    return _spelled(found)


def _spelled(found: dict[tuple[int, int, int], int]) -> dict[str, int]:
    return {
        f"{PRODUCT_BY_NUMBER[product].word} {STATUS_BY_NUMBER[status].word} {outcome}": number
        for (product, status, outcome), number in found.items()
    }


def _really(tx: Tx) -> dict[str, int]:
    """Return what a look at every message says."""
    rows = tx.rows(
        "select product, status, coalesce(outcome, 0), count(*) from messages"
        " group by product, status, coalesce(outcome, 0)"
    )
    return _spelled({row[:3]: row[3] for row in rows})


async def pass_by(town: Town, minutes: float) -> None:
    """Let time pass, most of it at a leap, with a thorough round of housekeeping at the end."""
    assert isinstance(town.world, LeapingWorld)
    town.world.leap(minutes * 60 - ROUND_S)
    await town.wait(ROUND_S)


def test_messages_are_counted_as_they_stand_until_they_have_ended(play: Play) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        await send(town, sms("01000000001", "01000000002"))
        await send(town, sms("01000000003", scheduled_at=NOON + 1 * HOUR))
        await town.wait(1)
        await count(town.context)
        first = await seen(town)
        one, two = post.ids
        await post.report((one.hex(), Outcome.DELIVERED), (two.hex(), Outcome.PHONE_OFF))
        await count(town.context)
        second = await seen(town)
        await pass_by(town, 30)
        await count(town.context)
        (left,) = await town.store.read(statistics.unfinished)
        await pass_by(town, 31)
        await post.report((post.ids[2].hex(), Outcome.DELIVERED))
        await count(town.context)

        assert first == {"sms sending 0": 2, "sms waiting 0": 1}
        assert second == {"sms completed 1000": 1, "sms fail 2003": 1, "sms waiting 0": 1}
        assert not left.waiting.startswith(OPEN)
        assert await seen(town) == {"sms completed 1000": 2, "sms fail 2003": 1}
        assert await town.store.read(statistics.unfinished) == []

    play(scene, world=world_at_noon(), carriers={POST: post})


def test_a_fallback_and_a_cancel_are_seen_long_after_their_quarter(play: Play) -> None:
    post = Post()

    async def scene(town: Town) -> None:
        profile = await add_profile(town)
        await send(town, alimtalk(profile))
        request_id = await send(town, sms(scheduled_at=NOON + 2 * HOUR))
        await pass_by(town, 60)
        before = await seen(town)
        await post.report((post.ids[0].hex(), Outcome.NOT_A_USER))
        await town.wait(61)
        fallen = await seen(town)
        await cancel_request(town.context, await account(town), request_id, None)
        await post.report((post.ids[1].hex(), Outcome.DELIVERED))
        await town.wait(61)

        assert before == {"alimTalk sending 0": 1, "sms waiting 0": 1}
        assert fallen == {"alimTalk fail 3019": 1, "sms sending 0": 1, "sms waiting 0": 1}
        assert await seen(town) == {"alimTalk fail 3019": 1, "sms completed 1000": 1, "sms cancel 0": 1}

    play(scene, world=world_at_noon(), carriers={POST: post}, fallback_within_minutes=120)


def test_a_quarter_that_is_over_is_never_read_again(play: Play) -> None:
    async def scene(town: Town) -> None:
        await send(town, sms())
        await pass_by(town, 30)
        await count(town.context)
        kept = await seen(town)

        def meddle(tx: Tx) -> None:
            tx.run("update messages set outcome = 9999")

        await town.store.write(meddle)
        await send(town, sms())
        await pass_by(town, 30)

        assert kept == {"sms completed 1000": 1}
        assert await seen(town) == {"sms completed 1000": 2}

    play(scene, world=world_at_noon(), carriers={POST: Post(answer=lambda attempt: Taken(None))})


def test_days_are_told_apart_and_accounts_too(play: Play) -> None:
    async def scene(town: Town) -> None:
        await send(town, sms())
        other = await account(town, "other")
        await accept(town.context, other, sms())
        await pass_by(town, 13 * 60)
        await send(town, sms("01000000001", "01000000002"))
        await town.wait(61)

        midnight = NOON + 12 * HOUR
        periods = [Period(midnight - DAY, midnight), Period(midnight, midnight + DAY)]
        days = await town.store.read(statistics.of_account, await account(town), periods)

        assert [sum(day.values()) for day in days] == [1, 2]
        theirs = await town.store.read(statistics.of_account, other, periods)
        assert [sum(day.values()) for day in theirs] == [1, 0]

    play(scene, world=world_at_noon())


def test_whatever_happens_the_figures_are_those_of_the_messages(play: Play) -> None:
    random = Random(7)
    ends: list[Verdict] = [Taken(None), Rejected(Outcome.SPAM), Rejected(Outcome.NOT_A_USER)]
    post = Post(answer=lambda attempt: random.choice(ends))

    async def scene(town: Town) -> None:
        profile = await add_profile(town)
        for _ in range(30):
            at = town.world.now() + random.choice([0, 0, 20 * MINUTE, 3 * HOUR])
            sending = random.choice([sms("01000000001", "01000000002"), alimtalk(profile)])
            await send(town, sending._replace(scheduled_at=at))
            await pass_by(town, random.randrange(2, 10))
        await count(town.context)
        in_between, then = await seen(town), await town.store.read(_really)
        await pass_by(town, 4 * 60)

        assert in_between == then
        assert "sms waiting 0" in in_between
        assert await seen(town) == await town.store.read(_really)
        assert not {each for each in await seen(town) if "waiting" in each or "sending" in each}
        assert await town.store.read(statistics.unfinished) == []

    play(scene, world=world_at_noon(), carriers={POST: post}, fallback_within_minutes=300)


def test_a_store_that_was_never_counted_is_counted_as_far_back_as_is_shown(play: Play) -> None:
    def forget(tx: Tx) -> None:
        for table in ("counts", "counted", "marks"):
            tx.run(f"delete from {table}")

    async def scene(town: Town) -> None:
        await send(town, sms())
        await town.wait(60)
        await town.store.write(forget)
        lost = await seen(town)
        assert isinstance(town.world, LeapingWorld)
        town.world.leap((REACH - QUARTER) / 1000)
        await count(town.context)
        again = await seen(town)
        await town.store.write(forget)
        town.world.leap(2 * QUARTER / 1000)
        await count(town.context)

        assert (lost, again, await seen(town)) == ({}, {"sms completed 1000": 1}, {})

    play(scene, world=world_at_noon(), carriers={POST: Post(answer=lambda attempt: Taken(None))})


def test_old_quarters_are_forgotten(play: Play) -> None:
    async def scene(town: Town) -> None:
        await send(town, sms())
        await town.wait(60)
        await count(town.context)
        assert await seen(town)

        assert isinstance(town.world, LeapingWorld)
        town.world.leap((KEPT_FOR + QUARTER + GRACE) / 1000)
        await go_round(town.context)

        assert await seen(town) == {}
        assert await town.store.read(statistics.unfinished) == []

    play(scene, world=world_at_noon(), carriers={POST: Post(answer=lambda attempt: Taken(None))})


def test_while_someone_waits_only_what_is_quick_is_counted(play: Play) -> None:
    async def scene(town: Town) -> None:
        await send(town, sms())
        await town.wait(1)
        await count(town.context, longest_ms=50)
        first = await seen(town)

        def slow(tx: Tx) -> None:
            tx.run("update counted set took_ms = 51")

        await town.store.write(slow)
        await send(town, sms())
        await town.wait(30)
        await count(town.context, longest_ms=50)
        second = await seen(town)
        await town.wait(60)

        assert (first, second) == ({"sms completed 1000": 1}, {"sms completed 1000": 1})
        assert await seen(town) == {"sms completed 1000": 2}
        assert await town.store.read(statistics.as_of) is not None

    play(scene, world=world_at_noon(), carriers={POST: Post(answer=lambda attempt: Taken(None))})


def test_a_quarter_begins_on_the_quarter() -> None:
    assert quarter_of(NOON + 14 * MINUTE) == NOON
    assert quarter_of(NOON + 15 * MINUTE) == NOON + QUARTER
