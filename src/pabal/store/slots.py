"""Slots: the parts of the queue, and which worker each is in the hands of."""

from collections.abc import Callable, Collection, Iterable
from typing import Concatenate, NamedTuple

from pabal.domain.dates import Instant
from pabal.store.engine.base import P, T, Tx, transaction

NO_WORKER = b""
"""Never among the workers: a slot in its hands is an orphan."""


class SlotNotHeld(Exception):
    """The slot is in other hands by now; nothing was done."""


class Worker(NamedTuple):
    """A process that delivers, among others."""

    id: bytes
    name: str
    heartbeat: int
    joined_at: Instant


class SlotAssignment(NamedTuple):
    """What a worker sees when it shows that it lives."""

    heartbeats: dict[bytes, int]
    """How often each worker has shown that it lives."""
    held: list[int]
    orphaned: list[int]
    """Those of the slots, taken just now, whose worker has died: what it had in hand is in doubt."""


def count_slots(tx: Tx) -> int:
    """Return how many slots the store has; 0 for one that was never made ready."""
    row = tx.fetch_one("select count(*) from slots")
    return int(row[0]) if row else 0


def ensure_slots(tx: Tx, count: int) -> int:
    """Cut the queue of a new store into so many slots; return how many it has, which never changes."""
    if not count_slots(tx):
        tx.execute_many(
            "insert into slots (slot) select v.column1 from (values {rows}) as v where true on conflict do nothing",
            [(number,) for number in range(count)],
        )
    return count_slots(tx)


@transaction(exclusive=True)
def register(tx: Tx, worker: bytes, name: str, now: Instant) -> None:
    """Let a worker be one of them, if it is not yet."""
    tx.execute(
        "insert into workers (id, name, heartbeat, joined_at) values (?, ?, 0, ?) on conflict (id) do nothing",
        (worker, name, now),
    )


@transaction(exclusive=True)
def heartbeat(
    tx: Tx, worker: bytes, dead: Iterable[tuple[bytes, int]], unprepared: Collection[int] = ()
) -> SlotAssignment | None:
    """Show that a worker lives, and let it take or give up slots until it has its fair share.

    The dead, named with their last beat, are struck off unless they have shown life since. Those of its slots that
    were orphans and are still in disorder stay orphans for others. None: this worker was struck off itself, and
    holds nothing any more.
    """
    if not tx.execute("update workers set heartbeat = heartbeat + 1 where id = ?", (worker,)):
        return None
    for other, last in dead:
        tx.execute("delete from workers where id = ? and heartbeat = ?", (other, last))
    beats: dict[bytes, int] = dict(tx.fetch_all("select id, heartbeat from workers order by id"))
    owners = tx.fetch_all("select slot, worker_id from slots order by slot")
    held = [slot for slot, owner in owners if owner == worker]
    share = fair_share(sorted(beats).index(worker), len(beats), len(owners))
    given_up, held = held[share:], held[:share]
    free = [(slot, owner) for slot, owner in owners if owner not in beats]
    taken = free[: share - len(held)]
    _assign(tx, None, [slot for slot in given_up if slot not in unprepared])
    _assign(tx, NO_WORKER, [slot for slot in given_up if slot in unprepared])
    _assign(tx, worker, [slot for slot, _ in taken])
    return SlotAssignment(
        beats,
        sorted(held + [slot for slot, _ in taken]),
        [slot for slot, owner in taken if owner is not None],
    )


@transaction(exclusive=True)
def unregister(tx: Tx, worker: bytes, unprepared: Collection[int] = ()) -> None:
    """Let a worker go, and its slots be free; those that are still in disorder stay orphans."""
    _assign(tx, NO_WORKER, [slot for slot in unprepared if is_held(tx, slot, worker)])
    tx.execute("update slots set worker_id = null where worker_id = ?", (worker,))
    tx.execute("delete from workers where id = ?", (worker,))


def is_held(tx: Tx, slot: int, worker: bytes) -> bool:
    """Say whether a slot is in a worker's hands."""
    return tx.fetch_one("select 1 from slots where slot = ? and worker_id = ?", (slot, worker)) is not None


def run_if_held(
    tx: Tx,
    slot: int,
    worker: bytes | None,
    work: Callable[Concatenate[Tx, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Do something to a slot in a worker's hands; None: it is in the hands of the only one there is.

    Raises NotHeld.
    """
    if worker is not None and not is_held(tx, slot, worker):
        raise SlotNotHeld(slot)
    return work(tx, *args, **kwargs)


def list_workers(tx: Tx) -> list[tuple[Worker, int]]:
    """Return every worker, with the number of slots it holds."""
    rows = tx.fetch_all(
        "select w.id, w.name, w.heartbeat, w.joined_at, (select count(*) from slots s where s.worker_id = w.id)"
        " from workers w order by w.joined_at, w.id"
    )
    return [(Worker(*row[:4]), row[4]) for row in rows]


def fair_share(rank: int, workers: int, slots: int) -> int:
    """Return how many slots the worker in this place has when all have their fair share."""
    return slots // workers + (rank < slots % workers)


def _assign(tx: Tx, worker: bytes | None, slots: Iterable[int]) -> None:
    tx.execute_many("update slots set worker_id = ? where slot in ({list})", [(slot,) for slot in slots], (worker,))
