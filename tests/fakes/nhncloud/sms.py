"""SMS API v3.0: texts and their attachments."""

import base64
import binascii
import re
from typing import Any

import msgspec

from tests.fakes.nhncloud import outcomes
from tests.fakes.nhncloud.answers import DAY, MINUTES, Json, No, Request, in_seoul, moment
from tests.fakes.nhncloud.state import SMS, Message, Picture, State

MOST_RECIPIENTS = 1000
MOST_BODY = {"sms": 255, "mms": 4000}
MOST_TITLE = 120
MOST_ATTACHMENTS = 3
MOST_FILE_BYTES = 300 * 1024
MOST_FILES_BYTES = 800 * 1024
MOST_FILE_NAME = 45
MOST_DAYS_AHEAD = 60
_NUMBER = re.compile(r"0\d{8,11}")
_EMOJI = re.compile("[\U00010000-\U0010ffff\u200d\u2600-\u27bf\ufe0f]")
_AD = re.compile(r"\(광고\).*무료(?:수신)?거부\]?:?(080\d{7,8})", re.DOTALL)


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A recipient of a text."""

    recipientNo: str | None = None
    countryCode: str | None = None
    internationalRecipientNo: str | None = None
    templateParameter: dict[str, Any] | None = None
    recipientGroupingKey: str | None = None


class Sending(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a call that sends texts."""

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


_SENDING = msgspec.json.Decoder(Sending)
_UPLOAD = msgspec.json.Decoder(Upload)


