"""Fair shares between accounts on one carrier: who sends little does not wait for who sends much."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from pabal.domain.base.dates import MINUTE
from pabal.domain.base.identifiers import slot_of_key
from pabal.domain.sends.message import Outcome
from pabal.domain.sends.sending import Sending
from pabal.service.fair_queue import EMPTY_LANE_OFFSET_MS, MAX_SCHEDULED_SPREAD_MS, FairQueue, LaneKey
from pabal.service.sending.accept import IdempotencyKey, accept
from pabal.world import RealWorld
from tests.fixtures.campaigns import phones
from tests.fixtures.cluster import open_cluster
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, account_id_of, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment, settings_for

LANE = LaneKey("telco", 0, 0)
RATE = 100
"""Messages per second of the slow carrier."""

pytestmark = pytest.mark.carrier(window=RATE // 10, delay_s=0.1)


def slow_carrier() -> FakeCarrier:
    return FakeCarrier(window=RATE // 10, delay_s=0.1)


async def send_as(env: Environment, account: str, *sends: Sending) -> list[bytes]:
    account_id = await account_id_of(env, account)
    return list(await asyncio.gather(*(accept(env.context, account_id, each) for each in sends)))


def waits_of(carriers: Sequence[FakeCarrier], request_ids: Sequence[bytes], since: float) -> list[float]:
    """Return how long after `since` each message of these requests was submitted, in fair_queue."""
    wanted = set(request_ids)
    submitted = [entry for carrier in carriers for entry in carrier.submitted]
    return sorted(at - since for at, attempt in submitted if attempt.message_id[:13] in wanted)


async def test_flood_of_small_sends_does_not_delay_another_accounts_send(
    env: Environment, carrier: FakeCarrier
) -> None:
    for _ in range(20):
        await send_as(env, "flooding", *[sms()] * 100)
        await env.wait(0.05)
    since = asyncio.get_running_loop().time()
    (single,) = await send_as(env, "small", sms())
    await env.wait(3)

    (wait_s,) = waits_of([carrier], [single], since)
    assert len(carrier.ids) < 1000  # the flood would have taken 20 s
    assert wait_s <= 0.5


async def test_code_goes_before_the_other_sends_of_its_account_within_its_share(
    env: Environment, carrier: FakeCarrier
) -> None:
    for _ in range(20):
        await send_as(env, "flooding", *[sms()] * 100)
        await env.wait(0.05)
    since = asyncio.get_running_loop().time()
    (code,) = await send_as(env, "flooding", sms(is_code=True))
    await send_as(env, "flooding", *[sms(is_code=True)] * 300)
    (other,) = await send_as(env, "small", sms())
    await env.wait(3)

    assert waits_of([carrier], [code], since) <= [0.5]  # behind the flood it would wait for 19 s
    assert waits_of([carrier], [other], since) <= [0.5]  # and codes take no more than the account's share


async def test_accounts_share_fairly_while_the_carrier_is_away(env: Environment, carrier: FakeCarrier) -> None:
    await send_as(env, "flooding", sms())
    await env.wait(1)
    carrier.is_connected = False
    await send_as(env, "flooding", *[sms()] * 2000)
    await env.wait(60)
    (single,) = await send_as(env, "small", sms())
    carrier.is_connected = True
    since = asyncio.get_running_loop().time()
    await env.wait(8)

    (wait_s,) = waits_of([carrier], [single], since)
    assert wait_s <= 6.5  # it is tried again every 5 s


async def test_flood_at_one_process_does_not_delay_a_send_at_another(tmp_path: Path) -> None:
    carriers: list[FakeCarrier] = []

    def make() -> dict[str, FakeCarrier]:
        carriers.append(slow_carrier())
        return {DEFAULT_CARRIER: carriers[-1]}

    async with open_cluster(tmp_path, carriers=make) as cluster:
        worker = await cluster.start_process("worker")
        front = await cluster.start_process("front", delivers=False)
        await cluster.wait(10)
        for _ in range(20):
            await send_as(worker.env, "flooding", *[sms()] * 100)
            await cluster.wait(0.05)
        await send_as(front.env, "small", sms(phones(1)[0]))  # makes the front look at the queue
        await cluster.wait(0.3)
        since = asyncio.get_running_loop().time()
        singles = await send_as(front.env, "small", *[sms()] * 5)
        await cluster.wait(3)

        waits = waits_of(carriers, singles, since)
        assert len(waits) == 5
        assert waits[-1] <= 2.5


async def test_deadline_holds_for_a_send_positioned_far_in_the_past(env: Environment, carrier: FakeCarrier) -> None:
    await send_as(env, "flooding", sms())
    await env.wait(1)
    carrier.is_connected = False
    await env.wait(600)
    (late,) = await send_as(env, "small", sms(expire_minutes=3))
    await env.wait(240)

    (message,) = await env.messages_of(late)
    assert message.outcome is Outcome.EXPIRED


async def test_scheduled_sends_never_get_an_earlier_time(env: Environment, carrier: FakeCarrier) -> None:
    at = NOON + 5 * MINUTE
    requests = await send_as(env, "first", *[sms(scheduled_at=at)] * 30)
    jobs = [await env.job_of(message_id_of(each)) for each in requests]

    times = [job[2] for job in jobs if job]
    assert times == sorted(times)
    assert (times[0], times[-1]) == (at, at + 1)
    (other,) = await send_as(env, "second", sms(scheduled_at=at))
    found = await env.job_of(message_id_of(other))
    assert found is not None
    assert found[2] == at


def late_queue() -> FairQueue:
    """Return a queue whose first job is five seconds late."""
    fair_queue = FairQueue(RealWorld())
    fair_queue.record_next_due("telco", [0], [(0, 0, NOON - 5000)], NOON)
    return fair_queue


def test_spread_of_scheduled_sends_is_bounded() -> None:
    fair_queue = FairQueue(RealWorld())

    positions = [fair_queue.position_scheduled(1, LANE, 100_000, NOON) for _ in range(50)]

    assert positions[0] == NOON
    assert positions[-1] == NOON + MAX_SCHEDULED_SPREAD_MS


def test_position_is_never_in_the_future_and_orders_an_accounts_own_sends() -> None:
    fair_queue = late_queue()

    own = [fair_queue.position_new(1, LANE, 10_000, NOON + at, is_shared=False) for at in range(20)]
    other = fair_queue.position_new(2, LANE, 1, NOON, is_shared=False)

    assert own == sorted(own)
    assert all(position <= NOON + at for at, position in enumerate(own))
    assert (own[0], own[1], other) == (NOON - 5000, NOON - 4500, NOON - 5000)


def test_empty_lane_has_no_backlog_to_pass() -> None:
    fair_queue = FairQueue(RealWorld())
    assert fair_queue.position_new(1, LANE, 1, NOON, is_shared=False) == NOON - EMPTY_LANE_OFFSET_MS

    fair_queue.record_next_due("telco", [0], [], NOON + 5)

    assert fair_queue.position_new(1, LANE, 1, NOON + 7, is_shared=False) == NOON + 5 - EMPTY_LANE_OFFSET_MS
    fair_queue.record_next_due("telco", [0], [(0, 0, NOON + 90_000)], NOON + 9)
    assert fair_queue.position_new(2, LANE, 1, NOON + 10, is_shared=False) == NOON + 9 - EMPTY_LANE_OFFSET_MS
    assert (
        fair_queue.position_new(2, LaneKey("telco", 1, 0), 1, NOON + 10, is_shared=True)
        == NOON + 10 - EMPTY_LANE_OFFSET_MS
    )


def test_burst_of_one_account_leaves_room_for_another() -> None:
    fair_queue = FairQueue(RealWorld())

    burst = [fair_queue.position_new(1, LANE, 1000, NOON, is_shared=False) for _ in range(15)]
    fair_queue.record_next_due("telco", [0], [(0, 0, burst[1])], NOON)
    other = [fair_queue.position_new(2, LANE, 1000, NOON, is_shared=False) for _ in range(3)]

    assert len(set(burst)) == 15
    assert other == burst[1:4]


def test_job_whose_own_time_has_come_comes_first_behind_others_of_its_account() -> None:
    fair_queue = late_queue()
    sent = [fair_queue.position_new(1, LANE, 10_000, NOON, is_shared=False) for _ in range(2)]

    retries = [fair_queue.position_retried(1, LANE, NOON, is_new=False) for _ in range(40)]
    other = fair_queue.position_retried(2, LANE, NOON, is_new=False)

    assert sent == [NOON - 5000, NOON - 4500]
    assert (retries[0], retries[-1], other) == (NOON - 5000, NOON - 4999, NOON - 5000)
    assert fair_queue.position_new(1, LANE, 1, NOON, is_shared=False) == NOON - 3998  # 40 receivers further back
    assert fair_queue.position_retried(2, LANE, NOON - 6000, is_new=False) == NOON - 6000


def test_jobs_that_get_a_position_together_count_as_so_many() -> None:
    fair_queue = late_queue()

    assert fair_queue.position_retried(1, LANE, NOON, 100, is_new=False) == NOON - 5000
    assert fair_queue.position_retried(1, LANE, NOON, is_new=False) == NOON - 4995
    assert fair_queue.position_retried(2, LANE, NOON, 100, is_new=True) == NOON - 5000
    assert fair_queue.position_retried(2, LANE, NOON, is_new=True) == NOON - 4995


def test_jobs_that_keep_their_own_times_are_counted_once() -> None:
    fair_queue = late_queue()
    times = [NOON - 5000 + request * 50 for request in range(20) for _ in range(1000)]

    positions = [fair_queue.position_retried(1, LANE, at, is_new=False) for at in times]
    again = [fair_queue.position_retried(1, LANE, at, is_new=False, is_again=True) for at in times]

    assert positions == times  # 1,000 receivers take 50 milliseconds, so nobody is moved
    assert again == times
    assert fair_queue.position_retried(1, LANE, NOON, is_new=False) == NOON - 4000
    assert fair_queue.position_retried(2, LANE, NOON, is_new=False) == NOON - 5000


def test_send_that_lacks_a_position_goes_behind_the_new_sends_of_its_account() -> None:
    fair_queue = late_queue()
    fair_queue.position_new(1, LANE, 10_000, NOON, is_shared=False)

    assert fair_queue.position_retried(1, LANE, NOON, is_new=True) == NOON - 4500
    assert fair_queue.position_retried(2, LANE, NOON, is_new=True) == NOON - 5000


def test_codes_go_behind_codes_alone_and_move_the_other_sends_of_their_account_back() -> None:
    fair_queue = late_queue()
    fair_queue.position_new(1, LANE, 10_000, NOON, is_shared=False)

    codes = [fair_queue.position_new(1, LANE, 20, NOON, is_shared=False, is_code=True) for _ in range(3)]
    retried = fair_queue.position_retried(1, LANE, NOON, 20, is_new=False, is_code=True)

    assert [*codes, retried] == [NOON - 5000, NOON - 4999, NOON - 4998, NOON - 4997]
    assert fair_queue.position_new(1, LANE, 1, NOON, is_shared=False) == NOON - 4496


def test_lane_lags_while_its_first_job_is_behind_the_clock() -> None:
    fair_queue = FairQueue(RealWorld())
    assert fair_queue.lag_ms(LANE, NOON) == 0

    fair_queue.record_next_due("telco", [0], [(0, 0, NOON - 5000)], NOON)
    assert fair_queue.lag_ms(LANE, NOON + 10) == 5010
    fair_queue.record_next_due("telco", [0], [(0, 0, NOON + 90_000)], NOON)
    assert fair_queue.lag_ms(LANE, NOON + 60_000) == 0


def test_slots_of_one_worker_have_one_first_due_time_and_one_order_of_an_account() -> None:
    fair_queue = FairQueue(RealWorld())
    fair_queue.record_next_due("telco", [0, 1, 2], [(0, 0, NOON - 5000), (1, 0, NOON - 9000)], NOON)
    fair_queue.record_next_due("telco", [3], [(3, 0, NOON - 20_000)], NOON)

    own = [fair_queue.position_new(1, LaneKey("telco", slot, 0), 20, NOON, is_shared=True) for slot in (0, 2, 1, 3)]

    assert own == [NOON - 9000, NOON - 8999, NOON - 8998, NOON - 20_000]


async def send_in_slot(env: Environment, slot: int, account: str, sending: Sending) -> bytes:
    """Accept a send of an account in a slot, by an Idempotency-Key that leads there."""
    account_id, slots = await account_id_of(env, account), len(env.context.slots.numbers)
    key = next(key for key in map(str, range(1000)) if slot_of_key(account_id, key, slots) == slot)
    return await accept(env.context, account_id, sending, IdempotencyKey(key, b""))


async def test_campaigns_in_different_slots_share_a_carrier(tmp_path: Path) -> None:
    carrier = slow_carrier()
    async with open_cluster(
        tmp_path, carriers=lambda: {DEFAULT_CARRIER: carrier}, settings=settings_for(tmp_path, max_receivers=2000)
    ) as cluster:
        worker = await cluster.start_process("worker")
        await cluster.wait(4)
        await send_in_slot(worker.env, 1, "first", sms(*phones(1500)))
        await cluster.wait(3)
        since = asyncio.get_running_loop().time()
        second = await send_in_slot(worker.env, 2, "second", sms(*phones(200)))
        await cluster.wait(6)

        waits = waits_of([carrier], [second], since)
        assert len(waits) == 200  # behind the first campaign they would begin after 12 s
        assert len(carrier.ids) >= 800
