"""The endpoints that look up the timeline of one message and the statistics of all."""

from typing import Any

from pabal.answers.message_records import build_message_detail
from pabal.answers.statistics import MAX_ROWS, TOO_MANY_ROWS, build_statistics_items, read_statistics_query
from pabal.checks.body.call import ApiCall, read_paging
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.models import lookup, statistics
from pabal.service.history.timeline import get_timeline
from pabal.service.upkeep.reports import get_grouped_statistics
from pabal.web import envelope
from pabal.web.endpoints.endpoint import HISTORY, Endpoint


async def get_message(call: ApiCall) -> dict[str, Any]:
    """Get one message and what happened to it."""
    word = call.form.read("messageId", str)
    call.form.raise_problems()
    message_id = identifiers.parse_message_id(word)
    found = await get_timeline(call.context, call.account_id, message_id) if message_id else None
    if found is None:
        raise Refused(Code.MESSAGE_NOT_FOUND, "messageId")
    return {"item": build_message_detail(found, call.locale)}


async def list_statistics(call: ApiCall) -> dict[str, Any]:
    """Count the account's messages by hour, day or month, and by what they have in common."""
    page, page_size = read_paging(call.form)
    query = read_statistics_query(call.form, call.locale.zone, call.now)
    call.form.raise_problems()
    columns = [each.column for each in query.groups]
    found = await get_grouped_statistics(call.context, call.account_id, query.periods, columns, MAX_ROWS + 1)
    if len(found.rows) > MAX_ROWS:
        raise Refused(Code.INVALID_PARAMETER, "groupBy", TOO_MANY_ROWS)
    shown = found.rows[(page - 1) * page_size : page * page_size]
    items = build_statistics_items(shown, query.groups, found.names, call.locale)
    counted = call.locale.format_timestamp(found.as_of if found.as_of is not None else call.now)
    return {
        "item": statistics.StatisticsInfo(counted),
        **envelope.page_fields(len(found.rows), page, page_size, items),
    }


ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/message/detail.v1.0",
        operation_id="look_up_message",
        summary=Text("메시지 하나와 그 처리 이력 조회", "Get one message and what happened to it"),
        group=HISTORY,
        scope="read",
        input_source="query",
        body=lookup.GetMessage,
        answer=lookup.MessageDetailAnswer,
        handler=get_message,
        own_codes=(Code.MISSING_PARAMETER, Code.UNSUPPORTED_CHARACTER, Code.MESSAGE_NOT_FOUND),
    ),
    Endpoint(
        method="GET",
        path="/api/statistics/list.v1.0",
        operation_id="list_statistics",
        summary=Text(
            "계정의 메시지를 시간, 날짜, 달별로, 그리고 공통점별로 집계",
            "Count the account's messages by hour, day or month, and by what they have in common",
        ),
        group=HISTORY,
        scope="read",
        input_source="query",
        body=statistics.ListStatistics,
        answer=statistics.StatisticsAnswer,
        handler=list_statistics,
        own_codes=(Code.MISSING_PARAMETER, Code.UNSUPPORTED_CHARACTER, Code.INVALID_DATE),
    ),
)
