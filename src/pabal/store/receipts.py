"""Matches carriers' answers to submits with their receipts, in whichever order they arrive."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.domain.message import OUTCOME_BY_NUMBER, Outcome
from pabal.store import queue
from pabal.store.engine.base import Tx


class MatchedReceipts(NamedTuple):
    """The outcomes of messages whose receipts arrived, and the references that match no message yet."""

    ended: list[tuple[bytes, Outcome]]
    unmatched: list[str]


def expect(tx: Tx, carrier: str, accepted: Iterable[tuple[str, bytes, int]]) -> list[tuple[bytes, Outcome]]:
    """Record the references that a carrier gave to messages, and in how many parts each was sent.

    A reference that was given twice belongs to the later message. Returns the outcomes of messages whose receipts
    arrived first.
    """
    rows = tx.execute_many(
        "insert into receipts (carrier, reference, message_id, parts) select ?, v.* from (values {rows}) as v"
        " where true on conflict (carrier, reference) do update"
        " set message_id = excluded.message_id, parts = excluded.parts"
        " returning message_id, outcome, parts",
        list({each[0]: each for each in accepted}.values()),  # PostgreSQL updates no row twice in one statement
        (carrier,),
    )
    return _ended(tx, [row for row in rows if row[1] is not None])


def record(tx: Tx, carrier: str, receipts: Iterable[tuple[str, Outcome]], now: Instant) -> MatchedReceipts:
    """Record receipts; the first one for a reference counts."""
    rows = tx.execute_many(
        "insert into receipts (carrier, arrived_at, reference, outcome)"
        " select ?, ?, v.* from (values {rows}) as v where true"
        " on conflict (carrier, reference) do update"
        " set outcome = coalesce(receipts.outcome, excluded.outcome),"
        " arrived_at = coalesce(receipts.arrived_at, excluded.arrived_at)"
        " returning message_id, outcome, parts, reference",
        [(reference, outcome.number) for reference, outcome in dict(reversed(list(receipts))).items()],
        (carrier, now),
    )
    return MatchedReceipts(
        _ended(tx, [row[:3] for row in rows if row[0] is not None]), [row[3] for row in rows if row[0] is None]
    )


def find_held(tx: Tx, carrier: str, names: Iterable[str]) -> dict[str, bytes]:
    """Return the messages in doubt with these references."""
    rows = tx.execute_many(
        "select reference, message_id from receipts where (carrier, reference) in (values {rows})"
        " and message_id is not null",
        [(carrier, name) for name in names],
    )
    return dict(rows)


def delete(tx: Tx, ended: Iterable[tuple[str, str, bytes]]) -> None:
    """Delete the rows (carrier, reference, message) of messages that have ended.

    A reference that the carrier has given to another message since is not deleted.
    """
    tx.execute_many("delete from receipts where (carrier, reference, message_id) in (values {rows})", ended)


def delete_unmatched_references(tx: Tx, carrier: str, references: Iterable[str]) -> None:
    """Delete receipts that match no message, by their references."""
    tx.execute_many(
        "delete from receipts where message_id is null and (carrier, reference) in (values {rows})",
        [(carrier, reference) for reference in references],
    )


def delete_old_unmatched(tx: Tx, before: Instant, limit: int) -> int:
    """Delete receipts from before `before` that match no message; return how many."""
    rows = tx.fetch_all(
        "delete from receipts where (carrier, reference) in (select carrier, reference from receipts"
        " where message_id is null and arrived_at < ? limit ?) returning reference",
        (before, limit),
    )
    return len(rows)


def _ended(tx: Tx, rows: Sequence[tuple[bytes, int, int]]) -> list[tuple[bytes, Outcome]]:
    """Return outcomes: delivered when every part is delivered, failed when one part is."""
    ended = [
        (message_id, outcome)
        for message_id, number, parts in rows
        if (outcome := OUTCOME_BY_NUMBER[number]) is not Outcome.DELIVERED or parts == 1
    ]
    partly = {message_id: parts for message_id, _, parts in rows if parts > 1}
    queue.lock(tx, sorted(partly))  # otherwise two parts' receipts would not see each other
    counts = tx.execute_many(
        "select message_id, count(*) from receipts where parts > 1 and outcome = 1000 and message_id in ({list})"
        " group by message_id",
        [(one,) for one in partly],
    )
    return ended + [(one, Outcome.DELIVERED) for one, count in counts if count == partly[one]]
