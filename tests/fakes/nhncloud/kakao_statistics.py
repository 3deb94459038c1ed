"""Statistics that Kakao gives: GET `kakao-statistics/template-statistics/…` of the common API v2.2.

KakaoTalk Bizmessage ko/common-api-guide.md, "카카오 통계":

- "DAILY: 최근 90일 이내 데이터만 조회 가능하며, 조회 범위는 최대 90일입니다";
- "전날 수집한 데이터를 매일 오전 7시경 제공합니다";
- "발송 성공 건수가 10건 이하이면 유효 읽음 수와 클릭 수를 제공하지 않습니다". How it leaves them out is not
  written; here they are null, although the table says Not Null.
"""

from datetime import date, timedelta
from typing import NamedTuple

from tests.fakes.nhncloud.answers import ApiError, Json, Request, format_seoul
from tests.fakes.nhncloud.state import State

MAX_DAYS = 90
MAX_LIMIT = 1000
MIN_COUNTED = 11
LISTS = {"ALIMTALK": "alimtalkTemplateStatistics", "BRANDMESSAGE": "brandmessageTemplateStatistics"}


class TemplateDay(NamedTuple):
    """What became of the messages of a template on one day."""

    kind: str
    sender_key: str
    day: str
    template_code: str
    sent: int
    read: int
    clicked: int


def by_template(state: State, request: Request) -> Json:
    """List sent, read and clicked messages by template and day."""
    query, kind = request.query, request.path_params["product"]
    today = date.fromisoformat(str(format_seoul(state.clock(), "%Y-%m-%d")))
    first, last = date.fromisoformat(query["startDate"]), date.fromisoformat(query["endDate"])
    limit, offset = int(query["limit"]), int(query["offset"])
    if query["periodType"] != "DAILY" or not today - timedelta(days=MAX_DAYS) <= first <= last or limit > MAX_LIMIT:
        raise ApiError(-4105, "Invalid parameter")
    found = [
        each
        for each in state.template_days
        if (each.kind, each.sender_key) == (kind, query.get("senderKey"))
        and query["startDate"] <= each.day <= min(query["endDate"], str(today - timedelta(days=1)))
    ]
    rows = [_row(each) for each in found[offset : offset + limit]]
    return {"totalCount": len(found), LISTS[kind]: rows}


def _row(each: TemplateDay) -> Json:
    is_told = each.sent >= MIN_COUNTED
    return {
        "date": each.day,
        "messageType": "AT",
        "templateCode": each.template_code,
        "totalSendSuccessCount": each.sent,
        "validReadCount": each.read if is_told else None,
        "totalClickCount": each.clicked if is_told else None,
    }
