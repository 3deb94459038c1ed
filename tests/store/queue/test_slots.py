"""Slots: shared evenly by workers that join, leave or die, and never held by two."""

import asyncio
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pabal.store.engine.base import Tx
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.queue import slots
from pabal.store.queue.slots import SlotAssignment, Worker, WorkerState
from tests.fixtures import postgres
from tests.fixtures.postgres_store import run_scenario
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

ONE, TWO, THREE = b"1" * 16, b"2" * 16, b"3" * 16
THREADS = 6
ROUNDS = 15


def divide_and_join(tx: Tx, count: int, *workers: bytes) -> None:
    """Divide the queue into slots, and let workers join and take their shares."""
    slots.ensure_slots(tx, count)
    for worker in workers:
        slots.register(tx, worker, f"host:{worker[0]}", NOON)
    for _ in range(2):
        for worker in workers:
            slots.heartbeat(tx, worker, (), NOON)


def beat(tx: Tx, worker: bytes, *dead: tuple[bytes, int]) -> SlotAssignment:
    return present(slots.heartbeat(tx, worker, dead, NOON))


def owners(tx: Tx) -> dict[int, bytes | None]:
    return dict(tx.fetch_all("select slot, worker_id from slots order by slot"))


def sizes(tx: Tx) -> list[int]:
    return [count for _, count in slots.list_workers(tx)]


def test_new_store_is_divided_into_slots_only_once(tx: Tx) -> None:
    assert slots.count_slots(tx) == 0

    assert slots.ensure_slots(tx, 8) == 8

    assert slots.ensure_slots(tx, 3) == 8
    assert slots.ensure_slots(tx, 200) == 8
    assert owners(tx) == dict.fromkeys(range(8))


def test_heartbeat_records_both_clocks_for_people(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE)
    slots.register(tx, TWO, "host:new", NOON)
    (first,) = tx.fetch_all("select beat_at from workers where id = ?", (ONE,))

    slots.heartbeat(tx, ONE, (), first[0] + 90_000)
    known, new = slots.list_worker_states(tx)

    assert (known.name, known.heartbeat, known.slots) == ("host:49", 3, 2)
    assert known.silent_ms is not None
    assert 0 <= known.silent_ms < 30_000
    assert known.ahead_ms is not None
    assert 60_000 < known.ahead_ms <= 90_000
    assert new == WorkerState("host:new", NOON, 0, 0, None, None)


def test_numbers_of_slots_are_listed_and_chosen_anew_only_on_nodes(tx: Tx) -> None:
    assert slots.list_numbers(tx) == [0]
    slots.ensure_slots(tx, 3)
    assert slots.list_numbers(tx) == [0, 1, 2]

    assert slots.spread_slots(tx) == tx.is_distributed

    assert len(slots.list_numbers(tx)) == 3


def test_store_may_have_more_slots_than_rows_in_a_statement(tx: Tx) -> None:
    assert slots.ensure_slots(tx, 256) == 256

    slots.register(tx, ONE, "host:1", NOON)
    assert beat(tx, ONE).held == list(range(256))
    assert set(owners(tx).values()) == {ONE}


def test_workers_see_what_others_publish_about_rates(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE, TWO)

    slots.heartbeat(tx, ONE, (), NOON, "what one says")
    found = slots.heartbeat(tx, TWO, (), NOON, "what two says")

    assert found
    assert found.rates == {ONE: "what one says", TWO: "what two says"}


def test_only_worker_takes_every_slot_at_its_first_heartbeat(tx: Tx) -> None:
    divide_and_join(tx, 4)
    slots.register(tx, ONE, "host:1", NOON)

    assert beat(tx, ONE) == SlotAssignment({ONE: 1}, [0, 1, 2, 3], [], {ONE: ""})
    assert beat(tx, ONE) == SlotAssignment({ONE: 2}, [0, 1, 2, 3], [], {ONE: ""})
    assert slots.list_workers(tx) == [(Worker(ONE, "host:1", 2, NOON, NOON), 4)]


def test_new_worker_gets_its_share_after_the_others_release_slots(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE)
    slots.register(tx, TWO, "host:2", NOON)

    assert beat(tx, TWO).held == []
    assert beat(tx, ONE).held == [0, 1]
    assert beat(tx, TWO) == SlotAssignment({ONE: 3, TWO: 2}, [2, 3], [], {ONE: "", TWO: ""})


def test_worker_that_leaves_frees_its_own_slots_which_are_not_orphaned(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE, TWO)

    slots.unregister(tx, TWO)
    slots.unregister(tx, TWO)

    assert owners(tx) == {0: ONE, 1: ONE, 2: None, 3: None}
    found = beat(tx, ONE)
    assert (found.held, found.orphaned) == ([0, 1, 2, 3], [])
    assert TWO not in found.heartbeats
    assert [worker.id for worker, _ in slots.list_workers(tx)] == [ONE]


