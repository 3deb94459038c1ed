"""Deliveries of results as Solapi's webhooks look; clients for Node and Python expect two shapes, here in one."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.compat.solapi import codes
from pabal.compat.solapi.call import format_message_id
from pabal.compat.solapi.records import describe_message
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES
from pabal.domain.events.event import format_event_id
from pabal.domain.sends.message import Outcome
from pabal.service.outgoing import ForeignFormat
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests
from pabal.store.messages.history import ReadMessages

EVENT = "SINGLE-REPORT"
_FIELDS = (
    *("messageId", "groupId", "accountId", "type", "country", "to", "from", "statusCode", "kakaoOptions"),
    *("customFields", "replacement", "networkCode", "dateProcessed", "dateReported", "dateReceived"),
)
"""What a report says of a message; its text is left out."""
_NOBODY = "01000000000"
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
        "to": _NOBODY,
        "from": _NOBODY,
        "statusCode": codes.DELIVERED,
        "statusMessage": Outcome.DELIVERED.label.ko,
        "customFields": {},
    }
    return _encode([_wrap(event_id, data)])


def _headers(secret: str) -> Mapping[str, str]:
    digest = hashlib.sha1(secret.encode(), usedforsecurity=False).hexdigest()  # Solapi's choice
    return {"x-solapi-event-name": EVENT, "x-solapi-secret": digest}
