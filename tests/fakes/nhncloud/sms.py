"""SMS API v3.0: texts and their attachments."""

import base64
import math
import re
from typing import Any

import msgspec

from tests.fakes.nhncloud import images, outcomes
from tests.fakes.nhncloud.answers import DAY_MS, ApiError, Json, Request, format_seoul
from tests.fakes.nhncloud.state import SMS, Message, State, UploadedFile

MAX_RECIPIENTS = 1000
MAX_ATTACHMENTS = 3
MAX_FILE_BYTES = 300 * 1024
MAX_FILES_BYTES = 800 * 1024
MAX_FILE_PX = 1000
"""SMS ko/api-guide.md, "장문 MMS 발송", "첨부 이미지 해상도: 1000*1000 이하"; no code is documented for more."""
DAYS_FILES_ARE_KEPT = 7
"""SMS ko/console-guide.md: "서비스에 이용된 첨부 파일은 7일간만 보관되며 그 이후에는 삭제"."""
AUTH_WORDS = ("auth", "password", "verify", "にんしょう", "認証", "비밀번호", "인증")
"""SMS ko/api-guide.md, "인증용 SMS 발송": "전문(템플릿 치환자 포함)에 인증 문구가 포함되어 있지 않은 경우 발송에
실패합니다", "영문인 경우 대소문자 구분 없이"; ko/error-code.md has the code, -8000."""
_AD = re.compile(r"\(광고\).*무료(?:수신)?거부\]?:?(080\d{7,8})", re.DOTALL)


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    recipientNo: str
    recipientGroupingKey: str | None = None


class SendBody(msgspec.Struct, forbid_unknown_fields=True):
    body: str
    sendNo: str
    recipientList: list[Recipient]
    title: str | None = None
    attachFileIdList: list[int] | None = None
    senderGroupingKey: str | None = None
    originCode: str | None = None


