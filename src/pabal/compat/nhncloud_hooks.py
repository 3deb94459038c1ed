"""Deliveries of results as NHN Cloud's webhooks look: of texts, and of messages to KakaoTalk."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pabal.compat.nhncloud.call import KIND, SEOUL, format_request_id
from pabal.compat.nhncloud.sms.kinds import result_code as text_result_code
from pabal.compat.nhncloud.talk.codes import message_result
from pabal.compat.nhncloud.talk.rows import sequence_of
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.event import format_event_id
from pabal.domain.sends.message import Outcome, Product
from pabal.service.outgoing import ForeignFormat
from pabal.service.sending import compose
from pabal.store.accounts import compat_keys
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests, history
from pabal.store.messages.compat_requests import CompatRequest
from pabal.store.messages.history import ReadMessages
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request

EVENT = "MESSAGE_RESULT_UPDATE"
TEXTS, TALK = "SMS", "KakaoTalk Bizmessage"
"""What NHN Cloud calls its services, in `productName`."""
_SENDER_TYPES = {Product.SMS: "SMS", Product.LMS: "LMS", Product.MMS: "MMS"}
_MESSAGE_TYPES = {Product.ALIMTALK: "ALIMTALK", Product.BRAND_MESSAGE: "BRAND_MESSAGE"}
_NOBODY = "01000000000"
_encode = msgspec.json.Encoder().encode


def hook_format() -> ForeignFormat:
    """Return how deliveries look to programs that were written for NHN Cloud."""
    return ForeignFormat(_build_items, _build_body, _build_sample, _headers)


def _build_items(tx: Tx, read: ReadMessages) -> list[tuple[str, bytes]]:
    request_ids = {request.id for _, request in read.found}
    calls = compat_requests.get(tx, request_ids)
    keys = history.get_key_ids(tx, request_ids)
    app_keys = compat_keys.list_public_ids(tx, set(keys.values()))
    items: list[tuple[str, bytes]] = []
    for message, request in read.found:
        found = app_keys.get(keys.get(request.id, 0))
        is_shown = found is not None and found.kind == KIND and not found.is_hidden
        app_key = found.public_id if found and is_shown else ""
        service = TEXTS if message.product.is_text else TALK
        hook = _describe(message, request, calls.get(request.id))
        items.append((f"{service}\n{app_key}", _encode(hook)))
    return items


def _describe(message: Message, request: Request, call: CompatRequest | None) -> dict[str, Any]:
    """Return a hook with what both services say, and what its own does besides."""
    is_text = message.product.is_text
    asked = _format(identifiers.requested_at(message.id), is_text=is_text)
    status, code = message_result(message.status, message.outcome)
    hook: dict[str, Any] = {
        "hookId": format_event_id(message.id),
        "requestId": format_request_id(call.group_id if call and not is_text else request.id),
        "recipientSeq": sequence_of(message, call),
        "requestDate": asked,
        "receiveDate": _format(message.completed_at or 0, is_text=is_text),
        "recipientNo": message.receiver,
        "messageStatus": status,
        "recipientGroupingKey": message.reference,
        "senderGroupingKey": call.sender_name if call else None,
        "resultCode": code,
    }
    if is_text:
        kind = _SENDER_TYPES[message.product]
        is_replacement = compose.is_fallback(message, request)
        hook["senderType"] = f"{'AD' if request.is_ad else 'AUTH' if request.is_code else 'NORMAL'}_{kind}"
        hook["sendNo"] = (request.fallback_sender if is_replacement else request.sender) or ""
        hook["recipientGropuingKey"] = message.reference  # as the documents' example spells it
        hook["resultCode"] = text_result_code(message.outcome) if message.outcome else None
    else:
        kind = _MESSAGE_TYPES.get(message.product, "FRIENDTALK")
        hook["kakaoMessageType"] = f"{kind}_{'AUTH' if request.is_code else 'NORMAL'}"
        hook["createDate"] = asked
    return hook


def _format(at: Instant, *, is_text: bool) -> str:
    """Return a time as the hooks of a service have it."""
    return datetime.fromtimestamp(at // SECOND, SEOUL).strftime(
        "%Y-%m-%dT%H:%M:%S" if is_text else "%Y-%m-%d %H:%M:%S"
    )


def _build_body(word: str, body_id: str, items: Sequence[bytes]) -> bytes:
    service, app_key = word.split("\n")
    fields = {
        "hooksId": body_id,
        "webhookConfigId": "1",
        "productName": service,
        "appKey": app_key,
        "event": EVENT,
    }
    return _encode(fields)[:-1] + b',"hooks":[' + b",".join(items) + b"]}"


def _build_sample(event_id: str) -> bytes:
    hook = {
        "hookId": event_id,
        "senderType": "NORMAL_SMS",
        "requestId": format_request_id(bytes(identifiers.REQUEST_ID_BYTES)),
        "recipientSeq": 1,
        "sendNo": _NOBODY,
        "recipientNo": _NOBODY,
        "messageStatus": "COMPLETED",
        "resultCode": text_result_code(Outcome.DELIVERED),
    }
    return _build_body(f"{TEXTS}\n", event_id, [_encode(hook)])


def _headers(secret: str) -> Mapping[str, str]:
    return {"x-toast-webhook-signature": secret}
