"""Message search: an account's messages, newest first, from a cursor, or by when their results were reported."""

from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant, Period
from pabal.domain.events.event import NUMBERS_PER_MS, EventType, lowest_number
from pabal.domain.sends.message import Product
from pabal.store.engine.base import Reader, Row, Tx, Value, transaction
from pabal.store.events.events import last_positions
from pabal.store.messages import campaign_requests, history, messages
from pabal.store.messages.history import MessageFilter, read_messages, request_period, where_clause
from pabal.store.messages.messages import COLUMNS, Message
from pabal.store.messages.requests import Request
from pabal.store.rows import among, given, in_period

FIRST_SCAN_SIZE = 200
MAX_SCAN_SIZE = 2000
MAX_SCANS = 7
"""A search with few matches scans 200 messages, then more at a time, and stops after 11,000."""
COUNT_STEP = 1000
"""How many requests are looked at together when messages are counted."""
NEWEST = b"\xff" * identifiers.MESSAGE_ID_BYTES
_TALK = frozenset(each.number for each in Product if not each.is_text)
"""Products whose messages may have a fallback."""


_REQUEST_COLUMNS = "id, product, total, scheduled_at, channel_id, sender_key, template_code, is_code"


class SearchPage(NamedTuple):
    """Matches, newest first, and the id to continue before; None at the end."""

    found: list[tuple[Message, Request]]
    next_before: bytes | None
    unreadable: Sequence[bytes] = ()
    """The ids of matches that cannot be read."""


class _MessageRange(NamedTuple):
    """The messages of one request from one number to another."""

    request: bytes
    first: int
    last: int


@transaction(reader=Reader.SEARCHES)
def search(tx: Tx, wanted: MessageFilter, before: bytes, limit: int) -> SearchPage:
    """Return up to `limit` matching messages before an id.

    Without a receiver or a request, one call scans a limited number of messages and may find fewer than there are:
    `next_before` says where to continue.
    """
    if wanted.receiver is not None or wanted.request_id is not None or wanted.message_id is not None:
        rows, further = _search_by_index(tx, wanted, before, limit)
        rows = _in_campaign(tx, rows, wanted.campaign_id)
    else:
        rows, further = _search_by_requests(tx, wanted, before, limit)
    read = read_messages(tx, rows)
    return SearchPage(read.found, further, read.unreadable)


def count(tx: Tx, wanted: MessageFilter, most: int) -> int:
    """Return how many messages match, up to `most`; without a receiver or an id, by the requests of a period."""
    if wanted.receiver is not None or wanted.request_id is not None or wanted.message_id is not None:
        return history.count(tx, wanted, most)
    where, args = _request_id_range(wanted)
    found, before = 0, NEWEST
    while found < most:
        rows = tx.fetch_all(
            f"select {_REQUEST_COLUMNS} from requests where account_id = ? and id < ?{where}"
            " order by id desc limit ?",
            (wanted.account_id, identifiers.request_id_of(before), *args, COUNT_STEP),
        )
        ranges = [
            _MessageRange(request, 1, _max_message_number(product, total))
            for request, product, total, *said in rows
            if _may_match(product, said, wanted)
        ]
        found += _count_matching(tx, ranges, wanted, most)
        if len(rows) < COUNT_STEP:
            break
        before = identifiers.make_message_id(rows[-1][0], 0)
    return min(found, most)


def _search_by_index(tx: Tx, wanted: MessageFilter, before: bytes, limit: int) -> tuple[list[Row], bytes | None]:
    where, args, needs_request = where_clause(wanted)
    join = " join requests r on r.id = substr(m.id, 1, 13) and r.slot = m.slot" if needs_request else ""
    rows = tx.fetch_all(
        f"select {COLUMNS} from messages m{join} where {where} and m.id < ? order by m.id desc limit ?",
        (*args, before, limit + 1),
    )
    found = rows[:limit]
    return found, found[-1][0] if len(rows) > limit else None


