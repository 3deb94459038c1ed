"""Deadlines of requests whose messages wait, and the messages that have missed them."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import PRODUCT_BY_NUMBER, Product
from pabal.store.engine.base import Row, Tx, fetch_union
from pabal.store.queue.queue import UNSENT
from pabal.store.rows import read_rows

_IN_DOUBT = (
    "exists (select 1 from attempts a where a.message_id = j.id and a.slot = j.slot and a.verdict = 'unknown')"
)
"""SQL condition: an attempt had no known result."""


_JOBS_OF_LANE = (
    "select ready_at, id from jobs where slot = {0:d} and carrier = ? and lane = ?"
    " and ready_at >= ? and ready_at <= ? and (ready_at, id) > (?, ?) order by ready_at, id limit ?"
)
LaneKey = tuple[int, str, int]
"""A slot, a carrier and a lane."""


class SweepCursor(NamedTuple):
    """How far a lane was walked: when the last job is due, and its id."""

    ready_at: Instant = 0
    id: bytes = b""


class LateJob(NamedTuple):
    """A job of a request whose deadline has passed, its carrier, and whether that may have the message.

    `lost_attempt`: the attempt whose lease has run out, if no worker has settled it.
    """

    id: bytes
    carrier: str
    is_in_doubt: bool
    lost_attempt: int | None = None


class WaitingJobs(NamedTuple):
    """Some jobs that wait in a lane."""

    request_ids: list[bytes]
    """The requests that they are of."""
    last: SweepCursor | None
    """The last one of them, if there may be more."""


def find_waiting(
    tx: Tx, lanes: Sequence[tuple[LaneKey, SweepCursor]], until: Instant, limit: int
) -> list[WaitingJobs]:
    """Return for each lane which jobs were due by `until`, the first `limit` after a cursor.

    They are counted by request where they are: a campaign has thousands of them.
    """
    request_id = f"substr(id, 1, {identifiers.REQUEST_ID_BYTES:d})"
    rows = fetch_union(
        tx,
        [
            (
                f"select {number:d}, {request_id}, count(*) from ({_JOBS_OF_LANE.format(key[0])}) as g group by 2",
                (*key[1:], after.ready_at, until, *after, limit),
            )
            for number, (key, after) in enumerate(lanes)
        ],
    )
    found = []
    for number, (key, after) in enumerate(lanes):
        counts = {one: count for lane, one, count in rows if lane == number}
        last = None
        if sum(counts.values()) >= limit:
            args = (*key[1:], after.ready_at, until, *after, 1, limit - 1)
            last = tx.fetch_one(f"{_JOBS_OF_LANE.format(key[0])} offset ?", args)
        found.append(WaitingJobs(list(counts), SweepCursor(*last) if last else None))
    return found


def slots_with_late(tx: Tx, slots: Iterable[int], now: Instant) -> set[int]:
    """Return the slots with requests whose stored deadline has passed."""
    queries = [
        (
            f"select {slot:d} where exists (select 1 from requests where expires_at is not null"
            f" and expires_at <= ? and slot = {slot:d})",
            (now,),
        )
        for slot in slots
    ]
    return {slot for (slot,) in fetch_union(tx, queries)}


def find_unwatched(tx: Tx, request_ids: Iterable[bytes]) -> list[bytes]:
    """Return those requests whose deadline is not stored yet."""
    rows = tx.execute_list(
        "select id from requests where expires_at is null and id in ({list}) and id {within} and slot {same_slot}",
        request_ids,
    )
    return [row[0] for row in rows]


def watch(tx: Tx, request_ids: Iterable[bytes], lifetime_ms: Callable[[Product, int | None], int]) -> None:
    """Store the deadlines of requests whose messages wait, unless they are stored."""
    rows = tx.execute_list(
        "select id, product, scheduled_at, expire_minutes from requests"
        " where expires_at is null and id in ({list}) and id {within} and slot {same_slot}",
        request_ids,
    )
    for one, (product, scheduled_at, expire_minutes) in read_rows(rows, _read_lifetime).items():
        set_deadline(tx, one, scheduled_at + lifetime_ms(product, expire_minutes))


def set_deadline(tx: Tx, request_id: bytes, expires_at: Instant | None) -> None:
    """Store the deadline of a request; None: it need not be watched."""
    tx.execute(
        "update requests set expires_at = ? where id = ? and slot = ?",
        (expires_at, request_id, identifiers.slot_of(request_id)),
    )


def extend(tx: Tx, request_id: bytes, stored: Instant | None, expires_at: Instant) -> None:
    """Store the deadline of a request that was postponed, unless one is `stored` that is as late."""
    if stored is None or stored < expires_at:
        set_deadline(tx, request_id, expires_at)


def find_late_requests(tx: Tx, slot: int, now: Instant, limit: int) -> list[bytes]:
    """Return the ids of requests whose stored deadline has passed, the oldest deadline first."""
    return tx.fetch_values(
        "select id from requests where expires_at is not null and expires_at <= ? and slot = ?"
        " order by expires_at limit ?",
        (now, slot, limit),
    )


def find_late_jobs(tx: Tx, request_id: bytes, after: bytes, limit: int, now: Instant) -> list[LateJob]:
    """Return jobs of a request that are still to be sent and that nobody has a lease on, by id, after an id."""
    low, high = identifiers.message_id_range(request_id)
    rows = tx.fetch_all(
        "select j.id, j.carrier, j.claimed_at is not null,"
        " case when j.claimed_at is not null then j.attempt end"
        " from jobs j where j.id > ? and j.id <= ? and j.slot = ?"
        f" and j.{UNSENT} and (j.claimed_at is null or j.ready_at <= ?) and j.reference is null"
        " order by j.id limit ? {skip_locked}",
        (max(after, low), high, identifiers.slot_of(request_id), now, limit),
    )
    # Citus locks no rows in a statement whose columns look into another table
    in_doubt = find_maybe_with_carrier(tx, [row[0] for row in rows])
    return [LateJob(*row)._replace(is_in_doubt=bool(row[2]) or row[0] in in_doubt) for row in rows]


def find_maybe_with_carrier(tx: Tx, ids: Iterable[bytes]) -> set[bytes]:
    """Return those jobs whose message a carrier may have, or has accepted, from an attempt that has ended."""
    rows = tx.execute_list(
        f"select j.id from jobs j where (j.reference is not null or {_IN_DOUBT})"
        " and j.id in ({list}) and j.slot {same_slot}",
        ids,
    )
    return {row[0] for row in rows}


def _read_lifetime(row: Row) -> tuple[Product, Instant, int | None]:
    _, product, scheduled_at, expire_minutes = row
    return PRODUCT_BY_NUMBER[product], scheduled_at, expire_minutes
