"""Matches carriers' answers to submits with their receipts, in whichever order they arrive.

On Citus these tables are on the coordinator, and the rows of messages on other nodes, which commit first. If the
coordinator then fails, its writes are lost. `{may_be_lost}` marks statements for which that does no harm: the
carrier repeats a receipt that was not acknowledged, and a leftover reference matches nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Outcome
from pabal.store.engine.base import Tx, transaction
from pabal.store.queue.queue import Lane
from pabal.store.rows import deletion, select

_NO_CODES: Mapping[str, str | None] = MappingProxyType({})


class ExpectedReceipt(NamedTuple):
    """A reference that a carrier gave to a message, and in how many parts the message was sent."""

    reference: str
    message_id: bytes
    parts: int


class EndedReference(NamedTuple):
    """A reference of a message that has ended."""

    carrier: str
    reference: str
    message_id: bytes


class ReceiptCode(NamedTuple):
    """The carrier's own code of the outcome of a message, or of one of its parts."""

    message_id: bytes
    outcome: int
    code: str


class PostponedReceipt(NamedTuple):
    """A receipt whose message is on a node that cannot be reached, and the slot of that message."""

    slot: int
    reference: str
    outcome: Outcome
    in_doubt_reference: str | None
    code: str | None
    id: int = 0


class _PartOutcome(NamedTuple):
    """The outcome of a message, or of one of its parts."""

    message_id: bytes
    outcome: int
    parts: int


class ConsumedReference(NamedTuple):
    """A reference that is deleted because its first receipt has ended its message: with that outcome and code."""

    message_id: bytes
    outcome: Outcome
    code: str | None


class MatchedReceipts(NamedTuple):
    """The outcomes of messages whose receipts arrived, and the references that match no message yet."""

    ended: list[tuple[bytes, Outcome]]
    unmatched: list[str]
    consumed: dict[str, ConsumedReference]


def record_references(tx: Tx, carrier: str, accepted: Iterable[ExpectedReceipt]) -> list[tuple[bytes, Outcome]]:
    """Record the references that a carrier gave to messages, and in how many parts each was sent.

    A reference that was given twice belongs to the later message. Returns the outcomes of messages whose receipts
    arrived first.
    """
    rows = tx.execute_many(
        "insert into receipts (carrier, reference, message_id, parts)"
        " select ?, v.* from (values {rows}) as v where true on conflict (carrier, reference) do update"
        " set message_id = excluded.message_id, parts = excluded.parts"
        " returning message_id, outcome, parts",
        list({one.reference: one for one in accepted}.values()),  # PostgreSQL updates no row twice in one statement
        (carrier,),
    )
    return _ended(tx, [_PartOutcome(*row) for row in rows if row[1] is not None])


def record_receipts(
    tx: Tx,
    carrier: str,
    receipts: Iterable[tuple[str, Outcome]],
    now: Instant,
    codes: Mapping[str, str | None] = _NO_CODES,
) -> MatchedReceipts:
    """Record receipts, with the carrier's own codes by reference; the first one for a reference counts."""
    outcomes = dict(reversed(list(receipts)))
    consumed = _delete_single_part(tx, carrier, outcomes, codes)
    rows = tx.execute_many(
        "insert {may_be_lost} into receipts (carrier, arrived_at, reference, outcome, code)"
        " select ?, ?, v.* from (values {rows}) as v where true on conflict (carrier, reference) do update"
        " set outcome = coalesce(receipts.outcome, excluded.outcome),"
        " code = case when receipts.outcome is null then excluded.code else receipts.code end,"
        " arrived_at = coalesce(receipts.arrived_at, excluded.arrived_at)"
        " returning message_id, outcome, parts, reference",
        [
            (reference, outcome.number, codes.get(reference))
            for reference, outcome in outcomes.items()
            if reference not in consumed
        ],
        (carrier, now),
    )
    return MatchedReceipts(
        ended=[(each.message_id, each.outcome) for each in consumed.values()]
        + _ended(tx, [_PartOutcome(*row[:3]) for row in rows if row[0] is not None]),
        unmatched=[row[3] for row in rows if row[0] is None],
        consumed=consumed,
    )


@transaction(single=True)
def find_by_reference(tx: Tx, carrier: str, references: Iterable[str]) -> dict[str, bytes]:
    """Return the message of each reference that has one."""
    rows = tx.execute_many(
        "select v.reference,"
        " (select message_id from receipts where receipts.carrier = ? and receipts.reference = v.reference)"
        " from (values {rows}) as v(reference)",  # as a join, PostgreSQL may compare each with the whole table
        [(reference,) for reference in references],
        (carrier,),
    )
    return {reference: message_id for reference, message_id in rows if message_id is not None}


