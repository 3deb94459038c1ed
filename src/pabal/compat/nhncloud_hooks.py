"""Builds webhook deliveries of results in NHN Cloud's format, for texts and for KakaoTalk."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from pabal.compat.nhncloud.call import KIND, SEOUL, format_request_id
from pabal.compat.nhncloud.sms.words import result_code as text_result_code
from pabal.compat.nhncloud.talk.codes import message_result
from pabal.compat.nhncloud.talk.rows import is_added_channel, sequence_of
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.event import format_event_id
from pabal.domain.sends.message import Outcome, Product
from pabal.service.outgoing import ForeignFormat
from pabal.service.policy import Policy
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
_HIDDEN_APP_KEY = "{appKey}"
"""What stands in links for an app key that is a secret, or that there is none of."""
_SENDER_TYPES = {Product.SMS: "SMS", Product.LMS: "LMS", Product.MMS: "MMS"}
_MESSAGE_TYPES = {Product.ALIMTALK: "ALIMTALK", Product.BRAND_MESSAGE: "BRAND_MESSAGE"}
_SERVICES = {Product.ALIMTALK: "alimtalk/v2.3", Product.BRAND_MESSAGE: "brand-message/v1.0"}
_FRIENDTALK = "friendtalk/v2.4"
_TEXT_TIME, _TALK_TIME = "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"
"""How the hooks of each service write a time."""
_SAMPLE_NUMBER = "01000000000"
_encode = msgspec.json.Encoder().encode


def hook_format(policy: Policy) -> ForeignFormat:
    """Return how deliveries look to programs that were written for NHN Cloud."""
    address = f"{policy.notices.public_url}/compat/{KIND}"

    def build_items(tx: Tx, read: ReadMessages) -> list[tuple[str, bytes]]:
        return _build_items(tx, read, address)

    return ForeignFormat(build_items, _build_body, _build_sample, _headers)


def _build_items(tx: Tx, read: ReadMessages, address: str) -> list[tuple[str, bytes]]:
    """Return the hooks, each after its group key: product and app key. One delivery holds one group."""
    request_ids = {request.id for _, request in read.found}
    calls = compat_requests.get(tx, request_ids)
    keys = history.get_key_ids(tx, request_ids)
    app_keys = compat_keys.list_public_ids(tx, set(keys.values()))
    items: list[tuple[str, bytes]] = []
    for message, request in read.found:
        found = app_keys.get(keys.get(request.id, 0))
        is_shown = found is not None and found.kind == KIND and not found.is_hidden
        app_key = found.public_id if found and is_shown else ""
        is_text = message.product.is_text
        describe = _describe_text if is_text else _describe_talk
        hook = describe(message, request, calls.get(request.id))
        link = {"self": {"href": f"{address}/{_path_of(message, request, hook, app_key or _HIDDEN_APP_KEY)}"}}
        hook["_links"] = link
        if is_text:
            hook["_link"] = link  # as the documents' example spells it
        group_key = f"{TEXTS if is_text else TALK}\n{app_key}"
        items.append((group_key, _encode(hook)))
    return items


def _describe_text(message: Message, request: Request, call: CompatRequest | None) -> dict[str, Any]:
    """Return the hook of a text: `requestId` is that of our request, and `recipientSeq` counts within it."""
    kind = _SENDER_TYPES[message.product]
    sender = request.fallback_sender if compose.is_fallback(message, request) else request.sender
    return {
        **_describe_result(message, call, _TEXT_TIME),
        "requestId": format_request_id(request.id),
        "recipientSeq": identifiers.number_of(message.id),
        "senderType": f"{'AD' if request.is_ad else 'AUTH' if request.is_code else 'NORMAL'}_{kind}",
        "sendNo": sender or "",
        "messageStatus": message_result(message.status, message.outcome)[0],
        "messageCount": 1,
        "recipientGropuingKey": message.reference,  # as the documents' example spells it
        "resultCode": text_result_code(message.outcome) if message.outcome else None,
    }


def _describe_talk(message: Message, request: Request, call: CompatRequest | None) -> dict[str, Any]:
    """Return the hook of a message to KakaoTalk; its `requestId` is that of the call, maybe of several requests."""
    is_brand = message.product is Product.BRAND_MESSAGE
    kind = _MESSAGE_TYPES.get(message.product, "FRIENDTALK")
    found = _describe_result(message, call, _TALK_TIME)
    return {
        **found,
        "requestId": format_request_id(call.group_id if call else request.id),
        "recipientSeq": sequence_of(message, call),
        "kakaoMessageType": f"{kind}_{'AUTH' if request.is_code else 'NORMAL'}",
        "createDate": found["requestDate"],
        "resultCode": message_result(message.status, message.outcome)[1],
        "isAddedChannel": is_added_channel(message, request) if is_brand else None,
    }


def _describe_result(message: Message, call: CompatRequest | None, time_format: str) -> dict[str, Any]:
    """Return what the hooks of both services say."""
    return {
        "hookId": format_event_id(message.id),
        "requestDate": _format(identifiers.requested_at(message.id), time_format),
        "receiveDate": _format(message.completed_at or 0, time_format),
        "recipientNo": message.receiver,
        "recipientGroupingKey": message.reference,
        "senderGroupingKey": call.sender_name if call else None,
    }


def _path_of(message: Message, request: Request, hook: Mapping[str, Any], app_key: str) -> str:
    """Return where a message is looked up."""
    auth = "auth/" if request.is_code else ""
    request_id, number = hook["requestId"], hook["recipientSeq"]
    if message.product.is_text:
        kind = f"{auth}sms" if message.product is Product.SMS else "mms"
        return f"sms/v3.0/appKeys/{app_key}/sender/{kind}/{request_id}?recipientSeq={number}"
    service = _SERVICES.get(message.product, _FRIENDTALK)
    return f"{service}/appkeys/{app_key}/{auth}messages/{request_id}/{number}"


def _format(at: Instant, time_format: str) -> str:
    return datetime.fromtimestamp(at // SECOND, SEOUL).strftime(time_format)


def _build_body(group_key: str, body_id: str, items: Sequence[bytes]) -> bytes:
    service, app_key = group_key.split("\n")
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
        "sendNo": _SAMPLE_NUMBER,
        "recipientNo": _SAMPLE_NUMBER,
        "messageStatus": "COMPLETED",
        "resultCode": text_result_code(Outcome.DELIVERED),
        "messageCount": 1,
    }
    return _build_body(f"{TEXTS}\n", event_id, [_encode(hook)])


def _headers(secret: str) -> Mapping[str, str]:
    return {"x-toast-webhook-signature": secret}
