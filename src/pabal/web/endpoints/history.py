"""The endpoints that read messages, page by page with a cursor, and one request."""

import re
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET, json, structs

from pabal.answers.message_records import build_message_items, label_value, unknown_value
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.fields import one_of
from pabal.checks.body.forms import Form
from pabal.checks.body.locale import Locale
from pabal.domain.base import dates, identifiers
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import DAY, HOUR, Instant, Period
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES
from pabal.domain.content import text
from pabal.domain.kakao import profile
from pabal.domain.people import phone
from pabal.domain.sends.field_warning import FieldWarning, WarningCode
from pabal.domain.sends.message import PRODUCT_BY_CODE, STATUS_BY_CODE, Status
from pabal.models import operations
from pabal.models.answers import RequestItem, StatusCounts
from pabal.models.bodies import ListMessages
from pabal.service.history import history
from pabal.service.history.history import RequestDetails
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.message_search import NEWEST
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, HISTORY

_CURSOR = re.compile(r"[0-9a-f]{52}", re.ASCII)
_PAGE_BYTES = 4
_TOTAL_BYTES = 2
_CHECKSUM_BYTES = 4
_MAX_PAGE = (1 << 8 * _PAGE_BYTES) - 1
_UNREADABLE = Text(
    "같은 조건으로 조회한 앞선 응답의 nextCursor를 그대로 보내세요.",
    "Send the nextCursor of an earlier answer to the same parameters as it is.",
)


class MessageCursor(NamedTuple):
    """A position in a search: the id to continue before, the number of the page, and the counted total."""

    before: bytes
    page: int
    counted: int
    """How many messages match; one above the highest total: that many are there, and were not counted further."""


def format_cursor(cursor: MessageCursor, search: bytes) -> str:
    """Return a cursor as callers see it; `search` is what was asked for, and by whom."""
    page = min(cursor.page, _MAX_PAGE)
    packed = cursor.before + page.to_bytes(_PAGE_BYTES, "big") + cursor.counted.to_bytes(_TOTAL_BYTES, "big")
    return (packed + _checksum(packed, search)).hex()


def parse_cursor(spelling: str, search: bytes) -> MessageCursor:
    """Return the cursor that a caller sent back with the same search.

    Raises Refused(INVALID_PARAMETER): with another search, its totals would be wrong.
    """
    whole = bytes.fromhex(spelling) if _CURSOR.fullmatch(spelling) else b""
    packed, checksum = whole[:-_CHECKSUM_BYTES], whole[-_CHECKSUM_BYTES:]
    if checksum != _checksum(packed, search):
        raise Refused(Code.INVALID_PARAMETER, detail=_UNREADABLE)
    page_at, total_at = MESSAGE_ID_BYTES, MESSAGE_ID_BYTES + _PAGE_BYTES
    return MessageCursor(
        packed[:page_at], int.from_bytes(packed[page_at:total_at], "big"), int.from_bytes(packed[total_at:], "big")
    )


def _checksum(packed: bytes, search: bytes) -> bytes:
    """Return what binds a cursor to its search and shows that it was changed."""
    return zlib.crc32(search + packed).to_bytes(_CHECKSUM_BYTES, "big")


T = TypeVar("T")

MAX_PERIOD_DAYS = 31
"""How many days of requests can be searched without a receiver."""
_FIRST_PAGE = MessageCursor(NEWEST, 1, 0)
_NEEDS_BOUND = Text(
    f"receivers가 없으면 requestId, messageId 또는 {MAX_PERIOD_DAYS}일 이내의 requestDate를 보내세요.",
    f"Without receivers, send requestId, messageId, or a requestDate of at most {MAX_PERIOD_DAYS} days.",
)
_TOO_LONG = Text(
    f"receivers가 없으면 시작이 있는 {MAX_PERIOD_DAYS}일 이내의 기간만 조회할 수 있습니다.",
    f"Without receivers the period must have a beginning and be at most {MAX_PERIOD_DAYS} days long.",
)
_USE_CURSOR = Text(
    "receivers가 없으면 page 대신 앞선 응답의 nextCursor를 cursor로 보내세요.",
    "Without receivers, send the nextCursor of the last answer as cursor instead of page.",
)
_USE_PAGE = Text("receivers가 있으면 cursor 대신 page를 보내세요.", "With receivers, send page instead of cursor.")


