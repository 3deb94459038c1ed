"""Sender numbers of accounts; an index makes sure that a number is approved for one account at most."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.phone import NUMBER_STATE_BY_CODE, NumberState
from pabal.store.accounts import setup_changes
from pabal.store.engine.base import Tx
from pabal.store.rows import Select, reader


class SenderNumber(NamedTuple):
    """A number that an account registered."""

    account_id: int
    account: str
    number: str
    state: NumberState
    created_at: Instant
    comment: str
    """Why it was rejected."""
    held_by: str | None
    """The other account that may send from it; only for operators."""


_NUMBERS = Select(
    "select n.account_id, a.name, n.number, n.state, n.created_at, n.comment, h.name"
    " from numbers n join accounts a on a.id = n.account_id"
    " left join numbers o on o.number = n.number and o.state = 'approved' and o.account_id <> n.account_id"
    " left join accounts h on h.id = o.account_id",
    reader(SenderNumber, state=NUMBER_STATE_BY_CODE.__getitem__),
)


def add(
    tx: Tx, account_id: int, number: str, now: Instant, state: NumberState = NumberState.APPROVED, comment: str = ""
) -> bool:
    """Add a sender number; return whether it was new, and if approved, not approved for another account."""
    return tx.changes(
        "insert into numbers (account_id, number, state, created_at, comment) values (?, ?, ?, ?, ?)"
        " on conflict do nothing",
        (account_id, number, state.code, now, comment),
    )


def get(tx: Tx, account_id: int, number: str) -> SenderNumber | None:
    return _NUMBERS.fetch_one(tx, "where n.account_id = ? and n.number = ?", (account_id, number))


def set_state(tx: Tx, found: SenderNumber, state: NumberState, comment: str = "") -> bool:
    """Change the state of a number; False, with the number gone, where another account has it.

    The number is removed and added again: an insert that conflicts with a concurrent one is retried by the engine.
    """
    remove(tx, found.account_id, found.number)
    return add(tx, found.account_id, found.number, found.created_at, state, comment)


def remove(tx: Tx, account_id: int, number: str) -> bool:
    """Remove a sender number; return whether it was there."""
    was_there = tx.changes("delete from numbers where account_id = ? and number = ?", (account_id, number))
    if was_there:
        setup_changes.record(tx, account_id)
    return was_there


def get_holder(tx: Tx, number: str) -> tuple[int, str] | None:
    """Return the id and name of the account that may send from a number."""
    return tx.fetch_one(
        "select a.id, a.name from numbers n join accounts a on a.id = n.account_id"
        " where n.number = ? and n.state = 'approved'",
        (number,),
    )


def get_state(tx: Tx, account_id: int, number: str) -> NumberState | None:
    """Return the state of a number of an account; None where it has no such number."""
    row = tx.fetch_one("select state from numbers where account_id = ? and number = ?", (account_id, number))
    return NUMBER_STATE_BY_CODE[row[0]] if row else None


def list_by_account(tx: Tx, account_id: int) -> list[SenderNumber]:
    """Return an account's numbers in any state."""
    return _NUMBERS.fetch_all(tx, "where n.account_id = ? order by n.number", (account_id,))


def list_all(tx: Tx) -> list[SenderNumber]:
    """Return every account's numbers in any state."""
    return _NUMBERS.fetch_all(tx, "order by n.account_id, n.number")


def list_pending(tx: Tx, limit: int) -> list[SenderNumber]:
    """Return numbers that wait for an operator, oldest first."""
    return _NUMBERS.fetch_all(
        tx, "where n.state = 'pending' order by n.created_at, n.account_id, n.number limit ?", (limit,)
    )
