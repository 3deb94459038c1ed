"""Slots: the parts of the queue, each assigned to one worker."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Concatenate, NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import P, Priority, T, Tx, transaction
from pabal.store.engine.citus.places import find_places, spread
from pabal.store.engine.migrate import all_migrations

_NO_NODES: Mapping[int, str] = MappingProxyType({})


class SlotNotHeld(Exception):
    """The slot is assigned to another worker by now; nothing was done."""


class Worker(NamedTuple):
    """A process that delivers."""

    id: bytes
    name: str
    heartbeat: int
    joined_at: Instant
    clock_at: Instant
    """The worker's clock at its last heartbeat."""


class WorkerState(NamedTuple):
    """A worker as operators see it."""

    name: str
    joined_at: Instant
    heartbeat: int
    slots: int
    """How many it holds."""
    silent_ms: int | None
    """Time since its last heartbeat, by the database's clock; None: it has sent none."""
    ahead_ms: int | None
    """How far its clock was ahead of the database's then."""


class SlotAssignment(NamedTuple):
    """The result of a worker's heartbeat."""

    heartbeats: dict[bytes, int]
    """The heartbeat counter of each worker."""
    held: list[int]
    orphaned: list[int]
    """Those held whose last worker has died, until they are prepared: its in-flight messages are in doubt."""
    rates: dict[bytes, str]
    """What each worker has published about its shares of carriers' rates."""
    all_know_holders: bool = True
    """Whether every worker's version notes beside the jobs of a slot that it holds it."""


HOLDERS_SINCE_MIGRATION = 14
"""Versions that know it note who holds a slot beside its jobs, and look there before they claim."""


def count_slots(tx: Tx) -> int:
    """Return how many slots the store has; 0 before it is prepared."""
    return tx.fetch_number("select count(*) from slots")


def list_numbers(tx: Tx) -> list[int]:
    """Return the numbers of the slots; before the store is prepared, that of the only one."""
    return tx.fetch_values("select slot from slots order by slot") or [0]


def ensure_slots(tx: Tx, count: int) -> int:
    """Create the slots of a new store; return how many it has, which never changes."""
    if not count_slots(tx):
        _add(tx, range(count))
    return count_slots(tx)


@transaction(exclusive=True)
def spread_slots(tx: Tx) -> bool:
    """Choose the numbers of the slots anew so that Citus has as many in each shard; return whether that was done.

    It is not once anything was stored in them, and not where nothing is distributed.
    """
    places = find_places(tx)
    is_used = tx.fetch_one("select 1 from requests limit 1") or tx.fetch_one("select 1 from event_data limit 1")
    if not places or is_used or tx.fetch_one("select 1 from workers limit 1"):
        return False
    count = count_slots(tx)
    tx.execute("delete from slots")
    _add(tx, spread(count, places))
    return True


def _add(tx: Tx, numbers: Iterable[int]) -> None:
    tx.execute_many("insert into slots (slot) values {rows} on conflict do nothing", [(each,) for each in numbers])


@transaction(exclusive=True, priority=Priority.URGENT)
def register(tx: Tx, worker: bytes, name: str, now: Instant) -> None:
    tx.execute(
        "insert into workers (id, name, heartbeat, joined_at, clock_at, migration) values (?, ?, 0, ?, ?, ?)"
        " on conflict (id) do nothing",
        (worker, name, now, now, all_migrations()[-1].number),
    )


@transaction(exclusive=True, priority=Priority.URGENT)
def heartbeat(
    tx: Tx,
    worker: bytes,
    dead: Iterable[tuple[bytes, int]],
    now: Instant,
    rates: str = "",
    nodes: Mapping[int, str] = _NO_NODES,
) -> SlotAssignment | None:
    """Record a worker's heartbeat, and assign or release slots until it has its fair share.

    `now` is the time of its clock, which is recorded for people beside that of the database; `rates` is what it
    publishes about its shares of carriers' rates. `nodes` has the node of each slot of a distributed store: the
    fewer a worker has to do with, the more its messages share.

    `dead` workers, given with their last heartbeat, are evicted unless they have had another since. A slot whose
    worker is gone is orphaned until `mark_prepared`, whoever holds it: also if the result of a heartbeat is lost.
    Returns None if this worker was evicted itself.
    """
    if not tx.execute(
        "update workers set heartbeat = heartbeat + 1, rates = ?, beat_at = {database_now}, clock_at = ?"
        " where id = ?",
        (rates, now, worker),
    ):
        return None
    for other, last in dead:
        if tx.execute("delete from workers where id = ? and heartbeat = ?", (other, last)):
            # at once, also where nobody takes them yet: it may wake up and claim from them
            tx.execute("update slots set worker_id = null, is_orphaned = 1 where worker_id = ?", (other,))
    workers = tx.fetch_all("select id, heartbeat, rates, coalesce(migration, 0) from workers order by id")
    beats: dict[bytes, int] = {one: beat for one, beat, *_ in workers}
    owners = tx.fetch_all("select slot, worker_id, is_orphaned from slots order by slot")
    held = [slot for slot, owner, _ in owners if owner == worker]
    share = fair_share(sorted(beats).index(worker), len(beats), len(owners))
    held = _by_node(held, held, nodes)
    given_up, held = held[share:], held[:share]
    free = {slot: owner for slot, owner, _ in owners if owner not in beats}
    taken = _by_node(free, held or free, nodes)[: share - len(held)]
    held = sorted(held + taken)
    orphaned = [slot for slot in taken if free[slot] is not None]
    _assign(tx, None, given_up)
    _assign(tx, worker, taken)
    tx.execute_list("update slots set is_orphaned = 1 where slot in ({list})", orphaned)
    orphaned += [slot for slot, _, is_orphaned in owners if is_orphaned and slot in held]
    offered = {one: text or "" for one, _, text, _ in workers}
    all_know_holders = all(migration >= HOLDERS_SINCE_MIGRATION for *_, migration in workers)
    return SlotAssignment(beats, held, sorted(set(orphaned)), offered, all_know_holders)