@transaction(single=True)
def find_single_part(tx: Tx, carrier: str, references: Iterable[str]) -> dict[str, bytes]:
    """Return the messages that the next receipt will end: sent in one part, with no receipt recorded yet."""
    rows = tx.execute_many(
        "select v.reference, (select case when parts = 1 and outcome is null then message_id end"
        " from receipts where receipts.carrier = ? and receipts.reference = v.reference)"
        " from (values {rows}) as v(reference)",
        [(reference,) for reference in references],
        (carrier,),
    )
    return {reference: message_id for reference, message_id in rows if message_id is not None}


def delete(tx: Tx, ended: Iterable[EndedReference]) -> list[ReceiptCode]:
    """Delete the references of messages that have ended; return the carriers' own codes of their results.

    A reference that the carrier has given to another message since is not deleted.
    """
    rows = tx.execute_many(
        "delete {may_be_lost} from receipts {of_ended_references}"
        " returning receipts.message_id, outcome, code, parts",
        ended,
    )
    in_parts = sorted({row[0] for row in rows if row[3] > 1})
    tx.execute_list("delete {may_be_lost} from receipt_turns where message_id in ({list})", in_parts)
    return [ReceiptCode(*row[:3]) for row in rows if row[2] is not None]


def delete_unmatched_references(tx: Tx, carrier: str, references: Iterable[str]) -> None:
    """Delete receipts that match no message, by their references."""
    tx.execute_many(
        "delete {may_be_lost} from receipts {of_references} and receipts.message_id is null",
        [(carrier, reference) for reference in references],
    )


delete_old_locks = deletion("receipt_turns", "message_id", "message_id", bound_of=identifiers.lowest_message_id)
"""Deletes some locks, by when their messages were requested."""
delete_old_unmatched = deletion("receipts", "carrier, reference", "arrived_at", condition="message_id is null")
"""Deletes some receipts that match no message."""


def _delete_single_part(
    tx: Tx, carrier: str, outcomes: Mapping[str, Outcome], codes: Mapping[str, str | None]
) -> dict[str, ConsumedReference]:
    """Delete the references of messages that were sent in one part, which their receipts end.

    If a postponed receipt was stored, its outcome counts.
    """
    rows = tx.execute_many(
        "delete {may_be_lost} from receipts {of_references} and parts = 1 and receipts.message_id is not null"
        " returning receipts.reference, receipts.message_id, outcome, code",
        [(carrier, reference) for reference in outcomes],
    )
    return {
        reference: ConsumedReference(message_id, outcomes[reference], codes.get(reference))
        if postponed is None
        else ConsumedReference(message_id, OUTCOME_BY_NUMBER[postponed], code)
        for reference, message_id, postponed, code in rows
    }


def _ended(tx: Tx, rows: Sequence[_PartOutcome]) -> list[tuple[bytes, Outcome]]:
    """Return outcomes: delivered when every part is delivered, failed as soon as one part has failed."""
    ended = [
        (message_id, outcome)
        for message_id, number, parts in rows
        if (outcome := OUTCOME_BY_NUMBER[number]) is not Outcome.DELIVERED or parts == 1
    ]
    parts_of = {message_id: parts for message_id, _, parts in rows if parts > 1}
    _lock_messages(tx, sorted(parts_of))
    counts = tx.execute_list(
        f"select message_id, count(*) from receipts where parts > 1 and outcome = {Outcome.DELIVERED.number}"
        " and message_id in ({list}) group by message_id",
        parts_of,
    )
    return ended + [(one, Outcome.DELIVERED) for one, delivered in counts if delivered == parts_of[one]]


def _lock_messages(tx: Tx, message_ids: Sequence[bytes]) -> None:
    """Lock a row for each message, so that transactions which count its parts conflict.

    Otherwise neither would see the part that the other one stores. The rows stand beside `receipts`, because Citus
    has another snapshot of the queue, which is on another node. Ids come sorted, so that none deadlock.
    """
    tx.execute_many(
        "insert {may_be_lost} into receipt_turns (message_id) values {rows}"
        " on conflict (message_id) do update set message_id = excluded.message_id",
        [(one,) for one in message_ids],
    )


