"""Administration of the queue: rerouting, depths, leases of dead workers, and the queue of a restored backup."""

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx, Value
from pabal.store.queue import attempts
from pabal.store.queue.attempts import UNKNOWN, EndedAttempt
from pabal.store.queue.queue import UNSENT, Lane, next_due_at
from pabal.store.rows import Select, among, reader

# Due by now, or claimed before the backup was made: whoever had the queue since may have sent it.
_MAYBE_SENT = f"{UNSENT} and (attempt > 0 or ready_at <= ?)"


class QueueDepth(NamedTuple):
    """How many jobs a carrier's lane has, and since when the oldest is due."""

    carrier: str
    lane: int
    jobs: int
    oldest_ready_at: Instant | None


class ReroutableJob(NamedTuple):
    """A job that another carrier may get, and the number of its product."""

    id: bytes
    product: int


_REROUTABLE = Select(
    "select j.id, m.product from jobs j join messages m on m.id = j.id and m.slot = j.slot"
    f" where j.slot = ? and j.carrier = ? and j.{UNSENT} and",
    ReroutableJob._make,
)


class ReroutedJob(NamedTuple):
    """A job, and the carrier that it moves to."""

    id: bytes
    carrier: str


class RestoredQueue(NamedTuple):
    """How many messages a queue holds, and when its newest request was made."""

    maybe_sent: int
    scheduled: int
    awaiting_receipt: int
    newest_request_at: Instant | None


class MaybeSent(NamedTuple):
    """A message that may have been sent since the backup; `is_begun`: it was claimed before the backup."""

    id: bytes
    carrier: str
    is_begun: bool


def find_reroutable(
    tx: Tx,
    slot: int,
    carrier: str,
    products: Iterable[int],
    now: Instant,
    limit: int,
    *,
    max_doubts: int,
    only_untried: bool = False,
) -> list[ReroutableJob]:
    """Return some due jobs of these products.

    Not those with more than `max_doubts` attempts at this carrier that may have succeeded, including one whose
    lease ran out; with `only_untried`, only those that no worker has ever claimed.
    """
    untried = " and j.attempt = 0" if only_untried else ""
    few_doubts = (
        " and case when j.claimed_at is null then 0 else 1 end + (select count(*) from attempts a"
        " where a.message_id = j.id and a.slot = j.slot and a.carrier = j.carrier"
        f" and a.verdict = '{UNKNOWN}') <= {max_doubts:d}"
    )
    return _REROUTABLE.fetch_all(
        tx,
        f"j.ready_at <= ? and {among('m.product', products)}{untried}{few_doubts} limit ?",
        (slot, carrier, now, limit),
    )


def find_unsent(
    tx: Tx,
    slot: int,
    carrier: str,
    products: Iterable[int],
    now: Instant,
    limit: int,
    *,
    includes_leased: bool = True,
) -> list[ReroutableJob]:
    """Return some jobs of these products that a carrier has still to get, due or not, claimed or not."""
    return _REROUTABLE.fetch_all(
        tx,
        f"(j.claimed_at is null or j.ready_at <= ? or ?) and {among('m.product', products)} limit ?",
        (slot, carrier, now, includes_leased, limit),
    )


def move_waiting(
    tx: Tx, slot: int, carrier: str, target: str, products: Iterable[int], now: Instant, limit: int
) -> int:
    """Give some jobs that a carrier surely has not got to another one, due or not; return how many.

    Leased ones stay, also those that a worker leases meanwhile, and those with an attempt of unknown result.
    """
    found = _REROUTABLE.fetch_all(
        tx,
        f"j.claimed_at is null and {among('m.product', products)} and not exists (select 1 from attempts a"
        f" where a.message_id = j.id and a.slot = j.slot and a.carrier = j.carrier and a.verdict = '{UNKNOWN}')"
        " limit ?",
        (slot, carrier, limit),
    )
    moved = tx.execute_list(
        "update jobs set carrier = ?, tries = 0, ready_at = case when ready_at < ? then ? else ready_at end"
        f" where carrier = ? and claimed_at is null and {UNSENT} and id in ({{list}}) and slot {{same_slot}}"
        " returning id",
        [each.id for each in found],
        (target, now, now, carrier),
    )
    return len(moved)


