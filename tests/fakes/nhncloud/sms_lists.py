"""SMS API v3.0: lists of texts, their results, and sender numbers."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from tests.fakes.nhncloud import outcomes
from tests.fakes.nhncloud.answers import (
    DAY_MS,
    MAX_PAGE_SIZE,
    SECONDS_FORMAT,
    ApiError,
    Json,
    Request,
    format_seoul,
    format_with_tenths,
    paginate,
    parse_seoul,
)
from tests.fakes.nhncloud.state import DELIVERED, SMS, Message, State

MONTH = 31 * DAY_MS
T = TypeVar("T")
_STATUS_NAMES = {"0": "실패", "2": "처리 중", "3": "성공"}


def search(state: State, request: Request) -> Json:
    """List texts: GET `sender/sms`, `sender/mms`, `sender/auth/sms`."""
    query, interface = request.query, request.path_params.get("kind", "sms")
    kinds = ("AUTH",) if "/auth/" in request.path else {"sms": ("SMS",), "mms": ("LMS", "MMS")}[interface]
    found = state.find_messages(SMS, query, None if query.get("requestId") else _span(query))
    return listed([each for each in found if each.kind in kinds], query, lambda each: _row(state, each))


def listed(
    found: Sequence[T], query: Mapping[str, str], describe: Callable[[T], Json], max_rows: int = MAX_PAGE_SIZE
) -> Json:
    """Return a page of a list."""
    refusal = ApiError(4, "pageNum and pageSize (at most 1000) are numbers.")
    number, size, page = paginate(found, query, refusal, max_rows)
    rows = [describe(each) for each in page]
    return {"body": {"pageNum": number, "pageSize": size, "totalCount": len(found), "data": rows}}


def _span(query: Mapping[str, str]) -> tuple[int, int]:
    for name in ("Create", "Request"):
        first, last = query.get(f"start{name}Date"), query.get(f"end{name}Date")
        if first and last:
            start, end = parse_seoul(first, SECONDS_FORMAT), parse_seoul(last, SECONDS_FORMAT)
            if start is None or end is None or end < start:
                raise ApiError(-2000, "Date format error.")
            if end - start > MONTH:
                raise ApiError(-4000, "Search is possible within one month.")
            return start, end + 999
    raise ApiError(-2011, "RequestId or start/endRequestDate or start/endCreateDate is required.")


def status_of(message: Message) -> str:
    """Return the status of a text: 0 failed, 2 in progress, 3 delivered."""
    if message.refused:
        return "0"
    return {None: "2", DELIVERED: "3"}.get(message.code, "0")


def _row(state: State, message: Message) -> Json:
    status = status_of(message)
    row: Json = {
        "requestId": message.request_id,
        "requestDate": format_with_tenths(message.accepted_at),
        "resultDate": format_with_tenths(message.received_at),
        "body": message.content,
        "sendNo": message.sender,
        "countryCode": "82",
        "recipientNo": message.recipient_no,
        "msgStatus": status,
        "msgStatusName": _STATUS_NAMES[status],
        "resultCode": message.shown_code,
        "resultCodeName": outcomes.result_name(message),
        "recipientSeq": message.recipient_seq,
        "sendType": {"SMS": "0", "AUTH": "2"}.get(message.kind, "1"),
        "messageType": message.kind,
        "messageCount": 1,
        "adYn": "Y" if message.is_ad else "N",
        "senderGroupingKey": message.sender_grouping_key,
        "recipientGroupingKey": message.recipient_grouping_key,
    }
    if message.kind not in ("SMS", "AUTH"):
        files = [state.attachments[number] for number in message.call.attachFileIdList or []]
        row["title"] = message.call.title
        row["attachFileList"] = [
            {"fileId": each.number, "filePath": each.address, "fileName": each.name, "saveFileName": each.name}
            for each in files
        ]
    return row


def results(state: State, request: Request) -> Json:
    """List results by the time they were updated: GET `message-results`."""
    query = request.query
    first, last = (
        parse_seoul(query.get(name, ""), SECONDS_FORMAT) for name in ("startUpdateDate", "endUpdateDate")
    )
    if first is None or last is None:
        raise ApiError(-2000, "Date format error.")
    if not 0 <= last - first <= DAY_MS:
        raise ApiError(-1005, "Service parameter is invalid.")
    found = state.list_results(SMS, first, last + 999)
    return listed(found, query, _result_row, state.behavior.results_per_page)


def _result_row(message: Message) -> Json:
    return {
        "messageType": message.kind,
        "requestId": message.request_id,
        "recipientSeq": message.recipient_seq,
        "resultCode": message.shown_code,
        "resultCodeName": outcomes.result_name(message),
        "requestDate": format_with_tenths(message.accepted_at),
        "resultDate": format_with_tenths(message.received_at),
        "updateDate": format_with_tenths(message.updated_at),
        "senderGroupingKey": message.sender_grouping_key,
        "recipientGroupingKey": message.recipient_grouping_key,
    }


def sender_numbers(state: State, request: Request) -> Json:
    """List sender numbers: GET `sendNos` (SMS ko/api-guide.md, "등록된 발신 번호 목록 검색 API").

    Its example has `appKey`: null, which its table does not have.
    """
    query = request.query
    found = [
        {
            "appKey": None,
            "serviceId": 71191,
            "sendNo": each.number,
            "useYn": "Y" if each.is_used else "N",
            "blockYn": "N" if each.block_reason is None else "Y",
            "blockReason": each.block_reason,
            "createDate": format_seoul(each.created_at),
            "createUser": "test@nhn.com",
            "updateDate": format_seoul(each.created_at),
            "updateUser": None,
        }
        for each in state.numbers.values()
    ]
    wanted = [
        row for row in found if all(query.get(name) in (None, row[name]) for name in ("sendNo", "useYn", "blockYn"))
    ]
    return listed(wanted, query, dict)
