"""The queue: which message is due when, in whose hands, and until when."""

import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx, Value

SMALL, CAMPAIGN, AWAITING_RECEIPT = 0, 1, 2
"""The lanes: small sends, campaigns, and what a carrier has taken and owes a receipt for."""
MAX_LANES_PER_STATEMENT = 64
CAMPAIGN_SHARE = 4
"""A claim leaves campaigns one part in so many; one too small for that is theirs first one time in so many."""


UNKNOWN = "unknown"
"""The verdict of an attempt that nobody knows the end of."""
REFERENCE_SEPARATOR = "\n"
"""A message that went in several parts has several references."""


class Lease(NamedTuple):
    """A job in a worker's hands; `attempt` tells it from the same job in other hands."""

    id: bytes
    attempt: int
    tries: int
    lane: int = SMALL
    is_in_doubt: bool = False
    """Whether the carrier may have it by an earlier attempt."""


class QueueDepth(NamedTuple):
    """How many jobs wait in a carrier's lane, and since when the oldest is due."""

    carrier: str
    lane: int
    jobs: int
    oldest_ready_at: Instant | None


def add_requests(tx: Tx, requests: Iterable[tuple[bytes, str, int, Instant]]) -> None:
    """Promise to deliver every message of requests: id, carrier, lane, and when it is due."""
    tx.execute_many(
        "insert {or_fail} into jobs (id, slot, carrier, lane, ready_at, attempt, tries)"
        " select m.id, m.slot, v.column3, v.column4, v.column5, 0, 0 from (values {rows}) as v"
        " cross join messages m where m.id between v.column1 and v.column2 and m.slot = v.column6",
        [
            (*identifiers.message_id_range(one), carrier, lane, ready_at, identifiers.slot_of(one))
            for one, carrier, lane, ready_at in requests
        ],
    )


def add_all(tx: Tx, rows: Iterable[Sequence[Value]]) -> None:
    """Promise to deliver messages: id, slot, carrier, lane, and when each is due."""
    tx.execute_many(
        "insert {or_fail} into jobs (id, slot, carrier, lane, ready_at, attempt, tries)"
        " select v.column1, v.column2, v.column3, v.column4, v.column5, 0, 0 from (values {rows}) as v",
        rows,
    )


def add(tx: Tx, message_id: bytes, carrier: str, lane: int, ready_at: Instant) -> None:
    """Promise to deliver one message."""
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
    fills_up: bool = True,
) -> list[bytes]:
    """Return the ids of jobs to send now: small sends first, but a share for campaigns, and what those leave over.

    What is due before `since`, by lane, is not looked for. Where others want the rest, campaigns do not fill it up.
    """
    small = _find_due_in_lane(tx, slot, carrier, SMALL, since[SMALL], now, limit)
    campaign = _find_due_in_lane(tx, slot, carrier, CAMPAIGN, since[CAMPAIGN], now, limit)
    share = limit // CAMPAIGN_SHARE or int(is_campaigns_turn(now))
    reserved = min(len(campaign), share)
    taken = small[: limit - reserved]
    return taken + campaign[: limit - len(taken) if fills_up else reserved]


def find_overdue(tx: Tx, slot: int, carrier: str, now: Instant, limit: int) -> list[tuple[bytes, str]]:
    """Return id and reference of jobs whose receipt has not come in time."""
    return tx.fetch_all(
        "select id, reference from jobs where slot = ? and carrier = ? and lane = ? and ready_at <= ?"
        " order by ready_at limit ? {skip_locked}",
        (slot, carrier, AWAITING_RECEIPT, now, limit),
    )


def find_in_doubt(tx: Tx, ids: Iterable[bytes]) -> list[bytes]:
    """Return those of the jobs that were in hand and came due again: a carrier may have them."""
    return [one for one, _ in find_lost(tx, ids)]


def find_lost(tx: Tx, ids: Iterable[bytes]) -> list[tuple[bytes, int]]:
    """Return id and attempt of those of the jobs that were in hand and came due again."""
    return tx.execute_many(
        "select id, attempt from jobs where claimed_at is not null and id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
    )


