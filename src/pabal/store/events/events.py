"""The outbox: what has happened, written in the transaction that causes it, and numbered by the holder of its slot.

Readers see numbered events only. The events of a slot are numbered one transaction after the other, so whoever has
read up to a number has missed none below it.
"""

import struct
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.event import (
    EVENT_TYPE_BY_NUMBER,
    Event,
    EventType,
    Positions,
    lowest_number,
    make_event_id,
)
from pabal.store.engine.base import Reader, Row, Tx, fetch_union, transaction
from pabal.store.rows import among, read_rows

DEFAULT_SLOT = 0
"""The slot of events that are not about a message."""
MAX_EVENTS_PER_ROW = 1000
"""Most events that wait for their numbers in one row."""
MAX_EVENTS_AT_ONCE = 2000
"""Most events that one transaction numbers, unless a single row has more: others wait for it."""
PACKED = struct.Struct(">16sqhh")
"""An event that waits for its number: its id, account, type and product."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class MessageEnd(NamedTuple):
    id: bytes
    account_id: int
    product: int
    """The stored value."""


class NumberedBatch(NamedTuple):
    """Which accounts have new events, and whether others still wait for their numbers."""

    accounts: frozenset[int]
    has_more: bool


class EventPage(NamedTuple):
    """Events of one account in the order of their numbers in each slot, and how far that is."""

    events: list[Event]
    positions: dict[int, int]
    has_more: bool


class NewEvent(NamedTuple):
    """An event to be recorded with others: its key, its data, and the number that it is about."""

    key: str
    data: Mapping[str, object]
    phone: str | None = None


class EventData(NamedTuple):
    """What an event other than a message's end says."""

    type: EventType
    created_at: Instant
    data: dict[str, Any]


def record_ends(tx: Tx, ends: Iterable[MessageEnd], now: Instant) -> None:
    """Record messages that have ended; `store.messages` does it wherever it gives a message its last status."""
    by_slot: dict[int, list[bytes]] = {}
    kind = EventType.MESSAGE_RESULT.number
    for id, account_id, product in ends:
        by_slot.setdefault(identifiers.slot_of(id), []).append(PACKED.pack(id, account_id, kind, product))
    for slot, packed in by_slot.items():
        _add(tx, slot, packed, now)


def record(
    tx: Tx,
    account_id: int,
    type: EventType,
    key: str,
    data: Mapping[str, object],
    now: Instant,
    slot: int | None = None,
    *,
    phone: str | None = None,
) -> bytes | None:
    """Record another event, with its data as JSON; return its id, None where the same key was recorded before.

    `phone` is the number that it is about: the data is erased with it.
    """
    place = DEFAULT_SLOT if slot is None else slot
    id, *rest = _data_row(account_id, type, NewEvent(key, data, phone), now, place)
    if not tx.changes(
        "insert into event_data (id, slot, account_id, type, phone, created_at, data) values (?, ?, ?, ?, ?, ?, ?)"
        " on conflict do nothing",
        (id, *rest),
    ):
        return None
    _add(tx, place, [PACKED.pack(id, account_id, type.number, 0)], now)
    return id


def _data_row(
    account_id: int, type: EventType, new: NewEvent, now: Instant, slot: int
) -> tuple[bytes, int, int, int, int | None, Instant, str]:
    phone = int(new.phone) if new.phone else None
    id = make_event_id(account_id, type, new.key)
    return id, slot, account_id, type.number, phone, now, _encode(new.data).decode()


def record_many(tx: Tx, account_id: int, type: EventType, new: Sequence[NewEvent], now: Instant) -> None:
    """Record events of one type, as `record` does with each that has no slot of its own."""
    added = tx.execute_many(
        "insert into event_data (id, slot, account_id, type, phone, created_at, data)"
        " select v.id, v.slot, v.account_id, v.type, v.phone{as_big}, v.created_at, v.data"
        " from (values {rows}) as v(id, slot, account_id, type, phone, created_at, data) where true"
        " on conflict do nothing returning id",
        [_data_row(account_id, type, each, now, DEFAULT_SLOT) for each in new],
    )
    _add(tx, DEFAULT_SLOT, [PACKED.pack(row[0], account_id, type.number, 0) for row in added], now)


@transaction(
    reader=Reader.BACKGROUND,
    slot_of=lambda since: min(since, default=-1),
    stays_in_slot=lambda _: True,
    single=True,
)
def slots_with_new(tx: Tx, since: Mapping[int, Instant]) -> list[int]:
    """Return which of these slots have events without numbers that were recorded at this instant or later.

    In a distributed store the slots are of one node, which is asked.
    """
    queries = [
        (
            f"select {slot:d} where exists (select 1 from new_events where slot = {slot:d} and recorded_at >= ?)",
            (begin,),
        )
        for slot, begin in since.items()
    ]
    return [slot for (slot,) in fetch_union(tx, queries)]