def test_slots_of_an_evicted_worker_are_orphaned_until_prepared(tx: Tx) -> None:
    divide_and_join(tx, 6, ONE, TWO, THREE)

    found = beat(tx, ONE, (THREE, 2))
    assert (found.held, found.orphaned) == ([0, 1, 4], [4])
    assert not slots.is_held(tx, 5, THREE), "even before another takes it"
    assert owners(tx)[5] is None
    slots.mark_prepared(tx, 4)
    assert beat(tx, ONE).orphaned == []
    other = beat(tx, TWO)

    assert (other.held, other.orphaned) == ([2, 3, 5], [5])
    slots.mark_prepared(tx, 5)
    assert beat(tx, TWO).orphaned == []


def test_worker_with_a_recent_heartbeat_is_not_evicted(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE, TWO)

    found = beat(tx, ONE, (TWO, 1))

    assert found.heartbeats == {ONE: 3, TWO: 2}
    assert beat(tx, TWO).held == [2, 3]


def test_heartbeat_of_an_evicted_worker_is_refused_and_takes_no_slot(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE, TWO)
    beat(tx, ONE, (TWO, 2))

    assert slots.heartbeat(tx, TWO, [(ONE, 3)], NOON) is None

    assert set(owners(tx).values()) == {ONE}
    assert not slots.is_held(tx, 2, TWO)
    assert beat(tx, ONE).heartbeats == {ONE: 4}


def test_heartbeat_of_an_unregistered_worker_is_refused(tx: Tx) -> None:
    divide_and_join(tx, 4)

    assert slots.heartbeat(tx, ONE, (), NOON) is None


def test_orphaned_slots_stay_orphaned_until_they_are_prepared(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE)
    slots.register(tx, TWO, "host:2", NOON)

    found = beat(tx, TWO, (ONE, 2))
    assert (found.held, found.orphaned) == ([0, 1, 2, 3], [0, 1, 2, 3])
    slots.mark_prepared(tx, 1)
    assert beat(tx, TWO).orphaned == [0, 2, 3]  # also if the result of the heartbeat before was lost
    slots.register(tx, THREE, "host:3", NOON)
    beat(tx, TWO)
    found = beat(tx, THREE)
    assert (found.held, found.orphaned) == ([2, 3], [2, 3])
    slots.unregister(tx, TWO)
    found = beat(tx, THREE)

    assert (found.held, found.orphaned) == ([0, 1, 2, 3], [0, 2, 3])


def test_worker_that_repeats_its_registration_is_registered_once(tx: Tx) -> None:
    divide_and_join(tx, 4, ONE)

    slots.register(tx, ONE, "host:1", NOON + 1)

    assert beat(tx, ONE).held == [0, 1, 2, 3]
    assert [worker.joined_at for worker, _ in slots.list_workers(tx)] == [NOON]


def test_slot_is_held_only_by_its_worker_and_work_of_others_is_refused(tx: Tx) -> None:
    divide_and_join(tx, 2, ONE, TWO)

    assert slots.is_held(tx, 0, ONE)
    assert not slots.is_held(tx, 0, TWO)
    assert not slots.is_held(tx, 7, ONE)
    assert slots.run_if_held(tx, 0, ONE, slots.count_slots) == 2
    assert slots.run_if_held(tx, 0, None, slots.count_slots) == 2
    with pytest.raises(slots.SlotNotHeld):
        slots.run_if_held(tx, 0, TWO, slots.count_slots)
    slots.unregister(tx, ONE)
    assert not slots.is_held(tx, 0, ONE)


def test_surplus_workers_stand_by_until_a_slot_is_free(tx: Tx) -> None:
    divide_and_join(tx, 2, ONE, TWO, THREE)
    assert sizes(tx) == [1, 1, 0]

    slots.unregister(tx, ONE)

    assert beat(tx, THREE).held == [0]


@given(st.integers(1, 40), st.integers(1, 300))
def test_fair_shares_cover_all_slots_and_differ_by_at_most_one(workers: int, count: int) -> None:
    shares = [slots.fair_share(place, workers, count) for place in range(workers)]

    assert sum(shares) == count
    assert max(shares) - min(shares) <= 1


