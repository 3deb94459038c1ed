"""The audit log: who changed what, and when."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.rows import deletion, given

T = TypeVar("T")

COMMAND_LINE_NAME = "command line"
SIGN_IN_NAME = "sign-in page"
"""The actor of entries about people who are not signed in."""
API_KEY_NAME = "API key"
"""The actor of what a program does through the API."""


class Actor(NamedTuple):
    """A user; the command line and people who are not signed in have no user id."""

    user_id: int | None
    name: str


COMMAND_LINE = Actor(None, COMMAND_LINE_NAME)
COMMAND_LINE_PREFIX = f"{COMMAND_LINE_NAME}: "
"""Before the name of the user of the system who ran a command."""


class AuditEntry(NamedTuple):
    """One action; `target` is an id, a code or a user's name, never a phone number or a text."""

    created_at: Instant
    user_id: int | None
    actor: str
    account_id: int | None
    action: str
    target: str = ""


def add(tx: Tx, audit_entry: AuditEntry) -> None:
    """Add an entry, in the transaction of its action."""
    tx.execute(
        "insert into audit_log (created_at, user_id, actor, account_id, action, target) values (?, ?, ?, ?, ?, ?)",
        audit_entry,
    )


def run_audited(tx: Tx, audit_entry: AuditEntry | None, work: Callable[..., T], *args: object) -> T:
    """Run `work`, add the entry if there is one, and return the result, in one transaction."""
    done = work(tx, *args)
    if audit_entry:
        add(tx, audit_entry)
    return done


class ListedEntry(NamedTuple):
    """An entry with its id, the name of its account, if it has one, and what people call its user now."""

    id: int
    account: str | None
    entry: AuditEntry
    full_name: str = ""


@transaction(reader=Reader.SEARCHES)
def find(tx: Tx, account_id: int | None, actor: str, before: int | None, limit: int) -> list[ListedEntry]:
    """Return entries, newest first, of one account or all, and of one actor or, without a name, all."""
    is_command = actor == COMMAND_LINE_NAME  # of every user of the system
    said = f"substr(d.actor, 1, {len(actor)})" if is_command else "d.actor"
    conditions = given(("d.account_id = ?", account_id), (f"{said} = ?", actor or None), ("d.id < ?", before))
    where = f"where {' and '.join(sql for sql, _ in conditions)}" if conditions else ""
    rows = tx.fetch_all(
        "select d.id, a.name, d.created_at, d.user_id, d.actor, d.account_id, d.action, d.target,"
        " coalesce(u.full_name, '')"
        " from audit_log d left join accounts a on a.id = d.account_id left join users u on u.id = d.user_id"
        f" {where} order by d.id desc limit ?",
        (*(value for _, value in conditions), limit),
    )
    return [ListedEntry(id, account, AuditEntry(*deed), full_name) for id, account, *deed, full_name in rows]


delete_old = deletion("audit_log", "id", "created_at")
"""Deletes some entries."""
