"""Lists texts by request, date and name, their results by when they became known, and sender numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from pabal.answers.message_records import shown_texts
from pabal.compat.nhncloud.call import (
    KIND,
    NhnCall,
    format_request_id,
    format_tenths,
    format_time,
    page_of,
    parse_request_id,
    parse_time,
)
from pabal.compat.nhncloud.sms.words import (
    AUTH,
    DUPLICATE_STATE,
    MESSAGE_STATES,
    SMS,
    TEXTS,
    Kind,
    message_type,
    refuse,
    result_code,
    result_name,
    send_type,
)
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import DAY, SECOND, Period
from pabal.domain.base.identifiers import MAX_MESSAGE_NUMBER
from pabal.domain.people import phone
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.service.history.history import find_messages, take_search_turn
from pabal.service.sending import compose
from pabal.store.accounts import numbers
from pabal.store.messages import compat_names, compat_requests, message_search
from pabal.store.messages.compat_requests import CompatRequest
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.message_search import ReportedFilter, ReportedResult
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request

MAX_SEARCHED_MS = 31 * DAY
_OLD, _OLD_SEQUENCE = frozenset(("2.2", "2.3")), "mtPr"
"""Versions whose lists call the recipientSeq so, and write it as a string."""
MAX_NAMED = 1000
"""Requests, or messages, of one name that a search looks through."""
_STATUSES = {
    "0": Status.FAIL,
    "1": Status.WAITING,
    "2": Status.SENDING,
    "3": Status.COMPLETED,
    "4": Status.CANCEL,
    "5": Status.FAIL,
}
_RESULTS = {"MTR1": Status.COMPLETED, "MTR2": Status.FAIL}
_NEVER = frozenset(("6", "7"))
"""States of messages that do not exist here."""
_LAST_REQUEST = b"\xff" * identifiers.REQUEST_ID_BYTES


async def show_text(call: NhnCall, request_id: str, kind: Kind) -> dict[str, Any]:
    """Show one text."""
    name = "recipientSeq" if call.query.get("recipientSeq") else _OLD_SEQUENCE
    if not call.query.get(name):
        raise refuse(-2012)
    number = call.read_number(name, 1, MAX_MESSAGE_NUMBER)
    own_id = parse_request_id(request_id)
    if own_id is None:
        raise refuse(-2008)
    message_id = identifiers.make_message_id(own_id, number)
    wanted = _filter_of(call, kind)._replace(message_id=message_id)
    found = await find_messages(call.context, wanted, 1, 1)
    if not found.found:
        raise refuse(-2012)
    (row,) = await _describe_all(call, found.found)
    return {"body": {"data": {**row, "originCode": None}}}


async def list_texts(call: NhnCall, kind: Kind) -> dict[str, Any]:
    """List texts of a kind; SMS are those that are no one-time codes."""
    number, size = call.read_page()
    wanted = await _read_filter(call, kind)
    if wanted is None:
        return {"body": page_of(number, size, 0, [])}
    found = await find_messages(call.context, wanted, number, size)
    return {"body": page_of(number, size, found.total, await _describe_all(call, found.found))}


def _filter_of(call: NhnCall, kind: Kind) -> MessageFilter:
    is_code = kind.is_code if not kind.is_mms else None
    return MessageFilter(call.account_id, products=kind.products, is_code=is_code)


async def _read_filter(call: NhnCall, kind: Kind) -> MessageFilter | None:
    """Return what a query asks for; None where nothing can match.

    Raises NhnRefused.
    """
    query = call.query
    wanted = _read_dates(query, _filter_of(call, kind))
    if query.get("requestId"):
        request_id = parse_request_id(query["requestId"])
        if request_id is None:
            return None
        wanted = wanted._replace(request_id=request_id)
    if query.get("subResultCode"):
        raise refuse(-1005, "subResultCode는 쓸 수 없습니다.")
    is_abroad = query.get("receiverRegion", "DOMESTIC") != "DOMESTIC" or query.get("countryCode", "82") != "82"
    if is_abroad or query.get("templateId") or query.get("msgStatus") in _NEVER:
        return None
    narrowed = _read_fields(query, wanted)
    return await _read_names(call, narrowed) if narrowed else None


def _read_dates(query: Mapping[str, str], wanted: MessageFilter) -> MessageFilter:
    """Return the filter with the dates of a query, of which some are needed unless it names a request.

    Raises NhnRefused.
    """
    created = _read_period(query, "Create")
    sent = None if created else _read_period(query, "Request")
    if not created and not sent and not query.get("requestId"):
        raise refuse(-2011)
    return wanted._replace(requested=created, scheduled=sent, completed=_read_period(query, "Result"))


def _read_period(query: Mapping[str, str], name: str) -> Period | None:
    """Return a period of a query, whose end includes its whole second; None where it has none.

    Raises NhnRefused.
    """
    first, last = query.get(f"start{name}Date"), query.get(f"end{name}Date")
    if not first or not last:
        return None
    start, end = parse_time(first), parse_time(last)
    if start is None or end is None:
        raise refuse(-2000)
    if end < start:
        raise refuse(-1005)
    if end - start > MAX_SEARCHED_MS:
        raise refuse(-4000)
    return Period(start, end + SECOND)


def _read_fields(query: Mapping[str, str], wanted: MessageFilter) -> MessageFilter | None:
    """Return the filter with the plain fields of a query; None where nothing can match.

    Raises NhnRefused.
    """
    statuses = set()
    for name, known in (("msgStatus", _STATUSES), ("resultCode", _RESULTS)):
        if query.get(name):
            if query[name] not in known:
                raise refuse(-1005, name)
            statuses.add(known[query[name]])
    try:
        receiver = phone.parse_mobile(query["recipientNo"]) if query.get("recipientNo") else None
    except Refused:
        return None
    if len(statuses) > 1:
        return None
    is_duplicate = query.get("msgStatus") == "5"
    return wanted._replace(
        receiver=receiver,
        sender=query["sendNo"].replace("-", "") if query.get("sendNo") else None,
        status=next(iter(statuses), None),
        outcome=Outcome.DUPLICATE if is_duplicate else None,
    )


async def _read_names(call: NhnCall, wanted: MessageFilter) -> MessageFilter | None:
    """Return the filter with the messages of the names in a query; None where none has them.

    Raises NhnRefused where too many have.
    """
    store, query = call.context.store, call.query
    since = next((each.start for each in (wanted.requested, wanted.scheduled) if each and each.start), 0)
    if query.get("senderGroupingKey"):
        since_id = identifiers.make_request_id(max(since - MAX_SEARCHED_MS, 0), 0, 0)
        found = await store.read(
            compat_requests.find_by_sender_name,
            call.account_id,
            KIND,
            query["senderGroupingKey"],
            since_id,
            _LAST_REQUEST,
            MAX_NAMED + 1,
        )
        wanted = wanted._replace(
            request_ids=_limited([each for each in found if wanted.request_id in (None, each)])
        )
    if query.get("recipientGroupingKey"):
        name = query["recipientGroupingKey"]
        ids = await store.read(
            compat_names.find, call.account_id, name, max(since - MAX_SEARCHED_MS, 0), MAX_NAMED + 1
        )
        wanted = wanted._replace(message_ids=_limited(ids), reference=name)
    return None if () in (wanted.request_ids, wanted.message_ids) else wanted


def _limited(ids: Sequence[bytes]) -> tuple[bytes, ...]:
    if len(ids) > MAX_NAMED:
        raise refuse(-4000, f"같은 그룹 키가 {MAX_NAMED:,}건을 넘습니다. 기간을 좁히세요.")
    return tuple(ids)


async def _describe_all(call: NhnCall, found: Sequence[tuple[Message, Request]]) -> list[dict[str, Any]]:
    request_ids = {request.id for _, request in found}
    calls = await call.context.store.read(compat_requests.get, request_ids) if found else {}
    rows = [_describe(call, message, request, calls.get(request.id)) for message, request in found]
    return [{**row, _OLD_SEQUENCE: str(row["recipientSeq"])} for row in rows] if call.version in _OLD else rows


def _describe(call: NhnCall, message: Message, request: Request, origin: CompatRequest | None) -> dict[str, Any]:
    """Return a row of a list."""
    title, content = shown_texts(message, request, call.context.policy)
    is_fallback, code = compose.is_fallback(message, request), None
    state, state_name = MESSAGE_STATES[message.status]
    if message.outcome is not None:
        code = result_code(message.outcome)
        if message.outcome is Outcome.DUPLICATE:
            state, state_name = DUPLICATE_STATE
    kind = message_type(message.product, is_code=request.is_code)
    row = {
        "requestId": format_request_id(request.id),
        "requestDate": format_tenths(request.scheduled_at),
        "resultDate": format_tenths(message.completed_at),
        "templateId": None,
        "templateName": None,
        "categoryId": None,
        "categoryName": None,
        "body": content,
        "sendNo": (request.fallback_sender or "") if is_fallback else request.sender,
        "countryCode": "82",
        "recipientNo": message.receiver,
        "msgStatus": state,
        "msgStatusName": state_name,
        "resultCode": code,
        "resultCodeName": result_name(code) if code else None,
        "telecomCode": None,
        "telecomCodeName": None,
        "recipientSeq": identifiers.number_of(message.id),
        "sendType": send_type(message.product, is_code=request.is_code),
        "messageType": kind,
        "messageCount": 1,
        "userId": origin.caller if origin else None,
        "adYn": "Y" if request.is_ad else "N",
        "resultMessage": "",
        "senderGroupingKey": origin.sender_name if origin else None,
        "recipientGroupingKey": message.reference,
    }
    return row if kind in ("SMS", "AUTH") else {**row, "title": title or None, "attachFileList": []}


_KINDS = {
    "SMS": SMS,
    "AUTH": AUTH,
    "LMS": Kind((Product.LMS,)),
    "MMS": Kind((Product.MMS,)),
}


async def list_results(call: NhnCall) -> dict[str, Any]:
    """List results that became known between two times, at most a day apart."""
    number, size = call.read_page()
    wanted = _read_reported(call)
    async with take_search_turn(call.context, call.account_id):
        page = await call.context.store.read(message_search.list_reported, wanted, number, size)
    request_ids = {each.request.id for each in page.found}
    calls = await call.context.store.read(compat_requests.get, request_ids) if page.found else {}
    rows = [_describe_result(each, calls.get(each.request.id)) for each in page.found]
    return {"body": page_of(number, size, page.total, rows)}


def _read_reported(call: NhnCall) -> ReportedFilter:
    """Return what a query asks for.

    Raises NhnRefused.
    """
    start, end = (parse_time(call.query.get(name, "")) for name in ("startUpdateDate", "endUpdateDate"))
    if start is None or end is None:
        raise refuse(-2000)
    if not 0 <= end - start <= DAY:
        raise refuse(-1005)
    given = call.query.get("messageType")
    if given and given not in _KINDS:
        raise refuse(-1006)
    kind = _KINDS[given] if given else Kind(TEXTS)
    is_code = kind.is_code if given in ("SMS", "AUTH") else None
    return ReportedFilter(call.account_id, start, end + SECOND, kind.products, is_code)


def _describe_result(reported: ReportedResult, origin: CompatRequest | None) -> dict[str, Any]:
    message, request, at = reported
    code = result_code(message.outcome or Outcome.UNDELIVERABLE)  # cancelled ones have none
    return {
        "messageType": message_type(message.product, is_code=request.is_code),
        "requestId": format_request_id(request.id),
        "recipientSeq": identifiers.number_of(message.id),
        "resultCode": code,
        "resultCodeName": result_name(code),
        "requestDate": format_tenths(request.scheduled_at),
        "resultDate": format_tenths(message.completed_at),
        "updateDate": format_tenths(at),
        "telecomCode": None,
        "telecomCodeName": None,
        "senderGroupingKey": origin.sender_name if origin else None,
        "recipientGroupingKey": message.reference,
    }


async def list_numbers(call: NhnCall) -> dict[str, Any]:
    """List sender numbers; those that are not approved are not in use."""
    number, size = call.read_page()
    wanted = {name: call.query.get(name) for name in ("sendNo", "useYn", "blockYn")}
    rows = [
        {
            "serviceId": call.account_id,
            "sendNo": each.number,
            "useYn": "Y" if each.state is NumberState.APPROVED else "N",
            "blockYn": "N",
            "blockReason": None,
            "createDate": format_time(each.created_at),
            "createUser": None,
            "updateDate": format_time(each.created_at),
            "updateUser": None,
        }
        for each in await call.context.store.read(numbers.list_by_account, call.account_id)
    ]
    found = [row for row in rows if all(value in (None, "", row[name]) for name, value in wanted.items())]
    page = found[(number - 1) * size : number * size]
    return {"body": page_of(number, size, len(found), page)}
