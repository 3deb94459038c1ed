"""SMS API v3.0: texts and their attachments."""

import base64
import binascii
import math
import re
from typing import Any

import msgspec

from tests.fakes.nhncloud import images, outcomes
from tests.fakes.nhncloud.answers import DAY_MS, MINUTES_FORMAT, ApiError, Json, Request, format_seoul, parse_seoul
from tests.fakes.nhncloud.state import SMS, Message, State, UploadedFile

MAX_RECIPIENTS = 1000
MAX_BODY_CHARS = {"sms": 255, "mms": 4000}
MAX_TITLE_CHARS = 120
MAX_ATTACHMENTS = 3
MAX_FILE_BYTES = 300 * 1024
MAX_FILES_BYTES = 800 * 1024
MAX_FILE_NAME_CHARS = 45
MAX_FILE_PX = 1000
"""SMS ko/api-guide.md, "장문 MMS 발송", "첨부 이미지 해상도: 1000*1000 이하"; no code is documented for more."""
DAYS_FILES_ARE_KEPT = 7
"""SMS ko/console-guide.md: "서비스에 이용된 첨부 파일은 7일간만 보관되며 그 이후에는 삭제"."""
MAX_DAYS_AHEAD = 60
AUTH_WORDS = ("auth", "password", "verify", "にんしょう", "認証", "비밀번호", "인증")
"""SMS ko/api-guide.md, "인증용 SMS 발송": "전문(템플릿 치환자 포함)에 인증 문구가 포함되어 있지 않은 경우 발송에
실패합니다", "영문인 경우 대소문자 구분 없이"; ko/error-code.md has the code, -8000."""
_NUMBER = re.compile(r"0\d{8,11}")
_EMOJI = re.compile("[\U00010000-\U0010ffff\u200d\u2600-\u27bf\ufe0f]")
_AD = re.compile(r"\(광고\).*무료(?:수신)?거부\]?:?(080\d{7,8})", re.DOTALL)


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    recipientNo: str | None = None
    countryCode: str | None = None
    internationalRecipientNo: str | None = None
    templateParameter: dict[str, Any] | None = None
    recipientGroupingKey: str | None = None


class SendBody(msgspec.Struct, forbid_unknown_fields=True):
    body: str | None = None
    sendNo: str | None = None
    recipientList: list[Recipient] | None = None
    title: str | None = None
    attachFileIdList: list[int] | None = None
    templateId: str | None = None
    requestDate: str | None = None
    senderGroupingKey: str | None = None
    userId: str | None = None
    statsId: str | None = None
    originCode: str | None = None
    useConversion: bool | None = None