async def _list_messages(call: ApiCall) -> dict[str, Any]:
    page, page_size = read_paging(call.form)
    if not call.form.body.receivers and not call.form.body.receiver:
        return await _list_by_cursor(call, page_size)
    if call.form.body.cursor is not None:
        call.form.add(Problem(Code.INVALID_PARAMETER, "cursor", _USE_PAGE))
    message_filter = _read_filter(call)
    call.form.raise_problems()
    if message_filter is None:
        return envelope.page_fields(0, page, page_size, [])
    found = await _search(
        call,
        message_filter,
        lambda wanted: history.find_messages(call.context, wanted, page, page_size, history.MAX_TOTAL),
    )
    items = build_message_items(found, call.locale, call.context.policy)
    return envelope.page_fields(found.total, page, page_size, items) | _mark_capped(found.is_capped)


async def _list_by_cursor(call: ApiCall, page_size: int) -> dict[str, Any]:
    """List messages without a receiver; a page may have fewer than its size, and others follow."""
    form: Form[ListMessages] = call.form
    if form.body.page not in (None, 1):
        form.add(Problem(Code.INVALID_PARAMETER, "page", _USE_CURSOR))
    search = _describe_search(call)
    cursor = form.read_optional("cursor", lambda spelling: parse_cursor(spelling, search))
    message_filter = _read_filter(call)
    _check_bound(form, message_filter, call.now)
    form.raise_problems()
    place = cursor or _FIRST_PAGE
    if message_filter is None:
        return envelope.page_fields(0, place.page, page_size, [])
    counted = min(cursor.counted, history.MAX_TOTAL + 1) if cursor else None
    found = await _search(
        call,
        message_filter,
        lambda wanted: history.find_messages_before(call.context, wanted, place.before, page_size, counted),
    )
    items = build_message_items(found.page, call.locale, call.context.policy)
    fields = envelope.page_fields(found.total, place.page, page_size, items)
    if found.page.next_before is not None:
        following = MessageCursor(found.page.next_before, place.page + 1, found.total + found.is_capped)
        fields["nextCursor"] = format_cursor(following, search)
    return fields | _mark_capped(found.is_capped)


def _describe_search(call: ApiCall) -> bytes:
    """Return what is looked for, and by whom, without what may change from page to page."""
    wanted = structs.replace(call.form.body, page=1, pageSize=10, cursor=None, partial=False)
    return b"%d %s" % (call.account_id, json.encode(wanted))


async def _search(
    call: ApiCall, message_filter: MessageFilter, search: Callable[[MessageFilter], Awaitable[T]]
) -> T:
    """Return what a search finds; a partial one leaves out what cannot be reached, and a warning says so."""
    if not call.form.body.partial:
        return await search(message_filter)
    found, left_out = await history.search_reachable(call.context, message_filter, search)
    if left_out:
        total = call.context.slots.total
        detail = Text(
            f"슬롯 {total}개 중 {left_out}개를 조회하지 못했습니다.",
            f"{left_out} of {total} slots were not looked at.",
        )
        call.form.warn(FieldWarning(WarningCode.PARTIAL_RESULT, "partial", detail))
    return found


def _check_bound(form: Form[ListMessages], message_filter: MessageFilter | None, now: Instant) -> None:
    """Add a problem where a search without a receiver has no bound, or too wide a one."""
    body = form.body
    if body.requestId or body.messageId:
        return
    if not body.requestDate:
        form.add(Problem(Code.MISSING_PARAMETER, "receivers", _NEEDS_BOUND))
    elif message_filter is not None and (period := message_filter.requested):
        since, until = period.start, period.end if period.end is not None else now
        if since is None or until - since > MAX_PERIOD_DAYS * DAY + HOUR:  # a day may have 25 hours
            form.add(Problem(Code.INVALID_DATE, "requestDate", _TOO_LONG))