def find_unknown(tx: Tx, carrier: str, ids: Iterable[bytes]) -> set[bytes]:
    """Return those of the jobs of which an attempt at this carrier ended with nobody knowing how."""
    rows = tx.execute_many(
        "select distinct message_id from attempts where carrier = ? and verdict = ?"
        " and message_id in ({list}) and message_id {within} and slot {same_slot}",
        [(one,) for one in ids],
        (carrier, UNKNOWN),
    )
    return {row[0] for row in rows}


def find_leased(tx: Tx, slot: int, carrier: str, since: Instant, until: Instant) -> list[bytes]:
    """Return the ids of the jobs that are in hand since and until exactly these times."""
    rows = tx.fetch_all(
        "select id from jobs where slot = ? and carrier = ? and lane in (0, 1) and ready_at = ? and claimed_at = ?",
        (slot, carrier, until, since),
    )
    return [row[0] for row in rows]


def find_in_flight(tx: Tx, slot: int, carrier: str, limit: int) -> list[bytes]:
    """Return the ids of some jobs that are in a worker's hands."""
    rows = tx.fetch_all(
        "select id from jobs where slot = ? and carrier = ? and lane in (0, 1) and claimed_at is not null limit ?",
        (slot, carrier, limit),
    )
    return [row[0] for row in rows]


def hold_for_receipt(tx: Tx, holds: Iterable[tuple[bytes, str, Instant]]) -> None:
    """Let jobs wait for a receipt that may come: id, name of the message in doubt, and until when."""
    tx.execute_many(
        "update jobs set lane = 2, claimed_at = null, reference = v.column2, ready_at = v.column3"
        " from (values {rows}) as v where jobs.id = v.column1 and jobs.slot {same_slot}",
        holds,
    )


def find_reroutable(
    tx: Tx,
    slot: int,
    carrier: str,
    products: Iterable[int],
    now: Instant,
    limit: int,
    *,
    includes_in_doubt: bool,
    only_untried: bool = False,
) -> list[tuple[bytes, int]]:
    """Return id and product of some due jobs of these products.

    With doubt, also those that the carrier may have; if untried, only those that were never in anyone's hands.
    """
    listed = ", ".join(str(int(product)) for product in products)
    untried = " and j.attempt = 0" if only_untried else ""
    sure = (
        ""
        if includes_in_doubt
        else " and j.claimed_at is null and not exists (select 1 from attempts a where a.message_id = j.id"
        " and a.slot = j.slot and a.carrier = j.carrier and a.verdict = 'unknown')"
    )
    return tx.fetch_all(
        "select j.id, m.product from jobs j join messages m on m.id = j.id and m.slot = j.slot"
        " where j.slot = ? and j.carrier = ? and j.lane in (0, 1) and j.ready_at <= ?"
        f" and m.product in ({listed}){untried}{sure} limit ?",
        (slot, carrier, now, limit),
    )


def next_due_by_lane(
    tx: Tx, carrier: str, lanes: Iterable[tuple[int, int, Instant]]
) -> list[tuple[int, int, Instant]]:
    """Return slot, lane and time of the next job to send in each of these lanes that has any.

    A lane is named by its slot, its number, and from when on to look.
    """
    found: list[tuple[int, int, Instant]] = []
    wanted = list(lanes)
    for begin in range(0, len(wanted), MAX_LANES_PER_STATEMENT):
        some = wanted[begin : begin + MAX_LANES_PER_STATEMENT]
        looks = [
            f"select {slot}, {lane}, min(ready_at) from jobs"
            f" where slot = {slot} and carrier = ? and lane = {lane} and ready_at >= ?"
            for slot, lane, _ in some
        ]
        args = [each for _, _, since in some for each in (carrier, since)]
        found += [row for row in tx.fetch_all(" union all ".join(looks), args) if row[2] is not None]
    return found


def next_due_at(tx: Tx, slot: int, carrier: str, lanes: Sequence[int]) -> Instant | None:
    """Return when the next job of a carrier comes due."""
    found = [
        row[0]
        for lane in lanes
        if (
            row := tx.fetch_one(
                "select ready_at from jobs where slot = ? and carrier = ? and lane = ? order by ready_at limit 1",
                (slot, carrier, lane),
            )
        )
    ]
    return min(found, default=None)