class Upload(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a call that uploads an attachment."""

    fileName: str
    fileBody: str | list[int]
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
    recipients = sending.recipientList or []
    request.recipient_count = len(recipients)
    begins_at = _check(state, sending, interface, is_ad)
    unsubscribe_number = _unsubscribe_number(state, sending.body or "") if is_ad else None
    is_auth = "/auth/" in request.path
    if is_auth and not any(word in (sending.body or "").lower() for word in AUTH_WORDS):
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
            _number(each),
            sending.sendNo or "",
            sending.senderGroupingKey,
            each.recipientGroupingKey,
            sending.body or "",
            now,
            begins_at,
            sending,
            each,
            is_ad,
            _refusal(state, each, interface, unsubscribe_number) or (-2052 if seq > left else 0),
        )
        for seq, each in enumerate(recipients, 1)
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
            "resultMessage": _REFUSAL_MESSAGES[each.refused],
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
    -2018: "RecipientNo can not be empty.",
    -2019: "RecipientNo is invalid.",
    -2024: "LMS/MMS Type is not sent to outside of Korea.",
    -2044: "Invalid countryCode for sending.",
    -6001: "Recipient Number is refused.",
    -2051: "Conversion rate is lower than threshold.",
    -2052: "Blocked by organization message sending count exceed.",
    4: "The recipientGroupingKey is too long.",
}


def _texts_left(state: State) -> float:
    """Return how many texts the organisation may send this month."""
    limit = state.behavior.texts_per_month
    if limit is None:
        return math.inf
    month = format_seoul(state.clock(), "%Y-%m")
    sent = sum(each.product == SMS and format_seoul(each.accepted_at, "%Y-%m") == month for each in state.messages)
    return limit - sent


def _number(recipient: Recipient) -> str:
    if recipient.recipientNo:
        return recipient.recipientNo
    abroad = recipient.internationalRecipientNo or ""
    return "0" + abroad[2:] if abroad.startswith("82") else abroad


def _refusal(state: State, recipient: Recipient, interface: str, unsubscribe_number: str | None) -> int:
    number = _number(recipient).replace("-", "")
    if not number:
        return -2018
    if number in state.behavior.refusals:
        return state.behavior.refusals[number]
    if (recipient.countryCode or "82") != "82":
        return -2024 if interface == "mms" else -2044
    if not _NUMBER.fullmatch(number):
        return -2019
    if unsubscribe_number and (unsubscribe_number, number) in state.unsubscribed:
        return -6001
    if recipient.recipientGroupingKey and len(recipient.recipientGroupingKey) > (
        100 if interface == "sms" else MAX_RECIPIENTS
    ):
        return 4
    return 0


def _check(state: State, sending: SendBody, interface: str, is_ad: bool) -> int:
    """Return the time to send the texts. Raises ApiError for errors of the whole call."""
    if not sending.recipientList:
        raise ApiError(-2001, "RecipientList can not be null.")
    if len(sending.recipientList) > MAX_RECIPIENTS:
        raise ApiError(-2016, "The max recipient size is 1000.")
    if not sending.body or (interface == "mms" and not sending.title):
        raise ApiError(-2014, "The recipient can not be empty.")
    if len(sending.body) > MAX_BODY_CHARS[interface] or len(sending.title or "") > MAX_TITLE_CHARS:
        raise ApiError(-2015, "Title or Body exceed maximum byte.")
    if any(not _is_korean(each) for each in _EMOJI.findall(sending.body + (sending.title or ""))):
        raise ApiError(-2023, "Unacceptable characters in title and body.")
    number = state.numbers.get((sending.sendNo or "").replace("-", ""))
    if number is None or not number.is_used:
        raise ApiError(-2312, "Not regist sendno.")
    if number.block_reason is not None:
        raise ApiError(-2313, "This sendno is blocked.")
    for name, limit in (("senderGroupingKey", 100), ("userId", 100), ("statsId", 10), ("originCode", 9)):
        if len(getattr(sending, name) or "") > limit:
            raise ApiError(4, f"The {name} is too long.")
    if sending.originCode is not None and not re.fullmatch(r"\d{9}", sending.originCode):
        raise ApiError(4, "The originCode has nine digits.")  # "등록 번호 9자리 숫자", ko/api-guide.md
    if sending.templateId is not None:
        raise ApiError(-2110, "Template is not exist.")
    if interface == "sms" and (sending.attachFileIdList or sending.title):
        raise ApiError(4, "An SMS has neither title nor attachments.")
    _check_attachments(state, sending.attachFileIdList or [])
    return _send_time(state, sending.requestDate)


def _is_korean(character: str) -> bool:
    """Return whether EUC-KR has a character; it has some that look like emoji."""
    try:
        return bool(character.encode("cp949"))
    except UnicodeEncodeError:
        return False


def _check_attachments(state: State, numbers: list[int]) -> None:
    if len(numbers) > MAX_ATTACHMENTS:
        raise ApiError(4, "At most three files can be attached.")
    oldest = state.clock() - DAYS_FILES_ARE_KEPT * DAY_MS
    if any(number not in state.attachments or state.attachments[number].at < oldest for number in numbers):
        raise ApiError(-2004, "File is expired or does not exist.")
    if sum(len(state.attachments[number].body) for number in numbers) > MAX_FILES_BYTES:
        raise ApiError(-2005, "The file size must be greater than 0 and less than 300KB.")


def _send_time(state: State, given: str | None) -> int:
    now = state.clock()
    if given is None:
        return now
    at = parse_seoul(given, MINUTES_FORMAT)
    if at is None:
        raise ApiError(-2000, "Date format error.")
    if at < now:
        raise ApiError(-2022, "RequestDate is not before currentDate.")
    if at > now + MAX_DAYS_AHEAD * DAY_MS:
        raise ApiError(4, "requestDate is too late.")
    return at


def _unsubscribe_number(state: State, body: str) -> str:
    if not state.unsubscribe_numbers:
        raise ApiError(-6000, "Block service is not joined.")
    found = _AD.fullmatch(re.sub(r"[\s-]", "", body))
    if not found:
        raise ApiError(-6003, "The body must contain block guide ment.")
    if found[1] not in state.unsubscribe_numbers:
        raise ApiError(-6004, "This is not a joined unsubscribeNo.")
    return found[1]


def upload(state: State, request: Request) -> Json:
    """Accept an attachment: `attachfile/binaryUpload`."""
    given: Upload = decode_body(_UPLOAD, request.body)
    if not given.fileName or len(given.fileName) > MAX_FILE_NAME_CHARS:
        raise ApiError(-2002, "Invalid attach file name.")
    if not given.fileName.lower().endswith((".jpg", ".jpeg")):
        raise ApiError(-2003, "Attach file required jpg or jpeg.")
    if not given.createUser or len(given.createUser) > 100:
        raise ApiError(4, "The createUser is needed, with at most 100 characters.")
    try:
        body = (
            base64.b64decode(given.fileBody, validate=True)
            if isinstance(given.fileBody, str)
            else bytes(each & 0xFF for each in given.fileBody)
        )
    except binascii.Error:
        raise ApiError(-2009, "Upload attach file error.") from None
    if not 0 < len(body) <= MAX_FILE_BYTES:
        raise ApiError(-2005, "The file size must be greater than 0 and less than 300KB.")
    if max(images.measure(body)) > MAX_FILE_PX:
        raise ApiError(-2009, "Upload attach file error.")
    number = state.new_serial()
    path = f"0/toast-mt-{format_seoul(state.clock(), '%Y-%m-%d')}/1609/{number}"
    state.attachments[number] = UploadedFile(number, given.fileName, path, body, at=state.clock())
    return {"body": {"data": {"fileId": number, "fileName": given.fileName, "filePath": path}}}
