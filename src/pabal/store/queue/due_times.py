"""Due times of the queue, where they change: jobs get a position, or the system's clock was set back."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx

ANY_TIME: Instant = 2**62
"""Later than every due time."""


class DueJob(NamedTuple):
    """A job to be sent, and when."""

    id: bytes
    ready_at: Instant
    attempt: int
    is_leased: bool


class MovedJob(NamedTuple):
    """A job, when it was due, and its new time."""

    id: bytes
    was_ready_at: Instant
    ready_at: Instant


def newest_request_at(tx: Tx, since: Instant, slot: int) -> Instant | None:
    """Return when the newest request since an instant was accepted; a distributed store looks at this slot."""
    only, args = (" and slot = ?", (slot,)) if tx.is_distributed else ("", ())
    low = identifiers.lowest_message_id(since)[: identifiers.REQUEST_ID_BYTES]
    newest = tx.fetch_one(f"select id from requests where id >= ?{only} order by id desc limit 1", (low, *args))
    return identifiers.requested_at(newest[0]) if newest else None


def find_later(
    tx: Tx, slot: int, carrier: str, lane: int, after: tuple[Instant, bytes], until: Instant, limit: int
) -> list[DueJob]:
    """Return some jobs of a lane that are due later, in order of their times and ids."""
    rows = tx.fetch_all(
        "select id, ready_at, attempt, claimed_at is not null from jobs where slot = ? and carrier = ? and lane = ?"
        " and (ready_at, id) > (?, ?) and ready_at <= ? order by ready_at, id limit ?",
        (slot, carrier, lane, *after, until, limit),
    )
    return [DueJob(one, at, attempt, bool(is_leased)) for one, at, attempt, is_leased in rows]


def find_since(
    tx: Tx, slot: int, carrier: str, lane: int, since: Instant, until: Instant, limit: int
) -> list[DueJob]:
    """Return some jobs of a lane that are due from an instant on, in order of their times.

    There is no order by id: where very many have the same time, PostgreSQL would sort all of them.
    """
    rows = tx.fetch_all(
        "select id, ready_at, attempt, claimed_at is not null from jobs where slot = ? and carrier = ? and lane = ?"
        " and ready_at >= ? and ready_at <= ? order by ready_at limit ?",
        (slot, carrier, lane, since, until, limit),
    )
    return [DueJob(one, at, attempt, bool(is_leased)) for one, at, attempt, is_leased in rows]


def set_all(tx: Tx, ids: Iterable[bytes], ready_at: Instant) -> None:
    """Set when jobs are due, whether they are leased or not."""
    tx.execute_many(
        "update jobs set ready_at = ? where id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
        (ready_at,),
    )


def reschedule(tx: Tx, moved: Iterable[MovedJob]) -> None:
    """Give jobs new times, unless their times have changed meanwhile."""
    tx.execute_many(
        "update jobs set ready_at = v.ready_at from (values {rows}) as v(id, was_ready_at, ready_at)"
        " where jobs.id = v.id and jobs.ready_at = v.was_ready_at and jobs.slot {same_slot}",
        moved,
    )