def postpone(tx: Tx, carrier: str, receipts: Iterable[PostponedReceipt], now: Instant) -> None:
    """Store receipts until the nodes of their messages can be reached: the first one for a reference counts."""
    kept = list(receipts)
    first = {each.reference: each for each in reversed(kept)}
    tx.execute_many(
        "update receipts set outcome = v.outcome, code = v.code, arrived_at = ?"
        " from (values {rows}) as v(carrier, reference, outcome, code)"
        " where receipts.carrier {same} and receipts.reference = v.reference and receipts.outcome is null",
        [(carrier, one, each.outcome.number, each.code) for one, each in first.items()],
        (now,),
    )
    tx.execute_many(
        "insert into postponed_receipts (carrier, arrived_at, slot, reference, outcome, in_doubt_reference, code)"
        " select ?, ?, v.* from (values {rows}) as v",
        [(each.slot, each.reference, each.outcome.number, each.in_doubt_reference, each.code) for each in kept],
        (carrier, now),
    )


@transaction(single=True)
def list_postponed_slots(tx: Tx) -> list[tuple[str, int]]:
    """Return the carriers and slots that have such receipts."""
    return tx.fetch_all("select distinct carrier, slot from postponed_receipts order by carrier, slot")


def list_postponed(tx: Tx, carrier: str, slot: int, limit: int) -> list[PostponedReceipt]:
    """Return some such receipts of a slot, the oldest first."""
    postponed = select(PostponedReceipt, "postponed_receipts", outcome=OUTCOME_BY_NUMBER.__getitem__)
    return postponed.fetch_all(tx, "where carrier = ? and slot = ? order by id limit ?", (carrier, slot, limit))


def delete_postponed(tx: Tx, receipts: Iterable[PostponedReceipt]) -> None:
    """Delete receipts that are processed."""
    tx.execute_list("delete from postponed_receipts where id in ({list})", [each.id for each in receipts])


MAX_COUNTED = 1000
"""Messages and receipts of a carrier that are counted; there may be more."""


class ReceiptTimeouts(NamedTuple):
    """How long receipts are awaited, in milliseconds: a job is due so much later than it was accepted."""

    sms_ms: int
    other_ms: int


def oldest_submitted_at(
    tx: Tx, slots: Sequence[int], names: Iterable[str], timeouts: ReceiptTimeouts, now: Instant
) -> dict[str, Instant]:
    """Return when the oldest message was submitted that awaits its receipt, for each carrier that has one.

    Jobs are ordered by the end of their wait, and SMS wait for a shorter time. So this takes the first of all, and
    the first of those that end later than any SMS can.
    """
    oldest: dict[str, Instant] = {}
    for carrier in names:
        for slot in slots:
            first = _first_job(tx, slot, carrier, 0)
            later = _first_job(tx, slot, carrier, now + timeouts.sms_ms)
            submitted = [_submitted_at(tx, one) for one in {first, later} if one is not None]
            if submitted:
                oldest[carrier] = min([*submitted, *([oldest[carrier]] if carrier in oldest else [])])
    return oldest


def count_submitted_before(
    tx: Tx, slots: Sequence[int], carrier: str, timeouts: ReceiptTimeouts, before: Instant, now: Instant
) -> int:
    """Return how many messages were submitted before an instant and await their receipt, up to MAX_COUNTED."""
    longest_sms = now + timeouts.sms_ms
    found = 0
    for slot in slots:
        for after, until in ((-1, before + timeouts.sms_ms), (longest_sms, before + timeouts.other_ms)):
            found += tx.fetch_number(
                "select count(*) from (select 1 from jobs where slot = ? and carrier = ? and lane = ?"
                " and ready_at > ? and ready_at <= ? limit ?) as first_jobs",
                (slot, carrier, Lane.AWAITING_RECEIPT, after, until, MAX_COUNTED),
            )
    return min(found, MAX_COUNTED)


def count_unmatched(tx: Tx, carrier: str, before: Instant) -> int:
    """Return how many of the last MAX_COUNTED unmatched receipts before an instant are of a carrier."""
    return tx.fetch_number(
        "select count(*) from (select carrier from receipts where message_id is null and arrived_at < ?"
        " order by arrived_at desc limit ?) as last where last.carrier = ?",
        (before, MAX_COUNTED, carrier),
    )


def _first_job(tx: Tx, slot: int, carrier: str, after: Instant) -> bytes | None:
    return tx.fetch_value(
        "select id from jobs where slot = ? and carrier = ? and lane = ? and ready_at > ?"
        " order by ready_at limit 1",
        (slot, carrier, Lane.AWAITING_RECEIPT, after),
    )


def _submitted_at(tx: Tx, message_id: bytes) -> Instant:
    """Return when a message was submitted; one that has no such time, when it was requested."""
    submitted_at = "select submitted_at from messages where id = ? and slot = ?"
    found = tx.fetch_value(submitted_at, (message_id, identifiers.slot_of(message_id)))
    return identifiers.requested_at(message_id) if found is None else found
