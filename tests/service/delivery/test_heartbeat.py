"""Several processes on one store: each message is handed over by one, whoever comes, goes, dies or sleeps."""

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Rejected, Verdict
from pabal.domain import identifiers
from pabal.domain.message import Attempt, Outcome, Status
from pabal.service.delivery.deliver import POLL_INTERVAL_S
from pabal.service.delivery.heartbeat import HEARTBEAT_INTERVAL_S, MAX_MISSED_HEARTBEATS
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.service.upkeep.housekeeping import FULL_ROUND_EVERY, ROUND_INTERVAL_S
from pabal.store import queue, queue_admin
from pabal.store.engine.base import Tx
from tests.fixtures.cluster import Cluster, Process, run_scenario
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, count_rows, message_id_of, outcomes_of, send, sms

SETTLED_S = 3.5
"""Time enough for slots to be shared when nobody has died."""
MISSED_S = (MAX_MISSED_HEARTBEATS + 3) * HEARTBEAT_INTERVAL_S
"""Time enough for a dead worker to be missed and its slots to be taken."""
SLOTS = 8
DELIVERED = (Status.COMPLETED, Outcome.DELIVERED)


def done(attempt: Attempt) -> Verdict:
    """Take it for good."""
    return Accepted(None)


def posts(**options: object) -> Callable[[], dict[str, FakeCarrier]]:
    """Return how each process makes its carrier."""
    return lambda: {DEFAULT_CARRIER: FakeCarrier(answer=done, **options)}  # type: ignore[arg-type]


def post(process: Process) -> FakeCarrier:
    found = process.carriers[DEFAULT_CARRIER]
    assert isinstance(found, FakeCarrier)
    return found


def handed(*processes: Process) -> Counter[bytes]:
    """Return how often each message was handed over by these processes."""
    return Counter(one for each in processes for one in post(each).ids)


async def send_many(process: Process, number: int = 40) -> list[bytes]:
    """Send so many messages, each in a slot that chance chose; return their ids."""
    return [message_id_of(await send(process.env, sms())) for _ in range(number)]


async def send_to_slot(process: Process, slot: int, *phones: str) -> bytes:
    """Send something that lies in a slot; return its request's id."""
    while True:
        request = await send(process.env, sms(*phones, scheduled_at=process.env.world.now()))
        if identifiers.slot_of(request) == slot:
            return request


