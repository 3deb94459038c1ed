"""An example of the body of every operation, or of its query string."""

from typing import Any

PHONE = "010-1234-5678"
SENDER = "02-1234-5678"
CHANNEL = "@pabal-shop"
SENDER_KEY = "2bf1a0c4d95e4f7f8c31d0ac6b1b7e1e90a4c2d7"
REQUEST_ID = "0192f0c1a2b3c4d5e6f708192a"
MESSAGE_ID = "0192f0c1a2b3c4d5e6f708192a000001"
CURSOR = "AdSsqMCQqMKqAwAAAAAAAA"
_RECEIVERS = [
    {"phoneNumber": PHONE, "templateData": {"name": "홍길동"}, "reference": "order-1001"},
    {"phoneNumber": "010-9876-5432", "templateData": {"name": "성춘향"}, "reference": "order-1002"},
]
IMAGE = {
    "contentType": "image/jpeg",
    "fileName": "photo.jpg",
    "body": (
        "/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAAB"
        "AAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z"
    ),
}
BUTTON = {"buttonType": "webLink", "name": "주문 보기", "mobileUrl": "https://shop.example/orders/1001"}
_FALLBACK = {"resend": True, "resendPhoneNumber": SENDER}
_TEMPLATE = {"senderKey": SENDER_KEY, "templateCode": "ORDER_1"}

EXAMPLE_BODIES: dict[str, dict[str, Any]] = {
    "list_sender_categories": {},
    "create_sender": {"category": "00100010001", "channelId": CHANNEL, "cellphone": "010-9999-0000"},
    "delete_sender": {"senderKey": SENDER_KEY},
    "authenticate_sender": {"channelId": CHANNEL, "token": "123456"},
    "list_senders": {"authStatus": "approval"},
    "send_sms": {"content": "#{name}님, 주문하신 상품이 출발했습니다.", "sender": SENDER, "receivers": _RECEIVERS},
    "send_lms": {
        "subject": "배송 안내",
        "content": "#{name}님, 주문하신 상품이 출발했습니다.\n내일 오후에 도착할 예정입니다.",
        "sender": SENDER,
        "receivers": _RECEIVERS,
    },
    "send_mms": {
        "subject": "새 상품",
        "content": "#{name}님, 새 상품을 보여 드립니다.",
        "sender": SENDER,
        "image": IMAGE,
        "receivers": _RECEIVERS,
    },
    "send_alimtalk": {**_TEMPLATE, **_FALLBACK, "receivers": _RECEIVERS},
    "send_friendtalk": {
        "senderKey": SENDER_KEY,
        "content": "#{name}님, 이번 주 소식입니다.",
        "buttons": [BUTTON],
        **_FALLBACK,
        "receivers": _RECEIVERS,
    },
    "send_brand_message": {
        "senderKey": SENDER_KEY,
        "messageType": "text",
        "targeting": "I",
        "content": "#{name}님, 가을 할인이 시작되었습니다.",
        "buttons": [BUTTON],
        "receivers": _RECEIVERS,
    },
    "list_messages": {"receivers": PHONE, "requestDate": "2026-11-01~2026-11-30"},
    "cancel": {"requestId": REQUEST_ID},
    "look_up_request": {"requestId": REQUEST_ID},
    "list_results": {"limit": 100},
    "look_up_message": {"messageId": MESSAGE_ID},
    "list_statistics": {"from": "2026-11-01", "interval": "day", "groupBy": "product,status"},
    "list_template_categories": {},
    "create_template": {
        **_TEMPLATE,
        "name": "주문 확인",
        "content": "#{name}님, 주문이 접수되었습니다.",
        "category": "006003",
        "buttons": [BUTTON],
    },
    "update_template": {
        **_TEMPLATE,
        "name": "주문 확인",
        "content": "#{name}님, 주문이 잘 접수되었습니다.",
        "category": "006003",
    },
    "delete_template": _TEMPLATE,
    "request_template": _TEMPLATE,
    "list_templates": {"senderKey": SENDER_KEY, "status": "approved"},
    "list_inbound_messages": {"limit": 100},
    "add_opt_outs": {"phoneNumbers": [PHONE, "010-9876-5432"], "reason": "전화로 요청"},
    "remove_opt_outs": {"phoneNumber": PHONE},
    "list_opt_outs": {"pageSize": 100},
    "create_webhook": {
        "url": "https://shop.example/pabal",
        "events": ["message.result", "optOut.added"],
        "products": ["alimTalk", "sms"],
        "description": "주문 알림",
    },
    "update_webhook": {"webhookId": "1", "enabled": True},
    "delete_webhook": {"webhookId": "1"},
    "test_webhook": {"webhookId": "1"},
    "replay_webhook": {"webhookId": "1", "since": "2026-11-15 09:00"},
    "list_webhooks": {},
    "list_webhook_deliveries": {"webhookId": "1", "pageSize": 100},
    "list_events": {"since": "2026-11-15 09:00"},
    "export_personal_data": {"phoneNumber": PHONE},
    "erase_personal_data": {"phoneNumber": PHONE},
    "look_at_phone": {"phoneNumber": PHONE},
}
"""By operation id."""