def reroute(tx: Tx, moved: Iterable[ReroutedJob], now: Instant) -> None:
    """Give jobs to other carriers; those that are due get this time, since their positions mean nothing there."""
    tx.execute_many(
        "update jobs set carrier = v.carrier, tries = 0, claimed_at = null,"
        " ready_at = case when jobs.ready_at < ? then ? else jobs.ready_at end"
        " from (values {rows}) as v(id, carrier) where jobs.id {same} and jobs.slot {same_slot}",
        moved,
        (now, now),
    )


def release_leases(
    tx: Tx,
    slot: int,
    carrier: str,
    now: Instant,
    longest_lease: int,
    in_flight: Container[tuple[bytes, int]] = (),
) -> int:
    """Release the leases of a worker that is gone, and return how many; those in flight here are not among them.

    Their jobs are due now. The results of their attempts are not known, and are recorded so.
    """
    leased = tx.fetch_all(
        f"select id, attempt from jobs where slot = ? and carrier = ? and {UNSENT}"
        " and ready_at > ? and ready_at <= ? and claimed_at is not null",
        (slot, carrier, now, now + longest_lease),
    )
    rows = tx.execute_list(
        "update jobs set ready_at = ?, claimed_at = null"
        " where claimed_at is not null and id in ({list}) and slot {same_slot} returning id, attempt",
        [one for one, number in leased if (one, number) not in in_flight],
        (now,),
    )
    attempts.record(tx, carrier, [EndedAttempt(one, number, UNKNOWN) for one, number in rows], now)
    return len(rows)


def carriers_with_jobs(tx: Tx, slot: int) -> list[str]:
    """Return the carriers that have jobs in a slot, without scanning the jobs."""
    names = carriers_in_queue(tx, [slot])
    return [name for name in names if next_due_at(tx, slot, name, tuple(Lane)) is not None]


def carriers_in_queue(tx: Tx, slots: Sequence[int] = ()) -> list[str]:
    """Return the carriers that have jobs in any slot, without scanning the jobs.

    A distributed store looks only at these slots, if any are given: the nodes of others may be lost.
    """
    if slots and tx.is_distributed:
        # each looks at the few slots that share a shard
        return sorted({name for slot in slots for name in _next_carriers(tx, " and slot = ?", slot)})
    return _next_carriers(tx)


def _next_carriers(tx: Tx, condition: str = "", *args: Value) -> list[str]:
    """Return the carriers that have such jobs, one after the other by the index."""
    found = [""]
    sql = f"select carrier from jobs where carrier > ?{condition} order by carrier limit 1"
    while carrier := tx.fetch_value(sql, (found[-1], *args)):
        found.append(carrier)
    return found[1:]


def depths(tx: Tx, slots: Sequence[int], names: Iterable[str], now: Instant) -> list[QueueDepth]:
    """Return the depth of every lane of these carriers, over these slots."""
    found = []
    for carrier in names:
        for lane in Lane:
            jobs = _count_in_lane(tx, slots, carrier, lane)
            first = [at for slot in slots if (at := _first_due_at(tx, slot, carrier, lane)) is not None]
            oldest = min(first, default=None)
            is_due = oldest is not None and oldest <= now
            found.append(QueueDepth(carrier, lane, jobs, oldest if is_due else None))
    return found


def _count_in_lane(tx: Tx, slots: Sequence[int], carrier: str, lane: Lane) -> int:
    where, args = "carrier = ? and lane = ?", (carrier, lane)
    if tx.is_distributed:
        return sum(_count(tx, f"{where} and slot = ?", carrier, lane, slot) for slot in slots)
    sql = f"select count(*) from jobs where {where} and slot in ({{list}})"
    return sum(row[0] for row in tx.execute_list(sql, slots, args))


def _first_due_at(tx: Tx, slot: int, carrier: str, lane: Lane) -> Instant | None:
    """Return since when the first job of a lane is due: its position may be before its request was made."""
    row = tx.fetch_one(
        "select ready_at, id from jobs where slot = ? and carrier = ? and lane = ? order by ready_at limit 1",
        (slot, carrier, lane),
    )
    return max(row[0], identifiers.requested_at(row[1])) if row else None


