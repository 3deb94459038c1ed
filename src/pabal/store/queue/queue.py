"""The queue: when each message is due, and the lease of the worker that has claimed it."""

import zlib
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx, fetch_union, transaction
from pabal.store.rows import select


class Lane(IntEnum):
    """What a job waits for; `ready_at` says until when."""

    SMALL = 0
    """To be sent, in a send of few receivers."""
    CAMPAIGN = 1
    """To be sent, in a send of many receivers."""
    AWAITING_RECEIPT = 2
    """Accepted by the carrier, which has still to report how the message ended."""


UNSENT = f"lane in ({Lane.SMALL:d}, {Lane.CAMPAIGN:d})"
"""SQL condition: the job is still to be sent."""
CAMPAIGN_SHARE = 4
"""A claim reserves one part in this many for campaigns; one too small for that prefers them that often."""
REFERENCE_SEPARATOR = "\n"
"""Separates the references of a message that was sent in several parts."""


class NewJobs(NamedTuple):
    """The jobs of all messages of one request."""

    request_id: bytes
    carrier: str
    lane: int
    ready_at: Instant


class NewJob(NamedTuple):
    """The job of one message."""

    id: bytes
    slot: int
    carrier: str
    lane: int
    ready_at: Instant


class Lease(NamedTuple):
    """A claimed job; a later claim of the same job has a higher `attempt`."""

    id: bytes
    attempt: int
    tries: int
    lane: int = Lane.SMALL
    is_in_doubt: bool = False
    """Whether the carrier may have the message from an earlier attempt."""


class LaneDue(NamedTuple):
    """A lane of a slot, and when its next job is due, or from when on to look for one."""

    slot: int
    lane: int
    at: Instant


class OverdueReceipt(NamedTuple):
    """A job whose receipt has not arrived in time."""

    id: bytes
    reference: str


class AcceptedJob(NamedTuple):
    """A job that the carrier has accepted; `references` are separated by REFERENCE_SEPARATOR."""

    id: bytes
    attempt: int
    references: str
    wait_until: Instant


class RetriedJob(NamedTuple):
    """A job to try again: when, at which carrier, and after how many tries there."""

    id: bytes
    attempt: int
    ready_at: Instant
    carrier: str
    tries: int


class RemovedJob(NamedTuple):
    id: bytes
    carrier: str
    references: str | None


def add_requests(tx: Tx, requests: Iterable[NewJobs]) -> None:
    """Add a job for every message of some requests."""
    tx.execute_many(
        "insert {or_fail} into jobs (id, slot, carrier, lane, ready_at, attempt, tries)"
        " select m.id, m.slot, v.carrier, v.lane, v.ready_at, 0, 0"
        " from (values {rows}) as v(first_id, last_id, carrier, lane, ready_at, slot)"
        " cross join messages m where m.id between v.first_id and v.last_id and m.slot = v.slot"
        " and m.slot {same_slot}",
        [
            (*identifiers.message_id_range(one), carrier, lane, ready_at, identifiers.slot_of(one))
            for one, carrier, lane, ready_at in requests
        ],
    )


def add_all(tx: Tx, jobs: Iterable[NewJob]) -> None:
    tx.execute_many(
        "insert {or_fail} into jobs (id, slot, carrier, lane, ready_at, attempt, tries)"
        " select v.*, 0, 0 from (values {rows}) as v",
        jobs,
    )


def add(tx: Tx, message_id: bytes, carrier: str, lane: int, ready_at: Instant) -> None:
    """Add the job of one message."""
    tx.execute(
        "insert into jobs (id, slot, carrier, lane, ready_at, attempt, tries) values (?, ?, ?, ?, ?, 0, 0)",
        (message_id, identifiers.slot_of(message_id), carrier, lane, ready_at),
    )


