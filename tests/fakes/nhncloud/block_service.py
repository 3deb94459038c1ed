"""SMS API v3.0: receivers who have called an 080 number (SMS ko/api-guide.md, "080 수신 거부 서비스")."""

import json

from tests.fakes.nhncloud.answers import (
    SECONDS_FORMAT,
    ApiError,
    Json,
    Request,
    format_with_tenths,
    parse_seoul,
)
from tests.fakes.nhncloud.sms_lists import listed
from tests.fakes.nhncloud.state import State

MAX_RECIPIENTS = 10
""""수신 거부 대상자 등록": recipientNoList has a "최대 길이" of 10."""


def search(state: State, request: Request) -> Json:
    """List receivers who have opted out: GET `blockservice/recipients`, "수신 거부 대상자 검색"."""
    query = request.query
    first, last = (
        parse_seoul(query.get(name, ""), SECONDS_FORMAT) for name in ("startRequestDate", "endRequestDate")
    )
    found = [
        {"unsubscribeNo": number, "recipientNo": recipient, "requestDate": format_with_tenths(at)}
        for (number, recipient), at in sorted(state.unsubscribed.items(), key=lambda each: each[1])
        if query.get("unsubscribeNo") in (None, number)
        and query.get("recipientNo") in (None, recipient)
        and (first is None or first <= at)
        and (last is None or at <= last)
    ]
    return listed(found, query, dict)


def register(state: State, request: Request) -> Json:
    """Add receivers: POST `blockservice/recipients`, "수신 거부 대상자 등록"."""
    given = json.loads(request.body or b"{}")
    number, recipients = given.get("unsubscribeNo"), given.get("recipientNoList")
    if number not in state.unsubscribe_numbers:
        raise ApiError(-6004, "This is not a joined unsubscribeNo.")
    if not isinstance(recipients, list) or not 0 < len(recipients) <= MAX_RECIPIENTS:
        raise ApiError(-1005, "Service parameter is invalid.")
    for recipient in recipients:
        state.unsubscribed.setdefault((number, recipient), state.clock())
    return {}


def remove(state: State, request: Request) -> Json:
    """Remove receivers: DELETE `blockservice/recipients/removes`, "수신 거부 대상자 삭제"."""
    query = request.query
    if not query.get("updateUser") or not query.get("recipientNoList"):
        raise ApiError(-1005, "Service parameter is invalid.")
    for recipient in query["recipientNoList"].split(","):
        state.unsubscribed.pop((query.get("unsubscribeNo", ""), recipient), None)
    return {"body": None}
