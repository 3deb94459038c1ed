"""Opt-outs that were added or removed here, until the relays are told about them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.opt_out import OptOutChange
from pabal.store.engine.base import Tx


class StoredChange(NamedTuple):
    """A change with its id."""

    id: int
    change: OptOutChange


def add(tx: Tx, account_id: int, phones: Iterable[str], *, is_removed: bool, now: Instant) -> None:
    """Record changes of an account that has a number for opting out of its own, which no other account has.

    The list of a relay belongs to such a number: with a shared one, an account would decide for others.
    """
    row = tx.fetch_one(
        "select opt_out_number from accounts where id = ? and opt_out_number is not null"
        " and (select count(*) from accounts o where o.opt_out_number = accounts.opt_out_number) = 1",
        (account_id,),
    )
    if row is None:
        return
    tx.execute_many(
        "insert into opt_out_changes (account_id, opt_out_number, phone, is_removed, created_at)"
        " select v.* from (values {rows}) as v",
        [(account_id, row[0], int(phone), int(is_removed), now) for phone in phones],
    )


def list_oldest(tx: Tx, limit: int) -> list[StoredChange]:
    """Return some changes, oldest first."""
    rows = tx.fetch_all(
        "select id, opt_out_number, phone, is_removed from opt_out_changes order by id limit ?", (limit,)
    )
    return [StoredChange(id, OptOutChange(f"0{phone}", number, bool(gone))) for id, number, phone, gone in rows]


def delete(tx: Tx, ids: Sequence[int]) -> None:
    """Forget changes that relays know."""
    tx.execute_many("delete from opt_out_changes where id in ({list})", [(one,) for one in ids])


def erase(tx: Tx, account_id: int, phone: str) -> None:
    """Erase a number."""
    tx.execute("delete from opt_out_changes where account_id = ? and phone = ?", (account_id, int(phone)))


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some changes that no relay could be told about; return how many."""
    return tx.execute(
        "delete from opt_out_changes where id in"
        " (select id from opt_out_changes where created_at < ? order by id limit ?)",
        (before, limit),
    )
