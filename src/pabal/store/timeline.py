"""What happened to one message: attempts that came to nothing, and where it stands in the queue."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class RecordedAttempt(NamedTuple):
    """An attempt that ended in neither yes nor no."""

    number: int
    carrier: str
    verdict: str
    ended_at: Instant


class QueuePosition(NamedTuple):
    """Where a message that has not ended stands in the queue."""

    carrier: str
    lane: int
    ready_at: Instant
    attempt: int
    claimed_at: Instant | None


def list_attempts(tx: Tx, message_id: bytes) -> list[RecordedAttempt]:
    """Return the attempts of a message that came to nothing, in their order."""
    rows = tx.fetch_all(
        "select number, carrier, verdict, ended_at from attempts where message_id = ? and slot = ? order by number",
        (message_id, identifiers.slot_of(message_id)),
    )
    return [RecordedAttempt(*row) for row in rows]


def queue_position(tx: Tx, message_id: bytes) -> QueuePosition | None:
    """Return where a message stands in the queue, None for one that has ended."""
    row = tx.fetch_one(
        "select carrier, lane, ready_at, attempt, claimed_at from jobs where id = ? and slot = ?",
        (message_id, identifiers.slot_of(message_id)),
    )
    return QueuePosition(*row) if row else None
