"""Sending, groups and lists of messages (documents: messages/, client: messageService.ts and groupService.ts)."""

from collections.abc import Callable, Iterable
from itertools import dropwhile, islice
from typing import Any, TypeVar

import msgspec

from tests.fakes.nhncloud.answers import Request
from tests.fakes.solapi.outcomes import schedule_result
from tests.fakes.solapi.registration import MessageBody, filled_text, shown_parts, status_code, type_of
from tests.fakes.solapi.state import (
    ACCEPTED,
    ApiError,
    Group,
    Json,
    SolapiMessage,
    SolapiTemplate,
    State,
    iso,
    parse_iso,
)

T = TypeVar("T")

MAX_RECEIVERS = 10_000
MAX_BODY_BYTES = 15 * 1000 * 1000
DEFAULT_LIMIT = 20
TYPES = (
    *("sms", "lms", "mms", "ata", "cta", "cti", "nsa", "rcs_sms", "rcs_lms", "rcs_mms", "rcs_tpl", "rcs_itpl"),
    *("rcs_ltpl", "fax", "voice", "bms_text", "bms_image", "bms_wide", "bms_wide_item_list", "bms_carousel_feed"),
    *("bms_premium_video", "bms_commerce", "bms_carousel_commerce", "bms_free"),
)
"""The keys of countForCharge and app.profit (client: commonTypes.ts)."""
STATUS_MESSAGES = {ACCEPTED: "정상 접수(이통사로 접수 예정) "}


class SendBody(msgspec.Struct):
    """The body of send-many/detail (client: sendMessage.ts)."""

    messages: list[MessageBody]
    allowDuplicates: bool = False
    agent: dict[str, Any] | None = None
    strict: bool = False
    scheduledDate: str | None = None
    showMessageList: bool = False


def decode(request: Request, shape: type[T]) -> T:
    """Return the body of a call. Raises ApiError with the documented words for a wrong type."""
    if len(request.body) > MAX_BODY_BYTES:
        raise ApiError(413, "RequestEntityTooLarge", "하나의 요청의 총 데이터 크기는 15MB를 넘을 수 없습니다.")
    try:
        return msgspec.json.decode(request.body or b"{}", type=shape)
    except msgspec.MsgspecError as error:
        raise ApiError(400, "ValidationError", f"데이터 타입이 올바르지 않습니다. {error}") from None


def send(state: State, request: Request) -> Json:
    """Create a group, add all messages and send those that are accepted."""
    given = decode(request, SendBody)
    group = _new_group(state, given.allowDuplicates)
    added = _add(state, group, given.messages, request)
    _send(state, group)
    failed = [_result(state, one) for one in added if not one.is_registered]
    answer: Json = {"failedMessageList": failed, "groupInfo": _describe(state, group)}
    if given.showMessageList:
        answer["messageList"] = [
            {
                "messageId": one.message_id,
                "statusCode": one.status_code,
                "customFields": one.custom_fields,
                "statusMessage": STATUS_MESSAGES.get(one.status_code, one.status_code),
            }
            for one in added
        ]
    return answer


def search(state: State, request: Request) -> Json:
    """List messages by their fields and dates."""
    query = request.query
    first = parse_iso(query["startDate"], "startDate") if query.get("startDate") else 0
    last = parse_iso(query["endDate"], "endDate") if query.get("endDate") else state.clock()
    find = state.updated_between if query.get("dateType") == "UPDATED" else state.created_between
    rows = _visible(state, find(first, last, query.get("startKey")))
    wanted: dict[str, Callable[[SolapiMessage], str | None]] = {
        "messageId": lambda one: one.message_id,
        "groupId": lambda one: one.group_id,
        "to": lambda one: one.to,
        "from": lambda one: one.sender,
        "type": lambda one: one.type,
        "statusCode": lambda one: one.status_code,
    }
    given = [(read, query[name]) for name, read in wanted.items() if query.get(name)]
    if given:
        rows = (one for one in rows if all(read(one) == value for read, value in given))
    return _list(state, rows, request)


def list_sender_numbers(state: State, request: Request) -> Any:
    """List the numbers that can be used: documents (2020) senderid/getactivatedsenderids.md."""
    return sorted(state.numbers)


def row(state: State, message: SolapiMessage) -> Json:
    """Return a message as lists and webhooks have it (documents: getMessageList.md)."""
    return {
        "_id": message.message_id,
        "kakaoOptions": message.kakao,
        "type": message.type,
        "country": "82",
        "subject": message.subject,
        "imageId": message.image_id,
        "currentQueue": None,
        "dateProcessed": iso(message.created_at),
        "dateReported": iso(message.reported_at),
        "dateReceived": iso(message.reported_at),
        "statusCode": message.status_code,
        "networkCode": None,
        "log": [],
        "replacement": False,
        "autoTypeDetect": True,
        "resendCount": 0,
        "status": message.status,
        "messageId": message.message_id,
        "groupId": message.group_id,
        "accountId": state.account_id,
        "text": message.text,
        "from": message.sender,
        "to": message.to,
        "customFields": message.custom_fields,
        "queues": [],
        "dateCreated": iso(message.created_at),
        "dateUpdated": iso(message.updated_at),
        "reason": None,
        "networkName": "ETC",
    }


def _visible(state: State, rows: Iterable[SolapiMessage]) -> Iterable[SolapiMessage]:
    """Leave out messages that are too new: lists lag behind."""
    lag = round(state.behavior.lists_lag_s * 1000)
    return rows if not lag else (one for one in rows if one.created_at + lag <= state.clock())


