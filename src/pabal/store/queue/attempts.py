"""Attempts that were not accepted, and jobs whose message a carrier may have: how each ended, or what is known."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.queue.queue import REFERENCE_SEPARATOR, UNSENT, Lane
from pabal.store.rows import Select

UNKNOWN = "unknown"
"""The verdict of an attempt whose result is not known."""


class EndedAttempt(NamedTuple):
    """An attempt that was not accepted."""

    id: bytes
    number: int
    verdict: str
    code: str | None = None
    """The carrier's own code."""


class DoubtCount(NamedTuple):
    """How many attempts at a message ended with an unknown result: at all carriers, and at one of them."""

    total: int
    here: int


NO_DOUBT = DoubtCount(0, 0)


def record(tx: Tx, carrier: str, attempts: Iterable[EndedAttempt], now: Instant) -> None:
    """Record attempts that were not accepted."""
    tx.execute_many(
        "insert into attempts (carrier, ended_at, message_id, slot, number, verdict, code)"
        " select ?, ?, v.* from (values {rows}) as v where true on conflict do nothing",
        [(one, identifiers.slot_of(one), number, verdict, code) for one, number, verdict, code in attempts],
        (carrier, now),
    )


def correct(tx: Tx, attempts: Iterable[EndedAttempt]) -> None:
    """Replace the unknown result of attempts: the carrier has answered after all."""
    for message_id, number, verdict, code in attempts:
        tx.execute(
            "update attempts set verdict = ?, code = ?"
            " where message_id = ? and number = ? and slot = ? and verdict = ?",
            (verdict, code, message_id, number, identifiers.slot_of(message_id), UNKNOWN),
        )


def find_carriers(tx: Tx, ids: Iterable[bytes]) -> set[tuple[bytes, str]]:
    """Return which carriers were given these messages and did not accept them."""
    rows = tx.execute_list(
        "select message_id, carrier from attempts"
        " where message_id in ({list}) and message_id {within} and slot {same_slot}",
        ids,
    )
    return {(one, carrier) for one, carrier in rows}


def count_doubts(tx: Tx, carrier: str, ids: Iterable[bytes]) -> dict[bytes, DoubtCount]:
    """Return how many attempts at these messages ended with an unknown result, for those that had any."""
    rows = tx.execute_list(
        "select message_id, count(*), sum(case when carrier = ? then 1 else 0 end) from attempts where verdict = ?"
        " and message_id in ({list}) and message_id {within} and slot {same_slot} group by message_id",
        ids,
        (carrier, UNKNOWN),
    )
    return {one: DoubtCount(total, here) for one, total, here in rows}


def doubts_began_at(tx: Tx, ids: Iterable[bytes]) -> dict[bytes, Instant]:
    """Return when the first attempt of unknown result at each of these messages ended, for those that had any."""
    rows = tx.execute_list(
        "select message_id, min(ended_at) from attempts where verdict = ?"
        " and message_id in ({list}) and message_id {within} and slot {same_slot} group by message_id",
        ids,
        (UNKNOWN,),
    )
    return dict(rows)


class LeasedJob(NamedTuple):
    """A claimed job, and the attempt that it was claimed for."""

    id: bytes
    attempt: int


_LEASED = Select("select id, attempt from jobs where claimed_at is not null", LeasedJob._make)


class HeldJob(NamedTuple):
    """A job in doubt that waits for a receipt, under the name that the carrier knows the message by."""

    id: bytes
    reference: str
    wait_until: Instant


class UnsettledJob(NamedTuple):
    """A job, as it is when a late answer arrives."""

    id: bytes
    carrier: str
    lane: int
    attempt: int
    is_leased: bool
    references: str | None


class LateAcceptance(NamedTuple):
    """A job that waits for receipts at a carrier, which accepted the message after we had given up waiting."""

    id: bytes
    attempt: int
    carrier: str
    references: str
    wait_until: Instant


def find_leased(tx: Tx, ids: Iterable[bytes]) -> list[LeasedJob]:
    """Return those jobs that are claimed."""
    return _LEASED.fetch_list(tx, "and id in ({list}) and slot {same_slot}", ids)


def find_in_flight(tx: Tx, slot: int, carrier: str, limit: int) -> list[LeasedJob]:
    """Return some jobs that a worker has claimed."""
    return _LEASED.fetch_all(tx, f"and slot = ? and carrier = ? and {UNSENT} limit ?", (slot, carrier, limit))


def renew_leases(tx: Tx, ids: Iterable[bytes], until: Instant) -> None:
    """Move the end of leases, without beginning another attempt."""
    tx.execute_list(
        "update jobs set ready_at = ? where claimed_at is not null and id in ({list}) and slot {same_slot}",
        ids,
        (until,),
    )


def hold_for_receipt(tx: Tx, holds: Iterable[HeldJob]) -> None:
    """Hold jobs in doubt for a receipt instead of sending them again.

    A late acceptance of an earlier attempt has given some of them references, which they keep.
    """
    tx.execute_many(
        f"update jobs set lane = {Lane.AWAITING_RECEIPT:d}, claimed_at = null,"
        " reference = coalesce(jobs.reference || ?, '') || v.reference, ready_at = v.wait_until"
        " from (values {rows}) as v(id, reference, wait_until) where jobs.id {same} and jobs.slot {same_slot}",
        holds,
        (REFERENCE_SEPARATOR,),
    )


def find_unsettled(tx: Tx, ids: Iterable[bytes]) -> dict[bytes, UnsettledJob]:
    """Return the jobs of those messages that have not ended."""
    rows = tx.execute_list(
        "select id, carrier, lane, attempt, claimed_at is not null, reference from jobs"
        " where id in ({list}) and slot {same_slot}",
        ids,
    )
    return {row[0]: UnsettledJob(*row)._replace(is_leased=bool(row[4])) for row in rows}


def await_late_receipts(tx: Tx, accepted: Iterable[LateAcceptance]) -> None:
    """Store jobs as waiting for the receipts of late acceptances, unless another attempt has begun."""
    tx.execute_many(
        f"update jobs set lane = {Lane.AWAITING_RECEIPT:d}, claimed_at = null,"
        " carrier = v.carrier, reference = v.reference, ready_at = v.wait_until"
        " from (values {rows}) as v(id, attempt, carrier, reference, wait_until)"
        " where jobs.id {same} and jobs.attempt = v.attempt and jobs.slot {same_slot}",
        accepted,
    )


def set_references(tx: Tx, message_id: bytes, references: str) -> None:
    """Set the references of a job: those whose receipts end its message."""
    tx.execute(
        "update jobs set reference = ? where id = ? and slot = ?",
        (references, message_id, identifiers.slot_of(message_id)),
    )


def requeue(tx: Tx, message_id: bytes, ready_at: Instant) -> None:
    """Send a held job again: the carrier says that it does not have its message."""
    tx.execute(
        "update jobs set lane = ?, reference = null, ready_at = ? where id = ? and slot = ?",
        (Lane.CAMPAIGN, ready_at, message_id, identifiers.slot_of(message_id)),
    )
