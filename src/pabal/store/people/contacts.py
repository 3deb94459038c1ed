"""Contacts of address books, one for each number of an account, searched by index however many there are."""

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base.dates import Instant
from pabal.domain.people.contact import Contact, ContactEntry, ContactSearch, make_name_key
from pabal.store.engine.base import Row, Tx, Value
from pabal.store.rows import Select, containing, reader

AFTER_NAME = b"\xff"
"""Follows every name key, because UTF-8 has no such byte."""
MAX_DRIVEN_BY_GROUP = 10_000
"""In a larger group, a search for a name goes through the names instead of the members."""
_COLUMNS = "c.id, c.phone, c.name, c.fields, c.created_at, c.changed_at"

_from_row = reader(
    Contact, phone=lambda phone: f"0{phone}", fields=lambda fields: json.loads(fields) if fields else {}
)
_CONTACTS = Select(f"select {_COLUMNS} from contacts c", _from_row)

_encode = msgspec.json.Encoder().encode


class Place(NamedTuple):
    """Where a page of contacts ends, in the order of the list."""

    name_key: bytes = b""
    contact_id: int = 0


LAST = Place(AFTER_NAME, 10**18 - 1)
"""Follows every contact."""


class ContactPage(NamedTuple):
    """Some contacts, where to continue after, None at the end, and before, None at the beginning."""

    contacts: list[Contact]
    next_after: Place | None
    previous_before: Place | None = None


class SavedContacts(NamedTuple):
    """The ids of contacts by their number, and how many were added and changed."""

    ids: dict[str, int]
    added: int
    changed: int


class AddressBook(NamedTuple):
    """How many contacts an account has, and the names of their fields."""

    contacts: int
    fields: tuple[str, ...]


def get_book(tx: Tx, account_id: int) -> AddressBook:
    row = tx.fetch_one("select contacts, fields from address_books where account_id = ?", (account_id,))
    return AddressBook(row[0], tuple(json.loads(row[1]))) if row else AddressBook(0, ())


def set_fields(tx: Tx, account_id: int, fields: Sequence[str]) -> None:
    """Store the names of the fields that contacts of an account may have."""
    _ensure_book(tx, account_id)
    tx.execute(
        "update address_books set fields = ? where account_id = ?",
        (json.dumps(list(fields), ensure_ascii=False), account_id),
    )


def save_all(
    tx: Tx, account_id: int, entries: Iterable[ContactEntry], now: Instant, *, updates: bool
) -> SavedContacts:
    """Add contacts; those whose number is there already are updated, or stay as they are.

    An update replaces the name if it has one, and the fields that it has.
    """
    by_phone = {each.phone: each for each in entries}
    known = {each.phone: each for each in find_by_phones(tx, account_id, by_phone)}
    new = [each for phone, each in by_phone.items() if phone not in known]
    added = tx.execute_many(
        "insert into contacts (account_id, phone, name, name_key, fields, created_at, changed_at)"
        " values {rows} on conflict (account_id, phone) do nothing returning id, phone",
        [(account_id, int(each.phone), *_named(each), now, now) for each in sorted(new)],
    )
    changed = [_merged(known[phone], each) for phone, each in by_phone.items() if phone in known] if updates else []
    changed = [each for each in changed if each != known[each.phone]]
    _update(tx, changed, now)
    _count(tx, account_id, len(added))
    ids = {phone: each.id for phone, each in known.items()} | {f"0{phone}": one for one, phone in added}
    return SavedContacts(ids, len(added), len(changed))


def update(tx: Tx, account_id: int, contact_id: int, entry: ContactEntry, now: Instant) -> bool:
    """Replace a contact; return False if it is gone, or its new number is another contact's."""
    taken = find_by_phones(tx, account_id, [entry.phone])
    if taken and taken[0].id != contact_id:
        return False
    return tx.changes(
        "update contacts set phone = ?, name = ?, name_key = ?, fields = ?, changed_at = ?"
        " where id = ? and account_id = ?",
        (int(entry.phone), *_named(entry), now, contact_id, account_id),
    )


