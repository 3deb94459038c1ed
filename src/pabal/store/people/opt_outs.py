"""Opt-outs from advertising: looked up by a keyed hash of account and number, which is left when it is erased."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.people.opt_out import (
    EVERY_SENDER,
    SOURCE_BY_NUMBER,
    AdReceiver,
    OptOut,
    OptOutChange,
    OptOutSource,
    hash_number,
)
from pabal.store.accounts import numbers
from pabal.store.engine.base import Priority, Tx, transaction
from pabal.store.messages import inbound
from pabal.store.people import hash_keys
from pabal.store.people.hash_keys import HashKeys
from pabal.store.rows import Select, deletion, find_page, given, reader

REHASHED_ROWS = 1000
"""Rows that are hashed again at a time."""
_COLUMNS = "id, phone, sender, reason, source, created_at"
_from_row = reader(OptOut, phone=lambda phone: f"0{phone}" if phone else "", source=SOURCE_BY_NUMBER.__getitem__)
_OPT_OUTS = Select(f"select {_COLUMNS} from opt_outs", _from_row)


class OptOutEntry(NamedTuple):
    """One number that opts out."""

    phone: str
    sender: str = EVERY_SENDER
    reason: str | None = None


class NewOptOuts(NamedTuple):
    """Numbers of an account that opt out together."""

    account_id: int
    entries: Sequence[OptOutEntry]
    source: OptOutSource


def add(tx: Tx, keys: HashKeys, new: NewOptOuts, new_key: bytes, now: Instant) -> list[OptOut]:
    """Add opt-outs; return those that were not there. `new_key` becomes the key of the hashes if there is none.

    One whose number was erased gets its number again, and does not count as new.
    """
    key = keys.ensure(tx, new_key)
    entries = {(hash_number(key, new.account_id, each.phone), each.sender): each for each in new.entries}
    known = {
        (bytes(one), sender)
        for one, sender in tx.execute_list(
            "select hash, sender from opt_outs where hash in ({list})", sorted({one for one, _ in entries})
        )
    }
    rows = tx.execute_many(
        "insert into opt_outs (account_id, hash, sender, phone, reason, source, created_at) values {rows}"
        " on conflict (hash, sender) do update set phone = excluded.phone where opt_outs.phone is null"
        f" returning hash, {_COLUMNS}",
        [
            (new.account_id, one, sender, int(each.phone), each.reason, new.source.number, now)
            for (one, sender), each in sorted(entries.items())
        ],
    )
    return [found for one, *row in rows if (bytes(one), (found := _from_row(row)).sender) not in known]


def remove(tx: Tx, keys: HashKeys, account_id: int, phones: Collection[str], sender: str) -> int:
    """Remove opt-outs, also those whose number was erased; return how many there were."""
    key = keys.get(tx)
    if key is None:
        return 0
    removed = tx.execute_list(
        "delete from opt_outs where sender = ? and hash in ({list}) returning hash",
        sorted({hash_number(key, account_id, phone) for phone in phones}),
        (sender,),
    )
    return len(removed)


def remove_by_id(tx: Tx, account_id: int, opt_out_id: int) -> OptOut | None:
    """Remove one opt-out of an account and return it; None: it was not there."""
    rows = tx.fetch_all(
        f"delete from opt_outs where id = ? and account_id = ? returning {_COLUMNS}", (opt_out_id, account_id)
    )
    return _from_row(rows[0]) if rows else None


def find(tx: Tx, keys: HashKeys, receivers: Collection[AdReceiver]) -> set[AdReceiver]:
    """Return those receivers who want none of these advertisements; one query for all."""
    key = keys.get(tx) if receivers else None
    if key is None:
        return set()
    by_hash: dict[bytes, set[AdReceiver]] = defaultdict(set)
    for each in receivers:
        by_hash[hash_number(key, each.account_id, each.phone)].add(each)
    rows = tx.execute_list("select hash, sender from opt_outs where hash in ({list})", sorted(by_hash))
    return {each for one, sender in rows for each in by_hash[bytes(one)] if sender in (EVERY_SENDER, each.sender)}


def list_page(
    tx: Tx, keys: HashKeys, account_id: int, phone: str | None, sender: str | None, offset: int, limit: int
) -> tuple[int, list[OptOut]]:
    """Return how many opt-outs of an account have a number and fit, and some of them, newest first.

    `phone` and `sender` None: any. Those whose number was erased are not listed.
    """
    hash: bytes | None = None
    if phone is not None:
        key = keys.get(tx)
        hash = hash_number(key, account_id, phone) if key else b""
    conditions = [
        ("account_id = ? and phone is not null", account_id),
        *given(("hash = ?", hash), ("sender = ?", sender)),
    ]
    total, rows = find_page(tx, _COLUMNS, "opt_outs", conditions, limit, offset)
    return total, [_from_row(row) for row in rows]


def list_after(tx: Tx, account_id: int, after: int, limit: int) -> list[OptOut]:
    """Return some opt-outs of an account that have a number, oldest first, after an id."""
    return _OPT_OUTS.fetch_all(
        tx, "where account_id = ? and phone is not null and id > ? order by id limit ?", (account_id, after, limit)
    )


def list_by_number(tx: Tx, keys: HashKeys, account_id: int, phone: str) -> list[OptOut]:
    """Return the opt-outs of a number, also those that have only a hash."""
    key = keys.get(tx)
    if key is None:
        return []
    found = _OPT_OUTS.fetch_all(tx, "where hash = ? order by id", (hash_number(key, account_id, phone),))
    return [each._replace(phone=phone) for each in found]


def erase(tx: Tx, keys: HashKeys, account_id: int, phone: str) -> None:
    """Erase a number from its opt-outs: the hashes stay, by which advertising to it is still recognized."""
    key = keys.get(tx)
    if key is not None:
        tx.execute(
            "update opt_outs set phone = null, reason = null where hash = ?", (hash_number(key, account_id, phone),)
        )


@transaction(exclusive=True, priority=Priority.PATIENT)
def hash_again(tx: Tx, key: bytes, stored: bytes) -> tuple[int, int]:
    """Hash all numbers with a new key, stored as `stored`; return how many opt-outs stay, and how many are gone.

    Those of which only the hash was left are deleted: nobody can tell whose they were.
    """
    lost = tx.execute("delete from opt_outs where phone is null")
    kept = after = 0
    while rows := tx.fetch_all(
        "select id, account_id, phone from opt_outs where id > ? order by id limit ?", (after, REHASHED_ROWS)
    ):
        after = rows[-1][0]
        kept += len(rows)
        tx.execute_many(
            "update opt_outs set hash = v.hash from (values {rows}) as v(id, hash) where opt_outs.id = v.id",
            [(id, hash_number(key, account_id, f"0{phone}")) for id, account_id, phone in rows],
        )
    hash_keys.put(tx, stored)
    return kept, lost


MAX_SEARCHED_MESSAGES = 100
"""How many of the newest messages of an account to a receiver are looked at."""


def find_accounts(tx: Tx, phone: str, opt_out_number: str, default_number: str) -> list[int]:
    """Return the accounts that have a number for opting out as their own, or have named it to a receiver.

    An advertisement names its own number, else that of its account, else the default.
    """
    found = []
    for account_id, own in tx.fetch_all("select id, opt_out_number from accounts order by id"):
        usual = own or default_number
        if own == opt_out_number or _has_named(tx, account_id, phone, opt_out_number, usual):
            found.append(int(account_id))
    return found


def find_accounts_by_sender(tx: Tx, phone: str, sender: str) -> list[int]:
    """Return the account that has registered a sender number, else those that have sent from it to a phone."""
    holder = numbers.get_holder(tx, sender)
    if holder:
        return [holder[0]]
    rows = tx.fetch_all("select id from accounts order by id")
    return [account_id for (account_id,) in rows if inbound.has_sent(tx, account_id, phone, sender)]


def _has_named(tx: Tx, account_id: int, phone: str, opt_out_number: str, usual: str) -> bool:
    rows = tx.fetch_all(
        "select id from messages where account_id = ? and receiver = ? order by id desc limit ?",
        (account_id, int(phone), MAX_SEARCHED_MESSAGES),
    )
    of_requests = tx.execute_list(
        "select opt_out_number, is_ad from requests where id in ({list}) and id {within} and slot {same_slot}",
        {identifiers.request_id_of(row[0]) for row in rows},
    )
    return any(is_ad and (number or usual) == opt_out_number for number, is_ad in of_requests)


class StoredChange(NamedTuple):
    """A change with its id."""

    id: int
    change: OptOutChange


def add_changes(tx: Tx, account_id: int, phones: Iterable[str], *, is_removed: bool, now: Instant) -> None:
    """Record changes of an account that has a number for opting out of its own, which no other account has.

    The list of a relay belongs to such a number: with a shared one, an account would decide for others.
    """
    number = tx.fetch_value(
        "select opt_out_number from accounts where id = ? and opt_out_number is not null"
        " and (select count(*) from accounts o where o.opt_out_number = accounts.opt_out_number) = 1",
        (account_id,),
    )
    if number is None:
        return
    tx.execute_many(
        "insert into opt_out_changes (account_id, opt_out_number, phone, is_removed, created_at) values {rows}",
        [(account_id, number, int(phone), int(is_removed), now) for phone in phones],
    )


def list_changes(tx: Tx, limit: int) -> list[StoredChange]:
    """Return some changes, oldest first."""
    rows = tx.fetch_all(
        "select id, opt_out_number, phone, is_removed from opt_out_changes order by id limit ?", (limit,)
    )
    return [StoredChange(id, OptOutChange(f"0{phone}", number, bool(gone))) for id, number, phone, gone in rows]


def delete_changes(tx: Tx, ids: Sequence[int]) -> None:
    """Forget changes that relays know."""
    tx.execute_list("delete from opt_out_changes where id in ({list})", ids)


def erase_changes(tx: Tx, account_id: int, phone: str) -> None:
    """Erase a number."""
    tx.execute("delete from opt_out_changes where account_id = ? and phone = ?", (account_id, int(phone)))


delete_old_changes = deletion("opt_out_changes", "id", "created_at")
"""Deletes some changes that no relay could be told about."""