def _by_node(slots: Iterable[int], near: Iterable[int], nodes: Mapping[int, str]) -> list[int]:
    """Return slots in order of their nodes: first those of the node that has most of `near`."""
    counts = Counter(nodes.get(slot, "") for slot in near)
    return sorted(slots, key=lambda slot: (-counts[nodes.get(slot, "")], nodes.get(slot, ""), slot))


def mark_prepared(tx: Tx, slot: int) -> None:
    """Record that the leases of an orphaned slot are released."""
    tx.execute("update slots set is_orphaned = 0 where slot = ?", (slot,))


@transaction(exclusive=True, priority=Priority.URGENT)
def unregister(tx: Tx, worker: bytes) -> None:
    """Unregister a worker and free its slots; unprepared ones stay orphaned."""
    tx.execute("update slots set worker_id = null where worker_id = ?", (worker,))
    tx.execute("delete from workers where id = ?", (worker,))


def is_held(tx: Tx, slot: int, worker: bytes) -> bool:
    """Return whether a slot is assigned to a worker."""
    return tx.fetch_one("select 1 from slots where slot = ? and worker_id = ?", (slot, worker)) is not None


@transaction(slot_of=lambda slot, _: slot)
def hold(tx: Tx, slot: int, worker: bytes) -> None:
    """Note beside the jobs of a slot that it is assigned to this worker: no other may claim there from then on.

    A worker does so before it claims. If it is late, and another one has got the slot and noted that, this changes
    nothing. Raises SlotNotHeld.
    """
    assignment = tx.fetch_value("select assignment from slots where slot = ? and worker_id = ?", (slot, worker))
    if assignment is None or not tx.execute(
        "insert into slot_holders (slot, worker_id, assignment) values (?, ?, ?) on conflict (slot) do update"
        " set worker_id = excluded.worker_id, assignment = excluded.assignment"
        " where slot_holders.assignment <= excluded.assignment",
        (slot, worker, assignment),
    ):
        raise SlotNotHeld(slot)


def is_noted(tx: Tx, slot: int, worker: bytes) -> bool:
    """Return whether a worker was the last to note that it holds a slot."""
    return tx.fetch_one("select 1 from slot_holders where slot = ? and worker_id = ?", (slot, worker)) is not None


@transaction(single=True)
def list_holders(tx: Tx) -> list[tuple[int, bytes | None]]:
    """Return every slot with the id of the worker that it is assigned to, if any."""
    return tx.fetch_all("select slot, worker_id from slots order by slot")


def run_if_held(
    tx: Tx,
    slot: int,
    worker: bytes | None,
    work: Callable[Concatenate[Tx, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run `work` if a slot is assigned to a worker; None is the only process, which has all slots.

    Raises SlotNotHeld.
    """
    if worker is not None and not is_held(tx, slot, worker):
        raise SlotNotHeld(slot)
    return work(tx, *args, **kwargs)


def has_older_workers(tx: Tx, migration: int) -> bool:
    """Return whether the version of any worker does not know a migration."""
    row = tx.fetch_one("select 1 from workers where coalesce(migration, 0) < ? limit 1", (migration,))
    return row is not None


def list_workers(tx: Tx) -> list[tuple[Worker, int]]:
    """Return every worker, with the number of slots it holds."""
    rows = tx.fetch_all(
        "select w.id, w.name, w.heartbeat, w.joined_at, w.clock_at,"
        " (select count(*) from slots s where s.worker_id = w.id) from workers w order by w.joined_at, w.id"
    )
    return [(Worker(*row[:5]), row[5]) for row in rows]


def list_worker_states(tx: Tx) -> list[WorkerState]:
    """Return every worker as operators see it."""
    rows = tx.fetch_all(
        "select w.name, w.joined_at, w.heartbeat, (select count(*) from slots s where s.worker_id = w.id),"
        " {database_now} - w.beat_at, w.clock_at - w.beat_at from workers w order by w.joined_at, w.id"
    )
    return [WorkerState(*row) for row in rows]


def fair_share(rank: int, workers: int, slots: int) -> int:
    return slots // workers + (rank < slots % workers)


def _assign(tx: Tx, worker: bytes | None, slots: Iterable[int]) -> None:
    tx.execute_list(
        "update slots set worker_id = ?, assignment = assignment + 1 where slot in ({list})", slots, (worker,)
    )