def get(tx: Tx, account_id: int, contact_id: int) -> Contact | None:
    return _CONTACTS.fetch_one(tx, "where c.id = ? and c.account_id = ?", (contact_id, account_id))


def find_by_phones(tx: Tx, account_id: int, phones: Iterable[str]) -> list[Contact]:
    """Return the contacts of an account with these numbers."""
    rows = tx.execute_list(
        f"{_CONTACTS.sql} where c.account_id = ? and c.phone in ({{list}})", map(int, sorted(phones)), (account_id,)
    )
    return [_from_row(row) for row in rows]


def search(
    tx: Tx,
    account_id: int,
    wanted: ContactSearch,
    group: tuple[int, int] | None,
    after: Place,
    limit: int,
    before: Place | None = None,
    field: tuple[str, str] | None = None,
) -> ContactPage:
    """Return some contacts that fit, by name; `group` is the id of one that they are in, and its size.

    With `before`, those that come just before that place; `field` is a name and a value that they have.
    """
    conditions: list[str] = []
    args: list[Value] = []
    given = before
    if wanted.phone is not None:
        conditions, args = ["c.phone = ?"], [wanted.phone]
    elif wanted.tail is not None:
        conditions, args = ["c.phone % 10000 = ?"], [wanted.tail]
    elif wanted.phone_ranges:
        each = " or ".join(["c.phone between ? and ?"] * len(wanted.phone_ranges))
        conditions, args = [f"({each})"], [bound for pair in wanted.phone_ranges for bound in pair]
    elif wanted.name_key:
        conditions, args = ["c.name_key >= ? and c.name_key < ?"], [wanted.name_key, wanted.name_key + AFTER_NAME]
        # PostgreSQL starts at the page's place whatever other bound there is: it must not be before the names.
        after = max(after, Place(wanted.name_key))
        before = None if before is None else min(before, Place(wanted.name_key + AFTER_NAME))
    by_id = bool(conditions) and not wanted.name_key
    is_driven_by_group = group and not by_id and (not wanted.name_key or group[1] <= MAX_DRIVEN_BY_GROUP)
    if field:
        conditions, args = [*conditions, "c.fields like ? escape '!'"], [*args, _field_pattern(*field)]
    if group and is_driven_by_group:
        return _search_group(tx, account_id, conditions, args, group[0], after, limit, before)
    if group:
        conditions.append("exists (select 1 from contact_members m where m.group_id = ? and m.contact_id = c.id)")
        args.append(group[0])
    beyond, down = (">", "") if before is None else ("<", " desc")
    order = f"c.id{down}" if by_id else f"c.name_key{down}, c.id{down}"
    place = f"c.id {beyond} ?" if by_id else f"(c.name_key, c.id) {beyond} (?, ?)"
    where = " and ".join(["c.account_id = ?", *conditions, place])
    bound = after if before is None else before
    rows = tx.fetch_all(
        f"select c.name_key, {_COLUMNS} from contacts c where {where} order by {order} limit ?",
        (account_id, *args, *((bound.contact_id,) if by_id else bound), limit + 1),
    )
    return _page(rows, limit, after, given)


def list_after(tx: Tx, account_id: int, group_ids: Sequence[int], after: int, limit: int) -> list[Contact]:
    """Return some contacts in order of their ids, each once: of all these groups, or without a group of all."""
    if not group_ids:
        return _CONTACTS.fetch_all(
            tx, "where c.account_id = ? and c.id > ? order by c.id limit ?", (account_id, after, limit)
        )
    found: dict[int, Contact] = {}
    for group_id in group_ids:
        rows = tx.fetch_all(
            f"select {_COLUMNS} from contact_members m join contacts c on c.id = m.contact_id"
            " where m.group_id = ? and m.contact_id > ? and c.id > ? and c.account_id = ?"
            " order by m.contact_id limit ?",
            (group_id, after, after, account_id, limit),
        )
        found |= {row[0]: _from_row(row) for row in rows}
    return [found[one] for one in sorted(found)[:limit]]


