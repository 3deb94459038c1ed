"""Lists results of texts by when they became known: message-results."""

from typing import Any

from pabal.compat.nhncloud.call import NhnCall, format_request_id, format_tenths, page_of, parse_time, sequence_of
from pabal.compat.nhncloud.sms.codes import refuse
from pabal.compat.nhncloud.sms.kinds import AUTH, SMS, TEXTS, Kind, message_type, result_code, result_name
from pabal.domain.base.dates import DAY, SECOND
from pabal.domain.sends.message import Outcome, Product
from pabal.service.history.history import take_search_turn
from pabal.store.messages import compat_requests, result_times
from pabal.store.messages.compat_requests import CompatRequest
from pabal.store.messages.result_times import ReportedFilter, ReportedResult

_KINDS = {
    "SMS": SMS,
    "AUTH": AUTH,
    "LMS": Kind((Product.LMS,)),
    "MMS": Kind((Product.MMS,)),
}


async def list_results(call: NhnCall) -> dict[str, Any]:
    """List results that became known between two times, at most a day apart."""
    number, size = call.read_page()
    wanted = _read_filter(call)
    async with take_search_turn(call.context, call.account_id):
        page = await call.context.store.read(result_times.list_reported, wanted, number, size)
    request_ids = {each.request.id for each in page.found}
    calls = await call.context.store.read(compat_requests.get, request_ids) if page.found else {}
    rows = [_describe(each, calls.get(each.request.id)) for each in page.found]
    return {"body": page_of(number, size, page.total, rows)}


def _read_filter(call: NhnCall) -> ReportedFilter:
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


def _describe(reported: ReportedResult, origin: CompatRequest | None) -> dict[str, Any]:
    message, request, at = reported
    code = result_code(message.outcome or Outcome.UNDELIVERABLE)  # cancelled ones have none
    return {
        "messageType": message_type(message.product, is_code=request.is_code),
        "requestId": format_request_id(request.id),
        "recipientSeq": sequence_of(message.id),
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