def summarize(tx: Tx, now: Instant) -> RestoredQueue:
    """Return what the queue of a restored backup holds."""
    maybe_sent = _count(tx, _MAYBE_SENT, now)
    newest = tx.fetch_value("select id from requests order by id desc limit 1")
    return RestoredQueue(
        maybe_sent,
        _count(tx, UNSENT) - maybe_sent,
        _count(tx, f"lane = {Lane.AWAITING_RECEIPT:d}"),
        None if newest is None else identifiers.requested_at(newest),
    )


def find_maybe_sent(tx: Tx, now: Instant, after: bytes, limit: int) -> list[MaybeSent]:
    """Return some messages that may have been sent since the backup, in order of their ids, after an id."""
    rows = tx.fetch_all(
        f"select id, carrier, attempt from jobs where {_MAYBE_SENT} and id > ? order by id limit ?",
        (now, after, limit),
    )
    return [MaybeSent(one, carrier, attempt > 0) for one, carrier, attempt in rows]


def _count(tx: Tx, condition: str, *args: Value) -> int:
    return tx.fetch_number(f"select count(*) from jobs where {condition}", args)


ANY_TIME: Instant = 2**62
"""Later than every due time."""


class DueJob(NamedTuple):
    """A job to be sent, and when."""

    id: bytes
    ready_at: Instant
    attempt: int
    is_leased: bool


_DUE_IN_LANE = Select(
    "select id, ready_at, attempt, claimed_at is not null from jobs where slot = ? and carrier = ? and lane = ?",
    reader(DueJob, is_leased=bool),
)


class MovedJob(NamedTuple):
    """A job, when it was due, and its new time."""

    id: bytes
    was_ready_at: Instant
    ready_at: Instant


def newest_request_at(tx: Tx, since: Instant, slot: int) -> Instant | None:
    """Return when the newest request since an instant was accepted; a distributed store looks at this slot."""
    only, args = (" and slot = ?", (slot,)) if tx.is_distributed else ("", ())
    low = identifiers.lowest_message_id(since)[: identifiers.REQUEST_ID_BYTES]
    newest = tx.fetch_value(f"select id from requests where id >= ?{only} order by id desc limit 1", (low, *args))
    return None if newest is None else identifiers.requested_at(newest)


def find_later(
    tx: Tx, slot: int, carrier: str, lane: int, after: tuple[Instant, bytes], until: Instant, limit: int
) -> list[DueJob]:
    """Return some jobs of a lane that are due later, in order of their times and ids."""
    return _DUE_IN_LANE.fetch_all(
        tx,
        "and (ready_at, id) > (?, ?) and ready_at <= ? order by ready_at, id limit ?",
        (slot, carrier, lane, *after, until, limit),
    )


def find_since(
    tx: Tx, slot: int, carrier: str, lane: int, since: Instant, until: Instant, limit: int
) -> list[DueJob]:
    """Return some jobs of a lane that are due from an instant on, in order of their times.

    There is no order by id: where very many have the same time, PostgreSQL would sort all of them.
    """
    return _DUE_IN_LANE.fetch_all(
        tx,
        "and ready_at >= ? and ready_at <= ? order by ready_at limit ?",
        (slot, carrier, lane, since, until, limit),
    )


def set_all(tx: Tx, ids: Iterable[bytes], ready_at: Instant) -> None:
    """Set when jobs are due, whether they are leased or not."""
    tx.execute_list("update jobs set ready_at = ? where id in ({list}) and slot {same_slot}", ids, (ready_at,))


def reschedule(tx: Tx, moved: Iterable[MovedJob]) -> None:
    """Give jobs new times, unless their times have changed meanwhile.

    Those of a campaign share one: PostgreSQL must not look them up by that.
    """
    tx.execute_many(
        "update jobs set ready_at = v.ready_at from (values {rows}) as v(id, was_ready_at, ready_at)"
        " where jobs.id {same} and jobs.ready_at + 0 = v.was_ready_at and jobs.slot {same_slot}",
        moved,
    )
