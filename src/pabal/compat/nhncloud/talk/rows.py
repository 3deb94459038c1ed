"""Describes messages as NHN Cloud's lists and results of KakaoTalk do."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pabal.answers.message_records import shown_texts
from pabal.carriers.nhncloud.templates import buttons_to_remote, parts_to_remote
from pabal.carriers.relay.kakao import CHAT_BUBBLE_TYPES
from pabal.compat.nhncloud.call import NhnCall, format_request_id, format_time
from pabal.compat.nhncloud.talk.codes import message_result, result_name
from pabal.domain.base import identifiers
from pabal.domain.brand.buttons import from_button
from pabal.domain.brand.message import Targeting, to_documented
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.service.sending import compose
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests, messages
from pabal.store.messages.compat_requests import CompatRequest
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request

Found = tuple[Message, Request]
NO_RESEND, RESEND, RESENDING, RESENT, RESEND_FAILED = "RSC01", "RSC02", "RSC03", "RSC04", "RSC05"
_RESEND_NAMES = {
    NO_RESEND: "대체 발송 미대상",
    RESEND: "대체 발송 대상",
    RESENDING: "대체 발송 중",
    RESENT: "대체 발송 성공",
    RESEND_FAILED: "대체 발송 실패",
}


class Beside(NamedTuple):
    """What is read beside messages: the calls of their requests, and their fallbacks by the messages replaced."""

    calls: Mapping[bytes, CompatRequest]
    fallbacks: Mapping[bytes, Message]


def read_beside(tx: Tx, found: Sequence[Found]) -> Beside:
    """Return what rows of messages need beside them."""
    calls = compat_requests.get(tx, {request.id for _, request in found})
    origins = {
        identifiers.make_message_id(request.id, identifiers.number_of(message.id) + request.total): message.id
        for message, request in found
        if message.status is Status.FAIL and request.fallback_sender
    }
    stored = messages.get(tx, list(origins)) if origins else {}
    return Beside(calls, {origins[each.id]: each for each in stored.values()})


def sequence_of(message: Message, call: CompatRequest | None) -> int:
    """Return the number of a message in its call."""
    number = identifiers.number_of(message.id)
    return int(json.loads(call.sequence)[number - 1]) if call and call.sequence else number


def describe_result(message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return what rows of lists and of results have in common."""
    known = beside.calls.get(request.id)
    status, code = message_result(message.status, message.outcome)
    fallback = beside.fallbacks.get(message.id)
    resend = _resend_status(message, request, fallback)
    return {
        "requestId": format_request_id(known.group_id if known else request.id),
        "recipientSeq": sequence_of(message, known),
        "requestDate": format_time(request.scheduled_at),
        "createDate": format_time(identifiers.requested_at(message.id)),
        "receiveDate": format_time(message.completed_at),
        "resendStatus": resend,
        "resendStatusName": _RESEND_NAMES[resend],
        "messageStatus": status,
        "resultCode": code,
        "resultCodeName": result_name(code),
    }


