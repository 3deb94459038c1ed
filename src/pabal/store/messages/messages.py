"""Messages: one row for each receiver, with its status and outcome."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import (
    OUTCOME_BY_NUMBER,
    PRODUCT_BY_NUMBER,
    STATUS_BY_NUMBER,
    Outcome,
    Product,
    Status,
)
from pabal.domain.sends.sending import Receiver
from pabal.store.engine.base import Row, Tx
from pabal.store.events import events
from pabal.store.events.events import MessageEnd
from pabal.store.rows import read_rows

_encode = msgspec.json.Encoder().encode
_decode_values = msgspec.json.Decoder(tuple[str, ...]).decode

# Where the ids are known, `+account_id` keeps the engine from walking all of an account's messages instead.
COLUMNS = (
    "m.id, m.account_id, m.receiver, m.product, m.status, m.outcome, m.completed_at,"
    " m.variables, m.content, m.reference"
)


MessageRow = tuple[bytes, int, int, int, int, str | None, str | None, str | None]
"""A new message: id, slot, account_id, receiver, product, variables, content, reference.

A plain tuple, because large sends make very many of them.
"""


class Message(NamedTuple):
    """A stored message; its request has the rest."""

    id: bytes
    account_id: int
    receiver: str
    product: Product
    status: Status
    outcome: Outcome | None
    completed_at: Instant | None
    values: tuple[str, ...]
    content: str | None
    reference: str | None


def build_rows(
    request_id: bytes, account_id: int, product: Product, receivers: Sequence[Receiver]
) -> list[MessageRow]:
    """Return a row for each receiver; built before the transaction, because others wait for that."""
    slot, kind = identifiers.slot_of(request_id), product.number
    return [
        (
            identifiers.make_message_id(request_id, number),
            slot,
            account_id,
            int(receiver.phone),
            kind,
            _encode(receiver.values).decode() if receiver.values else None,
            receiver.content,
            receiver.reference,
        )
        for number, receiver in enumerate(receivers, 1)
    ]


def add_all(tx: Tx, rows: Iterable[MessageRow]) -> None:
    """Add messages, waiting; `rows` are those of build_rows."""
    tx.execute_many(
        "insert {or_fail} into messages"
        " (status, id, slot, account_id, receiver, product, variables, content, reference)"
        " select ?, v.* from (values {rows}) as v",
        rows,
        (Status.WAITING.number,),
    )


def add_fallback(
    tx: Tx,
    origin: Message,
    message_id: bytes,
    product: Product,
    content: str,
    ended: Outcome | None,
    now: Instant,
) -> bool:
    """Add the fallback of a failed message; return whether it is new.

    A fallback that cannot be sent is added with its outcome.
    """
    slot, account_id, receiver = identifiers.slot_of(message_id), origin.account_id, int(origin.receiver)
    end = (ended.status.number, ended.number, now) if ended else (Status.WAITING.number, None, None)
    is_new = tx.changes(
        "insert into messages (id, slot, account_id, receiver, product, status, outcome, completed_at, content)"
        " values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
        (message_id, slot, account_id, receiver, product.number, *end, content),
    )
    if is_new and ended:
        events.record_ends(tx, [MessageEnd(message_id, account_id, product.number)], now)
    return is_new


def get(tx: Tx, message_ids: Iterable[bytes]) -> dict[bytes, Message]:
    """Return the messages of these ids that exist and can be read."""
    rows = tx.execute_list(
        f"select {COLUMNS} from messages m where id in ({{list}}) and id {{within}} and slot {{same_slot}}",
        message_ids,
    )
    return read_rows(rows, from_row)


def get_costs(tx: Tx, message_ids: Iterable[bytes]) -> dict[bytes, int]:
    """Return what these messages have cost, of those that have ended and whose cost is known."""
    rows = tx.execute_list(
        "select id, cost from messages where id in ({list}) and id {within} and slot {same_slot}"
        " and cost is not null",
        message_ids,
    )
    return dict(rows)


def mark_sending(tx: Tx, message_ids: Iterable[bytes]) -> None:
    """Mark waiting messages as sending, although no carrier gets them: a message that waits cannot fail."""
    tx.execute_list(
        "update messages set status = ? where status = ? and id in ({list}) and id {within} and slot {same_slot}",
        message_ids,
        (Status.SENDING.number, Status.WAITING.number),
    )


def mark_submitted(tx: Tx, message_ids: Iterable[bytes], now: Instant) -> None:
    """Mark messages as sending, and since when: a carrier is about to get them."""
    tx.execute_list(
        "update messages set status = ?, submitted_at = ?"
        " where status in (0, 1) and id in ({list}) and id {within} and slot {same_slot}",
        message_ids,
        (Status.SENDING.number, now),
    )


CostByProduct = tuple[tuple[Product, int], ...]
"""What a message of each product has cost, in hundredths of a won; products without a price are left out."""


class EndDetails(NamedTuple):
    """What is stored about the end of a message besides its outcome."""

    carrier: str | None
    """The carrier that decided it; None: none did."""
    code: str | None
    """That carrier's own code."""
    costs: CostByProduct


_NO_DETAILS = EndDetails(None, None, ())