@transaction(slot_of=lambda slot, *_: slot, stays_in_slot=lambda *_: True)
def number_some(tx: Tx, slot: int, since: Instant, now: Instant, limit: int) -> NumberedBatch:
    """Number some of a slot's events that were recorded at `since` or later: up to `limit` rows of waiting events.

    They are only as many as a transaction can number without delaying others, but at least one row.
    Two processes that do this for one slot wait for each other, by the row of its last number.
    """
    rows = tx.fetch_all(
        "select recorded_at, id, events from new_events where slot = ? and recorded_at >= ?"
        " order by recorded_at, id limit ?",
        (slot, since, limit),
    )
    taken = _first_rows(rows)
    if not taken:
        return NumberedBatch(frozenset(), False)
    previous = tx.fetch_number("select last from event_numbers where slot = ?", (slot,))
    if previous and previous < lowest_number(now - now % DAY):
        tx.execute("insert into event_days (slot, number) values (?, ?) on conflict do nothing", (slot, previous))
    last = max(previous, lowest_number(now))
    found = [each for _, _, packed in taken for each in PACKED.iter_unpack(packed)]
    tx.execute(
        "insert into event_numbers (slot, last, deleted) values (?, ?, 0)"
        " on conflict (slot) do update set last = excluded.last",
        (slot, last + len(found)),
    )
    tx.execute(
        "delete from new_events where slot = ? and recorded_at >= ? and (recorded_at, id) <= (?, ?)",
        (slot, since, *taken[-1][:2]),
    )
    tx.execute_many(
        "insert into events (account_id, slot, number, type, product, id) select v.* from (values {rows}) as v",
        [
            (account_id, slot, number, kind, product, id)
            for number, (id, account_id, kind, product) in enumerate(found, last + 1)
        ],
    )
    has_more = len(taken) < len(rows) or len(rows) == limit
    return NumberedBatch(frozenset(account_id for _, account_id, _, _ in found), has_more)


def _first_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the first rows of waiting events that have at most MAX_EVENTS_AT_ONCE together, or the first one."""
    total = 0
    for index, (_, _, packed) in enumerate(rows):
        total += len(packed) // PACKED.size
        if index and total > MAX_EVENTS_AT_ONCE:
            return rows[:index]
    return rows


def read_after(
    tx: Tx,
    account_id: int,
    positions: Positions,
    limit: int,
    types: Iterable[EventType] = tuple(EventType),
    slots: Collection[int] | None = None,
) -> EventPage:
    """Return some events of an account behind these positions, those longest unread first.

    A slot without a position is read from its oldest event. Other slots than `slots`, if given, are not looked at.
    """
    sql = f"select slot, last, deleted from event_numbers where {among('slot', slots)}"
    ends = {slot: (last, deleted) for slot, last, deleted in tx.fetch_all(sql)}
    reached = {slot: max(positions.get(slot, 0), deleted) for slot, (_, deleted) in ends.items()}
    reached.update((slot, number) for slot, number in positions.items() if slot not in ends)
    wanted = among("type", sorted({each.number for each in types}))
    found: list[Event] = []
    has_more = False
    for slot in sorted(ends, key=lambda one: (reached[one], one)):
        last = ends[slot][0]
        if reached[slot] >= last:
            continue
        if len(found) >= limit:
            has_more = True
            break
        rows = tx.fetch_all(
            "select number, type, product, id from events where account_id = ? and slot = ? and number > ?"
            f" and {wanted} order by number limit ?",
            (account_id, slot, reached[slot], limit - len(found)),
        )
        has_more = has_more or len(rows) == limit - len(found)
        reached[slot] = rows[-1][0] if len(rows) == limit - len(found) else last
        found += [
            Event(slot, number, EVENT_TYPE_BY_NUMBER[kind], product, id) for number, kind, product, id in rows
        ]
    return EventPage(found, reached, has_more)


@transaction(reader=Reader.BACKGROUND)
def find_accounts(
    tx: Tx, accounts: Iterable[int], positions: Positions, slots: Collection[int] | None = None
) -> tuple[set[int], dict[int, int]]:
    """Return which of these accounts have events behind these positions, and the last positions; in these slots.

    It costs a query for each slot in which something has happened, however many accounts there are.
    """
    wanted = sorted(accounts)
    sql = f"select distinct account_id from events where {among('account_id', wanted)} and slot = ? and number > ?"
    ends = last_positions(tx, slots)
    found: set[int] = set()
    for slot, last in ends.items():
        begin = positions.get(slot, 0)
        if wanted and begin < last:
            found.update(tx.fetch_values(sql, (slot, begin)))
    return found, ends


def is_expired(tx: Tx, positions: Positions) -> bool:
    """Return whether events behind these positions have been deleted."""
    rows = tx.fetch_all("select slot, deleted from event_numbers where deleted > 0")
    return any(positions.get(slot, deleted) < deleted for slot, deleted in rows)


def last_positions(tx: Tx, slots: Collection[int] | None = None) -> dict[int, int]:
    """Return the number of the last event of each slot, or of these: what happens from now on is behind them."""
    return dict(tx.fetch_all(f"select slot, last from event_numbers where {among('slot', slots)}"))


def get_data(tx: Tx, ids: Iterable[bytes], slots: Collection[int] | None = None) -> dict[bytes, EventData]:
    """Return what events other than messages' ends say, where it is still stored; `slots`: those of the events."""
    rows = tx.execute_list(
        f"select id, type, created_at, data from event_data where id in ({{list}}) and {among('slot', slots)}", ids
    )
    return read_rows(rows, lambda row: EventData(EVENT_TYPE_BY_NUMBER[row[1]], row[2], _decode(row[3])))


