"""Inbound messages, and the parts of long ones until all are there."""

from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.people.inbound import MISSING_PART, Inbound
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, select, upsert

MAX_EARLIER_MESSAGES = 1000
"""How many of the newest messages to a number are searched for the one that it replies to."""
_MESSAGES = select(Inbound, "inbound_messages", has_opted_out=bool)
_LONG_MESSAGE = "carrier = ? and sender = ? and receiver = ? and reference = ? and total = ?"


class LongMessage(NamedTuple):
    """What the parts of a long message have in common."""

    carrier: str
    sender: str
    receiver: str
    reference: int
    total: int


def add(tx: Tx, message: Inbound) -> Inbound:
    """Add a message and return it with its id.

    The messages of an account are added one transaction after the other, so that whoever has read up to an id has
    missed none below it.
    """
    if message.account_id is not None:
        accounts.lock(tx, message.account_id)
    _, account_id, carrier, sender, receiver, content, has_opted_out, received_at = message
    id = tx.fetch_number(
        "insert into inbound_messages"
        " (account_id, carrier, sender, receiver, content, has_opted_out, received_at)"
        " values (?, ?, ?, ?, ?, ?, ?) returning id",
        (account_id, carrier, sender, receiver, content, int(has_opted_out), received_at),
    )
    return message._replace(id=id)


def add_part(tx: Tx, of: LongMessage, number: int, content: str, now: Instant) -> None:
    """Add a part of a long message; a repeated one replaces the first."""
    statement = upsert(
        "inbound_parts", "carrier, sender, receiver, reference, total, number", "content, arrived_at"
    )
    tx.execute(statement, (*of, number, content.encode("utf-16-be", "surrogatepass"), now))


def has_all_parts(tx: Tx, of: LongMessage) -> bool:
    """Return whether all parts of a long message have arrived."""
    return tx.fetch_number(f"select count(*) from inbound_parts where {_LONG_MESSAGE}", of) == of.total


def take_parts(tx: Tx, of: LongMessage) -> str:
    """Delete the parts of a long message and return its text, with a mark for each part that is missing."""
    rows = tx.fetch_all(f"select number, content from inbound_parts where {_LONG_MESSAGE}", of)
    tx.execute(f"delete from inbound_parts where {_LONG_MESSAGE}", of)
    found = {number: bytes(content) for number, content in rows}
    missing = MISSING_PART.encode("utf-16-be")
    whole = b"".join(found.get(number, missing) for number in range(1, of.total + 1))
    return whole.decode("utf-16-be", "replace")


def find_finished_parts(tx: Tx, before: Instant, limit: int) -> list[LongMessage]:
    """Return some long messages that are complete, or whose first part arrived before an instant."""
    return select(LongMessage, "inbound_parts").fetch_all(
        tx,
        "group by carrier, sender, receiver, reference, total"
        " having count(*) >= total or min(arrived_at) < ? limit ?",
        (before, limit),
    )


def has_sent(tx: Tx, account_id: int, phone: str, sender: str) -> bool:
    """Return whether an account has sent a text from a number to another, among the newest messages to that one."""
    rows = tx.fetch_all(
        "select id from messages where account_id = ? and receiver = ? order by id desc limit ?",
        (account_id, int(phone), MAX_EARLIER_MESSAGES),
    )
    of_requests = {identifiers.request_id_of(row[0]) for row in rows}
    found = tx.execute_list(
        "select id, total, sender, fallback_sender from requests"
        " where id in ({list}) and id {within} and slot {same_slot}",
        of_requests,
    )
    senders = {id: said for id, *said in found}
    for (message_id,) in rows:
        total, own, of_fallback = senders.get(identifiers.request_id_of(message_id), (0, None, None))
        if sender == (own if identifiers.number_of(message_id) <= total else of_fallback):
            return True
    return False


def list_after(tx: Tx, account_id: int, after: int, limit: int) -> list[Inbound]:
    """Return some messages of an account, oldest first, after an id."""
    return _MESSAGES.fetch_all(
        tx, "where account_id = ? and id > ? order by id limit ?", (account_id, after, limit)
    )


def list_before(
    tx: Tx, account_id: int | None, before: int, limit: int, sender: str | None = None
) -> list[Inbound]:
    """Return some messages of an account, newest first, before an id; None: those that belong to no account.

    With `sender`, only those that this number has sent.
    """
    of_account, account = ("account_id is null", ()) if account_id is None else ("account_id = ?", (account_id,))
    # The plus keeps the engine from walking all of the account's messages instead of those of the sender.
    by_sender, number = ("", ()) if sender is None else ("sender = ? and +", (sender,))
    return _MESSAGES.fetch_all(
        tx, f"where {by_sender}{of_account} and id < ? order by id desc limit ?", (*number, *account, before, limit)
    )


def list_by_sender(tx: Tx, account_id: int, sender: str, limit: int) -> list[Inbound]:
    """Return the messages of an account from a number, oldest first."""
    return _MESSAGES.fetch_all(
        tx, "where sender = ? and account_id = ? order by id limit ?", (sender, account_id, limit)
    )


def erase(tx: Tx, account_id: int, sender: str) -> None:
    """Delete the messages of an account from a number, and the parts that wait for others."""
    tx.execute("delete from inbound_messages where sender = ? and account_id = ?", (sender, account_id))
    tx.execute(
        "delete from inbound_parts where sender = ?"
        " and receiver in (select number from numbers where account_id = ? and state = 'approved')",
        (sender, account_id),
    )


delete_old = deletion("inbound_messages", "id", "received_at")
"""Deletes some messages by when they were received."""
