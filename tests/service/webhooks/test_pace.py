"""The pace of webhooks: posts while messages are delivered or endpoints fail, and looks at changed webhooks."""

import asyncio
from pathlib import Path

from pabal.service.webhooks.dispatch import MIN_REFRESH_PAUSE_S
from pabal.service.webhooks.retries import (
    BUSY_IN_FLIGHT,
    EVENTS_PER_CAMPAIGN,
    EVENTS_PER_SMALL,
    IDLE_AFTER_S,
    MAX_IN_FLIGHT,
    MAX_LAG_MS,
    MAX_POSTS,
    MIN_EVENTS_PER_S,
    STEP_S,
    PostPace,
    PostWindow,
)
from tests.fixtures.counting_store import CountingStore
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import FakeEndpoints, add_webhook
from tests.fixtures.service import FakeCarrier, Start, sms
from tests.fixtures.virtual import Environment, VirtualWorld, open_store


async def test_webhooks_of_all_accounts_are_not_read_for_each_change(start: Start, tmp_path: Path) -> None:
    world = VirtualWorld()
    store = CountingStore(open_store(tmp_path, world))
    env = await start(world=world, store=store)
    await env.wait(1)
    store.forget()
    for _ in range(100):
        env.context.webhooks.announce_change()
        await env.wait(0.01)
    await env.wait(1)

    assert 2 <= store.reads.count("_list_enabled") <= 1 / MIN_REFRESH_PAUSE_S + 2


async def test_posts_wait_only_while_delivery_of_messages_is_busy(env: Environment) -> None:
    pace, world = PostPace(env.context), env.world
    began = world.monotonic()
    for _ in range(10):
        await pace.wait(0)
        pace.count(400)
    assert world.monotonic() == began

    attempts = [(number.to_bytes(16, "big"), 1) for number in range(BUSY_IN_FLIGHT)]
    env.context.in_flight.add(attempts)
    for _ in range(3):
        await pace.wait(0)
        pace.count(400)
    assert 0 <= world.monotonic() - began - 800 / MIN_EVENTS_PER_S <= 2 * STEP_S

    env.context.in_flight.remove(attempts)
    await pace.wait(0)
    pace.count(400)
    before = world.monotonic()
    await pace.wait(0)
    assert world.monotonic() == before


async def test_each_message_of_a_campaign_allows_a_part_of_an_event(env: Environment) -> None:
    pace, world = PostPace(env.context), env.world
    env.context.in_flight.add([(number.to_bytes(16, "big"), 1) for number in range(BUSY_IN_FLIGHT)])
    pace.count(500)
    waiting = asyncio.create_task(pace.wait(0))
    began = world.monotonic()
    await env.wait(2 * STEP_S)
    assert not waiting.done()

    env.context.in_flight.add([(number.to_bytes(16, "big"), 2) for number in range(4000)])
    await waiting
    assert world.monotonic() - began <= 4 * STEP_S


async def test_small_sends_allow_all_their_events(env: Environment) -> None:
    pace, world = PostPace(env.context), env.world
    began = world.monotonic()
    for round_number in range(20):
        attempts = [(number.to_bytes(16, "big"), round_number) for number in range(400)]
        env.context.in_flight.add(attempts, small=len(attempts))
        await pace.wait(0)
        pace.count(round(400 * EVENTS_PER_SMALL))

    assert world.monotonic() == began


async def test_results_of_small_sends_are_posted_while_more_are_delivered(start: Start) -> None:
    endpoints = FakeEndpoints()
    carrier = FakeCarrier(answer=accept_without_receipt, delay_s=0.5, window=1000)
    env = await start(carrier, poster=endpoints)
    await add_webhook(env)
    sent: list[bytes] = []
    for _ in range(24):
        sent += [await env.send(sms()) for _ in range(2 * BUSY_IN_FLIGHT)]
        await env.wait(0.25)
        assert len(env.context.in_flight) >= BUSY_IN_FLIGHT

    ended_for_two_seconds = len(sent) - round(2.5 / 0.25) * 2 * BUSY_IN_FLIGHT
    assert len(endpoints.event_ids()) >= ended_for_two_seconds


async def test_nobody_waits_for_delivery_that_is_over(env: Environment) -> None:
    pace, world = PostPace(env.context), env.world
    attempts = [(number.to_bytes(16, "big"), 1) for number in range(BUSY_IN_FLIGHT)]
    env.context.in_flight.add(attempts)
    pace.count(100 * MIN_EVENTS_PER_S)
    env.context.in_flight.remove(attempts)
    began = world.monotonic()
    await pace.wait(0)

    assert IDLE_AFTER_S <= round(world.monotonic() - began, 3) <= 2 * IDLE_AFTER_S


async def test_an_endpoint_that_is_far_behind_does_not_wait(env: Environment) -> None:
    pace, world = PostPace(env.context), env.world
    env.context.in_flight.add([(number.to_bytes(16, "big"), 1) for number in range(BUSY_IN_FLIGHT)])
    pace.count(MIN_EVENTS_PER_S)
    began = world.monotonic()
    await pace.wait(MAX_LAG_MS)
    assert world.monotonic() == began
    await pace.wait(MAX_LAG_MS - 1)
    assert 1 <= round(world.monotonic() - began, 3) <= 1 + STEP_S


async def test_delivery_that_pauses_for_a_moment_stays_first(env: Environment) -> None:
    pace, world = PostPace(env.context), env.world
    attempts = [(number.to_bytes(16, "big"), 1) for number in range(BUSY_IN_FLIGHT)]
    env.context.in_flight.add(attempts)
    pace.count(MIN_EVENTS_PER_S)
    began = world.monotonic()
    waiting = asyncio.create_task(pace.wait(0))
    for _ in range(5):
        env.context.in_flight.remove(attempts)
        await env.wait(IDLE_AFTER_S / 2)
        env.context.in_flight.add(attempts)
        await env.wait(IDLE_AFTER_S / 2)
    await waiting

    messages = 5 * BUSY_IN_FLIGHT
    assert world.monotonic() - began >= 1 - messages * EVENTS_PER_CAMPAIGN / MIN_EVENTS_PER_S


def test_window_narrows_to_one_post_and_widens_as_fast() -> None:
    window = PostWindow()

    sizes = []
    for _ in range(6):
        window.narrow()
        sizes.append(window.size)
    for _ in range(6):
        window.widen()
        sizes.append(window.size)

    assert sizes == [8, 4, 2, 1, 1, 1, 2, 4, 8, 16, 16, 16]
    assert max(sizes) == MAX_IN_FLIGHT


async def test_every_endpoint_may_have_one_post_in_flight_beyond_the_limit(env: Environment) -> None:
    pace = PostPace(env.context)
    assert (pace.capacity(16, 0), pace.capacity(16, 10), pace.capacity(1, 1)) == (16, 6, 0)

    pace.in_flight = MAX_POSTS - 4
    assert (pace.capacity(16, 0), pace.capacity(16, 13)) == (4, 3)
    pace.in_flight = MAX_POSTS
    assert (pace.capacity(16, 0), pace.capacity(16, 1)) == (1, 0)
