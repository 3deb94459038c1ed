"""Jobs whose message a carrier may have: leases that ran out, holds, and answers that came late."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.queue.queue import REFERENCE_SEPARATOR, UNSENT, Lane


class LeasedJob(NamedTuple):
    """A claimed job, and the attempt that it was claimed for."""

    id: bytes
    attempt: int


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
    rows = tx.execute_many(
        "select id, attempt from jobs where claimed_at is not null and id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
    )
    return [LeasedJob(*row) for row in rows]


def find_in_flight(tx: Tx, slot: int, carrier: str, limit: int) -> list[LeasedJob]:
    """Return some jobs that a worker has claimed."""
    rows = tx.fetch_all(
        f"select id, attempt from jobs where slot = ? and carrier = ? and {UNSENT} and claimed_at is not null"
        " limit ?",
        (slot, carrier, limit),
    )
    return [LeasedJob(*row) for row in rows]


def renew_leases(tx: Tx, ids: Iterable[bytes], until: Instant) -> None:
    """Move the end of leases, without beginning another attempt."""
    tx.execute_many(
        "update jobs set ready_at = ? where claimed_at is not null and id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
        (until,),
    )


def hold_for_receipt(tx: Tx, holds: Iterable[HeldJob]) -> None:
    """Hold jobs in doubt for a receipt instead of sending them again.

    A late acceptance of an earlier attempt has given some of them references, which they keep.
    """
    tx.execute_many(
        f"update jobs set lane = {Lane.AWAITING_RECEIPT:d}, claimed_at = null,"
        " reference = coalesce(jobs.reference || ?, '') || v.reference, ready_at = v.wait_until"
        " from (values {rows}) as v(id, reference, wait_until) where jobs.id = v.id and jobs.slot {same_slot}",
        holds,
        (REFERENCE_SEPARATOR,),
    )


def find_unsettled(tx: Tx, ids: Iterable[bytes]) -> dict[bytes, UnsettledJob]:
    """Return the jobs of those messages that have not ended."""
    rows = tx.execute_many(
        "select id, carrier, lane, attempt, claimed_at is not null, reference from jobs"
        " where id in ({list}) and slot {same_slot}",
        [(one,) for one in ids],
    )
    return {row[0]: UnsettledJob(*row)._replace(is_leased=bool(row[4])) for row in rows}


def await_late_receipts(tx: Tx, accepted: Iterable[LateAcceptance]) -> None:
    """Store jobs as waiting for the receipts of late acceptances, unless another attempt has begun."""
    tx.execute_many(
        f"update jobs set lane = {Lane.AWAITING_RECEIPT:d}, claimed_at = null,"
        " carrier = v.carrier, reference = v.reference, ready_at = v.wait_until"
        " from (values {rows}) as v(id, attempt, carrier, reference, wait_until)"
        " where jobs.id = v.id and jobs.attempt = v.attempt and jobs.slot {same_slot}",
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
