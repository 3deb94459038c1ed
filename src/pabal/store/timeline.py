"""What happened to one message: attempts that came to nothing, and where it stands in the queue."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class Try(NamedTuple):
    """An attempt that ended in neither yes nor no."""

    number: int
    carrier: str
    verdict: str
    ended_at: Instant


class Place(NamedTuple):
    """Where a message that has not ended stands in the queue."""

    carrier: str
    lane: int
    ready_at: Instant
    attempt: int
    claimed_at: Instant | None


def tries(tx: Tx, message_id: bytes) -> list[Try]:
    """Return the attempts of a message that came to nothing, in their order."""
    rows = tx.rows(
        "select number, carrier, verdict, ended_at from attempts where message_id = ? and slot = ? order by number",
        (message_id, identifiers.slot_of(message_id)),
    )
    return [Try(*row) for row in rows]


def place(tx: Tx, message_id: bytes) -> Place | None:
    """Return where a message stands in the queue, None for one that has ended."""
    row = tx.row(
        "select carrier, lane, ready_at, attempt, claimed_at from jobs where id = ? and slot = ?",
        (message_id, identifiers.slot_of(message_id)),
    )
    return Place(*row) if row else None
