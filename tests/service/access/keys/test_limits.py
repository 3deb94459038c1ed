"""Rate limits: one second of requests at once, then evenly, with nothing saved during long pauses."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pabal.domain.base.dates import HOUR, SECOND
from pabal.service.access.accounts.rate_limits import PREFETCH_TTL_MS, RateLimiter, SharedRateLimiter
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import migrate
from pabal.world import RealWorld
from tests.fixtures.cluster import StoreProxy, open_cluster
from tests.fixtures.virtual import VirtualWorld, open_store


class Clock(RealWorld):
    """A world whose monotonic clock is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds


def granted(limiter: RateLimiter, times: int, rate: int, key: int = 1) -> int:
    return sum(limiter.take(key, rate).is_allowed for _ in range(times))


@pytest.mark.parametrize("rate", [1, 2, 10, 1000])
def test_one_second_of_requests_is_granted_at_once_and_no_more(rate: int) -> None:
    limiter = RateLimiter(Clock())

    assert granted(limiter, rate + 50, rate) == rate


@pytest.mark.parametrize("rate", [1, 7, 100])
def test_later_requests_are_granted_evenly_at_the_rate(rate: int) -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    granted(limiter, rate, rate)

    passed = []
    for step in range(1, 40 * rate + 1):  # four times as often as allowed, for ten seconds
        clock.seconds = step / (4 * rate)
        if limiter.take(1, rate).is_allowed:
            passed.append(clock.seconds)

    assert 10 * rate - 1 <= len(passed) <= 10 * rate
    gaps = [after - before for before, after in itertools.pairwise(passed)]
    assert max(gaps) <= 1.5 / rate + 1e-9


def test_long_pause_saves_no_more_than_one_second_of_requests() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    granted(limiter, 10, 10)

    clock.seconds += 86_400

    assert granted(limiter, 100, 10) == 10


def test_refused_requests_cost_nothing() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    granted(limiter, 10, 10)
    granted(limiter, 1000, 10)

    clock.seconds += 0.1001

    assert granted(limiter, 5, 10) == 1


def test_each_key_has_its_own_bucket() -> None:
    limiter = RateLimiter(Clock())
    granted(limiter, 10, 10, key=1)

    assert granted(limiter, 10, 10, key=2) == 10
    assert granted(limiter, 10, 10, key=1) == 0


def test_remaining_requests_and_retry_time_are_returned() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)

    first = limiter.take(1, 4)
    assert (first.is_allowed, first.limit, first.remaining) == (True, 4, 3)
    assert first.reset_s == pytest.approx(0.25)
    assert first.retry_after_s == 0

    granted(limiter, 3, 4)
    refused = limiter.take(1, 4)
    assert (refused.is_allowed, refused.remaining) == (False, 0)
    assert refused.reset_s == pytest.approx(1)
    assert refused.retry_after_s == pytest.approx(0.25)

    clock.seconds += refused.retry_after_s
    assert limiter.take(1, 4).is_allowed


# Shared by several processes.


@asynccontextmanager
async def open_limiters(
    folder: Path, number: int
) -> AsyncIterator[tuple[list[SharedRateLimiter], list[StoreProxy], VirtualWorld]]:
    """Open several limiters on one store, each with its own connection."""
    world = VirtualWorld()
    store = open_store(folder, world)
    await store.write(migrate, world.now())
    doors = [StoreProxy(store) for _ in range(number)]
    try:
        yield [SharedRateLimiter(door, world) for door in doors], doors, world
    finally:
        await store.close()


async def test_request_is_not_refused_because_the_store_was_busy(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 1) as (limiters, doors, world):

        def take_long(tx: Tx) -> None:
            world.starts_at += 2 * PREFETCH_TTL_MS

        _, result = await asyncio.gather(doors[0].write(take_long), limiters[0].take(1, 20_000))

        assert result.is_allowed


async def ask_repeatedly(
    limiter: SharedRateLimiter, rate: int, every_s: float, for_s: float, passed: list[float]
) -> None:
    """Ask repeatedly; record when a request was granted."""
    loop = asyncio.get_running_loop()
    until = loop.time() + for_s
    while loop.time() < until:
        if (await limiter.take(1, rate)).is_allowed:
            passed.append(loop.time())
        await asyncio.sleep(every_s)