class Upload(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a call that uploads an attachment."""

    fileName: str
    fileBody: str
    createUser: str


_SEND_BODY = msgspec.json.Decoder(SendBody)
_UPLOAD = msgspec.json.Decoder(Upload)


def decode_body(decoder: "msgspec.json.Decoder[Any]", body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise ApiError(4, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ApiError(-9997, "Invalid API parameters.") from None


def send(state: State, request: Request) -> Json:
    """Accept texts: `sender/sms`, `mms`, `ad-sms`, `ad-mms`, `auth/sms`."""
    kind = request.path_params.get("kind", "sms")
    is_ad, interface = kind.startswith("ad-"), kind.removeprefix("ad-")
    sending: SendBody = decode_body(_SEND_BODY, request.body)
    request.recipient_count = len(sending.recipientList)
    _check(state, sending, interface)
    unsubscribe_number = _unsubscribe_number(state, sending.body) if is_ad else None
    is_auth = "/auth/" in request.path
    if is_auth and not any(word in sending.body.lower() for word in AUTH_WORDS):
        raise ApiError(-8000, "The body must contain auth guide ment.")
    type_ = "AUTH" if is_auth else "SMS" if interface == "sms" else "MMS" if sending.attachFileIdList else "LMS"
    now, request_id = state.clock(), state.new_request_id()
    left = _texts_left(state)
    messages = [
        Message(
            SMS,
            type_,
            request_id,
            seq,
            each.recipientNo,
            sending.sendNo,
            sending.senderGroupingKey,
            each.recipientGroupingKey,
            sending.body,
            now,
            sending,
            each,
            is_ad,
            _refusal(state, each.recipientNo, unsubscribe_number) or (-2052 if seq > left else 0),
        )
        for seq, each in enumerate(sending.recipientList, 1)
    ]
    return _accept(state, sending, messages)


def _accept(state: State, sending: SendBody, messages: list[Message]) -> Json:
    failed = [each for each in messages if each.refused]
    if failed and state.behavior.refuses_whole_calls:
        raise ApiError(failed[0].refused, _REFUSAL_MESSAGES.get(failed[0].refused, "As planted."))
    state.store_messages(messages)
    outcomes.schedule_results(messages, state.behavior, state.results)
    results = [
        {
            "recipientNo": each.recipient_no,
            "resultCode": each.refused,
            "resultMessage": _REFUSAL_MESSAGES.get(each.refused, "As planted."),
            "recipientSeq": each.recipient_seq,
            "recipientGroupingKey": each.recipient_grouping_key,
        }
        for each in messages
    ]
    data = {
        "requestId": messages[0].request_id,
        "statusCode": "3" if len(failed) == len(messages) else "2",
        "senderGroupingKey": sending.senderGroupingKey,
        "sendResultList": results,
    }
    return {"body": {"data": data}}


_REFUSAL_MESSAGES = {
    0: "SUCCESS",
    -6001: "Recipient Number is refused.",
    -2051: "Conversion rate is lower than threshold.",
    -2052: "Blocked by organization message sending count exceed.",
}


def _texts_left(state: State) -> float:
    """Return how many texts the organisation may send this month."""
    limit = state.behavior.texts_per_month
    if limit is None:
        return math.inf
    month = format_seoul(state.clock(), "%Y-%m")
    sent = sum(each.product == SMS and format_seoul(each.accepted_at, "%Y-%m") == month for each in state.messages)
    return limit - sent


def _refusal(state: State, number: str, unsubscribe_number: str | None) -> int:
    if number in state.behavior.refusals:
        return state.behavior.refusals[number]
    return -6001 if unsubscribe_number and (unsubscribe_number, number) in state.unsubscribed else 0


def _check(state: State, sending: SendBody, interface: str) -> None:
    """Raises ApiError for errors of the whole call."""
    if len(sending.recipientList) > MAX_RECIPIENTS:
        raise ApiError(-2016, "The max recipient size is 1000.")
    if not sending.body or (interface == "mms" and not sending.title):
        raise ApiError(-2014, "The recipient can not be empty.")
    number = state.numbers.get(sending.sendNo)
    if number is None or not number.is_used:
        raise ApiError(-2312, "Not regist sendno.")
    if interface == "sms" and (sending.attachFileIdList or sending.title):
        raise ApiError(4, "An SMS has neither title nor attachments.")
    numbers = sending.attachFileIdList or []
    oldest = state.clock() - DAYS_FILES_ARE_KEPT * DAY_MS
    if any(number not in state.attachments or state.attachments[number].at < oldest for number in numbers):
        raise ApiError(-2004, "File is expired or does not exist.")
    size = sum(len(state.attachments[number].body) for number in numbers)
    if len(numbers) > MAX_ATTACHMENTS or size > MAX_FILES_BYTES:
        raise ApiError(-2005, "The file size must be greater than 0 and less than 300KB.")


def _unsubscribe_number(state: State, body: str) -> str:
    found = _AD.fullmatch(re.sub(r"[\s-]", "", body))
    if not found:
        raise ApiError(-6003, "The body must contain block guide ment.")
    if found[1] not in state.unsubscribe_numbers:
        raise ApiError(-6004, "This is not a joined unsubscribeNo.")
    return found[1]


def upload(state: State, request: Request) -> Json:
    """Accept an attachment: `attachfile/binaryUpload`."""
    given: Upload = decode_body(_UPLOAD, request.body)
    body = base64.b64decode(given.fileBody, validate=True)
    if not 0 < len(body) <= MAX_FILE_BYTES or not given.fileName.endswith(".jpg"):
        raise ApiError(-2005, "The file size must be greater than 0 and less than 300KB.")
    if max(images.measure(body)) > MAX_FILE_PX:
        raise ApiError(-2009, "Upload attach file error.")
    number = state.new_serial()
    path = f"0/toast-mt-{format_seoul(state.clock(), '%Y-%m-%d')}/1609/{number}"
    state.attachments[number] = UploadedFile(number, given.fileName, path, body, at=state.clock())
    return {"body": {"data": {"fileId": number, "fileName": given.fileName, "filePath": path}}}