def shares(*processes: Process) -> list[int]:
    """Return how many slots each delivers; no two deliver the same one."""
    held = [slot for each in processes for slot in each.held]
    assert len(held) == len(set(held)), held
    return [len(each.held) for each in processes]


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 10])
def test_any_number_of_processes_share_the_slots_evenly_and_hand_each_message_over_once(
    tmp_path: Path, number: int
) -> None:
    async def scenario(crowd: Cluster) -> None:
        every = [await crowd.start_process(f"host:{each}") for each in range(number)]
        await crowd.wait(SETTLED_S)
        sent = [one for each in every for one in await send_many(each, 100 // number)]
        await crowd.wait(2)

        found = shares(*every)
        assert sum(found) == SLOTS
        assert max(found) - min(found) <= 1
        assert handed(*every) == Counter(sent)
        assert all(bool(post(each).ids) == bool(each.held) for each in every)

    run_scenario(tmp_path, scenario, carriers=posts())


def test_one_that_is_added_takes_its_share_within_about_two_seconds_and_nothing_is_handed_over_twice(
    tmp_path: Path,
) -> None:
    async def scenario(crowd: Cluster) -> None:
        one = await crowd.start_process("one")
        await crowd.wait(2)
        sent = await send_many(one)
        two = await crowd.start_process("two")
        sent += await send_many(two)
        await crowd.wait(2.2)

        assert shares(one, two) == [4, 4]
        sent += await send_many(one)
        await crowd.wait(2)
        assert handed(one, two) == Counter(sent)

    run_scenario(tmp_path, scenario, carriers=posts(delay_s=0.7))


def test_what_a_dead_one_had_in_hand_goes_out_by_another_when_it_is_missed(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        post(one).delay_s = 25.0
        sent = await send_many(one)
        await crowd.wait(1)
        in_hand = handed(one)
        assert 0 < len(in_hand) < len(sent)

        await one.die()
        died_s = crowd.world.monotonic()
        await crowd.wait(MISSED_S)

        again = [at - died_s for at, attempt in post(two).submitted if attempt.message_id in in_hand]
        assert len(again) == len(in_hand)
        assert MAX_MISSED_HEARTBEATS * HEARTBEAT_INTERVAL_S <= min(again) <= max(again) <= 7.1
        assert handed(two) == Counter(sent)
        assert shares(two) == [SLOTS]
        assert list((await crowd.workers()).values()) == ["two"]
        assert await count_rows(two.env, "jobs") == 0

    run_scenario(tmp_path, scenario, carriers=posts())


def test_where_doubt_is_held_what_a_dead_one_had_in_hand_waits_for_its_receipt(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        post(one).delay_s = 25.0
        sent = await send_many(one)
        await crowd.wait(1)
        in_hand = set(handed(one))

        await one.die()
        await crowd.wait(60)

        assert set(handed(two)) == set(sent) - in_hand
        assert max(handed(two).values()) == 1
        assert set(await crowd.store.read(lane, queue.Lane.AWAITING_RECEIPT)) == in_hand
        assert await count_rows(two.env, "jobs") == len(in_hand)

    run_scenario(tmp_path, scenario, carriers=posts(holds_in_doubt=True))


def lane(tx: Tx, number: int) -> list[bytes]:
    return [row[0] for row in tx.fetch_all("select id from jobs where lane = ?", (number,))]


def test_one_that_leaves_hands_its_slots_over_at_once_and_finishes_what_it_has_in_hand(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        post(one).delay_s = 6.0
        sent = await send_many(one)
        await crowd.wait(1)
        in_hand = set(handed(one))
        slot = one.held[0]

        leaving = asyncio.create_task(one.leave())
        await crowd.wait(HEARTBEAT_INTERVAL_S + 0.1)
        assert (one.held, len(two.held)) == ((), SLOTS)
        sent.append(message_id_of(await send_to_slot(two, slot)))
        await crowd.wait(2 * POLL_INTERVAL_S)
        assert sent[-1] in handed(two)
        await leaving
        await crowd.wait(30)

        assert set(handed(one)) == in_hand
        assert max(handed(one, two).values()) == 1
        assert await count_rows(two.env, "jobs") == 0
        assert list((await crowd.workers()).values()) == ["two"]

    run_scenario(tmp_path, scenario, carriers=posts())


def test_one_that_was_paused_for_too_long_changes_nothing_when_it_wakes_and_joins_anew(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        before = await crowd.workers()
        post(one).delay_s = 5.0
        post(one).answer = lambda attempt: Rejected(Outcome.UNDELIVERABLE)
        requests = [await send(one.env, sms()) for _ in range(40)]
        await crowd.wait(1)
        in_hand = set(handed(one))
        assert in_hand

        one.store_proxy.freeze()
        await crowd.wait(20)
        assert shares(two) == [SLOTS]
        assert set(handed(two)) == {message_id_of(each) for each in requests}
        post(two).delay_s = 8.0
        late = await send_many(two)
        await crowd.wait(1)
        one.store_proxy.thaw()
        await crowd.wait(0.5)
        assert one.held == ()
        await crowd.wait(20)

        assert [await outcomes_of(two.env, each) for each in requests] == [[DELIVERED]] * 40
        assert set(handed(one)) == in_hand, "from slots of others nothing is claimed"
        assert all(handed(two)[each] == 1 for each in late)
        assert shares(one, two) == [4, 4]
        after = await crowd.workers()
        assert sorted(after.values()) == ["one", "two"]
        assert len(set(before) & set(after)) == 1

    run_scenario(tmp_path, scenario, carriers=posts())


def test_one_that_falls_asleep_over_a_slot_that_it_puts_in_order_voids_nobodys_leases_when_it_wakes(
    tmp_path: Path,
) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        await one.die()
        two.store_proxy.freeze_before(queue_admin.release_leases)
        await crowd.wait(MISSED_S)
        assert two.store_proxy.is_frozen

        three = await crowd.start_process("three")
        await crowd.wait(MISSED_S)
        assert shares(three) == [SLOTS]
        post(three).delay_s = 15.0
        sent = await send_many(three)
        await crowd.wait(1)
        assert handed(three) == Counter(sent)
        two.store_proxy.thaw()
        await crowd.wait(40)

        assert handed(two, three) == Counter(sent)
        assert await count_rows(three.env, "jobs") == 0

    run_scenario(tmp_path, scenario, carriers=posts())


def test_one_that_leaves_over_a_slot_that_it_puts_in_order_voids_nobodys_leases(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two, three = [await crowd.start_process(each) for each in ("one", "two", "three")]
        await crowd.wait(SETTLED_S)
        post(three).delay_s = 15.0
        await one.die()
        two.store_proxy.delay_before(queue_admin.release_leases, 5.0)
        await crowd.wait(MISSED_S)
        sent = await send_many(three)
        await two.leave()
        await crowd.wait(40)

        assert handed(two, three) == Counter(sent)
        assert shares(three) == [SLOTS]

    run_scenario(tmp_path, scenario, carriers=posts())


def test_what_a_dead_one_had_in_hand_goes_out_soon_though_who_took_its_slots_left_before_they_were_in_order(
    tmp_path: Path,
) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        post(one).delay_s = 25.0
        sent = await send_many(one)
        await crowd.wait(1)
        await one.die()
        two.store_proxy.delay_before(queue_admin.release_leases, 5.0)
        await crowd.wait(MISSED_S)
        assert sorted((await crowd.workers()).values()) == ["two"]
        assert len(two.held) < SLOTS

        three = await crowd.start_process("three")
        await two.leave()
        await crowd.wait(2)

        assert shares(three) == [SLOTS]
        assert handed(two, three) == Counter(sent)

    run_scenario(tmp_path, scenario, carriers=posts())


def test_while_the_store_is_away_nobody_is_given_up_for_dead(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        every = [await crowd.start_process(f"host:{each}") for each in range(3)]
        await crowd.wait(SETTLED_S)
        before, held = await crowd.workers(), [each.held for each in every]

        for each in every:
            each.store_proxy.is_unavailable = True
        await crowd.wait(60)
        for number, each in enumerate(every):  # it comes back to one after the other
            await crowd.wait(number)
            each.store_proxy.is_unavailable = False
        sent = await send_many(every[0])
        await crowd.wait(15)

        assert await crowd.workers() == before
        assert [each.held for each in every] == held
        assert handed(*every) == Counter(sent)

    run_scenario(tmp_path, scenario, carriers=posts())


def test_one_that_is_cut_off_from_the_store_is_missed_and_comes_back(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)

        one.store_proxy.is_unavailable = True
        await crowd.wait(MISSED_S)
        sent = await send_many(two)
        await crowd.wait(1)
        assert handed(two) == Counter(sent)
        one.store_proxy.is_unavailable = False
        await crowd.wait(5)

        assert shares(one, two) == [4, 4]
        sent += await send_many(one)
        await crowd.wait(2)
        assert handed(one, two) == Counter(sent)

    run_scenario(tmp_path, scenario, carriers=posts())


def test_one_that_is_killed_and_starts_again_at_once_delivers_all_slots_when_it_has_missed_itself(
    tmp_path: Path,
) -> None:
    async def scenario(crowd: Cluster) -> None:
        one = await crowd.start_process("one")
        await crowd.wait(SETTLED_S)
        post(one).delay_s = 25.0
        sent = await send_many(one)
        await crowd.wait(1)
        await one.die()

        again = await crowd.start_process("again")
        await crowd.wait(MISSED_S)

        assert shares(again) == [SLOTS]
        assert handed(again) == Counter(sent)

    run_scenario(tmp_path, scenario, carriers=posts())


def test_what_a_process_without_delivery_accepts_another_delivers_within_its_poll(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        web = await crowd.start_process("web", delivers=False)
        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)
        waited = []
        for _ in range(20):
            sent = message_id_of(await send(web.env, sms()))
            sent_s = crowd.world.monotonic()
            await crowd.wait(0.37)
            (at,) = [
                at for each in (one, two) for at, attempt in post(each).submitted if attempt.message_id == sent
            ]
            waited.append(at - sent_s)

        assert max(waited) <= POLL_INTERVAL_S + 0.06
        assert web.held == ()
        assert not handed(web)
        assert sorted((await crowd.workers()).values()) == ["one", "two"]

    run_scenario(tmp_path, scenario, carriers=posts())


def test_what_need_be_done_once_for_all_is_done_by_the_holder_of_one_slot_also_when_it_dies(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        every = [await crowd.start_process(f"host:{each}") for each in range(3)]
        await crowd.wait(SETTLED_S)
        for each in every:
            each.store_proxy.call_counts.clear()
        await crowd.wait(FULL_ROUND_EVERY * ROUND_INTERVAL_S)

        (keeper,) = [each for each in every if HOUSEKEEPING_SLOT in each.held]
        assert [each for each in every if each.store_proxy.call_counts["delete_gone_workers"]] == [keeper]
        others = [each for each in every if each is not keeper]
        await keeper.die()
        await crowd.wait(MISSED_S)
        for each in others:
            each.store_proxy.call_counts.clear()
        await crowd.wait(FULL_ROUND_EVERY * ROUND_INTERVAL_S)

        (heir,) = [each for each in others if HOUSEKEEPING_SLOT in each.held]
        assert [each for each in others if each.store_proxy.call_counts["delete_gone_workers"]] == [heir]

    run_scenario(tmp_path, scenario, carriers=posts())


def test_jobs_of_a_carrier_that_is_no_more_are_given_to_others_in_every_slot(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        before = await crowd.start_process("before", delivers=False)
        sent = await send_many(before)
        assert len({identifiers.slot_of(one) for one in sent}) == SLOTS
        await crowd.store.write(give_all_to, "gone")

        one, two = await crowd.start_process("one"), await crowd.start_process("two")
        await crowd.wait(SETTLED_S)

        assert handed(one, two) == Counter(sent)
        assert await count_rows(one.env, "jobs") == 0

    run_scenario(tmp_path, scenario, carriers=posts())


def give_all_to(tx: Tx, carrier: str) -> None:
    tx.execute("update jobs set carrier = ?", (carrier,))
