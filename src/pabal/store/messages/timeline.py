"""The timeline of a message: its unsuccessful attempts, its position in the queue, and how it was delivered."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx


class RecordedAttempt(NamedTuple):
    """An attempt that was not accepted."""

    number: int
    carrier: str
    verdict: str
    ended_at: Instant
    code: str | None = None
    """The carrier's own code."""


class RequestKey(NamedTuple):
    """The API key that a message was requested with."""

    id: int
    name: str


class DeliveryRecord(NamedTuple):
    """What is stored with a message about its delivery; None: not known, or not yet."""

    cost: int | None
    """In hundredths of a won."""
    submitted_at: Instant | None
    carrier: str | None
    """The carrier that decided how it ended."""
    carrier_code: str | None


class QueuePosition(NamedTuple):
    """The queue row of a message that has not ended."""

    carrier: str
    lane: int
    ready_at: Instant
    attempt: int
    claimed_at: Instant | None
    reference: str | None = None

    @property
    def is_in_doubt(self) -> bool:
        """Whether it waits for the receipt of a message that its carrier may not have."""
        return (self.reference or "").startswith(identifiers.IN_DOUBT_PREFIX)


def list_attempts(tx: Tx, message_id: bytes) -> list[RecordedAttempt]:
    """Return the recorded attempts of a message, in order."""
    rows = tx.fetch_all(
        "select number, carrier, verdict, ended_at, code from attempts"
        " where message_id = ? and slot = ? order by number",
        (message_id, identifiers.slot_of(message_id)),
    )
    return [RecordedAttempt(*row) for row in rows]


def get_delivery(tx: Tx, message_id: bytes) -> DeliveryRecord:
    """Return what is stored with a message about its delivery."""
    row = tx.fetch_one(
        "select cost, submitted_at, carrier, carrier_code from messages where id = ? and slot = ?",
        (message_id, identifiers.slot_of(message_id)),
    )
    return DeliveryRecord(*row) if row else DeliveryRecord(None, None, None, None)


def get_deliveries(tx: Tx, message_ids: Iterable[bytes]) -> dict[bytes, DeliveryRecord]:
    """Return what is stored with messages about their delivery, by message."""
    rows = tx.execute_many(
        "select id, cost, submitted_at, carrier, carrier_code from messages"
        " where id in ({list}) and id {within} and slot {same_slot}",
        [(one,) for one in message_ids],
    )
    return {id: DeliveryRecord(*record) for id, *record in rows}


def get_key_ids(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, int]:
    """Return the API keys that requests were made with, by request; those made without one are left out."""
    rows = tx.execute_many(
        "select id, key_id from requests"
        " where id in ({list}) and id {within} and slot {same_slot} and key_id is not null",
        [(one,) for one in request_ids],
    )
    return dict(rows)


def get_key(tx: Tx, request_id: bytes) -> RequestKey | None:
    """Return the API key that a request was made with, None if it was made without one."""
    row = tx.fetch_one(
        "select key_id from requests where id = ? and slot = ?", (request_id, identifiers.slot_of(request_id))
    )
    found = tx.fetch_one("select id, name from keys where id = ?", row) if row and row[0] is not None else None
    return RequestKey(*found) if found else None


def queue_position(tx: Tx, message_id: bytes) -> QueuePosition | None:
    """Return the queue position of a message, None if it has ended."""
    row = tx.fetch_one(
        "select carrier, lane, ready_at, attempt, claimed_at, reference from jobs where id = ? and slot = ?",
        (message_id, identifiers.slot_of(message_id)),
    )
    return QueuePosition(*row) if row else None