def delete(tx: Tx, account_id: int, ids: Iterable[int]) -> int:
    """Delete contacts of an account, also from its groups; return how many there were."""
    rows = tx.execute_list(
        "delete from contacts where account_id = ? and id in ({list}) returning id", sorted(ids), (account_id,)
    )
    members = tx.execute_many(
        "delete from contact_members where contact_id in ({list}) returning group_id", [(row[0],) for row in rows]
    )
    left: dict[int, int] = {}
    for (group_id,) in members:
        left[group_id] = left.get(group_id, 0) + 1
    for group_id, count in sorted(left.items()):
        tx.execute("update contact_groups set contacts = contacts - ? where id = ?", (count, group_id))
    _count(tx, account_id, -len(rows))
    return len(rows)


def _search_group(
    tx: Tx,
    account_id: int,
    conditions: Sequence[str],
    args: Sequence[Value],
    group_id: int,
    after: Place,
    limit: int,
    before: Place | None,
) -> ContactPage:
    beyond, down = (">", "") if before is None else ("<", " desc")
    bound = (after if before is None else before).contact_id
    places = [f"m.contact_id {beyond} ?", f"c.id {beyond} ?"]
    where = " and ".join(["m.group_id = ?", *places, "c.account_id = ?", *conditions])
    rows = tx.fetch_all(
        f"select c.name_key, {_COLUMNS} from contact_members m join contacts c on c.id = m.contact_id"
        f" where {where} order by m.contact_id{down} limit ?",
        (group_id, bound, bound, account_id, *args, limit + 1),
    )
    return _page(rows, limit, after, before)


def _page(rows: Sequence[Row], limit: int, after: Place, before: Place | None) -> ContactPage:
    shown, has_more = rows[:limit], len(rows) > limit
    if before is not None:
        shown = shown[::-1]
    places = [Place(bytes(row[0]), row[1]) for row in shown]
    is_first = not has_more if before is not None else after.contact_id == 0
    is_last = (before is not None and before.contact_id == LAST.contact_id) or (before is None and not has_more)
    return ContactPage(
        [_from_row(row[1:]) for row in shown],
        None if is_last or not places else places[-1],
        None if is_first or not places else places[0],
    )


def _field_pattern(name: str, value: str) -> str:
    """Return what matches the stored fields of a contact that has this value."""
    return containing(_encode({name: value})[1:-1].decode())


def _update(tx: Tx, contacts: Iterable[Contact], now: Instant) -> None:
    tx.execute_many(
        "update contacts set name = v.name, name_key = v.name_key, fields = v.fields,"
        " changed_at = v.changed_at from (values {rows}) as v(id, name, name_key, fields, changed_at)"
        " where contacts.id = v.id",
        [(each.id, *_named(each), now) for each in contacts],
    )


def _merged(known: Contact, new: ContactEntry) -> Contact:
    return known._replace(name=new.name or known.name, fields={**known.fields, **new.fields})


def _count(tx: Tx, account_id: int, change: int) -> None:
    if change:
        _ensure_book(tx, account_id)
        tx.execute("update address_books set contacts = contacts + ? where account_id = ?", (change, account_id))


def _ensure_book(tx: Tx, account_id: int) -> None:
    tx.execute(
        "insert into address_books (account_id, contacts, fields) values (?, 0, '[]')"
        " on conflict (account_id) do nothing",
        (account_id,),
    )


def _named(of: Contact | ContactEntry) -> tuple[str, bytes, str | None]:
    """Return name, key of the name and fields as they are stored."""
    return of.name, make_name_key(of.name), _encode(dict(of.fields)).decode() if of.fields else None
