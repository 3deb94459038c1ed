"""Looks up messages of KakaoTalk, of a call or a period, with their results, and cancels those that wait."""

import heapq
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pabal.compat.nhncloud.call import KIND, NhnCall, parse_request_id, parse_time
from pabal.compat.nhncloud.talk import rows
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.compat.nhncloud.talk.rows import Beside, Found
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import DAY, MINUTE, Period
from pabal.domain.people import phone
from pabal.domain.sends.message import Product, Status
from pabal.service.history.history import take_search_turn
from pabal.service.sending import compose
from pabal.service.sending.waiting import cancel_request
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import compat_names, compat_requests, history, message_search, messages
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.message_search import NEWEST, ReportedFilter, list_reported
from pabal.store.messages.messages import Message

MAX_DAYS_SEARCHED = 31
MAX_LISTED = 20_000
"""Messages that the pages of a list reach."""
MAX_RESULTS = 1_000_000
"""Results that the pages of a period reach."""
MAX_COUNTED = 1_000_000
MAX_NAMED = 1000
"""Messages of one name, or requests of calls with one name."""
_MINUTE = ("minutes",)
_STATUSES = {"COMPLETED": Status.COMPLETED, "FAILED": Status.FAIL, "CANCEL": Status.CANCEL}
_RESULTS = {"MRC01": Status.COMPLETED, "MRC02": Status.FAIL}
_NOT_SEARCHED = ("createUser",)


class Family(NamedTuple):
    """Messages that are listed together, and how."""

    products: tuple[Product, ...]
    describe: Callable[[NhnCall, Message, Any, Beside], dict[str, Any]]
    describe_result: Callable[[Message, Any, Beside], dict[str, Any]]
    describe_whole: Callable[[NhnCall, Message, Any, Beside], dict[str, Any]]
    has_create_dates: bool = True
    """Whether they are searched by the time at which they were requested, too."""


ALIMTALK = Family(
    (Product.ALIMTALK,), rows.describe_alimtalk, rows.describe_alimtalk_result, rows.describe_whole_alimtalk
)
FRIENDTALK = Family(
    (Product.FRIENDTALK_TEXT, Product.FRIENDTALK_IMAGE, Product.FRIENDTALK_WIDE_IMAGE),
    rows.describe_message,
    rows.describe_friendtalk_result,
    rows.describe_whole_friendtalk,
)
BRAND = Family(
    (Product.BRAND_MESSAGE,),
    rows.describe_brand_message,
    rows.describe_brand_result,
    rows.describe_whole_brand_message,
    has_create_dates=False,
)


class TalkPage(NamedTuple):
    """A page of messages, what their rows need, and how many match."""

    total: int
    found: Sequence[Found]
    beside: Beside


async def list_messages(call: NhnCall, family: Family, is_code: bool | None = None) -> dict[str, Any]:
    """Return messages by requestId, or by their dates."""
    number, size = call.read_page()
    if number * size > MAX_LISTED:
        raise refuse(TalkCode.BAD_PAGE, f"pageNum x pageSize <= {MAX_LISTED:,}")
    wanted = _read_filter(call, family, is_code)
    names = call.query.get("senderGroupingKey") or None, call.query.get("recipientGroupingKey") or None
    async with take_search_turn(call.context, call.account_id):
        page = await call.context.store.read(_find, wanted, family.products, names, number, size)
    described = [family.describe(call, message, request, page.beside) for message, request in page.found]
    return {"messageSearchResultResponse": {"messages": described, "totalCount": page.total}}