def _list(state: State, rows: Iterable[SolapiMessage], request: Request) -> Json:
    page, keys, following = take_page(state, rows, lambda one: one.message_id, request)
    if following is not None:
        state.page_starts[following.message_id] = following.update
    return {**keys, "messageList": {one.message_id: row(state, one) for one in page}}


def take_page(
    state: State, rows: Iterable[T], id_of: Callable[[T], str], request: Request
) -> tuple[list[T], Json, T | None]:
    """Return a page of rows, which begin at `startKey`, with its keys, and the first row of the next page."""
    limit = min(int(request.query.get("limit") or DEFAULT_LIMIT), state.behavior.max_limit)
    found = iter(rows)
    page, following = list(islice(found, limit)), next(found, None)
    keys = {
        "startKey": request.query.get("startKey"),
        "nextKey": None if following is None else id_of(following),
        "limit": limit,
    }
    return page, keys, following


def find_page(state: State, rows: Iterable[T], id_of: Callable[[T], str], request: Request) -> tuple[list[T], Json]:
    """Return the page of rows that begins at `startKey`, with its keys."""
    start = request.query.get("startKey")
    left = dropwhile(lambda row: start is not None and id_of(row) != start, rows)
    return take_page(state, left, id_of, request)[:2]


def _new_group(state: State, allows_duplicates: bool) -> Group:
    group = Group(state.new_id("G4V"), state.clock(), allows_duplicates)
    state.groups[group.group_id] = group
    return group


def _add(state: State, group: Group, given: list[MessageBody], request: Request) -> list[SolapiMessage]:
    request.recipient_count = sum(len(one.receivers) for one in given)
    for receiver, (status, code) in state.behavior.call_errors.items():
        if any(receiver in one.receivers for one in given):
            raise ApiError(status, code, "to 의 값이 올바르지 않습니다.")
    if request.recipient_count > MAX_RECEIVERS:
        words = f"한 번에 추가할 수 있는 수신번호는 최대 {MAX_RECEIVERS}건 입니다."
        raise ApiError(413, "RecipientsTooMany", words)
    now, added = state.clock(), []
    for one in given:
        kind = type_of(one)
        for receiver in one.receivers:
            code = status_code(state, group, one, kind, receiver)
            message = SolapiMessage(
                state.new_id("M4V"),
                group.group_id,
                kind,
                receiver,
                one.sender,
                _text(state, one, kind),
                one.subject,
                one.imageId,
                one.kakaoOptions,
                one.customFields or {},
                now,
                code,
                shown=_shown(state, one, kind),
            )
            state.add_message(group, message)
            added.append(message)
    return added


def _text(state: State, given: MessageBody, kind: str) -> str:
    template = _template_of(state, given, kind)
    return filled_text(given, template) if template else given.text or ""


def _shown(state: State, given: MessageBody, kind: str) -> Json:
    template = _template_of(state, given, kind)
    return shown_parts(given, template) if template else {}


def _template_of(state: State, given: MessageBody, kind: str) -> SolapiTemplate | None:
    return state.templates.get(str((given.kakaoOptions or {}).get("templateId"))) if kind == "ATA" else None


def _send(state: State, group: Group) -> None:
    """Send the accepted messages of a group; it fails if there is none."""
    accepted = [one for one in group.messages if one.is_registered]
    group.status, group.sent_at = ("SENDING" if accepted else "FAILED"), state.clock()
    for one in accepted:
        schedule_result(state, one)


def _result(state: State, message: SolapiMessage) -> Json:
    return {
        "to": message.to,
        "from": message.sender or "",
        "type": message.type,
        "statusMessage": STATUS_MESSAGES.get(message.status_code, message.status_code),
        "country": "82",
        "messageId": message.message_id,
        "statusCode": message.status_code,
        "accountId": state.account_id,
        "customFields": message.custom_fields,
    }


def _describe(state: State, group: Group) -> Json:
    """Return a group as the documents show it (createMessageGroup.md; client: messageResponses.ts)."""
    registered = sum(one.is_registered for one in group.messages)
    counts = dict.fromkeys(
        ("sentTotal", "sentFailed", "sentSuccess", "sentPending", "sentReplacement", "refund"), 0
    )
    money = {"requested": 0, "replacement": 0, "refund": 0, "sum": 0}
    return {
        "count": {
            "total": len(group.messages),
            **counts,
            "registeredFailed": len(group.messages) - registered,
            "registeredSuccess": registered,
        },
        "countForCharge": {name: {} for name in TYPES},
        "balance": money,
        "point": money,
        "app": {"profit": dict.fromkeys(TYPES, 0), "appId": None, "version": None},
        "sdkVersion": None,
        "osPlatform": None,
        "log": [{"message": "메시지 그룹이 생성되었습니다.", "createAt": iso(group.created_at)}],
        "status": group.status,
        "scheduledDate": None,
        "dateSent": iso(group.sent_at),
        "dateCompleted": None,
        "isRefunded": False,
        "flagUpdated": False,
        "masterAccountId": None,
        "allowDuplicates": group.allows_duplicates,
        "groupId": group.group_id,
        "accountId": state.account_id,
        "apiVersion": "4",
        "customFields": {},
        "price": {},
        "dateCreated": iso(group.created_at),
        "dateUpdated": iso(group.created_at),
    }
