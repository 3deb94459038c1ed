"""The outbox of mails to users: each is stored before it is sent, and leased while it is."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.domain.base.dates import Instant
from pabal.domain.events.notice import MailState
from pabal.store.engine.base import Reader, Row, Tx, transaction
from pabal.store.events import notices
from pabal.store.rows import deletion, select, upsert

MAX_ITEMS = 20
"""Notices that a mail names; further ones are counted."""
MAX_DOUBTS = 2
"""A mail that the server may have taken this often is not sent again: at most one repeat."""
UNKNOWN_OUTCOME = "nobody knows whether the server took it, twice"
_COLUMNS = "m.id, m.user_id, m.kind, m.items, m.more, m.token, m.created_at, m.tries, m.doubts"
_IS_DONE = f"state in ('{MailState.SENT.value}', '{MailState.FAILED.value}')"
_IS_UNSENT = f"state in ('{MailState.WAITING.value}', '{MailState.SENDING.value}')"
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(list[dict[str, Any]]).decode


class NewMail(NamedTuple):
    """A mail to a user, or what is added to the one that waits."""

    id: bytes
    user_id: int
    kind: str
    items: Sequence[Mapping[str, Any]]
    token: bytes | None = None


class ClaimedMail(NamedTuple):
    """A mail that this process sends now."""

    id: bytes
    user_id: int
    kind: str
    items: Sequence[Mapping[str, Any]]
    more: int
    token: bytes | None
    created_at: Instant
    tries: int
    """With this one."""
    doubts: int
    """With this one, until it is known what came of it."""
    address: str
    language: str


class FailedMail(NamedTuple):
    """A mail that was given up: to whom, when and why."""

    user: str
    kind: str
    failed_at: Instant
    error: str


def add(tx: Tx, mail: NewMail, due_at: Instant, now: Instant) -> None:
    """Add what a user is told to the mail of its kind that waits, else to a new one.

    A mail that the server may have taken stays as it is: a repeat must say the same.
    """
    row = tx.fetch_one(
        "select id, items, more from mails where user_id = ? and kind = ? and state = ? and doubts = 0"
        " order by created_at limit 1",
        (mail.user_id, mail.kind, MailState.WAITING.value),
    )
    items = [*(_read_items(row[1]) if row else ()), *mail.items]
    named, more = _spell(items[:MAX_ITEMS]), len(items[MAX_ITEMS:])
    if row:
        tx.execute("update mails set items = ?, more = ? where id = ?", (named, row[2] + more, row[0]))
        return
    tx.execute(
        "insert into mails (id, user_id, kind, state, items, more, token, created_at, due_at, tries, doubts,"
        " changed_at, error) values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, '')",
        (mail.id, mail.user_id, mail.kind, MailState.WAITING.value, named, more, mail.token, now, due_at, now),
    )


def last_sent_at(tx: Tx, user_id: int, kind: str) -> Instant:
    """Return when a user was last sent a mail of a kind, 0 if that is long ago."""
    return tx.fetch_number(
        "select max(changed_at) from mails where user_id = ? and kind = ? and state = ?",
        (user_id, kind, MailState.SENT.value),
    )


def claim(tx: Tx, now: Instant, lease_ms: int) -> ClaimedMail | None:
    """Lease the mail that is due first, and count the try before it is made; None: nothing is due.

    Mails whose users are gone, disabled or without an address are deleted, and those that the server may have
    taken twice are given up.
    """
    while row := _first_due(tx, now):
        found = _from_row(row)
        if not found.address:
            tx.execute("delete from mails where id = ?", (found.id,))
        elif found.doubts >= MAX_DOUBTS:
            give_up(tx, found, UNKNOWN_OUTCOME, now)
        else:
            tx.execute(
                "update mails set state = ?, due_at = ?, tries = tries + 1, doubts = doubts + 1 where id = ?",
                (MailState.SENDING.value, now + lease_ms, found.id),
            )
            return found._replace(tries=found.tries + 1, doubts=found.doubts + 1)
    return None


def finish(tx: Tx, mail: ClaimedMail, now: Instant) -> bool:
    """Record that the server took a mail, and forget what it said; return False if this is not its last try."""
    done = tx.changes(
        "update mails set state = ?, items = '[]', token = null, changed_at = ?, error = ''"
        " where id = ? and tries = ? and state = ?",
        (MailState.SENT.value, now, mail.id, mail.tries, MailState.SENDING.value),
    )
    if done:
        notices.clear_failure(tx, mail.user_id)
    return done


def retry(tx: Tx, mail: ClaimedMail, due_at: Instant, error: str, *, is_in_doubt: bool) -> None:
    """Have a mail tried again; unless it is in doubt, the server has not taken it."""
    waiting, sending = MailState.WAITING.value, MailState.SENDING.value
    doubts = mail.doubts if is_in_doubt else mail.doubts - 1
    tx.execute(
        "update mails set state = ?, due_at = ?, doubts = ?, error = ? where id = ? and tries = ? and state = ?",
        (waiting, due_at, doubts, error, mail.id, mail.tries, sending),
    )


def give_up(tx: Tx, mail: ClaimedMail, error: str, now: Instant) -> None:
    """Record that a mail is not sent, and tell its user on the console."""
    done = tx.execute(
        "update mails set state = ?, items = '[]', token = null, changed_at = ?, error = ?"
        " where id = ? and tries = ?",
        (MailState.FAILED.value, now, error, mail.id, mail.tries),
    )
    if done:
        notices.record_failure(tx, mail.user_id, error, now)


def release_leases(tx: Tx, now: Instant) -> None:
    """Have mails tried again that the last process was sending; whether the server took them is in doubt."""
    tx.execute("update mails set due_at = ? where state = ? and due_at > ?", (now, MailState.SENDING.value, now))


def next_due_at(tx: Tx) -> Instant | None:
    """Return when the next mail is due, None if none waits."""
    return tx.fetch_value(f"select min(due_at) from mails where {_IS_UNSENT}")


@transaction(reader=Reader.BACKGROUND)
def count_waiting(tx: Tx) -> int:
    """Return how many mails wait or are being sent."""
    return tx.fetch_number(f"select count(*) from mails where {_IS_UNSENT}")


def list_failed(tx: Tx, limit: int) -> list[FailedMail]:
    """Return the mails that were given up lately, newest first."""
    rows = tx.fetch_all(
        "select u.name, m.kind, m.changed_at, m.error from mails m join users u on u.id = m.user_id"
        " where m.state = ? order by m.changed_at desc limit ?",
        (MailState.FAILED.value, limit),
    )
    return [FailedMail(*row) for row in rows]


def drop_unsent(tx: Tx, user_id: int, kind: str) -> None:
    """Delete the mails of a kind to a user that were not sent yet; one that is being sent is not sent again."""
    tx.execute(f"delete from mails where user_id = ? and kind = ? and {_IS_UNSENT}", (user_id, kind))


def delete_all_by_user(tx: Tx, user_id: int) -> None:
    """Delete every mail to a user."""
    tx.execute("delete from mails where user_id = ?", (user_id,))


delete_old = deletion("mails", "id", "changed_at", condition=_IS_DONE)
"""Deletes some mails that were sent or given up."""


def _first_due(tx: Tx, now: Instant) -> Row | None:
    """Return the mail that is due first, with the address and language of its user if it may be sent there."""
    return tx.fetch_one(
        f"select {_COLUMNS}, case when u.disabled_at is not null or a.disabled_at is not null then null"
        " when m.token is null then n.address else n.new_address end, n.language"
        " from mails m left join notice_settings n on n.user_id = m.user_id left join users u on u.id = m.user_id"
        " left join accounts a on a.id = u.account_id"
        f" where m.{_IS_UNSENT} and m.due_at <= ? order by m.due_at, m.id limit 1",
        (now,),
    )


def _from_row(row: Row) -> ClaimedMail:
    id, user_id, kind, items, more, token, created_at, tries, doubts, address, language = row
    return ClaimedMail(
        id, user_id, kind, _read_items(items), more, token, created_at, tries, doubts, address or "", language or ""
    )


def _read_items(text: str) -> list[dict[str, Any]]:
    """Return the notices of a mail; none if they are damaged, which must not keep other mails waiting."""
    try:
        return _decode(text)
    except msgspec.DecodeError:
        return []


def _spell(items: Sequence[Mapping[str, Any]]) -> str:
    return _encode(items).decode()


class MailServer(NamedTuple):
    """The state of a mail server; `name` is its host and port."""

    name: str
    succeeded_at: Instant | None = None
    failing_since: Instant | None = None
    """None: the last try succeeded."""
    failures: int = 0
    """Since the last success."""
    next_try_at: Instant = 0
    failed_at: Instant | None = None
    error: str = ""
    """Of the last failure, also after a success."""


_SERVERS = select(MailServer, "mail_servers")


def get(tx: Tx, name: str) -> MailServer:
    """Return the state of a mail server."""
    return _SERVERS.fetch_one(tx, "where name = ?", (name,)) or MailServer(name)


def record_success(tx: Tx, name: str, now: Instant) -> None:
    """Record that a mail server has answered as it should."""
    put(tx, get(tx, name)._replace(succeeded_at=now, failing_since=None, failures=0, next_try_at=0))


def put(tx: Tx, server: MailServer) -> None:
    """Store the state of a mail server."""
    tx.execute(upsert("mail_servers", "name", ", ".join(MailServer._fields[1:])), server)