def decoded(decoder: "msgspec.json.Decoder[Any]", body: bytes) -> Any:
    """Return a body as the documentation describes it."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise No(4, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise No(-9997, "Invalid API parameters.") from None


def send(state: State, request: Request) -> Json:
    """Take texts: `sender/sms`, `mms`, `ad-sms`, `ad-mms`."""
    kind = request.parts["kind"]
    is_ad, interface = kind.startswith("ad-"), kind.removeprefix("ad-")
    sending: Sending = decoded(_SENDING, request.body)
    recipients = sending.recipientList or []
    request.size = len(recipients)
    begins_at = _check(state, sending, interface, is_ad)
    unsubscribe_number = _unsubscribe_number(state, sending.body or "") if is_ad else None
    type_ = "SMS" if interface == "sms" else "MMS" if sending.attachFileIdList else "LMS"
    now, request_id = state.clock(), state.new_id()
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
            _refusal(state, each, interface, unsubscribe_number),
        )
        for seq, each in enumerate(recipients, 1)
    ]
    return _taken(state, sending, messages)


def _taken(state: State, sending: Sending, messages: list[Message]) -> Json:
    failed = [each for each in messages if each.refused]
    if failed and state.behavior.refuses_whole_calls:
        raise No(failed[0].refused, _WHY[failed[0].refused])
    state.keep(messages)
    outcomes.decide(messages, state.behavior, state.results)
    results = [
        {
            "recipientNo": each.recipient_no,
            "resultCode": each.refused,
            "resultMessage": _WHY[each.refused],
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


_WHY = {
    0: "SUCCESS",
    -2018: "RecipientNo can not be empty.",
    -2019: "RecipientNo is invalid.",
    -2024: "LMS/MMS Type is not sent to outside of Korea.",
    -2044: "Invalid countryCode for sending.",
    -6001: "Recipient Number is refused.",
    -2052: "Blocked by organization message sending count exceed.",
    4: "The recipientGroupingKey is too long.",
}


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
        100 if interface == "sms" else MOST_RECIPIENTS
    ):
        return 4
    return 0


def _check(state: State, sending: Sending, interface: str, is_ad: bool) -> int:
    """Return when the texts are to be sent. Raises No for what concerns all of them."""
    if not sending.recipientList:
        raise No(-2001, "RecipientList can not be null.")
    if len(sending.recipientList) > MOST_RECIPIENTS:
        raise No(-2016, "The max recipient size is 1000.")
    if not sending.body or (interface == "mms" and not sending.title):
        raise No(-2014, "The recipient can not be empty.")
    if len(sending.body) > MOST_BODY[interface] or len(sending.title or "") > MOST_TITLE:
        raise No(-2015, "Title or Body exceed maximum byte.")
    if any(not _is_korean(each) for each in _EMOJI.findall(sending.body + (sending.title or ""))):
        raise No(-2023, "Unacceptable characters in title and body.")
    number = state.numbers.get((sending.sendNo or "").replace("-", ""))
    if number is None or not number.is_used:
        raise No(-2312, "Not regist sendno.")
    if number.block_reason is not None:
        raise No(-2313, "This sendno is blocked.")
    for name, most in (("senderGroupingKey", 100), ("userId", 100), ("statsId", 10), ("originCode", 9)):
        if len(getattr(sending, name) or "") > most:
            raise No(4, f"The {name} is too long.")
    if sending.templateId is not None:
        raise No(-2110, "Template is not exist.")
    if interface == "sms" and (sending.attachFileIdList or sending.title):
        raise No(4, "An SMS has neither title nor attachments.")
    _check_attachments(state, sending.attachFileIdList or [])
    return _begins_at(state, sending.requestDate)


def _is_korean(character: str) -> bool:
    """Whether EUC-KR has a character; it has some that look like emoji."""
    try:
        return bool(character.encode("cp949"))
    except UnicodeEncodeError:
        return False


def _check_attachments(state: State, numbers: list[int]) -> None:
    if len(numbers) > MOST_ATTACHMENTS:
        raise No(4, "At most three files can be attached.")
    if any(number not in state.attachments for number in numbers):
        raise No(-2004, "File is expired or does not exist.")
    if sum(len(state.attachments[number].body) for number in numbers) > MOST_FILES_BYTES:
        raise No(-2005, "The file size must be greater than 0 and less than 300KB.")


def _begins_at(state: State, given: str | None) -> int:
    now = state.clock()
    if given is None:
        return now
    at = moment(given, MINUTES)
    if at is None:
        raise No(-2000, "Date format error.")
    if at < now:
        raise No(-2022, "RequestDate is not before currentDate.")
    if at > now + MOST_DAYS_AHEAD * DAY:
        raise No(4, "requestDate is too late.")
    return at


def _unsubscribe_number(state: State, body: str) -> str:
    if not state.unsubscribe_numbers:
        raise No(-6000, "Block service is not joined.")
    found = _AD.fullmatch(re.sub(r"[\s-]", "", body))
    if not found:
        raise No(-6003, "The body must contain block guide ment.")
    if found[1] not in state.unsubscribe_numbers:
        raise No(-6004, "This is not a joined unsubscribeNo.")
    return found[1]


def upload(state: State, request: Request) -> Json:
    """Take an attachment: `attachfile/binaryUpload`."""
    given: Upload = decoded(_UPLOAD, request.body)
    if not given.fileName or len(given.fileName) > MOST_FILE_NAME:
        raise No(-2002, "Invalid attach file name.")
    if not given.fileName.lower().endswith((".jpg", ".jpeg")):
        raise No(-2003, "Attach file required jpg or jpeg.")
    if not given.createUser or len(given.createUser) > 100:
        raise No(4, "The createUser is needed, with at most 100 characters.")
    try:
        body = (
            base64.b64decode(given.fileBody, validate=True)
            if isinstance(given.fileBody, str)
            else bytes(each & 0xFF for each in given.fileBody)
        )
    except binascii.Error:
        raise No(-2009, "Upload attach file error.") from None
    if not 0 < len(body) <= MOST_FILE_BYTES:
        raise No(-2005, "The file size must be greater than 0 and less than 300KB.")
    number = state.new_number()
    path = f"0/toast-mt-{in_seoul(state.clock(), '%Y-%m-%d')}/1609/{number}"
    state.attachments[number] = Picture(number, given.fileName, path, body)
    return {"body": {"data": {"fileId": number, "fileName": given.fileName, "filePath": path}}}
