"""Who did what, when, to what: the log of what people change."""

from typing import NamedTuple

from pabal.domain.when import Instant
from pabal.store.base import Tx

COMMAND_LINE = "command line"


class Doer(NamedTuple):
    """Who does something: a user, or whoever is at the command line, who is none."""

    user_id: int | None
    name: str


AT_COMMAND_LINE = Doer(None, COMMAND_LINE)


class Deed(NamedTuple):
    """One thing that someone did; `target` is an id, a code or a user's name, never a number or a text."""

    done_at: Instant
    user_id: int | None
    who: str
    account_id: int | None
    what: str
    target: str = ""


def note(tx: Tx, deed: Deed) -> None:
    """Note what someone did, in the transaction that does it."""
    tx.run(
        "insert into deeds (done_at, user_id, who, account_id, what, target) values (?, ?, ?, ?, ?, ?)",
        deed,
    )


def latest(tx: Tx, account_id: int | None, most: int) -> list[Deed]:
    """Return what was done last, newest first: to an account's things, or with None to anyone's."""
    where, args = ("where account_id = ?", [account_id]) if account_id is not None else ("", [])
    rows = tx.rows(
        f"select done_at, user_id, who, account_id, what, target from deeds {where} order by id desc limit ?",
        (*args, most),
    )
    return [Deed(*row) for row in rows]


def forget(tx: Tx, before: Instant, most: int) -> int:
    """Drop some that are older; return how many."""
    return tx.run(
        "delete from deeds where id in (select id from deeds where done_at < ? order by done_at limit ?)",
        (before, most),
    )
