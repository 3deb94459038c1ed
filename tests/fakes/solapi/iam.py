"""Receivers who have opted out by the free 080 number (client: iamService.ts, getBlacksRequest.ts)."""

from tests.fakes.nhncloud.answers import Request
from tests.fakes.solapi.messages import find_page
from tests.fakes.solapi.state import ApiError, Json, State, iso, parse_iso

DENIAL = "DENIAL"
HIDDEN_DIGITS = 2
"""In its console: "개인정보 보호를 위해 전화번호 2개 자리를 블라인드처리" (solapi.com/guides/sms-faq)."""


def list_denials(state: State, request: Request) -> Json:
    """List who wants no more messages from which sender number: GET `iam/v1/black`."""
    query = request.query
    if query.get("type") != DENIAL:
        raise ApiError(400, "ValidationError", "type 의 값이 올바르지 않습니다.")
    first, last = (
        parse_iso(query[name], name) if name in query else default
        for name, default in (("dateCreated[gte]", 0), ("dateCreated[lte]", state.clock()))
    )
    rows = [
        (f"IM01BL{place:026}", sender, receiver, at)
        for place, ((sender, receiver), at) in enumerate(state.denials.items())
        if query.get("senderNumber") in (None, sender) and first <= at <= last
    ]
    page, keys = find_page(state, rows, lambda row: row[0], request)
    return {**keys, "blackList": [_row(state, *each) for each in page]}


def _row(state: State, key: str, sender: str, receiver: str, at: int) -> Json:
    shown = receiver[:-HIDDEN_DIGITS] + "*" * HIDDEN_DIGITS if state.behavior.hides_digits else receiver
    return {
        "handleKey": key,
        "type": DENIAL,
        "accountId": state.account_id,
        "senderNumber": sender,
        "recipientNumber": shown,
        "dateCreated": iso(at),
        "dateUpdated": iso(at),
    }