def next_account(tx: Tx, slot: int, after: int) -> int | None:
    """Return the next account that has events in a slot; accounts are visited in the order of their ids."""
    return tx.fetch_value(
        "select account_id from events where account_id > ? and slot = ? order by account_id limit 1", (after, slot)
    )


def delete_old(tx: Tx, account_id: int, slot: int, until: int, limit: int) -> int:
    """Delete some events of an account with numbers up to `until`; return how many."""
    rows = tx.fetch_all(
        "select number from events where account_id = ? and slot = ? and number <= ? order by number limit ?",
        (account_id, slot, until, limit),
    )
    if rows:
        tx.execute(
            "delete from events where account_id = ? and slot = ? and number <= ?", (account_id, slot, rows[-1][0])
        )
    return len(rows)


@transaction(reader=Reader.BACKGROUND)
def has_old(tx: Tx, slot: int, before: Instant, deleted: int) -> bool:
    """Return whether a slot may have events of days before an instant, beyond those known to be deleted."""
    return _old_until(tx, slot, before) > deleted


def mark_deleted(tx: Tx, slot: int, before: Instant) -> int:
    """Record that a slot's events of days before an instant are not to be read any more; return the last of them.

    It comes before they are deleted: a reader must not take what is left for everything. It is always the number of
    an event, so whoever has read all events of a slot in which nothing happens is up to date.
    """
    found = _old_until(tx, slot, before)
    tx.execute("update event_numbers set deleted = ? where slot = ? and deleted < ?", (found, slot, found))
    tx.execute("delete from event_days where slot = ? and number <= ?", (slot, found))
    return found


def _old_until(tx: Tx, slot: int, before: Instant) -> int:
    row = tx.fetch_one("select last, deleted from event_numbers where slot = ?", (slot,))
    if not row:
        return 0
    last, deleted = int(row[0]), int(row[1])
    limit = lowest_number(before)
    days = tx.fetch_all("select number from event_days where slot = ? and number < ?", (slot, limit))
    ends = [deleted, *(int(day[0]) for day in days)]
    if last < limit:
        ends.append(last)
    return max(ends)


def delete_old_data(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some data of events recorded before an instant; return how many."""
    rows = tx.fetch_all(
        "select id from event_data where created_at < ? order by created_at limit ?", (before, limit)
    )
    tx.execute_many("delete from event_data where id in ({list})", rows)
    return len(rows)


def erase_data(tx: Tx, account_id: int, phone: str) -> list[bytes]:
    """Erase what an account's events say about a number; return their ids."""
    return tx.fetch_values(
        "update event_data set phone = null, data = '{}' where account_id = ? and phone = ? returning id",
        (account_id, int(phone)),
    )


def _add(tx: Tx, slot: int, packed: list[bytes], now: Instant) -> None:
    for begin in range(0, len(packed), MAX_EVENTS_PER_ROW):
        some = packed[begin : begin + MAX_EVENTS_PER_ROW]
        tx.execute(
            "insert into new_events (slot, recorded_at, id, events) values (?, ?, ?, ?)",
            (slot, now, some[0][:16], b"".join(some)),
        )
