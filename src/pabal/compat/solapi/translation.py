"""From Solapi's messages to the bodies of our own endpoints, equal ones as one send; notes what is left out."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.relay.kakao import BUTTON_TYPES, CHAT_BUBBLE_TYPES
from pabal.compat.differences import MAX_READ_ITEMS, CallDifference, decode_short, list_ignored
from pabal.compat.own_values import image_body
from pabal.compat.solapi import codes
from pabal.compat.solapi.bodies import Bms, KakaoOptions, MessageBody, T, decode
from pabal.compat.solapi.call import CompatCall
from pabal.domain.base.codes import Code, Refused
from pabal.domain.brand.rules import RULES
from pabal.domain.content import text
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Product
from pabal.models.bodies import (
    ButtonBody,
    FriendtalkReceiverBody,
    ReceiverBody,
    SendAlimtalk,
    SendFriendtalk,
    SendLms,
    SendMms,
    SendSms,
)

KOREA = "82"
MAX_CUSTOM_NAME, MAX_CUSTOM_VALUE = 30, 100
MAX_CUSTOM_FIELDS = 20
BRAND_TYPES = tuple(f"BMS_{each}" for each in (*CHAT_BUBBLE_TYPES.values(), "FREE"))
"""Brand messages by a template of each type, and those in free form."""
PRODUCTS = {
    "SMS": Product.SMS,
    "LMS": Product.LMS,
    "MMS": Product.MMS,
    "ATA": Product.ALIMTALK,
    "CTA": Product.FRIENDTALK_TEXT,
    "CTI": Product.FRIENDTALK_IMAGE,
    **dict.fromkeys(BRAND_TYPES, Product.BRAND_MESSAGE),
}
"""Those of Solapi's types that we can send."""
TYPES = {**{product: name for name, product in PRODUCTS.items()}, Product.FRIENDTALK_WIDE_IMAGE: "CTI"}
_TEXT = "text"
"""The variable that holds a receiver's whole text, in which nothing else is filled in."""
_BUTTON_TYPES = {remote: ours for ours, remote in BUTTON_TYPES.items()}
_BUTTON_FIELDS = {
    "buttonName": "name",
    "name": "name",
    "linkMo": "mobileUrl",
    "linkMobile": "mobileUrl",
    "linkPc": "pcUrl",
    "linkAnd": "androidUrl",
    "linkAndroid": "androidUrl",
    "linkIos": "iosUrl",
    "chatExtra": "chatExtra",
    "targetOut": "target",
}


_WITH_TEXT = [name for kind, name in CHAT_BUBBLE_TYPES.items() if RULES[kind].needs_text]
"""The types of brand messages whose text every receiver may have."""


class Item(NamedTuple):
    """One message of a call, to one receiver."""

    place: int
    to: str
    body: MessageBody
    type: str
    product: Product | None
    """None: messages of this type cannot be sent here."""


class Shared(NamedTuple):
    """What messages must have in common to become one send."""

    type: str
    sender: str | None
    subject: str | None
    image_id: str | None
    kakao: str
    """The options for KakaoTalk without the values of variables, as JSON."""


def list_items(messages: Sequence[MessageBody]) -> list[Item]:
    """Return one item for each receiver, in their order."""
    found: list[Item] = []
    for body in messages:
        kind = detect_type(body)
        product = PRODUCTS.get(kind)
        if isinstance(body.to, str):
            found.append(Item(len(found), body.to, body, kind, product))
        else:
            start = len(found)
            found += [Item(start + number, to, body, kind, product) for number, to in enumerate(body.to)]
    return found


def detect_type(body: MessageBody) -> str:
    """Return the type of a message, which is detected where it is not given."""
    if body.type:
        return body.type.upper()
    options = body.kakaoOptions
    if options is not None:
        if options.bms:
            return "BMS_FREE"
        return "ATA" if options.templateId else "CTI" if options.imageId or body.imageId else "CTA"
    if body.imageId:
        return "MMS"
    if body.subject:
        return "LMS"
    try:
        size = text.carried_bytes(body.text or "")
    except Refused:  # it is refused later, whatever its type
        size = 0
    return "SMS" if size <= text.SMS_MAX_BYTES else "LMS"


