"""Where a carrier's answer to a submit and its receipt meet, in whichever order they come."""

from collections.abc import Iterable

from pabal.domain.message import OUTCOME_BY_NUMBER, Outcome
from pabal.domain.when import Instant
from pabal.store.base import Tx


def expect(tx: Tx, carrier: str, taken: Iterable[tuple[str, bytes]]) -> list[tuple[bytes, Outcome]]:
    """Note references that a carrier gave to messages; return those whose receipt was here first."""
    rows = tx.rows_each(
        "insert into receipts (carrier, reference, message_id) select ?, v.* from (values {rows}) as v"
        " where true on conflict (carrier, reference) do update set message_id = excluded.message_id"
        " returning message_id, outcome",
        taken,
        (carrier,),
    )
    return [(message_id, OUTCOME_BY_NUMBER[outcome]) for message_id, outcome in rows if outcome is not None]


def arrive(
    tx: Tx, carrier: str, arrived: Iterable[tuple[str, Outcome]], now: Instant
) -> tuple[list[tuple[bytes, Outcome]], int]:
    """Note receipts; return the outcome of each message they belong to, and how many belong to none yet.

    Of two receipts for one reference the first counts.
    """
    rows = tx.rows_each(
        "insert into receipts (carrier, arrived_at, reference, outcome)"
        " select ?, ?, v.* from (values {rows}) as v where true"
        " on conflict (carrier, reference) do update"
        " set outcome = coalesce(receipts.outcome, excluded.outcome),"
        " arrived_at = coalesce(receipts.arrived_at, excluded.arrived_at)"
        " returning message_id, outcome",
        [(reference, outcome.number) for reference, outcome in dict(reversed(list(arrived))).items()],
        (carrier, now),
    )
    matched = [(message_id, OUTCOME_BY_NUMBER[outcome]) for message_id, outcome in rows if message_id]
    return matched, len(rows) - len(matched)


def forget(tx: Tx, ended: Iterable[tuple[str, str]]) -> None:
    """Drop the rows (carrier, reference) of messages that have ended."""
    tx.rows_each("delete from receipts where (carrier, reference) in (values {rows})", ended)


def forget_unmatched(tx: Tx, before: Instant, most: int) -> int:
    """Drop receipts that nobody has claimed since `before`; return how many."""
    rows = tx.rows(
        "delete from receipts where (carrier, reference) in (select carrier, reference from receipts"
        " where message_id is null and arrived_at < ? limit ?) returning reference",
        (before, most),
    )
    return len(rows)