def _mark_capped(is_capped: bool) -> dict[str, Any]:
    return {"totalCountIsCapped": True} if is_capped else {}


async def _get_request(call: ApiCall) -> dict[str, Any]:
    word = call.form.read("requestId", str)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    request_id = identifiers.parse_request_id(word)
    outlook = await history.get_request_details(call.context, call.account_id, request_id, page, page_size)
    requested_at = identifiers.requested_at(outlook.request_id)
    items = build_message_items(outlook.page, call.locale, call.context.policy)
    return {
        "item": _build_request_item(outlook, requested_at, call.locale),
        **envelope.page_fields(outlook.page.total, page, page_size, items),
    }


def _read_filter(call: ApiCall) -> MessageFilter | None:
    """Return the filter of a search, None if it contains an id that cannot exist."""
    form: Form[ListMessages] = call.form
    body = form.body
    zone = call.locale.zone

    def period(field: str) -> Period | None:
        return form.read_optional(field, lambda spelling: dates.parse_period(spelling, zone))

    request_id = identifiers.parse_request_id(body.requestId) if body.requestId else None
    message_id = identifiers.parse_message_id(body.messageId) if body.messageId else None
    receivers = _given_name(form, "receivers", "receiver")
    message_filter = MessageFilter(
        call.account_id,
        receiver=form.read(receivers, phone.parse_mobile) if getattr(body, receivers) else None,
        request_id=request_id,
        message_id=message_id,
        product=form.read_optional("messageProductType", one_of(PRODUCT_BY_CODE)),
        status=form.read_optional("sendingStatus", one_of(STATUS_BY_CODE)),
        channel_id=form.read_optional("channelId", profile.parse_channel_id),
        sender_key=body.senderKey,
        template_code=form.read_optional("templateCode", text.normalize),
        month=form.read_optional("yyyyMM", lambda spelling: dates.parse_month(spelling, zone)),
        requested=period("requestDate"),
        scheduled=period("scheduledDate"),
        completed=period(_given_name(form, "completeDate", "completedDate")),
    )
    is_impossible = (body.requestId and request_id is None) or (body.messageId and message_id is None)
    return None if is_impossible else message_filter


def _given_name(form: Form[ListMessages], name: str, alias: str) -> str:
    """Return the name, of the two, under which a value was given."""
    by_name, by_alias = getattr(form.body, name), getattr(form.body, alias)
    if by_name is not None and by_alias is not None and by_name != by_alias:
        detail = Text(
            f"{name} 값과 {alias} 값이 다릅니다. 하나만 보내세요.", f"{name} and {alias} differ; send only one."
        )
        form.add(Problem(Code.INVALID_PARAMETER, name, detail))
    return alias if by_name is None and by_alias is not None else name


def _build_request_item(outlook: RequestDetails, requested_at: Instant, locale: Locale) -> RequestItem:
    """Return the record of a send request; of one that cannot be read, what its id and its messages say."""
    request = outlook.request
    return RequestItem(
        outlook.request_id.hex(),
        label_value(request.product.code, request.product.label, locale) if request else unknown_value(locale),
        locale.format_timestamp(requested_at),
        locale.format_timestamp(request.scheduled_at if request else requested_at),
        sum(outlook.counts.values()),
        StatusCounts(**{status.code: outlook.counts.get(status, 0) for status in Status}),
        UNSET if request else True,
    )


ENDPOINTS = (
    HISTORY.endpoint(
        operations.LIST_MESSAGES,
        _list_messages,
        "read",
        "한 수신자, 한 요청 또는 한 기간의 메시지 조회",
        "List the messages of one receiver, of a request, or of a period",
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
        Code.INVALID_DATE,
        input_source="anywhere",
    ),
    HISTORY.endpoint(
        operations.LOOK_UP_REQUEST,
        _get_request,
        "read",
        "발송 요청 하나와 그 집계, 메시지 조회",
        "Get one send request, its counts and its messages",
        *FIELD_CODES,
        Code.REQUEST_NOT_FOUND,
    ),
)