def describe_alimtalk_result(message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return the row of a result of an Alimtalk."""
    return {**describe_result(message, request, beside), **_describe_resent(message, request, beside)}


def describe_friendtalk_result(message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return the row of a result of friend talk."""
    row = {**describe_result(message, request, beside), **_describe_names(message, request, beside)}
    del row["createDate"]
    return {
        **row,
        "plusFriendId": request.channel_id or "",
        "senderKey": request.sender_key or "",
        "recipientNo": message.receiver,
    }


def describe_alimtalk(call: NhnCall, message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return the row of an Alimtalk in lists."""
    return {**describe_message(call, message, request, beside), "templateCode": request.template_code}


def describe_message(call: NhnCall, message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return what rows of lists have."""
    known = beside.calls.get(request.id)
    return {
        **describe_result(message, request, beside),
        "plusFriendId": request.channel_id or "",
        "senderKey": request.sender_key or "",
        "recipientNo": message.receiver,
        "content": shown_texts(message, request, call.context.policy)[1],
        "createUser": known.caller if known else None,
        **_describe_names(message, request, beside),
    }


def describe_brand_result(message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return the row of a result of a brand message."""
    row = {**describe_result(message, request, beside), **_describe_names(message, request, beside)}
    for name in ("createDate", "receiveDate"):
        del row[name]
    targeting = request.brand.targeting if request.brand else Targeting.FRIENDS
    return {
        **row,
        "plusFriendId": request.channel_id or "",
        "recipientNo": message.receiver,
        "targeting": targeting.value,
        "isAddedChannel": is_added_channel(message, request),
    }


def is_added_channel(message: Message, request: Request) -> bool:
    """Return whether the receiver of a brand message is known to be a friend of the channel."""
    targeting = request.brand.targeting if request.brand else Targeting.FRIENDS
    return targeting is Targeting.FRIENDS and message.outcome is not Outcome.NOT_A_FRIEND


def describe_brand_message(call: NhnCall, message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return the row of a brand message in lists."""
    brand = request.brand
    row = {
        **describe_alimtalk(call, message, request, beside),
        **describe_brand_result(message, request, beside),
        **_describe_resent(message, request, beside),
        "chatBubbleType": CHAT_BUBBLE_TYPES[brand.type] if brand and brand.type else "TEXT",
        "pushAlarm": not (brand and brand.is_silent),
    }
    row["resendStatusCode"] = row.pop("resendStatus")
    del row["content"]
    return row


def describe_whole_alimtalk(call: NhnCall, message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return an Alimtalk with all that it showed."""
    title, _ = shown_texts(message, request, call.context.policy)
    parts = parts_to_remote(compose.parts_of(message, request))
    return {
        **describe_alimtalk(call, message, request, beside),
        **_describe_resent(message, request, beside),
        "templateTitle": title or None,
        "buttons": buttons_to_remote(compose.buttons_of(message, request)),
        "quickReplies": [],
        **parts,
    }


def describe_whole_friendtalk(call: NhnCall, message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    """Return a friend talk with all that it showed, but for its picture, which has no address here."""
    return {
        **describe_message(call, message, request, beside),
        **_describe_resent(message, request, beside),
        "imageSeq": None,
        "imageName": None,
        "imageUrl": None,
        "imageLink": request.image_link,
        "wide": message.product is Product.FRIENDTALK_WIDE_IMAGE,
        "buttons": buttons_to_remote(compose.buttons_of(message, request)),
        "isAd": request.is_ad,
        "adult": False,
    }


def describe_whole_brand_message(
    call: NhnCall, message: Message, request: Request, beside: Beside
) -> dict[str, Any]:
    """Return a brand message with all that it showed, but for an uploaded picture, which has no address here."""
    brand = request.brand
    buttons = [from_button(each) for each in compose.buttons_of(message, request)]
    parameters = compose.parameters_of(message, request)
    found = {
        **describe_brand_message(call, message, request, beside),
        "content": shown_texts(message, request, call.context.policy)[1],
        "adult": bool(brand and brand.is_adult),
        "buttons": [to_documented(each) for each in buttons if each is not None],
        "templateParameter": None if parameters is None else json.dumps(parameters, ensure_ascii=False),
    }
    if request.images:
        found["image"] = {"imageUrl": None, "imageLink": request.image_link}
    return found | (to_documented(brand.attachment) if brand else {})


def _describe_names(message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    known = beside.calls.get(request.id)
    return {
        "senderGroupingKey": known.sender_name if known else None,
        "recipientGroupingKey": message.reference,
    }


def _describe_resent(message: Message, request: Request, beside: Beside) -> dict[str, Any]:
    has_fallback = message.id in beside.fallbacks
    return {"resendResultCode": None, "resendRequestId": format_request_id(request.id) if has_fallback else None}


def _resend_status(message: Message, request: Request, fallback: Message | None) -> str:
    if fallback is not None:
        if fallback.status is Status.COMPLETED:
            return RESENT
        return RESENDING if fallback.status in (Status.WAITING, Status.SENDING) else RESEND_FAILED
    if not request.fallback_sender:
        return NO_RESEND
    return RESEND_FAILED if message.status is Status.FAIL else RESEND
