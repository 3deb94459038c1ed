"""Message lists: one account's messages, newest first, by page."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, Instant, Period
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.store.engine.base import Reader, Row, Tx, Value, transaction
from pabal.store.messages import requests
from pabal.store.messages.messages import COLUMNS, Message, from_row
from pabal.store.messages.requests import Request
from pabal.store.queue.queue import UNSENT
from pabal.store.rows import among, given, in_period, read_rows, select

MAX_DAYS_AHEAD = 366
"""No message is scheduled further ahead of its request, so a search by date can skip the rest."""


Condition = tuple[str, Value | tuple[Value, ...]]
"""A condition of a where clause, with its argument or arguments."""


class MessageFilter(NamedTuple):
    """What a search filters by; None matches everything."""

    account_id: int
    receiver: str | None = None
    request_id: bytes | None = None
    message_id: bytes | None = None
    product: Product | None = None
    status: Status | None = None
    channel_id: str | None = None
    sender_key: str | None = None
    template_code: str | None = None
    requested: Period | None = None
    scheduled: Period | None = None
    month: Period | None = None
    completed: Period | None = None
    outcome: Outcome | None = None
    campaign_id: bytes | None = None
    """Only where messages are searched with a cursor."""
    slots: tuple[int, ...] | None = None
    """The slots to look at; None: all."""
    products: tuple[Product, ...] | None = None
    """This and what follows: only where messages are searched by page."""
    is_code: bool | None = None
    sender: str | None = None
    reference: str | None = None
    request_ids: tuple[bytes, ...] | None = None
    message_ids: tuple[bytes, ...] | None = None


class ReadMessages(NamedTuple):
    """Messages with their requests, and the ids of those that cannot be read."""

    found: list[tuple[Message, Request]]
    unreadable: list[bytes]


class MessagePage(NamedTuple):
    """One page of the matching messages, and their total number."""

    total: int
    found: list[tuple[Message, Request]]
    unreadable: Sequence[bytes] = ()
    """The ids of those on this page that cannot be read."""
    is_capped: bool = False
    """Whether there are more than `total`: they were not counted further."""


@transaction(reader=Reader.SEARCHES)
def find(
    tx: Tx,
    wanted: MessageFilter,
    page: int,
    page_size: int,
    known_total: int | None = None,
    max_total: int | None = None,
) -> MessagePage:
    """Return a page of the matching messages, newest first.

    They are not counted if their total is known, and not beyond `max_total`; the pages go on beyond it.
    """
    where, args, needs_request = where_clause(wanted)
    join = " join requests r on r.id = substr(m.id, 1, 13) and r.slot = m.slot" if needs_request else ""
    most = None if max_total is None else max_total + 1
    total = count(tx, wanted, most) if known_total is None else known_total
    is_capped = max_total is not None and total > max_total
    total = max_total if is_capped and max_total is not None else total
    skipped = (page - 1) * page_size
    if skipped >= total and not is_capped:
        return MessagePage(total, [])
    rows = tx.fetch_all(
        f"select {COLUMNS} from messages m{join} where {where} order by m.id desc limit ? offset ?",
        (*args, page_size, skipped),
    )
    return MessagePage(total, *read_messages(tx, rows), is_capped)


def read_messages(tx: Tx, rows: Sequence[Row]) -> ReadMessages:
    """Return the messages of rows of COLUMNS, in their order, with their requests."""
    return join_requests(tx, [row[0] for row in rows], read_rows(rows, from_row))


def join_requests(tx: Tx, ids: Iterable[bytes], messages: Mapping[bytes, Message]) -> ReadMessages:
    """Return messages in the order of these ids, with their requests; some may be unreadable, or their requests."""
    shared = requests.get(tx, {identifiers.request_id_of(one) for one in messages})
    pairs = {one: (messages.get(one), shared.get(identifiers.request_id_of(one))) for one in ids}
    return ReadMessages(
        [(message, request) for message, request in pairs.values() if message and request],
        [one for one, (message, request) in pairs.items() if not message or not request],
    )


def count(tx: Tx, wanted: MessageFilter, most: int | None = None) -> int:
    """Return how many messages match, up to `most`; each request is looked up once, not once for every message."""
    own, shared = _conditions(wanted)
    where, args = _join_conditions(own)
    if not shared:
        limit = "" if most is None else f" limit {most:d}"
        found = tx.fetch_number(
            f"select count(*) from (select m.id from messages m where {where}{limit}) as g", args
        )
    else:
        where_shared, shared_args = _join_conditions(shared)
        found = tx.fetch_number(
            "select sum(g.messages)"
            " from (select substr(m.id, 1, 13) as request_id{and_slot}, m.account_id, count(*) as messages"
            f" from messages m where {where} group by substr(m.id, 1, 13){{and_slot}}, m.account_id) as g"
            f" join {{request_of_group}} on {{is_of_group}} where {where_shared}",
            [*args, *shared_args],
        )
    return found if most is None else min(found, most)


def where_clause(wanted: MessageFilter) -> tuple[str, list[Value], bool]:
    """Return the where clause, its arguments, and whether it uses the request `r`."""
    own, shared = _conditions(wanted)
    where, args = _join_conditions(own + shared)
    return where, args, bool(shared)


def _join_conditions(conditions: Sequence[Condition]) -> tuple[str, list[Value]]:
    args: list[Value] = []
    for _, value in conditions:
        args += value if isinstance(value, tuple) else (value,)
    return " and ".join(sql for sql, _ in conditions), args


def _conditions(wanted: MessageFilter) -> tuple[list[Condition], list[Condition]]:
    """Return the conditions on a message `m`, and those on its request `r`."""
    plus = "+" if wanted.receiver is None else ""
    own: list[Condition] = [(f"{plus}m.account_id = ? and {among('m.slot', wanted.slots)}", wanted.account_id)]
    shared: list[Condition] = []
    own += given(("m.receiver = ?", None if wanted.receiver is None else int(wanted.receiver)))
    if wanted.request_id is not None:
        low, high = identifiers.message_id_range(wanted.request_id)
        own += [("m.id >= ?", low), ("m.id <= ?", high), ("m.slot = ?", identifiers.slot_of(low))]
    if wanted.message_id is not None:
        own += [("m.id = ?", wanted.message_id), ("m.slot = ?", identifiers.slot_of(wanted.message_id))]
    # the text that stood in for an Alimtalk has no template
    of_template = None if wanted.template_code is None else Product.ALIMTALK.number
    own += given(("m.product = ?", wanted.product and wanted.product.number), ("m.product = ?", of_template))
    own += _among("m.product", [each.number for each in wanted.products] if wanted.products else None)
    own += _among("m.id", wanted.message_ids) + _in_requests(wanted.request_ids)
    own += given(
        ("m.status = ?", wanted.status and wanted.status.number),
        ("m.outcome = ?", wanted.outcome and wanted.outcome.number),
        ("m.reference = ?", wanted.reference),
    )
    own += _in_request_period(wanted.requested)
    own += in_period("m.completed_at", wanted.completed)
    shared += given(
        ("coalesce(r.is_code, 0) = ?", None if wanted.is_code is None else int(wanted.is_code)),
        ("r.sender = ?", wanted.sender),
        ("r.channel_id = ?", wanted.channel_id),
        ("r.sender_key = ?", wanted.sender_key),
        ("r.template_code = ?", wanted.template_code),
    )
    for period in (wanted.scheduled, wanted.month):
        shared += in_period("r.scheduled_at", period)
        own += _in_request_period(request_period(period))
    if shared and wanted.slots is not None:  # each of two distributed tables has to name its slots
        shared[0] = (f"{shared[0][0]} and {among('r.slot', wanted.slots)}", shared[0][1])
    return own, shared


def _among(column: str, values: Sequence[Value] | None) -> list[Condition]:
    """Return the condition that a column has one of some values."""
    if values is None:
        return []
    return [(f"{column} in ({', '.join('?' * len(values)) or 'null'})", tuple(values))]


def _in_requests(request_ids: Sequence[bytes] | None) -> list[Condition]:
    """Return the conditions that a message belongs to one of some requests."""
    if not request_ids:
        return [] if request_ids is None else [("m.id is null", ())]
    low, high = identifiers.message_id_range(min(request_ids))[0], identifiers.message_id_range(max(request_ids))[1]
    return [("m.id >= ?", low), ("m.id <= ?", high), *_among("substr(m.id, 1, 13)", request_ids)]


def _in_request_period(period: Period | None) -> list[tuple[str, Value]]:
    if period is None:
        return []
    sides = (("m.id >= ?", period.start), ("m.id < ?", period.end))
    return [(sql, identifiers.lowest_message_id(at)) for sql, at in sides if at is not None]


def request_period(period: Period | None) -> Period | None:
    """Return the period in which messages scheduled in a period can have been requested."""
    if period is None:
        return None
    return Period(period.start - MAX_DAYS_AHEAD * DAY if period.start is not None else None, period.end)


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


_POSITIONS = select(QueuePosition, "jobs")


def list_attempts(tx: Tx, message_id: bytes) -> list[RecordedAttempt]:
    """Return the recorded attempts of a message, in order."""
    place = (message_id, identifiers.slot_of(message_id))
    return select(RecordedAttempt, "attempts").fetch_all(
        tx, "where message_id = ? and slot = ? order by number", place
    )


def get_deliveries(tx: Tx, message_ids: Iterable[bytes]) -> dict[bytes, DeliveryRecord]:
    """Return what is stored with messages about their delivery, by message."""
    rows = tx.execute_list(
        "select id, cost, submitted_at, carrier, carrier_code from messages"
        " where id in ({list}) and id {within} and slot {same_slot}",
        message_ids,
    )
    return {id: DeliveryRecord(*record) for id, *record in rows}


def get_key_ids(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, int]:
    """Return the API keys that requests were made with, by request; those made without one are left out."""
    rows = tx.execute_list(
        "select id, key_id from requests"
        " where id in ({list}) and id {within} and slot {same_slot} and key_id is not null",
        request_ids,
    )
    return dict(rows)


def get_key(tx: Tx, request_id: bytes) -> RequestKey | None:
    """Return the API key that a request was made with, None if it was made without one."""
    key_id = get_key_ids(tx, [request_id]).get(request_id)
    return None if key_id is None else select(RequestKey, "keys").fetch_one(tx, "where id = ?", (key_id,))


def queue_position(tx: Tx, message_id: bytes) -> QueuePosition | None:
    """Return the queue position of a message, None if it has ended."""
    return _POSITIONS.fetch_one(tx, "where id = ? and slot = ?", (message_id, identifiers.slot_of(message_id)))


def first_waiting(tx: Tx, request_id: bytes) -> QueuePosition | None:
    """Return the queue position of the first message of a request that no carrier has, None if there is none."""
    low, high = identifiers.message_id_range(request_id)
    return _POSITIONS.fetch_one(
        tx,
        f"where id >= ? and id <= ? and slot = ? and {UNSENT} order by id limit 1",
        (low, high, identifiers.slot_of(low)),
    )