class SimulatedWorkers:
    """Workers that join, leave and die, and their expected state."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._ids = itertools.cycle(range(7, 10_000, 13))
        self.living: list[bytes] = []
        self.dead: list[bytes] = []

    def join(self, chance: int) -> None:
        """Let a worker join; its id may sort anywhere among the others."""
        worker = chance.to_bytes(2, "big") + next(self._ids).to_bytes(14, "big")
        slots.register(self._tx, worker, "host", NOON)
        self.living.append(worker)

    def act(self, event: str, chance: int) -> None:
        if event == "join":
            self.join(chance)
            return
        one = self.living[chance % len(self.living)]
        if event == "beat":
            assert all(slots.is_held(self._tx, slot, one) for slot in beat(self._tx, one).held)
        elif len(self.living) > 1:
            self.living.remove(one)
            if event == "leave":
                slots.unregister(self._tx, one)
            else:
                self.dead.append(one)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    count=st.integers(1, 12),
    events=st.lists(
        st.tuples(st.sampled_from(["join", "beat", "beat", "leave", "die"]), st.integers(0, 999)), max_size=25
    ),
)
def test_every_slot_has_one_owner_after_workers_join_leave_and_die(
    tx: Tx, count: int, events: list[tuple[str, int]]
) -> None:
    tx.execute("delete from slots")
    tx.execute("delete from workers")
    slots.ensure_slots(tx, count)
    workers = SimulatedWorkers(tx)
    workers.join(500)

    for event, chance in events:
        workers.act(event, chance)
    last = {worker.id: worker.heartbeat for worker, _ in slots.list_workers(tx)}
    evicted = [(one, last[one]) for one in workers.dead]
    held = [beat(tx, one, *evicted).held for _ in range(2) for one in workers.living][-len(workers.living) :]

    assert sorted(itertools.chain(*held)) == list(range(count))
    assert set(owners(tx).values()) <= set(workers.living)
    assert max(sizes(tx)) - min(sizes(tx)) <= 1


# Several threads at once, each with its own connections.


def run_concurrently(work: Callable[[int, PostgresStore], Any], count: int) -> list[Any]:
    """Run work in several threads on one database at the same time; return their results."""
    address, start = postgres.empty_database(), threading.Barrier(count)
    found: dict[int, Any] = {}

    def run(number: int) -> None:
        async def scenario(store: PostgresStore) -> None:
            await store.read(slots.count_slots)  # it is connected
            await asyncio.to_thread(start.wait)
            found[number] = await work(number, store)

        run_scenario(address, scenario, writers=1)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [found[number] for number in range(count)]


def test_concurrent_division_into_slots_is_decided_by_one() -> None:
    wanted = [8, 3, 250, 5]

    async def ensure(number: int, store: PostgresStore) -> int:
        return await store.write(slots.ensure_slots, wanted[number])

    for _ in range(5):
        found = set(run_concurrently(ensure, len(wanted)))

        assert len(found) == 1
        assert found <= set(wanted)


def test_concurrent_heartbeats_never_take_the_same_slot() -> None:
    async def live(number: int, store: PostgresStore) -> list[int]:
        me = bytes([number]) * 16
        await store.write(slots.ensure_slots, 16)
        await store.write(slots.register, me, f"host:{number}", NOON)
        for _ in range(ROUNDS):
            holding = present(await store.write(slots.heartbeat, me, (), NOON))
            assert holding.orphaned == []
            held = [await store.read(slots.is_held, slot, me) for slot in holding.held]
            assert all(held), "no slot is taken from a live worker"
        await all_are_done(store)
        await store.write(slots.heartbeat, me, (), NOON)
        await all_are_done(store)
        return present(await store.write(slots.heartbeat, me, (), NOON)).held

    done = threading.Barrier(THREADS)

    async def all_are_done(store: PostgresStore) -> None:
        await asyncio.to_thread(done.wait)

    held = run_concurrently(live, THREADS)

    assert sorted(itertools.chain(*held)) == list(range(16))
    assert sorted(map(len, held)) == [2, 2, 3, 3, 3, 3]


@pytest.mark.torture
def test_concurrent_mutual_evictions_leave_all_slots_to_live_workers() -> None:
    both = threading.Barrier(2)

    async def evict(number: int, store: PostgresStore) -> SlotAssignment | None:
        me, other = bytes([number]) * 16, bytes([1 - number]) * 16
        await store.write(slots.ensure_slots, 4)
        await store.write(slots.register, me, f"host:{number}", NOON)
        await asyncio.to_thread(both.wait)
        found = await store.write(slots.heartbeat, me, [(other, 0)], NOON)
        for _ in range(3):
            await asyncio.to_thread(both.wait)
            found = await store.write(slots.heartbeat, me, (), NOON)
        return found

    for _ in range(5):
        found = run_concurrently(evict, 2)
        living = [each for each in found if each is not None]

        assert sorted(slot for each in living for slot in each.held) == [0, 1, 2, 3]
