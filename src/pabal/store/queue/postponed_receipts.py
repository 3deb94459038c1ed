"""Receipts whose message is on a node that cannot be reached, until it can."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Outcome
from pabal.store.engine.base import Tx


class PostponedReceipt(NamedTuple):
    """A receipt to be processed later, and the slot of its message."""

    slot: int
    reference: str
    outcome: Outcome
    in_doubt_reference: str | None
    code: str | None
    id: int = 0


def add(tx: Tx, carrier: str, receipts: Iterable[PostponedReceipt], now: Instant) -> None:
    """Store receipts for later."""
    tx.execute_many(
        "insert into postponed_receipts (carrier, arrived_at, slot, reference, outcome, in_doubt_reference, code)"
        " select ?, ?, v.slot, v.reference, v.outcome, v.in_doubt_reference, v.code"
        " from (values {rows}) as v(slot, reference, outcome, in_doubt_reference, code)",
        [(each.slot, each.reference, each.outcome.number, each.in_doubt_reference, each.code) for each in receipts],
        (carrier, now),
    )


def list_slots(tx: Tx) -> list[tuple[str, int]]:
    """Return the carriers and slots that have such receipts."""
    rows = tx.fetch_all("select distinct carrier, slot from postponed_receipts order by carrier, slot")
    return [(carrier, slot) for carrier, slot in rows]


def list_some(tx: Tx, carrier: str, slot: int, limit: int) -> list[PostponedReceipt]:
    """Return some such receipts of a slot, the oldest first."""
    rows = tx.fetch_all(
        "select slot, reference, outcome, in_doubt_reference, code, id from postponed_receipts"
        " where carrier = ? and slot = ? order by id limit ?",
        (carrier, slot, limit),
    )
    return [PostponedReceipt(row[0], row[1], OUTCOME_BY_NUMBER[row[2]], *row[3:]) for row in rows]


def delete(tx: Tx, receipts: Iterable[PostponedReceipt]) -> None:
    """Delete receipts that are processed."""
    tx.execute_many("delete from postponed_receipts where id in ({list})", [(each.id,) for each in receipts])
