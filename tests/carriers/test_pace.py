"""The pacer: an even rate in full, in order, without a burst after a pause."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest

from pabal.carriers.pace import MAX_CATCH_UP_S, TICK_S, Pacer
from tests.carriers.pace_fixture import Departures, departure_times, max_within
from tests.fixtures.virtual import (
    VirtualWorld,
)


async def go(pacer: Pacer, count: int, gone: Departures, stalls: Sequence[tuple[int, float]] = ()) -> None:
    """Send messages at the pacer's times; stall once, after so many messages, for so many seconds."""
    loop = asyncio.get_running_loop()
    first = pacer.reserve(count)
    left = dict(stalls)
    so_far = 0
    while so_far < count:
        lot = await pacer.wait(first, so_far, count - so_far)
        gone.append((loop.time(), lot))
        so_far += lot
        for after in [each for each in left if each <= so_far]:
            await asyncio.sleep(left.pop(after))


@pytest.mark.parametrize("rate", [1, 3, 7, 50, 100])
async def test_messages_go_out_one_by_one_at_even_intervals(rate: int) -> None:
    gone: Departures = []
    await asyncio.sleep(10)
    await go(Pacer(rate, VirtualWorld()), 10 * rate, gone)

    credit = int(MAX_CATCH_UP_S * rate)
    gaps = [after - before for before, after in pairwise(departure_times(gone))]
    assert len(departure_times(gone)) == 10 * rate
    assert all(gap == pytest.approx(1 / rate, abs=0.02 / rate) for gap in gaps[credit + 1 :])
    assert departure_times(gone)[-1] - departure_times(gone)[0] == pytest.approx(
        (10 * rate - 1) / rate, abs=MAX_CATCH_UP_S + 1e-6
    )