def find_refusal(item: Item) -> str | None:
    """Return the status code of a message that cannot be sent here, before its fields are checked."""
    body = item.body
    if (
        item.product is None
        or body.replacements
        or body.rcsOptions
        or body.naverOptions
        or body.faxOptions
        or body.voiceOptions
    ):
        return codes.WRONG_TYPE
    if body.country is not None and str(body.country) != KOREA:
        return codes.MALFORMED
    if body.customFields and not _are_valid(body.customFields):
        return codes.BAD_CUSTOM_FIELDS
    if item.product is Product.BRAND_MESSAGE:
        return None if body.kakaoOptions and body.kakaoOptions.bms else codes.MISSING
    if item.product is not Product.ALIMTALK and not body.text:
        return codes.MISSING
    if body.kakaoOptions is None:
        return None if item.product.is_text else codes.MISSING
    return codes.WRONG_TYPE if body.kakaoOptions.bms else None


def _are_valid(fields: Mapping[str, Any]) -> bool:
    return len(fields) <= MAX_CUSTOM_FIELDS and all(
        isinstance(value, str) and len(name) <= MAX_CUSTOM_NAME and len(value) <= MAX_CUSTOM_VALUE
        for name, value in fields.items()
    )


def group_items(items: Iterable[Item], most: int) -> list[list[Item]]:
    """Return the messages that can be one send each, at most so many together."""
    groups: dict[Shared, list[list[Item]]] = {}
    for item in items:
        parts = groups.setdefault(_shared_of(item), [[]])
        if len(parts[-1]) >= most:
            parts.append([])
        parts[-1].append(item)
    return [part for parts in groups.values() for part in parts]


def _shared_of(item: Item) -> Shared:
    body, options = item.body, item.body.kakaoOptions
    kakao = ""
    if options is not None:
        kakao = json.dumps(
            [
                *(options.pfId, options.templateId, bool(options.disableSms), options.adFlag, options.buttons),
                *(options.bms, None if not options.bms or has_own_text(options) else body.text),
            ]
        )
    image_id = image_id_of(body)
    return Shared(item.type, body.sender, body.subject or None, image_id, kakao)


def image_id_of(body: MessageBody) -> str | None:
    """Return the id of the picture of a message, if it has one."""
    options = body.kakaoOptions
    if options is None:
        return body.imageId
    own = (options.bms or {}).get("imageId")
    return body.imageId or options.imageId or (own if isinstance(own, str) else None)


def read_bms(options: KakaoOptions) -> Bms:
    """Return what a brand message has besides its text.

    Raises Refused(INVALID_PARAMETER).
    """
    try:
        return msgspec.convert(options.bms or {}, Bms)
    except msgspec.ValidationError:
        raise Refused(Code.INVALID_PARAMETER, "bms") from None


def has_own_text(options: KakaoOptions) -> bool:
    """Return whether `text` is what a brand message shows, so that every receiver may have another."""
    bms = options.bms or {}
    return not options.templateId and not bms.get("content") and bms.get("chatBubbleType") in _WITH_TEXT


def build_text_body(
    items: Sequence[Item], send_date: str | None, image: Image | None
) -> SendSms | SendLms | SendMms:
    """Return the body of a send of texts."""
    first = items[0].body
    content = first.text or ""
    is_same = all(each.body.text == first.text for each in items) and "#{" not in content
    if not is_same:
        content = f"#{{{_TEXT}}}"
    receivers = [
        ReceiverBody(phoneNumber=each.to, templateData=None if is_same else {_TEXT: each.body.text})
        for each in items
    ]
    fields: dict[str, Any] = {
        "content": content,
        "sendDate": send_date,
        "sender": first.sender,
        "receivers": receivers,
    }
    if items[0].product is Product.SMS:
        return SendSms(**fields)
    if items[0].product is Product.LMS:
        return SendLms(subject=first.subject, **fields)
    return SendMms(subject=first.subject, image=image_body(image) if image else None, **fields)


def build_alimtalk_body(
    items: Sequence[Item], send_date: str | None, values: Sequence[Mapping[str, Any]]
) -> SendAlimtalk:
    """Return the body of a send of an Alimtalk, with the values of each receiver."""
    first, options = items[0].body, options_of(items)
    return SendAlimtalk(
        senderKey=options.pfId or "",
        templateCode=options.templateId or "",
        sendDate=send_date,
        resend=has_fallback(first, options),
        resendPhoneNumber=first.sender,
        receivers=[
            ReceiverBody(phoneNumber=each.to, templateData=dict(own))
            for each, own in zip(items, values, strict=True)
        ],
    )