def _search_by_requests(tx: Tx, wanted: MessageFilter, before: bytes, limit: int) -> tuple[list[Row], bytes | None]:
    found: list[Row] = []
    size = FIRST_SCAN_SIZE
    for _ in range(MAX_SCANS):
        stretches, further = _message_ranges(tx, wanted, before, size)
        found += _matching_rows(tx, stretches, wanted)
        if len(found) > limit:
            return found[:limit], found[limit - 1][0]
        if further is None or len(found) == limit:
            return found, further
        before, size = further, min(4 * size, MAX_SCAN_SIZE)
    return found, before


def _in_campaign(tx: Tx, rows: list[Row], campaign_id: bytes | None) -> list[Row]:
    """Return the rows that belong to a campaign; all without one."""
    if campaign_id is None:
        return rows
    theirs = set(campaign_requests.list_request_ids(tx, campaign_id))
    return [row for row in rows if identifiers.request_id_of(row[0]) in theirs]


def _list_requests(tx: Tx, wanted: MessageFilter, up_to: bytes, size: int) -> list[Row]:
    """Return the requests up to an id whose messages may match, newest first."""
    if wanted.campaign_id is not None:
        ids = [
            one
            for one in campaign_requests.list_request_ids(tx, wanted.campaign_id)
            if one <= up_to and (wanted.slots is None or identifiers.slot_of(one) in wanted.slots)
        ]
        rows = tx.execute_list(
            f"select {_REQUEST_COLUMNS} from requests where id in ({{list}}) and id {{within}}"
            f" and slot {{same_slot}} and account_id = {wanted.account_id:d}",
            sorted(ids, reverse=True)[:size],
        )
        return sorted(rows, key=itemgetter(0), reverse=True)
    where, args = _request_id_range(wanted)
    return tx.fetch_all(
        f"select {_REQUEST_COLUMNS} from requests where account_id = ? and id <= ?{where} order by id desc limit ?",
        (wanted.account_id, up_to, *args, size),
    )


def _message_ranges(
    tx: Tx, wanted: MessageFilter, before: bytes, size: int
) -> tuple[list[_MessageRange], bytes | None]:
    """Return ranges of up to `size` messages before an id, and the id to continue before, None at the end.

    At most `size` requests are scanned, whether they match or not.
    """
    rows = _list_requests(tx, wanted, identifiers.request_id_of(before), size)
    found: list[_MessageRange] = []
    remaining = size
    for request, product, total, *said in rows:
        last = _max_message_number(product, total) if _may_match(product, said, wanted) else 0
        if request == identifiers.request_id_of(before):
            last = min(last, identifiers.number_of(before) - 1)
        first = max(1, last - remaining + 1)
        if last >= 1:
            found.append(_MessageRange(request, first, last))
            remaining -= last - first + 1
        if first > 1 or remaining <= 0:
            return found, identifiers.make_message_id(request, first)
    return found, identifiers.make_message_id(rows[-1][0], 1) if len(rows) == size else None


def _max_message_number(product: int, total: int) -> int:
    """Return the highest number that a message of a request can have, fallbacks included."""
    return 2 * total if product in _TALK else total


def _matching_rows(tx: Tx, ranges: list[_MessageRange], wanted: MessageFilter) -> list[Row]:
    """Return the rows of the matching messages of some ranges, newest first."""
    rows = tx.execute_many(f"select {COLUMNS} {_in_ranges(wanted)}", _id_ranges(ranges))
    return sorted(rows, key=itemgetter(0), reverse=True)


def _count_matching(tx: Tx, ranges: list[_MessageRange], wanted: MessageFilter, most: int) -> int:
    """Return how many messages of some ranges match; no statement reads on once it has found `most`."""
    rows = tx.execute_many(
        f"select count(*) from (select m.id {_in_ranges(wanted)} limit {most:d}) as g", _id_ranges(ranges)
    )
    return sum(row[0] for row in rows)


def _in_ranges(wanted: MessageFilter) -> str:
    """Return the tables and conditions of the matching messages `m` of some ranges."""
    product = wanted.product if wanted.template_code is None else Product.ALIMTALK
    conditions = [
        *given(
            ("m.product = ?", product and product.number),
            ("m.status = ?", wanted.status and wanted.status.number),
            ("m.outcome = ?", wanted.outcome and wanted.outcome.number),
        ),
        *in_period("m.completed_at", wanted.completed),
    ]
    return (
        "from (values {rows}) as v cross join messages m"
        " where m.id between v.column1 and v.column2 and m.slot = v.column3 and m.slot {same_slot}"
        + "".join(f" and {sql}".replace("?", repr(value)) for sql, value in conditions)
    )


