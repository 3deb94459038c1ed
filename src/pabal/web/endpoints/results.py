"""The endpoint that lists messages that have ended, by cursor."""

from typing import Any

from pabal.answers.message_records import build_result_items
from pabal.checks.body.call import ApiCall, check_range
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.events.event import format_cursor, parse_cursor
from pabal.models import lookup as models
from pabal.models.lookup import MAX_RESULTS, ResultsItem
from pabal.service.events.results import read_results
from pabal.web.endpoints.endpoint import HISTORY, Endpoint

_UNREADABLE = Text(
    "앞선 응답의 nextCursor를 그대로 보내세요.", "Send the nextCursor of an earlier answer as it is."
)
_EXPIRED = Text(
    "너무 오래된 cursor입니다. 그 뒤의 결과가 이미 삭제되었습니다. cursor 없이 다시 시작하세요.",
    "The cursor is too old: results after it have been deleted. Begin again without a cursor.",
)


async def list_results(call: ApiCall) -> dict[str, Any]:
    """List the messages that have ended since the last call."""
    check_range(call.form, "limit", MAX_RESULTS)
    positions = call.form.read_optional("cursor", _parse_cursor)
    call.form.raise_problems()
    page = await read_results(call.context, call.account_id, positions, call.form.body.limit)
    if page is None:
        raise Refused(Code.INVALID_PARAMETER, "cursor", _EXPIRED)
    items = build_result_items(page.events, page.read, call.locale)
    return {
        "item": ResultsItem(nextCursor=format_cursor(page.positions)),
        "resultCount": len(items),
        "items": items,
    }


def _parse_cursor(spelling: str) -> dict[int, int]:
    positions = parse_cursor(spelling)
    if positions is None:
        raise Refused(Code.INVALID_PARAMETER, detail=_UNREADABLE)
    return positions


LIST_RESULTS = Endpoint(
    method="GET",
    path="/api/message/results.v1.0",
    operation_id="list_results",
    summary=Text("지난 호출 뒤에 끝난 메시지 조회", "List the messages that have ended since the last call"),
    group=HISTORY,
    scope="read",
    input_source="query",
    body=models.ListResults,
    answer=models.ResultsAnswer,
    handler=list_results,
    own_codes=(Code.UNSUPPORTED_CHARACTER,),
)
