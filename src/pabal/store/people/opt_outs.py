"""Opt-outs from advertising: looked up by a keyed hash of account and number, which is left when it is erased."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.people.opt_out import (
    EVERY_SENDER,
    SOURCE_BY_NUMBER,
    AdReceiver,
    OptOut,
    OptOutSource,
    hash_number,
)
from pabal.store.engine.base import Priority, Tx, transaction
from pabal.store.people import hash_keys
from pabal.store.people.hash_keys import HashKeys

REHASHED_ROWS = 1000
"""Rows that are hashed again at a time."""
_COLUMNS = "id, phone, sender, reason, source, created_at"


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
        for one, sender in tx.execute_many(
            "select hash, sender from opt_outs where hash in ({list})",
            [(one,) for one in sorted({one for one, _ in entries})],
        )
    }
    rows = tx.execute_many(
        "insert into opt_outs (account_id, hash, sender, phone, reason, source, created_at)"
        " select v.account_id, v.hash{as_bytes}, v.sender, v.phone, v.reason, v.source, v.created_at"
        " from (values {rows}) as v(account_id, hash, sender, phone, reason, source, created_at) where true"
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
    removed = tx.execute_many(
        "delete from opt_outs where sender = ? and hash in ({list}) returning hash",
        [(one,) for one in sorted({hash_number(key, account_id, phone) for phone in phones})],
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
    rows = tx.execute_many(
        "select hash, sender from opt_outs where hash in ({list})", [(one,) for one in sorted(by_hash)]
    )
    return {each for one, sender in rows for each in by_hash[bytes(one)] if sender in (EVERY_SENDER, each.sender)}


def list_page(
    tx: Tx, keys: HashKeys, account_id: int, phone: str | None, sender: str | None, offset: int, limit: int
) -> tuple[int, list[OptOut]]:
    """Return how many opt-outs of an account have a number and fit, and some of them, newest first.

    `phone` and `sender` None: any. Those whose number was erased are not listed.
    """
    conditions, args = ["account_id = ?", "phone is not null"], [account_id]
    values: list[bytes | str | int] = list(args)
    if phone is not None:
        key = keys.get(tx)
        conditions.append("hash = ?")
        values.append(hash_number(key, account_id, phone) if key else b"")
    if sender is not None:
        conditions.append("sender = ?")
        values.append(sender)
    where = " and ".join(conditions)
    (total,) = tx.fetch_all(f"select count(*) from opt_outs where {where}", values)[0]
    rows = tx.fetch_all(
        f"select {_COLUMNS} from opt_outs where {where} order by id desc limit ? offset ?",
        (*values, limit, offset),
    )
    return total, [_from_row(row) for row in rows]


def list_after(tx: Tx, account_id: int, after: int, limit: int) -> list[OptOut]:
    """Return some opt-outs of an account that have a number, oldest first, after an id."""
    rows = tx.fetch_all(
        f"select {_COLUMNS} from opt_outs where account_id = ? and phone is not null and id > ?"
        " order by id limit ?",
        (account_id, after, limit),
    )
    return [_from_row(row) for row in rows]


def list_by_number(tx: Tx, keys: HashKeys, account_id: int, phone: str) -> list[OptOut]:
    """Return the opt-outs of a number, also those that have only a hash."""
    key = keys.get(tx)
    if key is None:
        return []
    rows = tx.fetch_all(
        f"select {_COLUMNS} from opt_outs where hash = ? order by id", (hash_number(key, account_id, phone),)
    )
    return [_from_row(row)._replace(phone=phone) for row in rows]


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
            "update opt_outs set hash = v.hash{as_bytes} from (values {rows}) as v(id, hash)"
            " where opt_outs.id = v.id",
            [(id, hash_number(key, account_id, f"0{phone}")) for id, account_id, phone in rows],
        )
    hash_keys.put(tx, stored)
    return kept, lost


def _from_row(row: Sequence[Any]) -> OptOut:
    id, phone, sender, reason, source, created_at = row
    return OptOut(id, f"0{phone}" if phone else "", sender, reason, SOURCE_BY_NUMBER[source], created_at)
