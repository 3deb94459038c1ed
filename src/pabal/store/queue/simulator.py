"""The simulator's rows: messages on its phones, and receipts that it has still to send."""

from collections.abc import Iterable, Sequence

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import decode_brand, encode_brand
from pabal.domain.content.button import decode_buttons, encode_buttons
from pabal.domain.kakao.template_parts import decode_parts, encode_parts
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, DueReceipt, SimulatedMessage
from pabal.store.engine.base import Reader, Row, Tx, fetch_union, transaction
from pabal.store.rows import read_rows

RECENT_MESSAGES = 2000
"""How many of the newest messages of all accounts decide which phones are in use."""


def add_messages(tx: Tx, carrier: str, new_messages: Sequence[SimulatedMessage]) -> None:
    """Add messages and their receipts; a message that was added before is ignored."""
    rows = tx.execute_many(
        "insert into simulated_messages (carrier, message_id, account_id, phone, accepted_at, arrives_at, kind,"
        " sender, subject, content, buttons, has_image, brand, parts)"
        " select ?, v.message_id{as_bytes}, v.account_id, v.phone, v.accepted_at, v.arrives_at{as_big}, v.kind,"
        " v.sender, v.subject, v.content, v.buttons, v.has_image, v.brand, v.parts"
        " from (values {rows}) as v(message_id, account_id, phone, accepted_at, arrives_at, kind, sender, subject,"
        " content, buttons, has_image, brand, parts) where true"
        " on conflict (message_id, carrier) do nothing returning message_id",
        [
            (
                *one[:2],
                int(one.phone),
                *one[3:9],
                encode_buttons(one.buttons),
                one.images,
                encode_brand(one.brand),
                encode_parts(one.parts),
            )
            for one in new_messages
        ],
        (carrier,),
    )
    new = {row[0] for row in rows}
    tx.execute_many(
        "insert into simulated_receipts (carrier, slot, message_id, due_at, outcome)"
        " select ?, v.* from (values {rows}) as v",
        [
            (identifiers.slot_of(one.message_id), one.message_id, due_at, outcome.number)
            for one in new_messages
            if one.message_id is not None and one.message_id in new
            for due_at, outcome in one.receipts
        ],
        (carrier,),
    )


def count_busy(tx: Tx, carrier: str, message_ids: Iterable[bytes]) -> dict[bytes, int]:
    """Count a busy answer for each message, and return how many each has had."""
    rows = tx.execute_many(
        "insert into simulated_busy (carrier, message_id, times)"
        " select ?, v.message_id, 1 from (values {rows}) as v(message_id) where true"
        " on conflict (message_id, carrier) do update set times = simulated_busy.times + 1"
        " returning message_id, times",
        [(one,) for one in message_ids],
        (carrier,),
    )
    return dict(rows)


@transaction(single=True)
def find_due_receipts(tx: Tx, carrier: str, slots: Sequence[int], now: Instant, limit: int) -> list[DueReceipt]:
    """Return due receipts for messages of these slots, the oldest of each slot, about `limit` in all."""
    rows = fetch_union(
        tx,
        [
            (
                "select * from (select due_at, message_id, outcome from simulated_receipts where carrier = ?"
                " and slot = ? and due_at <= ? order by due_at, message_id, outcome limit ?) as g",
                (carrier, slot, now, -(-limit // len(slots))),
            )
            for slot in slots
        ],
    )
    return [
        DueReceipt(due_at, message_id, OUTCOME_BY_NUMBER[outcome]) for due_at, message_id, outcome in sorted(rows)
    ]


@transaction(single=True)
def next_receipt_at(tx: Tx, carrier: str, slots: Iterable[int]) -> Instant | None:
    """Return when the next receipt for a message of these slots is due."""
    found = fetch_union(
        tx,
        [
            (
                "select * from (select due_at from simulated_receipts where carrier = ? and slot = ?"
                " order by due_at limit 1) as g",
                (carrier, slot),
            )
            for slot in slots
        ],
    )
    return min((row[0] for row in found), default=None)


def delete_receipts(tx: Tx, carrier: str, receipts: Iterable[DueReceipt]) -> None:
    """Delete receipts that have been sent."""
    tx.execute_many(
        "delete from simulated_receipts where (carrier, slot, due_at, message_id, outcome) in (values {rows})",
        [
            (carrier, identifiers.slot_of(message_id), due_at, message_id, outcome.number)
            for due_at, message_id, outcome in receipts
        ],
    )


@transaction(reader=Reader.SEARCHES)
def list_on_phone(
    tx: Tx, account_id: int, phone: str, now: Instant, page: int, page_size: int
) -> tuple[int, list[SimulatedMessage]]:
    """Return how many messages from an account a phone has received, and a page of them, newest first."""
    where = "account_id = ? and phone = ? and arrives_at <= ?"
    args = (account_id, int(phone), now)
    total = tx.fetch_number(f"select count(*) from simulated_messages where {where}", args)
    rows = tx.fetch_all(
        "select id, message_id, accepted_at, arrives_at, kind, sender, subject, content, buttons, has_image, brand,"
        " parts from simulated_messages"
        f" where {where} order by arrives_at desc, id desc limit ? offset ?",
        (*args, page_size, (page - 1) * page_size),
    )
    found = read_rows(
        [(int(one).to_bytes(8, "big", signed=True), *rest) for one, *rest in rows],
        lambda row: _from_row(account_id, phone, row),
    )
    return total, list(found.values())


def _from_row(account_id: int, phone: str, row: Row) -> SimulatedMessage:
    _, message_id, *said, buttons, images, brand, parts = row
    found = SimulatedMessage(message_id, account_id, phone, *said)
    return found._replace(
        buttons=decode_buttons(buttons), images=images, brand=decode_brand(brand), parts=decode_parts(parts)
    )


@transaction(reader=Reader.SEARCHES)
def list_recent_phones(tx: Tx, account_id: int, now: Instant, limit: int) -> list[str]:
    """Return the phones that received something from an account lately, the latest first."""
    rows = tx.fetch_all(
        "select phone from simulated_messages where id > coalesce((select max(id) from simulated_messages), 0) - ?"
        " and +account_id = ? and arrives_at <= ? group by phone order by max(arrives_at) desc, phone limit ?",
        (RECENT_MESSAGES, account_id, now, limit),
    )
    return [f"0{phone}" for (phone,) in rows]


def trim(tx: Tx, max_messages: int, before: Instant, forget_before: Instant, limit: int) -> int:
    """Delete the oldest messages: those beyond `max_messages` or from before `forget_before`; return how many.

    At most `limit` are deleted. The simulator recognizes a repeated submit by the row of its message, so messages
    that were accepted since `before` are not deleted.
    """
    rows = tx.fetch_all(
        "delete from simulated_messages where id in (select id from simulated_messages where id > 0 order by id"
        " limit ?)"
        " and accepted_at < ? and (accepted_at < ? or id <= (select max(id) from simulated_messages) - ?)"
        " returning message_id",
        (limit, before, forget_before, max_messages),
    )
    tx.execute_many("delete from simulated_busy where message_id in ({list})", [row for row in rows if row[0]])
    return len(rows)