@pytest.mark.parametrize("rate", [1, 50, 333, 5000])
async def test_no_second_exceeds_the_rate(rate: int) -> None:
    gone: Departures = []
    await asyncio.sleep(100)
    pacer = Pacer(rate, VirtualWorld())
    for _ in range(20):
        await go(pacer, max(1, rate // 2), gone)

    assert max_within(gone, 1.0) <= rate * (1 + MAX_CATCH_UP_S + TICK_S) + 1


@pytest.mark.parametrize("rate", [1, 50, 333, 5000])
async def test_nearly_all_of_the_rate_is_used(rate: int) -> None:
    gone: Departures = []

    async def scenario() -> None:
        pacer = Pacer(rate, VirtualWorld())
        while True:
            await go(pacer, max(1, rate // 2), gone)
            await asyncio.sleep(0.004)  # the next batch always comes a little later

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(10.5):
            await scenario()

    assert sum(count for at, count in gone if at < 10) >= 0.96 * 10 * rate


async def test_high_rate_goes_out_in_small_groups() -> None:
    gone: Departures = []
    await go(Pacer(5000, VirtualWorld()), 5000, gone)

    a_tick = round(5000 * TICK_S)
    assert max(count for _, count in gone[1:]) <= a_tick + 1
    assert 90 <= len(gone) <= 110
    assert all(after - before <= 2 * TICK_S for before, after in pairwise(at for at, _ in gone))


@pytest.mark.parametrize("rate", [1, 50, 5000])
async def test_pause_is_not_followed_by_a_burst(rate: int) -> None:
    before: Departures = []
    gone: Departures = []
    pacer = Pacer(rate, VirtualWorld())
    await go(pacer, rate, before)
    await asyncio.sleep(60)

    await go(pacer, 2 * rate, gone)

    assert gone[0][1] <= rate * MAX_CATCH_UP_S + 1
    assert max_within(gone, 1.0) <= rate * (1 + MAX_CATCH_UP_S + TICK_S) + 1


async def test_stalled_batch_does_not_catch_up_with_a_burst() -> None:
    first: Departures = []
    second: Departures = []
    pacer = Pacer(50, VirtualWorld())
    await asyncio.gather(go(pacer, 25, first, stalls=[(5, 0.3), (20, 3.0)]), go(pacer, 100, second))

    assert max_within(first + second, 1.0) <= 50 * (1 + MAX_CATCH_UP_S + TICK_S) + 1
    assert (len(departure_times(first)), len(departure_times(second))) == (25, 100)


async def test_order_and_backlog_are_kept_after_a_stall() -> None:
    first: Departures = []
    second: Departures = []
    pacer = Pacer(50, VirtualWorld())
    going = asyncio.gather(go(pacer, 25, first, stalls=[(5, 0.35)]), go(pacer, 25, second))
    await asyncio.sleep(0.46)
    assert pacer.backlog_s == pytest.approx((50 - len(departure_times(first))) / 50, abs=0.04)
    await going

    assert departure_times(first)[-1] < departure_times(second)[0]


async def test_small_delays_are_caught_up() -> None:
    gone: Departures = []
    stalls = [(after, 0.8 * MAX_CATCH_UP_S) for after in range(5, 500, 5)]
    await go(Pacer(50, VirtualWorld()), 500, gone, stalls)

    assert departure_times(gone)[-1] == pytest.approx(499 / 50, abs=0.1)


async def test_backlog_shrinks_to_zero() -> None:
    pacer = Pacer(50, VirtualWorld())
    assert pacer.backlog_s == 0
    going = asyncio.create_task(go(pacer, 100, []))
    await asyncio.sleep(0)
    assert pacer.backlog_s == pytest.approx(2, abs=0.1)
    await asyncio.sleep(1)
    assert pacer.backlog_s == pytest.approx(1, abs=0.1)

    await going
    await asyncio.sleep(1)

    assert pacer.backlog_s == 0


async def test_backlog_after_a_pause_is_what_was_reserved() -> None:
    pacer = Pacer(50, VirtualWorld())
    await asyncio.sleep(60)

    pacer.reserve(100)

    assert pacer.backlog_s == pytest.approx(2, abs=MAX_CATCH_UP_S)


async def test_without_a_rate_all_goes_at_once_without_backlog_whatever_the_share() -> None:
    gone: Departures = []
    pacer = Pacer(0, VirtualWorld())
    pacer.set_share(0.25)
    await go(pacer, 10_000, gone)

    assert (pacer.rate, pacer.backlog_s, gone) == (0, 0, [(0.0, 10_000)])


async def go_on(pacer: Pacer, lot: int, gone: Departures) -> None:
    """Send batches of messages, two at a time, as deliverers do."""
    while True:
        if pacer.backlog_s > 0.5:
            await asyncio.sleep(pacer.backlog_s - 0.5)
        going = asyncio.create_task(go(pacer, lot, gone))
        await asyncio.sleep(0.001)
        if pacer.backlog_s > 1.2:
            await going


@pytest.mark.parametrize("rate", [48, 4800])
async def test_smaller_share_applies_to_reserved_messages(rate: int) -> None:
    gone: Departures = []
    shares = [1.0, 0.5, 0.25, 0.375, 0.125, 1.0]
    pacer = Pacer(rate, VirtualWorld())
    going = asyncio.create_task(go_on(pacer, rate // 4, gone))
    for share in shares:
        pacer.set_share(share)
        assert pacer.rate == share * rate
        await asyncio.sleep(8)
    going.cancel()

    for number, share in enumerate(shares):
        within = [(at, count) for at, count in gone if 8 * number <= at < 8 * number + 8]
        assert max_within(within, 1.0) <= share * rate * (1 + MAX_CATCH_UP_S + TICK_S) + 2
        assert sum(count for _, count in within) >= 0.94 * 8 * share * rate - 1


async def test_share_of_zero_keeps_the_current_rate() -> None:
    gone: Departures = []
    pacer = Pacer(50, VirtualWorld())
    pacer.set_share(0.5)
    pacer.set_share(0.0)
    await go(pacer, 25, gone)

    assert departure_times(gone)[-1] == pytest.approx(24 / 25, abs=0.1)


async def test_pause_before_a_change_of_share_earns_no_burst() -> None:
    gone: Departures = []
    pacer = Pacer(50, VirtualWorld())
    await go(pacer, 10, [])
    await asyncio.sleep(30)
    pacer.set_share(0.1)
    await asyncio.sleep(30)
    pacer.set_share(1.0)
    await go(pacer, 100, gone)

    assert max_within(gone, 1.0) <= 50 * (1 + MAX_CATCH_UP_S + TICK_S) + 1