def build_friendtalk_body(items: Sequence[Item], send_date: str | None, image: Image | None) -> SendFriendtalk:
    """Return the body of a send of friend talk; every receiver has its own text."""
    first, options = items[0].body, options_of(items)
    return SendFriendtalk(
        senderKey=options.pfId or "",
        sendDate=send_date,
        adFlag=bool(options.adFlag),
        image=image_body(image) if image else None,
        resend=has_fallback(first, options),
        resendPhoneNumber=first.sender,
        buttons=[build_button(each) for each in options.buttons or ()] or None,
        receivers=[FriendtalkReceiverBody(phoneNumber=each.to, content=each.body.text) for each in items],
    )


def variables_of(options: KakaoOptions) -> dict[str, Any]:
    """Return the values of an Alimtalk's variables by their names; Solapi writes these as `#{name}`."""
    return {name.removeprefix("#{").removesuffix("}"): value for name, value in (options.variables or {}).items()}


def options_of(items: Sequence[Item]) -> KakaoOptions:
    options = items[0].body.kakaoOptions
    assert options is not None
    return options


def has_fallback(first: MessageBody, options: KakaoOptions) -> bool:
    """Return whether a text is sent if the message fails: at Solapi it is, unless the caller says no."""
    return not options.disableSms and bool(first.sender)


def build_button(given: Mapping[str, Any]) -> ButtonBody:
    fields = {ours: given[theirs] for theirs, ours in _BUTTON_FIELDS.items() if isinstance(given.get(theirs), str)}
    if given.get("targetOut") is True:
        fields["target"] = "out"
    kind = str(given.get("buttonType") or given.get("linkType"))
    return ButtonBody(buttonType=_BUTTON_TYPES.get(kind, kind), **fields)


def encode_custom_fields(fields: Mapping[str, Any] | None) -> str | None:
    """Return a message's own fields as they are stored, in place of a reference."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) if fields else None


def decode_custom_fields(reference: str | None) -> dict[str, str]:
    """Return the own fields of a message; none of one that was not sent through these endpoints."""
    if not reference or not reference.startswith("{"):
        return {}
    try:
        found = json.loads(reference)
    except ValueError:
        return {}
    return found if isinstance(found, dict) and all(isinstance(each, str) for each in found.values()) else {}


_HARMLESS = ("agent", "appId", "strict", "sdkVersion", "osPlatform", "autoTypeDetect", "allowDuplicates")
"""What changes nothing of a message; `autoTypeDetect` has a rule of its own, and one message has no duplicates."""
_OF_A_MESSAGE = re.compile(r"messages?\.")


def read_body(call: CompatCall, shape: type[T]) -> T:
    """Return the body of a call, and note its fields that nothing is done with; those of messages without a prefix.

    Raises CallRefused.
    """
    given = None if b"\\u0000" in call.raw else decode_short(call.raw)
    try:
        body = decode(call.raw, shape) if given is None else msgspec.convert(given, shape)
    except msgspec.ValidationError:
        return decode(call.raw, shape)
    for name in list_ignored(given, shape):
        plain = _OF_A_MESSAGE.sub("", name, count=1)
        if plain.rpartition(".")[2] not in _HARMLESS:
            call.note(CallDifference.FIELD, plain)
    one: MessageBody | None = getattr(body, "message", None)
    messages: Sequence[MessageBody] = [one] if one else getattr(body, "messages", ())
    if any(each.autoTypeDetect is False and not each.type for each in messages[:MAX_READ_ITEMS]):
        call.note(CallDifference.FIELD, "autoTypeDetect")
    return body


def note_refusals(call: CompatCall, items: Iterable[Item], refusals: Mapping[int, str]) -> None:
    """Note the messages that were refused: by what cannot be sent here, else by their codes."""
    noted: Counter[tuple[CallDifference, str]] = Counter()
    for item in items if refusals else ():
        code = refusals.get(item.place)
        if code == codes.WRONG_TYPE:
            noted[CallDifference.KIND, item.type] += 1
        elif code == codes.MALFORMED and str(item.body.country or KOREA) != KOREA:
            noted[CallDifference.COUNTRY, str(item.body.country)] += 1
        elif code is not None:
            noted[CallDifference.REFUSED, code] += 1
    for (difference, detail), uses in noted.items():
        call.note(difference, detail, uses)