@pytest.mark.parametrize("rate", [5, 30, 200])
async def test_unevenly_loaded_processes_share_the_full_rate(tmp_path: Path, rate: int) -> None:
    passed: list[float] = []
    async with open_limiters(tmp_path, 3) as (limiters, _doors, _world):
        paces = [1 / (3 * rate), 1 / (2 * rate), 5 / rate]
        await asyncio.gather(
            *(ask_repeatedly(each, rate, pace, 6.0, passed) for each, pace in zip(limiters, paces, strict=True))
        )
    ahead = 3 * max(1, rate // 100) if rate >= 100 else 0
    at_first = sum(1 for at in passed if at < 1)
    assert rate <= at_first <= 2 * rate + ahead
    assert 0.9 * 5 * rate - 1 <= len(passed) - at_first <= 1.1 * 5 * rate


@pytest.mark.parametrize("rate", [1, 2, 10, 99])
async def test_low_rate_is_exact_across_processes(tmp_path: Path, rate: int) -> None:
    async with open_limiters(tmp_path, 3) as (limiters, _doors, _world):
        found = [await limiters[number % 3].take(1, rate) for number in range(rate + 30)]

        assert [each.is_allowed for each in found] == [True] * rate + [False] * 30
        await asyncio.sleep(1 / rate + 0.002)
        again = [(await each.take(1, rate)).is_allowed for each in limiters]
        assert sum(again) == 1


async def test_concurrent_callers_share_one_store_call_within_the_limit(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 1) as (limiters, doors, _world):
        found = await asyncio.gather(*(limiters[0].take(1, 50) for _ in range(80)))

        assert sum(each.is_allowed for each in found) == 50
        assert doors[0].call_counts["take"] <= 4


async def test_repeated_refusals_do_not_call_the_store(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 1) as (limiters, doors, _world):
        for _ in range(5):
            await limiters[0].take(1, 4)
        asked = doors[0].call_counts["take"]

        for _ in range(100):
            assert not (await limiters[0].take(1, 4)).is_allowed
            await asyncio.sleep(0.002)

        assert doors[0].call_counts["take"] == asked


async def test_most_requests_of_a_high_rate_need_no_store_call(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 1) as (limiters, doors, _world):
        for _ in range(500):
            assert (await limiters[0].take(1, 1000)).is_allowed
            await asyncio.sleep(0.001)

        assert doors[0].call_counts["take"] <= 10


async def test_tokens_taken_in_advance_expire_after_a_second(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 2) as (limiters, _doors, _world):
        await limiters[0].take(1, 1000)  # nine more are in its local bucket
        await asyncio.sleep(PREFETCH_TTL_MS / SECOND)
        for _ in range(1000):
            assert (await limiters[1].take(1, 1000)).is_allowed

        assert not (await limiters[0].take(1, 1000)).is_allowed


async def test_shared_and_local_buckets_return_the_same_numbers(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 2) as (limiters, _doors, _world):
        one, two = limiters
        found = [await each.take(1, 4) for each in (one, two, one, two)]
        assert [(each.is_allowed, each.limit, each.remaining) for each in found] == [
            (True, 4, 3),
            (True, 4, 2),
            (True, 4, 1),
            (True, 4, 0),
        ]
        assert [each.reset_s for each in found] == [0.25, 0.5, 0.75, 1.0]
        refused = await one.take(1, 4)
        assert (refused.is_allowed, refused.remaining, refused.reset_s) == (False, 0, 1.0)
        assert refused.retry_after_s == pytest.approx(0.25)

        await asyncio.sleep(refused.retry_after_s)

        assert (await one.take(1, 4)).is_allowed


async def test_clock_set_back_an_hour_blocks_a_key_for_at_most_a_second(tmp_path: Path) -> None:
    async with open_limiters(tmp_path, 1) as (limiters, _doors, world):
        for _ in range(5):
            await limiters[0].take(1, 4)

        world.starts_at -= HOUR
        await limiters[0].take(1, 4)
        await asyncio.sleep(1)

        assert [(await limiters[0].take(1, 4)).is_allowed for _ in range(5)] == [True] * 4 + [False]


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_limited_key_is_refused_while_the_store_is_unavailable(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        web = await cluster.start_process("web", delivers=False)
        caller = await web.env.caller(rate=5)
        passed = await caller("message/list", {"receivers": "010-1234-5678"})
        assert (passed.status, passed.headers["ratelimit-limit"]) == (200, "5")
        await cluster.wait(0.5)  # its key is still cached, and its local bucket is empty

        web.store_proxy.is_unavailable = True
        refused = await caller("message/list", {"receivers": "010-1234-5678"})

        assert (refused.status, refused.result) == (503, "SERVICE_UNAVAILABLE")
        web.store_proxy.is_unavailable = False
        assert (await caller("message/list", {"receivers": "010-1234-5678"})).result == "SUCCESS"


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_rate_of_a_key_applies_to_all_processes_together(tmp_path: Path) -> None:
    async with open_cluster(tmp_path) as cluster:
        one, two = [await cluster.start_process(name, delivers=False) for name in ("one", "two")]
        caller = await one.env.caller(rate=6)
        other = type(caller)(two.env.service, caller.key)
        found = [await each("message/list", {"receivers": "010-1234-5678"}) for each in [caller, other] * 5]

        assert [each.result for each in found] == ["SUCCESS"] * 6 + ["RATE_LIMITED"] * 4
        assert int(found[-1].headers["retry-after"]) >= 1
