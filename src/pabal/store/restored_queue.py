"""What a queue that comes from a backup holds: what may have been sent since, what is for later."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx

# Due by now, or begun when the backup was made: whoever had the queue since may have sent it.
_MAYBE_SENT = "lane in (0, 1) and (attempt > 0 or ready_at <= ?)"


class RestoredQueue(NamedTuple):
    """How many messages a queue holds, and when its newest request was made."""

    maybe_sent: int
    scheduled: int
    awaiting_receipt: int
    newest_request_at: Instant | None


def summarize(tx: Tx, now: Instant) -> RestoredQueue:
    """Return what the queue holds."""
    maybe_sent = _count(tx, _MAYBE_SENT, now)
    newest = tx.fetch_one("select id from requests order by id desc limit 1")
    return RestoredQueue(
        maybe_sent,
        _count(tx, "lane in (0, 1)") - maybe_sent,
        _count(tx, "lane = 2"),
        identifiers.requested_at(newest[0]) if newest else None,
    )


def find_maybe_sent(tx: Tx, now: Instant, after: bytes, limit: int) -> list[tuple[bytes, str, bool]]:
    """Return id and carrier of some messages that may have been sent since, and whether they had begun before.

    They come in the order of their ids, from `after` on.
    """
    rows = tx.fetch_all(
        f"select id, carrier, attempt from jobs where {_MAYBE_SENT} and id > ? order by id limit ?",
        (now, after, limit),
    )
    return [(one, carrier, attempt > 0) for one, carrier, attempt in rows]


def _count(tx: Tx, which: str, *args: Instant) -> int:
    row = tx.fetch_one(f"select count(*) from jobs where {which}", args)
    return int(row[0]) if row else 0
