"""Response times of carriers: stored by minute, and percentiles found within their classes."""

import pytest

from pabal.domain.base.dates import MINUTE
from pabal.service.metrics import RESPONSE_BOUNDS_S
from pabal.service.upkeep.housekeeping import run_round
from pabal.service.upkeep.latency import LATENCY_RETENTION_MS, LatencyReporter, add_up, find_percentiles
from pabal.store.queue import carriers
from pabal.store.queue.carriers import MinuteLatency
from tests.fixtures.service import Start
from tests.fixtures.virtual import NOON
from tests.fixtures.web import world_at_noon

CLASSES = len(RESPONSE_BOUNDS_S) + 1


def counts(**by_bound: int) -> tuple[int, ...]:
    """Return counts by class; `ms10=5` says that five answers took up to 10 ms."""
    found = {f"ms{round(bound * 1000)}": place for place, bound in enumerate(RESPONSE_BOUNDS_S)} | {
        "more": CLASSES - 1
    }
    result = [0] * CLASSES
    for name, count in by_bound.items():
        result[found[name]] = count
    return tuple(result)


def test_percentiles_are_found_within_their_class() -> None:
    found = find_percentiles(counts(ms10=50, ms100=49, ms1000=1))

    assert found is not None
    assert found.answers == 100
    assert found.p50 == pytest.approx(0.01)
    assert 0.075 < found.p95 < 0.1
    assert found.p99 == pytest.approx(0.1)


def test_answers_beyond_all_classes_count_as_the_longest_bound() -> None:
    found = find_percentiles(counts(more=3))

    assert found == (3, RESPONSE_BOUNDS_S[-1], RESPONSE_BOUNDS_S[-1], RESPONSE_BOUNDS_S[-1])
    assert find_percentiles(counts()) is None


def test_rows_of_all_workers_add_up_except_those_with_other_classes() -> None:
    rows = [
        MinuteLatency("a", NOON, "one", counts(ms10=2)),
        MinuteLatency("a", NOON, "two", counts(ms10=3)),
        MinuteLatency("a", NOON, "old", (9, 9)),
    ]

    assert add_up(rows) == counts(ms10=5)


async def test_each_minute_has_its_own_answers(start: Start) -> None:
    env = await start(world=world_at_noon())
    seconds = env.context.metrics.carrier_response_seconds
    seconds.labels("a").observe(7)
    reporter = LatencyReporter(env.context)
    for duration in (0.008, 0.009):
        seconds.labels("a").observe(duration)
        await reporter.report()
    env.world.move_clock(60)
    await reporter.report()
    seconds.labels("b").observe(0.3)
    await reporter.report()
    minute = NOON - NOON % MINUTE

    stored = await env.store.read(carriers.list_latencies, minute)
    mine = [each for each in stored if each.carrier in ("a", "b")]

    assert mine == [
        MinuteLatency("a", minute, "", counts(ms10=2)),
        MinuteLatency("b", minute + MINUTE, "", counts(ms500=1)),
    ]


async def test_minutes_are_deleted_after_a_day(start: Start) -> None:
    env = await start(world=world_at_noon())
    old, new = NOON - LATENCY_RETENTION_MS - MINUTE, NOON
    rows = [MinuteLatency("x", at, "", counts(ms10=1)) for at in (old, new)]
    await env.store.write(carriers.save_latencies, rows)

    await run_round(env.context)

    kept = await env.store.read(carriers.list_latencies, 0)
    assert [each.minute for each in kept if each.carrier == "x"] == [new]
