"""What Alimtalk and friend talk share: checks of bodies, accepted messages, lists and results."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tests.fakes.nhncloud import outcomes
from tests.fakes.nhncloud.answers import (
    DAY_MS,
    MAX_PAGE_SIZE,
    MINUTES_FORMAT,
    ApiError,
    Json,
    Request,
    format_seoul,
    paginate,
    parse_seoul,
)
from tests.fakes.nhncloud.state import (
    ALIMTALK,
    BRAND,
    DELIVERED,
    FRIENDTALK,
    IN_PROGRESS,
    NO_CODE,
    Message,
    Profile,
    State,
)

MAX_RECIPIENTS = 1000
MAX_DAYS_BACK = 90
MAX_DAYS_SEARCHED = 31
IDEMPOTENCY_KEY_MINUTES = 10
IDEMPOTENCY_KEY = "x-nc-api-idempotency-key"
KINDS = {ALIMTALK: "ALIMTALK", FRIENDTALK: "FRIENDTALK", BRAND: "BRAND_MESSAGE"}
RESEND_NAMES = {"RSC01": "대체 발송 미대상", "RSC02": "대체 발송 대상", "RSC04": "대체 발송 성공"}

Refusal = tuple[int, str]
SUCCESS: Refusal = (0, "SUCCESS")


class Button(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A button under a message or a template."""

    ordering: int | None = None
    type: str | None = None
    name: str | None = None
    linkMo: str | None = None
    linkPc: str | None = None
    schemeIos: str | None = None
    schemeAndroid: str | None = None
    chatExtra: str | None = None
    chatEvent: str | None = None
    target: str | None = None
    telNumber: str | None = None