def lock(tx: Tx, ids: Iterable[bytes]) -> None:
    """Have works that count what has come in for a job come one after the other, whatever the engine."""
    tx.execute_many(
        "update jobs set ready_at = ready_at where id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
    )


def claim(tx: Tx, ids: Iterable[bytes], now: Instant, until: Instant) -> list[Lease]:
    """Take jobs in hand: a claim postpones them to the end of the lease, and is the attempt."""
    rows = tx.execute_many(
        "update jobs set claimed_at = ?, ready_at = ?, attempt = attempt + 1"
        " where id in ({list}) and slot {same_slot} returning id, attempt, tries, lane",
        [(one,) for one in ids],
        (now, until),
    )
    return [Lease(*row) for row in rows]


def postpone(tx: Tx, ids: Iterable[bytes], ready_at: Instant) -> None:
    """Let jobs come due later."""
    tx.execute_many(
        "update jobs set ready_at = ?, claimed_at = null where id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
        (ready_at,),
    )


def await_receipts(tx: Tx, accepted: Iterable[tuple[bytes, int, str, Instant]]) -> set[bytes]:
    """Mark jobs as taken: id, attempt, references, and until when to wait. Return those still of that attempt."""
    rows = tx.execute_many(
        "update jobs set lane = 2, claimed_at = null, reference = v.column3, ready_at = v.column4"
        " from (values {rows}) as v"
        " where jobs.id = v.column1 and jobs.attempt = v.column2 and jobs.claimed_at is not null"
        " and jobs.slot {same_slot} returning jobs.id",
        accepted,
    )
    return {row[0] for row in rows}


def retry_later(tx: Tx, retries: Iterable[tuple[bytes, int, Instant, str, int]]) -> set[bytes]:
    """Put jobs back: id, attempt, when and by which carrier to try again, and after how many tries there.

    Returns those still of that attempt.
    """
    rows = tx.execute_many(
        "update jobs set claimed_at = null, ready_at = v.column3, carrier = v.column4, tries = v.column5"
        " from (values {rows}) as v"
        " where jobs.id = v.column1 and jobs.attempt = v.column2 and jobs.claimed_at is not null"
        " and jobs.slot {same_slot} returning jobs.id",
        retries,
    )
    return {row[0] for row in rows}


def still_leased(tx: Tx, leases: Iterable[tuple[bytes, int]]) -> set[bytes]:
    """Return the ids of those jobs that are still in hand under that attempt."""
    rows = tx.execute_many(
        "select jobs.id from (values {rows}) as v join jobs on jobs.id = v.column1"
        " and jobs.attempt = v.column2 and jobs.claimed_at is not null"
        " where jobs.slot {same_slot}",
        leases,
    )
    return {row[0] for row in rows}


def remove(tx: Tx, ids: Iterable[bytes]) -> list[tuple[bytes, str, str | None]]:
    """Remove jobs that are done with; return id, carrier and references of those that were there."""
    return tx.execute_many(
        "delete from jobs where id in ({list}) and slot {same_slot} returning id, carrier, reference",
        [(one,) for one in ids],
    )


def remove_unclaimed(tx: Tx, ids: Iterable[bytes]) -> list[bytes]:
    """Remove jobs that no worker has ever had in hand; return their ids."""
    rows = tx.execute_many(
        "delete from jobs where attempt = 0 and id in ({list}) and slot {same_slot} returning id",
        [(one,) for one in ids],
    )
    return [row[0] for row in rows]


def expedite(tx: Tx, request_id: bytes, now: Instant) -> list[str]:
    """Let a request's jobs that are for later and were never in anyone's hands come due; return each's carrier."""
    rows = tx.fetch_all(
        "update jobs set ready_at = ? where id between ? and ? and slot = ? and attempt = 0 and ready_at > ?"
        " returning carrier",
        (now, *identifiers.message_id_range(request_id), identifiers.slot_of(request_id), now),
    )
    return [row[0] for row in rows]


