"""Describes a message as Solapi's lists and reports do."""

from typing import Any

from pabal.compat.solapi import codes
from pabal.compat.solapi.call import format_group_id, format_message_id
from pabal.compat.solapi.translation import TYPES, decode_custom_fields
from pabal.domain.base import dates, identifiers
from pabal.domain.content.text import mask_digits
from pabal.domain.sends.message import Status
from pabal.service.policy import Policy
from pabal.service.sending import compose
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request

_STATES = {
    Status.WAITING: "PENDING",
    Status.SENDING: "SENDING",
    Status.COMPLETED: "COMPLETE",
    Status.FAIL: "FAILED",
    Status.CANCEL: "FAILED",
}


def sender_of(message: Message, request: Request) -> str:
    """Return the number in `from`; that of a message to KakaoTalk is kept where its fallback has it."""
    own = "" if compose.is_fallback(message, request) else request.sender
    return own or request.fallback_sender or ""


def describe_message(policy: Policy, message: Message, request: Request, group_id: bytes) -> dict[str, Any]:
    """Return a message with the fields of Solapi's lists."""
    created = dates.format_iso(identifiers.requested_at(message.id), policy.zone)
    ended = dates.format_iso(message.completed_at, policy.zone) if message.completed_at is not None else None
    content, subject = compose.content_of(message, request), compose.subject_of(message, request)
    if compose.hides_digits(request, policy, has_ended=message.completed_at is not None):
        content, subject = mask_digits(content), mask_digits(subject or "")
    code = codes.status_code(message.status, message.outcome)
    return {
        "_id": format_message_id(message.id),
        "messageId": format_message_id(message.id),
        "groupId": format_group_id(group_id),
        "accountId": str(message.account_id),
        "type": TYPES.get(message.product),
        "country": "82",
        "to": message.receiver,
        "from": sender_of(message, request) or None,
        "subject": subject or None,
        "text": content,
        "imageId": None,
        "kakaoOptions": _kakao_options(message, request),
        "customFields": decode_custom_fields(message.reference),
        "status": _STATES[message.status],
        "statusCode": code,
        "reason": codes.MESSAGES.get(code),
        "networkName": None,
        "networkCode": None,
        "replacement": compose.is_fallback(message, request),
        "autoTypeDetect": True,
        "resendCount": 0,
        "log": [],
        "queues": [],
        "currentQueue": None,
        "dateCreated": created,
        "dateUpdated": ended or created,
        "dateProcessed": created,
        "dateReported": ended,
        "dateReceived": ended,
    }


def _kakao_options(message: Message, request: Request) -> dict[str, Any] | None:
    if message.product.is_text:
        return None
    return {"pfId": request.sender_key, "templateId": request.template_code}
