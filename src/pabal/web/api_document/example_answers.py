"""An example of the answer of every operation, and of every post to a webhook."""

from collections.abc import Sequence
from typing import Any

from pabal.domain.base.codes import Code, Problem
from pabal.domain.events.event import EventType
from pabal.web.api_document.example_bodies import (
    BUTTON,
    CHANNEL,
    CURSOR,
    MESSAGE_ID,
    PHONE,
    REQUEST_ID,
    SENDER,
    SENDER_KEY,
)

Example = dict[str, Any]

TIME = "2026-11-15T10:12:03.123+09:00"
_DATE = "2026-11-15 10:12:03"
_EVENT_ID = "evt_0192f0c1a2b3c4d5e6f708192a000001"


def _labelled(value: str, label: str) -> Example:
    return {"value": value, "label": label}


_CATEGORY = {
    "id": "00100010001",
    "label": "건강,병원,종합병원",
    "code": "00100010001",
    "name": "건강,병원,종합병원",
}
_TEMPLATE_CATEGORY = {
    "id": "006003",
    "label": "배송완료",
    "code": "006003",
    "name": "배송완료",
    "groupName": "배송",
}
_NEW_SENDER = {
    "channelId": CHANNEL,
    "category": {"value": "00100010001", "label": "건강,병원,종합병원", "refId": "00100010001"},
    "cellphone": "010-9999-0000",
    "authStatus": _labelled("waiting", "인증 대기"),
}
_SENDER = {
    **_NEW_SENDER,
    "id": "1",
    "label": CHANNEL,
    "senderKey": SENDER_KEY,
    "authStatus": _labelled("approval", "승인"),
    "enable": True,
    "created": _DATE,
    "changed": _DATE,
}
_TEMPLATE = {
    "id": "1",
    "label": "주문 확인",
    "senderKey": SENDER_KEY,
    "channelId": CHANNEL,
    "templateCode": "ORDER_1",
    "name": "주문 확인",
    "content": "#{name}님, 주문이 접수되었습니다.",
    "category": "006003",
    "messageType": "basic",
    "emphasisType": "none",
    "securityTemplate": False,
    "buttons": [BUTTON],
    "variables": ["name"],
    "status": _labelled("approved", "승인"),
    "enable": True,
    "created": _DATE,
    "changed": _DATE,
}
_MESSAGE = {
    "id": MESSAGE_ID,
    "label": PHONE,
    "messageId": MESSAGE_ID,
    "requestId": REQUEST_ID,
    "messageProductType": _labelled("sms", "단문(SMS)"),
    "sendingStatus": _labelled("completed", "완료"),
    "resultCode": _labelled("1000", "전달됨"),
    "receiver": PHONE,
    "reference": "order-1001",
    "yyyyMM": "202611",
    "requestDate": _DATE,
    "scheduledDate": _DATE,
    "completedDate": "2026-11-15 10:12:04",
    "content": "홍길동님, 주문하신 상품이 출발했습니다.",
}
_REQUEST = {
    "requestId": REQUEST_ID,
    "messageProductType": _labelled("sms", "단문(SMS)"),
    "requestDate": _DATE,
    "scheduledDate": _DATE,
    "totalCount": 1,
    "counts": {"waiting": 0, "sending": 0, "completed": 1, "fail": 0, "cancel": 0},
}
_STATISTICS = {
    "date": "2026-11-15 00:00:00",
    "product": _labelled("sms", "단문(SMS)"),
    "status": _labelled("completed", "완료"),
    "count": 120,
    "counts": {"waiting": 0, "sending": 0, "completed": 120, "fail": 0, "cancel": 0},
    "deliveredShare": 1.0,
    "fallbacks": 0,
    "reached": 120,
    "reachedShare": 1.0,
    "cost": 1080.0,
}
_DETAIL = {
    **_MESSAGE,
    "carrier": "simulator",
    "submittedDate": _DATE,
    "cost": 9.0,
    "key": _labelled("1", "Initial key"),
    "events": [
        {"event": "accepted", "date": _DATE},
        {"event": "submitted", "date": _DATE, "carrier": "simulator"},
        {
            "event": "ended",
            "date": "2026-11-15 10:12:04",
            "sendingStatus": _labelled("completed", "완료"),
            "resultCode": _labelled("1000", "전달됨"),
        },
    ],
}
_INBOUND = {
    "id": "7",
    "label": PHONE,
    "sender": PHONE,
    "receiver": SENDER,
    "content": "수신거부",
    "optOut": True,
    "receivedDate": _DATE,
}
_OPT_OUT = {
    "id": "12",
    "label": PHONE,
    "phoneNumber": PHONE,
    "senderNumber": SENDER,
    "source": _labelled("reply", "수신자의 답장"),
    "created": _DATE,
}
_WEBHOOK = {
    "id": "1",
    "label": "https://shop.example/pabal",
    "webhookId": "1",
    "url": "https://shop.example/pabal",
    "events": ["message.result", "optOut.added"],
    "products": ["alimTalk", "sms"],
    "description": "주문 알림",
    "format": "pabal",
    "state": _labelled("active", "사용 중"),
    "lastSuccess": _DATE,
    "failures": 0,
    "backlog": 0,
    "dropped": 0,
    "created": _DATE,
    "changed": _DATE,
}
_TRY = {"status": 204, "answer": "", "durationMs": 35}
_DELIVERY = {**_TRY, "id": "msg_0f3c8a52c1d94e0c", "time": _DATE, "tryNumber": 1, "eventIds": [_EVENT_ID]}
_ON_PHONE = {
    "time": _DATE,
    "kind": "sms",
    "from": SENDER,
    "content": "홍길동님, 주문하신 상품이 출발했습니다.",
    "buttons": [],
    "image": False,
    "images": 0,
}
_PERSONAL_DATA = {
    "phoneNumber": PHONE,
    "simulatedPhone": [{name: _ON_PHONE[name] for name in ("time", "kind", "from", "content")}],
    "senderProfiles": [],
    "users": [],
    "campaignRows": [],
    "optOuts": [_OPT_OUT],
    "contacts": [{"name": "홍길동", "fields": {"등급": "VIP"}, "created": _DATE, "changed": _DATE}],
    "drafts": [],
    "inbound": [_INBOUND],
}


