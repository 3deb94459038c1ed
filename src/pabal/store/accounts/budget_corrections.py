"""Ended messages of accounts with a budget, until their reserved prices are corrected to what they have cost."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, PRODUCT_BY_NUMBER, Outcome, Product
from pabal.store.engine.base import Tx


class EndedGroup(NamedTuple):
    """Messages of one account that ended alike."""

    account_id: int
    requested_at: Instant
    product: Product
    is_fallback: bool
    """Whether they were fallbacks, for which nothing was reserved."""
    carrier: str | None
    """The carrier that took them; None: none did."""
    outcome: Outcome | None
    """None: they were cancelled."""
    messages: int


def accounts_with_budget(tx: Tx) -> set[int]:
    """Return the accounts that have a budget."""
    return {row[0] for row in tx.fetch_all("select account_id from account_limits where budget_per_month > 0")}


def add(tx: Tx, ended: Sequence[EndedGroup]) -> None:
    """Add ended messages as rows, so that workers do not wait for one counter."""
    for each in ended:
        tx.execute(
            "insert into budget_corrections"
            " (account_id, requested_at, product, is_fallback, carrier, outcome, messages)"
            " values (?, ?, ?, ?, ?, ?, ?)",
            (
                each.account_id,
                each.requested_at,
                each.product.number,
                int(each.is_fallback),
                each.carrier,
                each.outcome.number if each.outcome else None,
                each.messages,
            ),
        )


def take(tx: Tx, limit: int) -> list[EndedGroup]:
    """Remove some of the oldest entries and return them."""
    rows = tx.fetch_all(
        "delete from budget_corrections where id in (select id from budget_corrections order by id limit ?)"
        " returning account_id, requested_at, product, is_fallback, carrier, outcome, messages",
        (limit,),
    )
    return [
        EndedGroup(
            account_id,
            requested_at,
            PRODUCT_BY_NUMBER[product],
            bool(is_fallback),
            carrier,
            None if outcome is None else OUTCOME_BY_NUMBER[outcome],
            messages,
        )
        for account_id, requested_at, product, is_fallback, carrier, outcome, messages in rows
    ]