async def list_results(call: NhnCall, family: Family) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the results that came in a period, and how many there are."""
    number, size = call.read_page()
    if number * size > MAX_RESULTS:
        raise refuse(TalkCode.BAD_PAGE, f"pageNum x pageSize <= {MAX_RESULTS:,}")
    start, end = _read_period(call, "Update")
    wanted = ReportedFilter(call.account_id, start or 0, end or 0, family.products, _read_kind(call))
    async with take_search_turn(call.context, call.account_id):
        total, found, beside = await call.context.store.read(_find_reported, wanted, number, size)
    return [family.describe_result(message, request, beside) for message, request in found], total


async def show_message(call: NhnCall, request_id: str, seq: str, family: Family) -> dict[str, Any]:
    """Return one message of a call.

    Raises NhnRefused.
    """
    page = await _read_call(call, family, request_id)
    for message, request in page.found:
        if str(rows.sequence_of(message, page.beside.calls.get(request.id))) == seq:
            return {"message": family.describe_whole(call, message, request, page.beside)}
    raise refuse(TalkCode.MESSAGE_NOT_FOUND)


async def _read_call(call: NhnCall, family: Family, request_id: str) -> TalkPage:
    """Return the messages of a call; none where it is unknown."""
    group_id = parse_request_id(request_id)
    if group_id is None:
        return TalkPage(0, (), Beside({}, {}))
    wanted = MessageFilter(call.account_id, request_id=group_id)
    found: TalkPage = await call.context.store.read(_find, wanted, family.products, (None, None), 1, MAX_LISTED)
    return found


def _read_filter(call: NhnCall, family: Family, is_code: bool | None) -> MessageFilter:
    """Return what the query of a list asks for.

    Raises NhnRefused.
    """
    query = call.query
    for name in _NOT_SEARCHED:
        if query.get(name):
            raise refuse(TalkCode.INVALID_PARAMETER, name)
    wanted = MessageFilter(call.account_id, is_code=is_code)
    if query.get("requestId"):
        request_id = parse_request_id(query["requestId"])
        wanted = wanted._replace(request_id=request_id or bytes(identifiers.REQUEST_ID_BYTES))
    elif family.has_create_dates and query.get("startCreateDate") and query.get("endCreateDate"):
        wanted = wanted._replace(requested=_read_period(call, "Create"))
    else:
        wanted = wanted._replace(scheduled=_read_period(call, "Request"))
    return wanted._replace(
        receiver=_read_receiver(query.get("recipientNo")),
        sender_key=query.get("senderKey") or None,
        template_code=query.get("templateCode") or None,
        status=_read_status(query.get("messageStatus"), query.get("resultCode")),
    )


def _read_receiver(spelling: str | None) -> str | None:
    if not spelling:
        return None
    try:
        return phone.parse_mobile(spelling)
    except Refused:
        raise refuse(TalkCode.BAD_NUMBER) from None


def _read_status(status: str | None, result: str | None) -> Status | None:
    found = {_STATUSES.get(status)} if status else set()
    found |= {_RESULTS.get(result)} if result else set()
    if None in found or len(found) > 1:
        raise refuse(TalkCode.INVALID_PARAMETER, "messageStatus, resultCode")
    return found.pop() if found else None


def _read_kind(call: NhnCall) -> bool | None:
    kind = call.query.get("alimtalkMessageType")
    if kind and kind not in ("AUTH", "NORMAL"):
        raise refuse(TalkCode.INVALID_PARAMETER, "alimtalkMessageType")
    return kind == "AUTH" if kind else None


def _read_period(call: NhnCall, name: str) -> Period:
    """Return the period of a query; its last minute is a part of it.

    Raises NhnRefused.
    """
    given = [call.query.get(f"{side}{name}Date") for side in ("start", "end")]
    if not all(given):
        raise refuse(TalkCode.NO_PERIOD if name != "Update" else TalkCode.BLANK, f"start{name}Date, end{name}Date")
    start, end = (parse_time(each or "", _MINUTE) for each in given)
    if start is None or end is None or end < start:
        raise refuse(TalkCode.INVALID_PARAMETER, f"start{name}Date, end{name}Date")
    if end - start > MAX_DAYS_SEARCHED * DAY:
        raise refuse(TalkCode.LONG_PERIOD)
    return Period(start, end + MINUTE)


@transaction(reader=Reader.SEARCHES)
def _find_reported(tx: Tx, wanted: ReportedFilter, number: int, size: int) -> TalkPage:
    page = list_reported(tx, wanted, number, size)
    found = [(each.message, each.request) for each in page.found]
    return TalkPage(page.total, found, rows.read_beside(tx, found))


@transaction(reader=Reader.SEARCHES)
def _find(
    tx: Tx,
    wanted: MessageFilter,
    products: Sequence[Product],
    names: tuple[str | None, str | None],
    number: int,
    size: int,
) -> TalkPage:
    """Return a page of messages, newest first; those of a call in their order."""
    sender_name, name = names
    if name is not None:
        found = _find_named(tx, wanted, products, name)
        if sender_name is not None:
            known = compat_requests.get(tx, {request.id for _, request in found})
            found = [each for each in found if each[1].id in known and known[each[1].id].sender_name == sender_name]
        return _cut(tx, found, len(found), number, size)
    filters = [wanted]
    if wanted.request_id is not None or sender_name is not None:
        filters = [wanted._replace(request_id=one) for one in _list_requests(tx, wanted, sender_name)]
    filters = [each._replace(product=product) for each in filters for product in products]
    needed = number * size if wanted.request_id is None else MAX_LISTED
    parts = [_collect(tx, each, needed + 1) for each in filters]
    found = list(heapq.merge(*parts, key=lambda pair: pair[0].id, reverse=True))
    total = len(found)
    if any(len(part) > needed for part in parts):
        total = sum(message_search.count(tx, each, MAX_COUNTED) for each in filters)
    if wanted.request_id is not None:
        calls = compat_requests.get(tx, {request.id for _, request in found})
        found.sort(key=lambda pair: rows.sequence_of(pair[0], calls.get(pair[1].id)))
    return _cut(tx, found, total, number, size)


def _cut(tx: Tx, found: Sequence[Found], total: int, number: int, size: int) -> TalkPage:
    page = found[(number - 1) * size : number * size]
    return TalkPage(total, page, rows.read_beside(tx, page))


def _collect(tx: Tx, wanted: MessageFilter, limit: int) -> list[Found]:
    """Return up to so many messages, newest first."""
    found: list[Found] = []
    before: bytes | None = NEWEST
    while before is not None and len(found) < limit:
        page = message_search.search(tx, wanted, before, limit - len(found))
        found += page.found
        before = page.next_before
    return found


def _list_requests(tx: Tx, wanted: MessageFilter, sender_name: str | None) -> list[bytes]:
    """Return the requests of a call, or of all calls of a name in a period."""
    found: list[bytes] = []
    if wanted.request_id is not None:
        calls = compat_requests.list_of_group(tx, wanted.account_id, KIND, wanted.request_id)
        found = [each.request_id for each in calls if sender_name in (None, each.sender_name)]
        return found if calls or sender_name is not None else [wanted.request_id]
    since = b""
    if wanted.requested is not None:
        since = identifiers.lowest_message_id(wanted.requested.start or 0)[: identifiers.REQUEST_ID_BYTES]
    before = b"\xff" * identifiers.REQUEST_ID_BYTES
    name = sender_name or ""
    return compat_requests.find_by_sender_name(tx, wanted.account_id, KIND, name, since, before, MAX_NAMED)


def _find_named(tx: Tx, wanted: MessageFilter, products: Sequence[Product], name: str) -> list[Found]:
    """Return the messages of a name that match, newest first."""
    ids = compat_names.find(tx, wanted.account_id, name, 0, MAX_NAMED)
    found = history.join_requests(tx, ids, messages.get(tx, ids)).found
    group = set(_list_requests(tx, wanted, None)) if wanted.request_id is not None else None
    return [
        (message, request)
        for message, request in found
        if message.reference == name
        and message.product in products
        and message.account_id == wanted.account_id
        and (group is None or request.id in group)
        and wanted.receiver in (None, message.receiver)
        and wanted.sender_key in (None, request.sender_key)
        and wanted.template_code in (None, request.template_code)
        and wanted.status in (None, message.status)
        and wanted.is_code in (None, request.is_code)
        and _is_within(wanted.requested, identifiers.requested_at(message.id))
        and _is_within(wanted.scheduled, request.scheduled_at)
        and not compose.is_fallback(message, request)
    ]


def _is_within(period: Period | None, at: int) -> bool:
    return period is None or period.contains(at)


async def cancel_messages(call: NhnCall, request_id: str, family: Family) -> dict[str, Any]:
    """Cancel the messages of a call that are waiting: all, or those with the numbers in `recipientSeq`.

    Raises NhnRefused where there are none.
    """
    given = call.query.get("recipientSeq")
    wanted = {each.strip() for each in given.split(",")} if given else None
    page = await _read_call(call, family, request_id)
    waiting = [
        (message, request)
        for message, request in page.found
        if message.status is Status.WAITING
        and (wanted is None or str(rows.sequence_of(message, page.beside.calls.get(request.id))) in wanted)
    ]
    canceled = 0
    if wanted is None:
        for one in {request.id for _, request in waiting}:
            canceled += (await cancel_request(call.context, call.account_id, one, None)).canceled
    else:
        for message, request in waiting:
            canceled += (await cancel_request(call.context, call.account_id, request.id, message.id)).canceled
    if not canceled:
        raise refuse(TalkCode.NOT_CANCELLABLE)
    return {}