def release_leases(tx: Tx, slot: int, carrier: str, now: Instant, longest_lease: int) -> int:
    """Let all that was in hand come due at once: for whoever takes a slot over from one that is gone.

    How those attempts ended nobody knows, and that is noted.
    """
    rows = tx.fetch_all(
        "update jobs set ready_at = ?, claimed_at = null where slot = ? and carrier = ? and lane in (0, 1)"
        " and ready_at > ? and ready_at <= ? and claimed_at is not null returning id, attempt",
        (now, slot, carrier, now, now + longest_lease),
    )
    record_attempts(tx, carrier, [(one, number, UNKNOWN) for one, number in rows], now)
    return len(rows)


def carriers_with_jobs(tx: Tx, slot: int) -> list[str]:
    """Return the carriers that have jobs in a slot, without walking the jobs."""
    found: list[str] = []
    last = ""
    while row := tx.fetch_one("select carrier from jobs where carrier > ? order by carrier limit 1", (last,)):
        last = row[0]
        if next_due_at(tx, slot, last, (SMALL, CAMPAIGN, AWAITING_RECEIPT)) is not None:
            found.append(last)
    return found


def find_unsent(
    tx: Tx, slot: int, carrier: str, now: Instant, limit: int, *, includes_leased: bool = True
) -> list[bytes]:
    """Return the ids of some jobs that a carrier has still to be given, due or not, in someone's hands or not."""
    rows = tx.fetch_all(
        "select id from jobs where slot = ? and carrier = ? and lane in (0, 1)"
        " and (claimed_at is null or ready_at <= ? or ?) limit ?",
        (slot, carrier, now, includes_leased, limit),
    )
    return [row[0] for row in rows]


def reroute(tx: Tx, moved: Iterable[tuple[bytes, str]]) -> None:
    """Give jobs to other carriers."""
    tx.execute_many(
        "update jobs set carrier = v.column2, tries = 0, claimed_at = null"
        " from (values {rows}) as v where jobs.id = v.column1 and jobs.slot {same_slot}",
        moved,
    )


def depths(tx: Tx, slots: Sequence[int], names: Iterable[str], now: Instant) -> list[QueueDepth]:
    """Return the depth of every lane of the carriers named, over these slots."""
    found = []
    for carrier in names:
        for lane in (SMALL, CAMPAIGN, AWAITING_RECEIPT):
            rows = tx.execute_many(
                "select count(*), min(ready_at) from jobs where carrier = ? and lane = ? and slot in ({list})",
                [(slot,) for slot in slots],
                (carrier, lane),
            )
            oldest = min((ready_at for _, ready_at in rows if ready_at is not None), default=None)
            is_due = oldest is not None and oldest <= now
            found.append(QueueDepth(carrier, lane, sum(count for count, _ in rows), oldest if is_due else None))
    return found


def record_attempts(tx: Tx, carrier: str, ended: Iterable[tuple[bytes, int, str]], now: Instant) -> None:
    """Note attempts that ended in neither yes nor no: id, number, verdict."""
    tx.execute_many(
        "insert into attempts (carrier, ended_at, message_id, slot, number, verdict)"
        " select ?, ?, v.* from (values {rows}) as v where true on conflict do nothing",
        [(one, identifiers.slot_of(one), number, verdict) for one, number, verdict in ended],
        (carrier, now),
    )


def is_campaigns_turn(now: Instant) -> bool:
    """Say whether a claim at this time is the campaigns' first.

    So it is about every fourth time, by digits of the clock that are mixed: claims that come at a steady pace
    must not always meet the same answer.
    """
    return zlib.crc32(now.to_bytes(8, "big")) % CAMPAIGN_SHARE == 0


def _find_due_in_lane(
    tx: Tx, slot: int, carrier: str, lane: int, since: Instant, now: Instant, limit: int
) -> list[bytes]:
    rows = tx.fetch_all(
        "select id from jobs where slot = ? and carrier = ? and lane = ? and ready_at >= ? and ready_at <= ?"
        " order by ready_at limit ? {skip_locked}",
        (slot, carrier, lane, since, now, limit),
    )
    return [row[0] for row in rows]
