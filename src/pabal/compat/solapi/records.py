"""Describes a message as Solapi's lists do, and as its webhooks, of which Node and Python expect two shapes."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.answers.message_records import shown_texts
from pabal.compat.solapi import codes
from pabal.compat.solapi.call import format_group_id, format_message_id
from pabal.compat.solapi.translation import TYPES, decode_custom_fields
from pabal.domain.base import dates, identifiers
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES
from pabal.domain.events.event import format_event_id
from pabal.domain.sends.message import Outcome, Status
from pabal.service.outgoing import ForeignFormat
from pabal.service.policy import Policy
from pabal.service.sending import compose
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests
from pabal.store.messages.history import ReadMessages
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
    subject, content = shown_texts(message, request, policy)
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


EVENT = "SINGLE-REPORT"
_FIELDS = (
    *("messageId", "groupId", "accountId", "type", "country", "to", "from", "statusCode", "kakaoOptions"),
    *("customFields", "replacement", "networkCode", "dateProcessed", "dateReported", "dateReceived"),
)
"""What a report says of a message; its text is left out."""
_SAMPLE_NUMBER = "01000000000"
_encode = msgspec.json.Encoder().encode


def report_format(policy: Policy) -> ForeignFormat:
    """Return how deliveries look to programs that were written for Solapi or CoolSMS."""

    def build_items(tx: Tx, read: ReadMessages) -> list[tuple[str, bytes]]:
        groups = compat_requests.groups_by_request(tx, {request.id for _, request in read.found})
        items: list[tuple[str, bytes]] = []
        for message, request in read.found:
            record = describe_message(policy, message, request, groups.get(request.id, request.id))
            outcome = message.outcome
            said = codes.MESSAGES.get(record["statusCode"]) or (outcome.label.ko if outcome else None)
            data = {**{name: record[name] for name in _FIELDS}, "statusMessage": said}
            items.append((EVENT, _encode(_wrap(format_event_id(message.id), data))))
        return items

    return ForeignFormat(build_items, _build_body, _build_sample, _headers)


def _wrap(event_id: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report whose message is inside it, for one client, and beside it, for the other."""
    return {"eventDataId": event_id, "retryCount": 0, "data": data, **data}


def _build_body(event: str, body_id: str, items: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(items) + b"]"


def _build_sample(event_id: str) -> bytes:
    data = {
        "messageId": format_message_id(bytes(MESSAGE_ID_BYTES)),
        "type": "SMS",
        "to": _SAMPLE_NUMBER,
        "from": _SAMPLE_NUMBER,
        "statusCode": codes.DELIVERED,
        "statusMessage": Outcome.DELIVERED.label.ko,
        "customFields": {},
    }
    return _encode([_wrap(event_id, data)])


def _headers(secret: str) -> Mapping[str, str]:
    digest = hashlib.sha1(secret.encode(), usedforsecurity=False).hexdigest()  # Solapi's choice
    return {"x-solapi-event-name": EVENT, "x-solapi-secret": digest}