def finish(
    tx: Tx,
    ended: Iterable[tuple[bytes, Outcome]],
    now: Instant,
    details_of: Callable[[bytes], EndDetails] = lambda _: _NO_DETAILS,
) -> list[tuple[bytes, int]]:
    """Give unfinished messages their outcome and its details, record their ends, and return id and product."""
    alike: dict[tuple[Outcome, EndDetails], list[bytes]] = {}
    for one, outcome in ended:
        alike.setdefault((outcome, details_of(one)), []).append(one)
    found: list[MessageEnd] = []
    for (outcome, details), ids in alike.items():  # a join would search every partition for each id
        # not `case product when`, of which Citus makes another statement
        cases = "".join(f" when product = {product.number:d} then {cost:d}" for product, cost in details.costs)
        cost = f", cost = case{cases} end" if cases else ""
        rows = tx.execute_list(
            f"update messages set completed_at = ?, status = ?, outcome = ?, carrier = ?, carrier_code = ?{cost}"
            " where status in (0, 1) and id in ({list}) and id {within} and slot {same_slot}"
            " returning id, account_id, product",
            ids,
            (now, outcome.status.number, outcome.number, details.carrier, details.code),
        )
        found += [MessageEnd(*row) for row in rows]
    events.record_ends(tx, found, now)
    return [(one, product) for one, _, product in found]


def cancel(tx: Tx, message_ids: Iterable[bytes], now: Instant) -> int:
    """Cancel those messages that are still waiting, and record their ends; return how many."""
    rows = tx.execute_list(
        "update messages set status = ?, completed_at = ?"
        " where status = ? and id in ({list}) and id {within} and slot {same_slot}"
        " returning id, account_id, product",
        message_ids,
        (Status.CANCEL.number, now, Status.WAITING.number),
    )
    events.record_ends(tx, [MessageEnd(*row) for row in rows], now)
    return len(rows)


def find_waiting(tx: Tx, account_id: int, request_id: bytes, message_id: bytes | None) -> list[bytes]:
    """Return the ids of a request's waiting messages, or of one of them."""
    low, high = (message_id, message_id) if message_id else identifiers.message_id_range(request_id)
    return tx.fetch_values(
        "select id from messages where id between ? and ? and slot = ? and +account_id = ? and status = ?"
        " order by id",
        (low, high, identifiers.slot_of(low), account_id, Status.WAITING.number),
    )


def list_of_request(
    tx: Tx, account_id: int, request_id: bytes, total: int, status: Status | None, limit: int, after: bytes = b""
) -> list[Message]:
    """Return some of a request's own messages, without fallbacks, in order, after an id; of a status if given."""
    low, high = identifiers.make_message_id(request_id, 1), identifiers.make_message_id(request_id, total)
    slot = identifiers.slot_of(request_id)
    having, args = ("", ()) if status is None else (" and m.status = ?", (status.number,))
    rows = tx.fetch_all(
        f"select {COLUMNS} from messages m where m.id between ? and ? and m.id > ? and m.slot = ?"
        f" and +m.account_id = ?{having} order by m.id limit ?",
        (low, high, after, slot, account_id, *args, limit),
    )
    return list(read_rows(rows, from_row).values())


def count_by_status(tx: Tx, account_id: int, low: bytes, high: bytes) -> dict[Status, int]:
    """Return how many of the messages between two ids of one request have each status."""
    counts: dict[Status, int] = {}
    for (status, _), each in count_by_result(tx, account_id, low, high).items():
        counts[status] = counts.get(status, 0) + each.messages
    return counts


class ResultCount(NamedTuple):
    """How many messages have one result, and what they have cost; None: no price is known."""

    messages: int
    cost: int | None


def count_by_result(tx: Tx, account_id: int, low: bytes, high: bytes) -> dict[tuple[Status, int], ResultCount]:
    """Return how many of the messages between two ids of one request have each status and outcome; 0: none.

    One whose status is damaged counts as failed: no carrier gets it, and the total stays right.
    """
    rows = tx.fetch_all(
        "select status, coalesce(outcome, 0), count(*), sum(cost) from messages"
        " where id between ? and ? and slot = ? and +account_id = ? group by status, coalesce(outcome, 0)",
        (low, high, identifiers.slot_of(low), account_id),
    )
    counts: dict[tuple[Status, int], ResultCount] = {}
    for number, outcome, count, cost in rows:
        key = (STATUS_BY_NUMBER.get(number, Status.FAIL), outcome)
        before = counts.get(key, ResultCount(0, None))
        counts[key] = ResultCount(before.messages + count, add_costs(before.cost, cost))
    return counts


def add_costs(*costs: int | None) -> int | None:
    """Return the sum of those that are known, None where none is."""
    known = [int(each) for each in costs if each is not None]
    return sum(known) if known else None


def is_stored(tx: Tx, account_id: int, message_id: bytes) -> bool:
    """Return whether an account has a message, also one that cannot be read."""
    owner = "select account_id from messages where id = ? and slot = ?"
    return tx.fetch_value(owner, (message_id, identifiers.slot_of(message_id))) == account_id


def from_row(row: Row) -> Message:
    """Return the message that a row of COLUMNS holds."""
    id, account_id, receiver, product, status, outcome, completed_at, values, content, reference = row
    return Message(
        id,
        account_id,
        f"0{receiver}" if receiver else "",
        PRODUCT_BY_NUMBER[product],
        STATUS_BY_NUMBER[status],
        None if outcome is None else OUTCOME_BY_NUMBER[outcome],
        completed_at,
        _decode_values(values) if values else (),
        content,
        reference,
    )