def find_due(
    tx: Tx,
    slot: int,
    carrier: str,
    now: Instant,
    limit: int,
    since: tuple[Instant, Instant] = (0, 0),
    *,
    other_slots: int = 0,
    max_of_campaigns: int | None = None,
) -> list[bytes]:
    """Return the ids of jobs to send now: small sends first, with a share reserved for campaigns.

    Jobs due before `since`, by lane, are not looked for. Campaigns also get what small sends leave, unless small
    sends wait in `other_slots`: then campaigns get a share of what is claimed, but enough that the claims of all
    these slots together reach the limit. Of campaigns there are at most `max_of_campaigns`.
    """
    small = _find_due_in_lane(tx, slot, carrier, Lane.SMALL, since[Lane.SMALL], now, limit)
    most = limit if max_of_campaigns is None else min(limit, max_of_campaigns)
    campaign = _find_due_in_lane(tx, slot, carrier, Lane.CAMPAIGN, since[Lane.CAMPAIGN], now, most)
    share = limit // CAMPAIGN_SHARE or int(is_campaigns_turn(now))
    if other_slots:
        share = min(share, max(1, limit // (other_slots + 1), len(small) // (CAMPAIGN_SHARE - 1)))
    reserved = min(len(campaign), share)
    chosen = small[: limit - reserved]
    return chosen + campaign[: reserved if other_slots else limit - len(chosen)]


def find_overdue(tx: Tx, slot: int, carrier: str, now: Instant, limit: int) -> list[OverdueReceipt]:
    """Return jobs whose receipt has not arrived in time."""
    return select(OverdueReceipt, "jobs").fetch_all(
        tx,
        "where slot = ? and carrier = ? and lane = ? and ready_at <= ? order by ready_at limit ? {skip_locked}",
        (slot, carrier, Lane.AWAITING_RECEIPT, now, limit),
    )


@transaction(slot_of=lambda places, *_: places[0][0] if places else -1, stays_in_slot=lambda *_: True, single=True)
def find_with_overdue(tx: Tx, places: Sequence[tuple[int, str]], now: Instant) -> list[tuple[int, str]]:
    """Return in which of these slots which of these carriers have jobs whose receipt has not arrived in time.

    In a distributed store the slots are of one node, which is asked.
    """
    found = fetch_union(
        tx,
        [
            (
                f"select {number:d} where exists (select 1 from jobs where slot = {slot:d} and carrier = ?"
                " and lane = ? and ready_at <= ?)",
                (carrier, Lane.AWAITING_RECEIPT, now),
            )
            for number, (slot, carrier) in enumerate(places)
        ],
    )
    return [places[number] for (number,) in found]


def find_leased(tx: Tx, slot: int, carrier: str, since: Instant, until: Instant) -> list[bytes]:
    """Return the ids of the jobs whose lease has exactly this begin and end."""
    return tx.fetch_values(
        f"select id from jobs where slot = ? and carrier = ? and {UNSENT} and ready_at = ? and claimed_at = ?",
        (slot, carrier, until, since),
    )


@transaction(slot_of=lambda _, lanes: lanes[0][0] if lanes else -1, stays_in_slot=lambda *_: True, single=True)
def next_due_by_lane(tx: Tx, carrier: str, lanes: Sequence[tuple[int, int, Instant]]) -> list[LaneDue]:
    """Return when the next job of each lane is due, if any; a lane is slot, number, and from when on to look.

    In a distributed store the slots are of one node, which is asked.
    """
    rows = fetch_union(
        tx,
        [
            (
                f"select * from (select {slot:d}, {lane:d}, ready_at from jobs"
                f" where slot = {slot:d} and carrier = ? and lane = {lane:d} and ready_at >= ?"
                " order by ready_at limit 1) as g",  # for min(), PostgreSQL may read all that wait
                (carrier, since),
            )
            for slot, lane, since in lanes
        ],
    )
    return [LaneDue(*row) for row in rows]


def next_due_at(tx: Tx, slot: int, carrier: str, lanes: Sequence[int]) -> Instant | None:
    """Return when the next job of a carrier is due."""
    first = "select ready_at from jobs where slot = ? and carrier = ? and lane = ? order by ready_at limit 1"
    found = [tx.fetch_value(first, (slot, carrier, lane)) for lane in lanes]
    return min((at for at in found if at is not None), default=None)


def claim(tx: Tx, ids: Iterable[bytes], now: Instant, until: Instant) -> list[Lease]:
    """Claim jobs: postpone them to the end of the lease, and raise their attempt number."""
    rows = tx.execute_list(
        "update jobs set claimed_at = ?, ready_at = ?, attempt = attempt + 1"
        " where id in ({list}) and slot {same_slot} returning id, attempt, tries, lane",
        ids,
        (now, until),
    )
    return [Lease(*row) for row in rows]


def postpone(tx: Tx, ids: Iterable[bytes], ready_at: Instant) -> None:
    """Release jobs, to be due at another time."""
    tx.execute_list(
        "update jobs set ready_at = ?, claimed_at = null where id in ({list}) and slot {same_slot}",
        ids,
        (ready_at,),
    )


def await_receipts(tx: Tx, accepted: Iterable[AcceptedJob]) -> None:
    """Store accepted jobs as waiting for their receipts, if they still have that attempt."""
    tx.execute_many(
        f"update jobs set lane = {Lane.AWAITING_RECEIPT:d}, claimed_at = null,"
        " reference = v.reference, ready_at = v.wait_until"
        " from (values {rows}) as v(id, attempt, reference, wait_until)"
        " where jobs.id {same} and jobs.attempt = v.attempt and jobs.claimed_at is not null"
        " and jobs.slot {same_slot}",
        accepted,
    )


def retry_later(tx: Tx, retries: Iterable[RetriedJob]) -> set[bytes]:
    """Put jobs back into the queue; return the ids of those that still have that attempt."""
    rows = tx.execute_many(
        "update jobs set claimed_at = null, ready_at = v.ready_at, carrier = v.carrier, tries = v.tries"
        " from (values {rows}) as v(id, attempt, ready_at, carrier, tries)"
        " where jobs.id {same} and jobs.attempt = v.attempt and jobs.claimed_at is not null"
        " and jobs.slot {same_slot} returning jobs.id",
        retries,
    )
    return {row[0] for row in rows}


def still_leased(tx: Tx, leases: Iterable[tuple[bytes, int]]) -> dict[bytes, str | None]:
    """Return those jobs, given by id and attempt, that are still claimed under that attempt.

    A job has references if the carrier has accepted an earlier attempt, and said so after the next one began.
    """
    wanted = set(leases)
    rows = tx.execute_list(
        "select id, attempt, reference from jobs"
        " where id in ({list}) and claimed_at is not null and slot {same_slot}",
        sorted({one for one, _ in wanted}),
    )
    return {one: reference for one, attempt, reference in rows if (one, attempt) in wanted}


def remove(tx: Tx, ids: Iterable[bytes]) -> list[RemovedJob]:
    """Remove jobs whose messages have ended; return those that existed."""
    rows = tx.execute_list(
        "delete from jobs where id in ({list}) and slot {same_slot} returning id, carrier, reference", ids
    )
    return [RemovedJob(*row) for row in rows]


def remove_unclaimed(tx: Tx, ids: Iterable[bytes]) -> list[bytes]:
    """Remove jobs that no worker has ever claimed; return their ids."""
    rows = tx.execute_list(
        "delete from jobs where attempt = 0 and id in ({list}) and slot {same_slot} returning id", ids
    )
    return [row[0] for row in rows]


def expedite(tx: Tx, request_id: bytes, now: Instant) -> list[str]:
    """Make a request's scheduled jobs, which no worker has claimed, due now; return the carrier of each."""
    return tx.fetch_values(
        "update jobs set ready_at = ? where id between ? and ? and slot = ? and attempt = 0 and ready_at > ?"
        " returning carrier",
        (now, *identifiers.message_id_range(request_id), identifiers.slot_of(request_id), now),
    )


def is_campaigns_turn(now: Instant) -> bool:
    """Return whether a claim at this time prefers campaigns: about every fourth does.

    The digits of the clock are mixed, so that claims at a steady pace do not always get the same answer.
    """
    return zlib.crc32(now.to_bytes(8, "big")) % CAMPAIGN_SHARE == 0


def _find_due_in_lane(
    tx: Tx, slot: int, carrier: str, lane: Lane, since: Instant, now: Instant, limit: int
) -> list[bytes]:
    return tx.fetch_values(
        "select id from jobs where slot = ? and carrier = ? and lane = ? and ready_at >= ? and ready_at <= ?"
        " order by ready_at limit ? {skip_locked}",
        (slot, carrier, lane, since, now, limit),
    )
