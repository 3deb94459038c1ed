"""The timeline of a message: its unsuccessful attempts, and its position in the queue."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class RecordedAttempt(NamedTuple):
    """An attempt that was neither accepted nor rejected."""

    number: int
    carrier: str
    verdict: str
    ended_at: Instant


class QueuePosition(NamedTuple):
    """The queue row of a message that has not ended."""

    carrier: str
    lane: int
    ready_at: Instant
    attempt: int
    claimed_at: Instant | None


def list_attempts(tx: Tx, message_id: bytes) -> list[RecordedAttempt]:
    """Return the recorded attempts of a message, in order."""
    rows = tx.fetch_all(
        "select number, carrier, verdict, ended_at from attempts where message_id = ? and slot = ? order by number",
        (message_id, identifiers.slot_of(message_id)),
    )
    return [RecordedAttempt(*row) for row in rows]


def get_cost(tx: Tx, message_id: bytes) -> int | None:
    """Return what a message has cost, in hundredths of a won; None: it has not ended, or no price is known."""
    row = tx.fetch_one(
        "select cost from messages where id = ? and slot = ?", (message_id, identifiers.slot_of(message_id))
    )
    return row[0] if row else None


def queue_position(tx: Tx, message_id: bytes) -> QueuePosition | None:
    """Return the queue position of a message, None if it has ended."""
    row = tx.fetch_one(
        "select carrier, lane, ready_at, attempt, claimed_at from jobs where id = ? and slot = ?",
        (message_id, identifiers.slot_of(message_id)),
    )
    return QueuePosition(*row) if row else None