def _listed(*items: Example) -> Example:
    return {"totalCount": len(items), "resultCount": len(items), "items": list(items)}


def _paged(*items: Example, **more: Any) -> Example:
    return {**_listed(*items), "pageSize": 10, "pageCount": 1, "currentPage": 1, **more}


def _followed(item: Example) -> Example:
    return {"item": {"nextCursor": CURSOR}, "resultCount": 1, "items": [item]}


_ACCEPTED = {"item": {"requestId": REQUEST_ID}}
_ADDITIONS: dict[str, Example] = {
    "list_sender_categories": _listed(_CATEGORY),
    "create_sender": {"item": _NEW_SENDER},
    "delete_sender": {},
    "authenticate_sender": {},
    "list_senders": _paged(_SENDER),
    **dict.fromkeys(
        ("send_sms", "send_lms", "send_mms", "send_alimtalk", "send_friendtalk", "send_brand_message"), _ACCEPTED
    ),
    "list_messages": _paged(_MESSAGE),
    "cancel": {"item": {"requestedCount": 2, "canceledCount": 2}},
    "look_up_request": _paged(_MESSAGE, item=_REQUEST),
    "list_results": _followed({**_MESSAGE, "eventId": _EVENT_ID}),
    "look_up_message": {"item": _DETAIL},
    "list_statistics": _paged(_STATISTICS, item={"countedDate": _DATE}),
    "list_template_categories": _listed(_TEMPLATE_CATEGORY),
    **{name: {"item": _TEMPLATE} for name in ("create_template", "update_template", "request_template")},
    "delete_template": {},
    "list_templates": _paged(_TEMPLATE),
    "list_inbound_messages": _followed(_INBOUND),
    "add_opt_outs": {"item": {"requestedCount": 2, "addedCount": 2}},
    "remove_opt_outs": {"item": {"requestedCount": 1, "removedCount": 1}},
    "list_opt_outs": _paged(_OPT_OUT),
    "create_webhook": {"item": {"webhookId": "1", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}},
    "update_webhook": {"item": _WEBHOOK},
    "delete_webhook": {},
    "test_webhook": {"item": _TRY},
    "replay_webhook": {},
    "list_webhooks": _listed(_WEBHOOK),
    "list_webhook_deliveries": _paged(_DELIVERY),
    "list_events": _followed(
        {
            "id": "msg_0f3c8a52c1d94e0c",
            "type": "message.result",
            "eventIds": [_EVENT_ID],
            "body": '{"type":"message.result","timestamp":"2026-11-15T10:12:05.123+09:00","data":{"items":[]}}',
        }
    ),
    "export_personal_data": _paged(_MESSAGE, item=_PERSONAL_DATA),
    "erase_personal_data": {
        "item": {"erasedCount": 3, "canceledCount": 1, "pendingCount": 0, "campaignRowCount": 0}
    },
    "look_at_phone": _paged(_ON_PHONE),
}
"""What the answer of each operation adds to the envelope."""
_EVENTS: dict[EventType, Example] = {
    EventType.MESSAGE_RESULT: _MESSAGE,
    EventType.MESSAGE_INBOUND: _INBOUND,
    EventType.TEMPLATE_STATUS: _TEMPLATE,
    EventType.SENDER_AUTH: _SENDER,
    EventType.CAMPAIGN_FINISHED: {
        "campaignId": "0192f0c1a2b3c4d5e6f708192a3b4c5d",
        "name": "11월 안내",
        "counts": {"completed": 9950, "fail": 50, "cancel": 0, "fallbacks": 40},
    },
    EventType.OPT_OUT_ADDED: _OPT_OUT,
    EventType.LIMIT_NEAR: {"limit": "receivers_per_day", "value": 10000, "used": 7000, "share": 70},
    EventType.FAILURE_HIGH: {"failed": 120, "ended": 480, "share": 25, "since": "2026-11-15 09:15:00"},
    EventType.CARRIER_STATUS: {
        "carrier": "telco",
        "state": "down",
        "products": ["sms", "lms"],
        "since": "2026-11-15 10:11:03",
    },
    EventType.WEBHOOK_TEST: {"webhookId": "1"},
}


def _envelope(code: Code, message: str) -> Example:
    return {"time": TIME, "result": code.name, "resultMessage": message, "locale": "ko"}


def answer_example(operation_id: str) -> Example:
    """Return an answer of an operation that succeeds."""
    return {**_envelope(Code.SUCCESS, Code.SUCCESS.text.ko), **_ADDITIONS[operation_id]}


def refusal_examples(codes: Sequence[Code]) -> dict[str, Example]:
    """Return the answer of each code, by its name."""
    return {code.name: {"value": _envelope(code, Problem(code).message("ko"))} for code in codes}


def post_example(event: EventType) -> Example:
    """Return a post of an event."""
    return {"type": event.code, "timestamp": TIME, "data": {"items": [{"eventId": _EVENT_ID, **_EVENTS[event]}]}}
