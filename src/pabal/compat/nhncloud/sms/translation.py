"""The bodies of the SMS calls, what they are as bodies of our own endpoints, and what cannot be sent here."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.carriers.nhncloud.calls import AUTH_WORDS, MAX_RECIPIENTS
from pabal.compat.differences import CallDifference
from pabal.compat.nhncloud.call import INVALID_PARAMETER, NhnCall, parse_time
from pabal.compat.nhncloud.sms.words import NO_RECIPIENT, Kind, refuse
from pabal.compat.own_values import image_body
from pabal.domain.base import dates
from pabal.domain.base.dates import DAY, MINUTE
from pabal.domain.content import advertising
from pabal.domain.content.image import Image
from pabal.domain.sends.sending import CODE_PURPOSE
from pabal.models.bodies import ReceiverBody, SendLms, SendMms, SendSms


class SmsRecipient(msgspec.Struct, gc=False):
    """One recipient of a text."""

    recipientNo: str | None = None
    countryCode: str | int | None = None
    internationalRecipientNo: str | None = None
    templateParameter: dict[str, Any] | None = None
    recipientGroupingKey: str | None = None

    @property
    def number(self) -> str:
        """The number as it is shown in answers."""
        return self.recipientNo or self.internationalRecipientNo or ""


class SendBody(msgspec.Struct):
    """A text to up to 1,000 recipients."""

    body: str | None = None
    title: str | None = None
    sendNo: str | None = None
    recipientList: list[SmsRecipient] | None = None
    attachFileIdList: list[int] | None = None
    templateId: str | None = None
    requestDate: str | None = None
    senderGroupingKey: str | None = None
    userId: str | None = None
    statsId: str | None = None
    originCode: str | None = None
    useConversion: bool | None = None


class UploadBody(msgspec.Struct):
    """A picture: in Base64, or its bytes as signed or unsigned numbers."""

    fileName: str | None = None
    fileBody: str | list[int] | None = None
    createUser: str | None = None


class Reservation(msgspec.Struct, gc=False):
    """A scheduled message."""

    requestId: str
    recipientSeq: int


class CancelBody(msgspec.Struct):
    """The messages to cancel."""

    reservationList: list[Reservation] | None = None


KOREA = "82"
MAX_NAME_CHARACTERS = 100
"""Of a senderGroupingKey, and of a userId."""
_KEY = re.compile(r"##(.+?)##")
_VARIABLE_START, _HASH = "#{", "#"
_ESCAPED_START = "#{#}{"
"""What stands for `#{` in a text that must not be filled in: a variable whose value is `#`, and the brace."""


def check_call(body: SendBody, kind: Kind) -> list[SmsRecipient]:
    """Return the recipients of a call.

    Raises NhnRefused for what concerns the whole call, and for what cannot be sent from here.
    """
    recipients = body.recipientList or []
    if not recipients:
        raise refuse(NO_RECIPIENT)
    if len(recipients) > MAX_RECIPIENTS:
        raise refuse(-2016)
    _refuse_unmappable(body, recipients, kind)
    if not body.body or (kind.is_mms and not body.title):
        raise refuse(-2014, "body, title")
    if kind.is_ad and not advertising.has_marks(body.body):
        raise refuse(-6003)
    if kind.is_code and not any(word in body.body.lower() for word in AUTH_WORDS):
        raise refuse(-8000)
    for name in ("senderGroupingKey", "userId"):
        if len(getattr(body, name) or "") > MAX_NAME_CHARACTERS:
            raise refuse(INVALID_PARAMETER, f"{name}: {MAX_NAME_CHARACTERS}")
    return recipients


def _refuse_unmappable(body: SendBody, recipients: Sequence[SmsRecipient], kind: Kind) -> None:
    """Raise NhnRefused for what NHN Cloud has and we have not."""
    if body.templateId:
        raise refuse(-2110, "이 서비스에는 문자 템플릿이 없습니다. 본문을 보내세요.")
    if body.statsId:
        raise refuse(-2704, "statsId는 쓸 수 없습니다.")
    if body.useConversion:
        raise refuse(-2050, "useConversion은 쓸 수 없습니다.")
    if body.attachFileIdList and not kind.is_mms:
        raise refuse(INVALID_PARAMETER, "attachFileIdList: 단문에는 첨부할 수 없습니다.")
    keys = set(_KEY.findall(body.body or "")) | set(_KEY.findall(body.title or ""))
    if keys and any(keys & set(each.templateParameter or ()) for each in recipients):
        raise refuse(-2111, "##…##는 문자 템플릿에서만 채워집니다.")


def find_refusals(recipients: Sequence[SmsRecipient], kind: Kind) -> dict[int, int]:
    """Return the codes of recipients that cannot be sent to, by their places, before their numbers are checked."""
    found: dict[int, int] = {}
    longest, is_mms = kind.max_key_characters, kind.is_mms
    for place, each in enumerate(recipients):
        abroad = each.countryCode is not None and str(each.countryCode) != KOREA
        if not each.number:
            found[place] = -2018
        elif abroad or not (each.recipientNo or each.number.removeprefix("+").startswith(KOREA)):
            found[place] = -2024 if is_mms else -2044
        elif each.recipientGroupingKey is not None and len(each.recipientGroupingKey) > longest:
            found[place] = INVALID_PARAMETER
    return found


def read_date(call: NhnCall, body: SendBody) -> str | None:
    """Return when to send, as our bodies have it; None for now.

    Raises NhnRefused, Refused(INVALID_DATE).
    """
    if not body.requestDate:
        return None
    at = parse_time(body.requestDate)
    if at is None:
        raise refuse(-2000)
    if at + MINUTE <= call.now:
        raise refuse(-2022)
    policy = call.context.policy
    if at > call.now + (policy.max_days_ahead + 1) * DAY:
        raise refuse(-2000, f"{policy.max_days_ahead}일 안의 시각을 보내세요.")
    if at % MINUTE:
        call.note(CallDifference.SCHEDULE)
        at += -at % MINUTE
    spelling = dates.format_timestamp(at, policy.zone)[: len("yyyy-MM-dd HH:mm")]
    dates.parse_send_date(spelling, call.now, policy.zone, policy.max_days_ahead)
    return spelling


def build_body(
    body: SendBody, kind: Kind, recipients: Sequence[SmsRecipient], send_date: str | None, images: Sequence[Image]
) -> SendSms | SendLms | SendMms:
    """Return the body of our own endpoint, in whose texts nothing is filled in."""
    content, subject = body.body or "", body.title or None
    values: Mapping[str, Any] | None = None
    if _VARIABLE_START in content or (kind.is_mms and _VARIABLE_START in (subject or "")):
        content, subject = _escape(content), _escape(subject) if subject else None
        values = {_HASH: _HASH}
    fields: dict[str, Any] = {
        "content": content,
        "sendDate": send_date,
        "sender": body.sendNo or "",
        "adFlag": kind.is_ad or None,
        "receivers": [
            ReceiverBody(phoneNumber=_national(each), templateData=dict(values) if values else None)
            for each in recipients
        ],
    }
    if not kind.is_mms:
        return SendSms(purpose=CODE_PURPOSE if kind.is_code else None, **fields)
    if not images:
        return SendLms(subject=subject, **fields)
    return SendMms(subject=subject, images=[image_body(each) for each in images], **fields)


def _escape(text: str) -> str:
    return text.replace(_VARIABLE_START, _ESCAPED_START)


def _national(recipient: SmsRecipient) -> str:
    if recipient.recipientNo:
        return recipient.recipientNo
    digits = recipient.number.removeprefix("+").removeprefix(KOREA)
    return digits if digits.startswith("0") else f"0{digits}"