def _id_ranges(ranges: list[_MessageRange]) -> list[tuple[bytes, bytes, int]]:
    return [
        (
            identifiers.make_message_id(request, first),
            identifiers.make_message_id(request, last),
            identifiers.slot_of(request),
        )
        for request, first, last in ranges
    ]


def _request_id_range(wanted: MessageFilter) -> tuple[str, list[Value]]:
    """Return the id range of the requests whose messages can match."""
    said: list[tuple[str, Value]] = []
    for period in (wanted.requested, request_period(wanted.scheduled), request_period(wanted.month)):
        said += in_period("id", period)
    args = [identifiers.lowest_message_id(int(at or 0))[: identifiers.REQUEST_ID_BYTES] for _, at in said]
    return "".join(f" and {sql}" for sql, _ in [*said, (among("slot", wanted.slots), None)]), [*args]


def _may_match(product: int, said: Sequence[Any], wanted: MessageFilter) -> bool:
    """Return whether a request can have matching messages, by its row."""
    scheduled_at, channel_id, sender_key, template_code, is_code = said
    if wanted.product is not None and product != wanted.product.number:
        stands_in = wanted.product.is_text and product in _TALK
        if not stands_in:
            return False
    return (
        wanted.channel_id in (None, channel_id)
        and wanted.sender_key in (None, sender_key)
        and wanted.template_code in (None, template_code)
        and wanted.is_code in (None, bool(is_code))
        and all(_contains(period, scheduled_at) for period in (wanted.scheduled, wanted.month))
    )


def _contains(period: Period | None, at: Instant | None) -> bool:
    """Return whether an instant is in a period; None contains every instant."""
    if period is None:
        return True
    since, until = period
    return at is not None and (since is None or at >= since) and (until is None or at < until)


class ReportedFilter(NamedTuple):
    """Which results are wanted: from one time on and before another."""

    account_id: int
    since: Instant
    before: Instant
    products: tuple[Product, ...]
    is_code: bool | None = None


class ReportedResult(NamedTuple):
    """The result of a message, and when it was reported."""

    message: Message
    request: Request
    at: Instant


class ReportedPage(NamedTuple):
    """One page of results, and how many there are; their order never changes, new ones come last in their slot."""

    total: int
    found: list[ReportedResult]


@transaction(reader=Reader.SEARCHES)
def list_reported(
    tx: Tx, wanted: ReportedFilter, page: int, page_size: int, slots: Collection[int] | None = None
) -> ReportedPage:
    """Return a page of results."""
    known = sorted(last_positions(tx, slots))
    if not known:
        return ReportedPage(0, [])
    join = ""
    if wanted.is_code is not None:
        join = (
            " join requests r on r.id = substr(e.id, 1, 13) and r.slot = e.slot"
            f" and coalesce(r.is_code, 0) = {int(wanted.is_code)}"
        )
    where = (
        f" from events e{join} where e.account_id = ? and {among('e.slot', known)}"
        f" and e.number >= ? and e.number < ? and e.type = {EventType.MESSAGE_RESULT.number}"
        f" and {among('e.product', [each.number for each in wanted.products])}"
    )
    args = (wanted.account_id, lowest_number(wanted.since), lowest_number(wanted.before))
    total = tx.fetch_number(f"select count(*){where}", args)
    rows = tx.fetch_all(
        f"select e.id, e.number{where} order by e.slot, e.number limit ? offset ?",
        (*args, page_size, (page - 1) * page_size),
    )
    ids = [row[0] for row in rows]
    pairs = {found[0].id: found for found in history.join_requests(tx, ids, messages.get(tx, ids)).found}
    return ReportedPage(
        total, [ReportedResult(*pairs[id], number // NUMBERS_PER_MS) for id, number in rows if id in pairs]
    )
