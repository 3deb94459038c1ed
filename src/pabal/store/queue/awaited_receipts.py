"""Messages that a carrier has accepted and not reported: how many, and for how long."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.queue.queue import Lane

MAX_COUNTED = 1000
"""Messages and receipts of a carrier that are counted; there may be more."""


class ReceiptTimeouts(NamedTuple):
    """How long receipts are awaited, in milliseconds: a job is due so much later than it was accepted."""

    sms_ms: int
    other_ms: int


def oldest_submitted_at(
    tx: Tx, slots: Sequence[int], names: Iterable[str], timeouts: ReceiptTimeouts, now: Instant
) -> dict[str, Instant]:
    """Return when the oldest message was submitted that awaits its receipt, for each carrier that has one.

    Jobs are ordered by the end of their wait, and SMS wait for a shorter time. So this takes the first of all, and
    the first of those that end later than any SMS can.
    """
    oldest: dict[str, Instant] = {}
    for carrier in names:
        for slot in slots:
            first = _first_job(tx, slot, carrier, 0)
            later = _first_job(tx, slot, carrier, now + timeouts.sms_ms)
            submitted = [_submitted_at(tx, one) for one in {first, later} if one is not None]
            if submitted:
                oldest[carrier] = min([*submitted, *([oldest[carrier]] if carrier in oldest else [])])
    return oldest


def count_submitted_before(
    tx: Tx, slots: Sequence[int], carrier: str, timeouts: ReceiptTimeouts, before: Instant, now: Instant
) -> int:
    """Return how many messages were submitted before an instant and await their receipt, up to MAX_COUNTED."""
    longest_sms = now + timeouts.sms_ms
    found = 0
    for slot in slots:
        for after, until in ((-1, before + timeouts.sms_ms), (longest_sms, before + timeouts.other_ms)):
            row = tx.fetch_one(
                "select count(*) from (select 1 from jobs where slot = ? and carrier = ? and lane = ?"
                " and ready_at > ? and ready_at <= ? limit ?) as first_jobs",
                (slot, carrier, Lane.AWAITING_RECEIPT, after, until, MAX_COUNTED),
            )
            found += row[0] if row else 0
    return min(found, MAX_COUNTED)


def count_unmatched(tx: Tx, carrier: str, before: Instant) -> int:
    """Return how many of the last receipts that arrived before an instant match no message of a carrier."""
    row = tx.fetch_one(
        "select count(*) from (select carrier from receipts where message_id is null and arrived_at < ?"
        " order by arrived_at desc limit ?) as last where last.carrier = ?",
        (before, MAX_COUNTED, carrier),
    )
    return int(row[0]) if row else 0


def _first_job(tx: Tx, slot: int, carrier: str, after: Instant) -> bytes | None:
    row = tx.fetch_one(
        "select id from jobs where slot = ? and carrier = ? and lane = ? and ready_at > ?"
        " order by ready_at limit 1",
        (slot, carrier, Lane.AWAITING_RECEIPT, after),
    )
    return None if row is None else bytes(row[0])


def _submitted_at(tx: Tx, message_id: bytes) -> Instant:
    """Return when a message was submitted; one that has no such time, when it was requested."""
    row = tx.fetch_one(
        "select submitted_at from messages where id = ? and slot = ?", (message_id, identifiers.slot_of(message_id))
    )
    return int(row[0]) if row and row[0] is not None else identifiers.requested_at(message_id)