class Resend(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The text to send if the message fails."""

    isResend: bool | None = None


def decode_body(decoder: "msgspec.json.Decoder[Any]", body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError:
        raise ApiError(-3002, "Field is not valid.") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ApiError(-9997, "Client Error.") from None


def check_call(state: State, request: Request, call: Any) -> Profile:
    """Return the profile of a call. Raises ApiError for errors of the whole call."""
    request.recipient_count = len(call.recipientList)
    _check_idempotency_key(state, request)
    if not 1 <= len(call.recipientList) <= MAX_RECIPIENTS:
        raise ApiError(-2004, f"The 'recipientList' must be between 1 and {MAX_RECIPIENTS}.")
    profile = state.profiles.get(call.senderKey)
    if profile is None or not profile.is_registered:
        raise ApiError(-2017, "Not exist plus friend.")
    if profile.is_blocked:
        raise ApiError(-1027, "The sender is blocked status.")
    return profile


def _check_idempotency_key(state: State, request: Request) -> None:
    key = request.headers.get(IDEMPOTENCY_KEY)
    used_at = state.keys_used.get((request.path_params["appkey"], key)) if key else None
    if used_at is not None and state.clock() - used_at < IDEMPOTENCY_KEY_MINUTES * 60_000:
        raise ApiError(-1005, "The same 'X-NC-API-IDEMPOTENCY-KEY' was used within the last 10 minute.")


def accept(
    state: State,
    request: Request,
    call: Any,
    profile: Profile,
    product: str,
    read: Callable[[Any], tuple[str, Refusal]],
    late_code: Callable[[Message], str | None] | None = None,
) -> Json:
    """Store the messages that were not refused, and return the result of each; `read` says text and refusal."""
    made = _read_messages(state, call, profile, product, read)
    if state.behavior.refuses_excess:
        made = _refuse_excess(state, profile, made)
    failed = [(message, why) for message, why in made if message.refused]
    if failed and state.behavior.refuses_whole_calls:
        raise ApiError(failed[0][0].refused, failed[0][1])
    messages = [message for message, _ in made]
    state.store_messages(messages)
    for message in messages:
        resend = message.recipient.resendParameter
        wants = profile.resends if resend is None or resend.isResend is None else resend.isResend
        if wants:
            message.resend_status = "RSC02"
    excess = _count_daily(state, profile, messages)
    rest = [message for message in messages if id(message) not in excess] if excess else messages
    outcomes.schedule_results(rest, state.behavior, state.results, late_code)
    answer: Json = {
        "message": {
            "requestId": None if len(failed) == len(made) else messages[0].request_id,
            "senderGroupingKey": call.senderGroupingKey,
            "sendResults": [
                {
                    "recipientSeq": message.recipient_seq,
                    "recipientNo": message.recipient_no,
                    "resultCode": message.refused,
                    "resultMessage": why,
                    "recipientGroupingKey": message.recipient_grouping_key,
                }
                for message, why in made
            ],
        }
    }
    if len(failed) == len(made):
        detail = answer if state.behavior.explains_total_failure else {"message": None}
        raise ApiError(-1031, "All of receivers are failed to send.", detail)
    if key := request.headers.get(IDEMPOTENCY_KEY):
        state.keys_used[request.path_params["appkey"], key] = state.clock()
    return answer


def _read_messages(
    state: State,
    call: Any,
    profile: Profile,
    product: str,
    read: Callable[[Any], tuple[str, Refusal]],
) -> list[tuple[Message, str]]:
    now, request_id = state.clock(), state.new_request_id()
    made = []
    for seq, given in enumerate(call.recipientList or (), 1):
        content, (refused, why) = read(given)
        refused = state.behavior.refusals.get((given.recipientNo or "").replace("-", ""), refused)
        message = Message(
            product,
            KINDS[product],
            request_id,
            seq,
            given.recipientNo or "",
            profile.sender_key,
            call.senderGroupingKey,
            given.recipientGroupingKey,
            content,
            now,
            call,
            given,
            is_ad=product == BRAND or getattr(given, "isAd", False),
            refused=refused,
        )
        made.append((message, why))
    return made


def _count_daily(state: State, profile: Profile, messages: list[Message]) -> set[int]:
    """Count messages towards the daily quota of a profile; return the ids of those that exceed it, which fail.

    Alimtalk ko/release-notes.md, 2018: "일별 최대 발송량이 초과한 발송 요청건은 실패 처리됩니다", with no code.
    """
    accepted = [each for each in messages if not each.refused]
    if not accepted:
        return set()
    allowed = _daily_left(state, profile, accepted)
    key = _day_key(state, accepted[0])
    profile.sent[key] = profile.sent.get(key, 0) + min(len(accepted), allowed)
    for message in accepted[allowed:]:
        state.results.schedule(message, message.accepted_at, NO_CODE)
    return {id(message) for message in accepted[allowed:]}


def _day_key(state: State, message: Message) -> tuple[str, str]:
    return message.product, format_seoul(state.clock(), "%Y-%m-%d") or ""


def _daily_left(state: State, profile: Profile, accepted: list[Message]) -> int:
    if not profile.daily_limit:
        return len(accepted)
    return max(0, profile.daily_limit - profile.sent.get(_day_key(state, accepted[0]), 0))


def _refuse_excess(state: State, profile: Profile, made: list[tuple[Message, str]]) -> list[tuple[Message, str]]:
    """Refuse what exceeds the daily quota of a profile.

    Alimtalk ko/error-code.md until January 2026: "-1017 | 일별 발송량을 초과한 발송 실패".
    """
    accepted = [message for message, _ in made if not message.refused]
    for message in accepted[_daily_left(state, profile, accepted) if accepted else 0 :]:
        message.refused = -1017
    return [(message, "Daily max count exceeded." if message.refused == -1017 else why) for message, why in made]


def search(state: State, request: Request, product: str) -> list[Message]:
    """Return the messages that match a query, newest first."""
    query = request.query
    found = state.find_messages(product, query, None if query.get("requestId") else _span(query))
    return [each for each in found if state.clock() - each.accepted_at <= MAX_DAYS_BACK * DAY_MS]


def _span(query: Mapping[str, str]) -> tuple[int, int]:
    for name in ("Create", "Request"):
        if query.get(f"start{name}Date") and query.get(f"end{name}Date"):
            return parse_range(query, name)
    raise ApiError(-4103, "RequestId or startRequestDate/endRequestDate is invalid.")


def parse_range(query: Mapping[str, str], name: str) -> tuple[int, int]:
    """Return start and end of a range given in minutes."""
    first = parse_seoul(query.get(f"start{name}Date", ""), MINUTES_FORMAT)
    last = parse_seoul(query.get(f"end{name}Date", ""), MINUTES_FORMAT)
    if first is None or last is None or last < first:
        raise ApiError(-4000, "Invalid parameter")
    if last - first > MAX_DAYS_SEARCHED * DAY_MS:
        raise ApiError(-4003, "Search is possible within 31 days.")
    return first, last + 999


def page(found: list[Any], query: Mapping[str, str], max_rows: int = MAX_PAGE_SIZE) -> list[Any]:
    refusal = ApiError(-2005, f"The 'pageSize' must be less than or equal to {MAX_PAGE_SIZE}.")
    return list(paginate(found, query, refusal, max_rows)[2])


def listed(
    found: list[Message], request: Request, describe: Callable[[Message], Json], max_rows: int = MAX_PAGE_SIZE
) -> Json:
    """Return a page of a list of messages."""
    rows = [describe(each) for each in page(found, request.query, max_rows)]
    return {"messageSearchResultResponse": {"messages": rows, "totalCount": len(found)}}


def status_of(message: Message) -> str:
    """Return the status of a message: FAILED or COMPLETED."""
    return "FAILED" if message.refused or message.code not in (None, DELIVERED, IN_PROGRESS) else "COMPLETED"


def result_row(message: Message) -> Json:
    """Return the fields that lists and results share."""
    return {
        "requestId": message.request_id,
        "recipientSeq": message.recipient_seq,
        "requestDate": format_seoul(message.accepted_at),
        "createDate": format_seoul(message.accepted_at),
        "receiveDate": format_seoul(message.received_at),
        "resendStatus": message.resend_status,
        "resendStatusName": RESEND_NAMES[message.resend_status],
        "messageStatus": status_of(message),
        "resultCode": str(message.refused) if message.refused else message.shown_code,
        "resultCodeName": outcomes.result_name(message),
    }


def message_row(state: State, message: Message) -> Json:
    profile = state.profiles.get(message.sender)
    return {
        **result_row(message),
        "plusFriendId": profile.channel if profile else "",
        "senderKey": message.sender,
        "recipientNo": message.recipient_no,
        "content": message.content,
        "senderGroupingKey": message.sender_grouping_key,
        "recipientGroupingKey": message.recipient_grouping_key,
    }


def list_updated(state: State, request: Request, product: str) -> list[Message]:
    """Return the results in the requested range of update times."""
    return state.list_results(product, *parse_range(request.query, "Update"))
