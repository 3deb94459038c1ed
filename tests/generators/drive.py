"""Drives a running service through every operation, by a client that openapi-python-client generated.

Arguments: base URL, key, address of a webhook. Prints the paths that it called, as JSON.
"""

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import httpx
from pabal_openapi import Client
from pabal_openapi import models as m
from pabal_openapi.api.history import (
    list_inbound_messages,
    list_messages,
    list_results,
    list_statistics,
    look_up_message,
    look_up_request,
)
from pabal_openapi.api.opt_outs import add_opt_outs, list_opt_outs, remove_opt_outs
from pabal_openapi.api.privacy import erase_personal_data, export_personal_data
from pabal_openapi.api.sender_profiles import (
    authenticate_sender,
    create_sender,
    delete_sender,
    list_sender_categories,
    list_senders,
)
from pabal_openapi.api.sending import (
    cancel,
    send_alimtalk,
    send_brand_message,
    send_friendtalk,
    send_lms,
    send_mms,
    send_sms,
)
from pabal_openapi.api.templates import (
    create_template,
    delete_template,
    list_template_categories,
    list_templates,
    request_template,
    update_template,
)
from pabal_openapi.api.testing import look_at_phone
from pabal_openapi.api.webhooks import (
    create_webhook,
    delete_webhook,
    list_events,
    list_webhook_deliveries,
    list_webhooks,
    replay_webhook,
    test_webhook,
    update_webhook,
)
from pabal_openapi.types import Unset

T = TypeVar("T")

BASE_URL, KEY, URL = sys.argv[1:]
PHONE = "010-1234-5678"
SENDER = "02-1234-5678"
CONTENT = "#{name}님, 안녕하세요"
CHANNEL = "@python"
MAX_POLLS = 2000
"""How often to look for events, which are numbered soon after they have happened."""

called: list[str] = []


def _record(request: httpx.Request) -> None:
    called.append(request.url.path)


client = Client(base_url=BASE_URL, headers={"apiKey": KEY}, httpx_args={"event_hooks": {"request": [_record]}})


def _ok(answer: T | m.Envelope | None) -> T:
    assert answer is not None
    assert not isinstance(answer, m.Envelope), answer
    return answer


def _given(value: T | Unset) -> T:
    assert not isinstance(value, Unset)
    return value


def _receiver() -> m.Receiver:
    values = m.ReceiverTemplateData.from_dict({"name": "홍길동"})
    return m.Receiver(phone_number=PHONE, template_data=values, reference="1")


def _talk_receiver() -> m.TalkReceiver:
    return m.TalkReceiver(
        phone_number=PHONE, template_data=m.TalkReceiverTemplateData.from_dict({"name": "홍길동"})
    )


def register_channel() -> str:
    categories = _ok(list_sender_categories.sync(client=client, body=m.Nothing()))
    body = m.CreateSender(category=categories.items[0].code, channel_id=CHANNEL, cellphone="010-9999-0000")
    assert _ok(create_sender.sync(client=client, body=body)).item.auth_status.value == "waiting"
    phone = _ok(look_at_phone.sync(client=client, phone_number="010-9999-0000", page_size=1))
    (token,) = re.findall(r"[0-9]{6}", phone.items[0].content)
    _ok(authenticate_sender.sync(client=client, body=m.AuthSender(channel_id=CHANNEL, token=token)))
    found = _ok(list_senders.sync(client=client, auth_status=m.ListSendersAuthStatus.APPROVAL))
    return str(_given(found.items[0].sender_key))


def approve_template(sender_key: str, code: str) -> None:
    categories = _ok(list_template_categories.sync(client=client))
    body = m.WriteTemplate(
        sender_key=sender_key,
        template_code=code,
        name="주문 확인",
        content=CONTENT,
        category=categories.items[0].code,
        buttons=[m.TemplateButton(name="열기", mobile_url="https://shop.example")],
    )
    _ok(create_template.sync(client=client, body=body))
    body.name = "주문"
    _ok(update_template.sync(client=client, body=body))
    key = m.TemplatePlace(sender_key=sender_key, template_code=code)
    assert _ok(request_template.sync(client=client, body=key)).item.status.value == "approved"
    _ok(list_templates.sync(client=client, sender_key=sender_key, status=m.ListTemplatesStatus.APPROVED))
    body.template_code = key.template_code = "UNUSED"
    _ok(create_template.sync(client=client, body=body))
    _ok(delete_template.sync(client=client, body=key))


def send(sender_key: str, code: str) -> str:
    text = m.SendSms(content=CONTENT, sender=SENDER, receivers=[_receiver()])
    first = _ok(send_sms.sync(client=client, body=text, idempotency_key="python-1"))
    again = _ok(send_sms.sync(client=client, body=text, idempotency_key="python-1"))
    assert first.item.request_id == again.item.request_id
    dry = _ok(send_sms.sync(client=client, body=text, dry_run=m.SendSmsDryRun.TRUE))
    assert _given(dry.item.receivers)[0].product == "sms"
    lms = m.SendLms(subject="제목", content=CONTENT, sender=SENDER, receivers=[_receiver()])
    _ok(send_lms.sync(client=client, body=lms))
    mms = m.SendMms(content=CONTENT, sender=SENDER, receivers=[_receiver()])
    _ok(send_mms.sync(client=client, body=mms))
    alimtalk = m.SendAlimtalk(sender_key=sender_key, template_code=code, receivers=[_receiver()])
    _ok(send_alimtalk.sync(client=client, body=alimtalk))
    friendtalk = m.SendFriendtalk(sender_key=sender_key, content=CONTENT, receivers=[_talk_receiver()])
    _ok(send_friendtalk.sync(client=client, body=friendtalk))
    brand = m.SendBrandMessage(sender_key=sender_key, content=CONTENT, receivers=[_talk_receiver()])
    _ok(send_brand_message.sync(client=client, body=brand))
    text.send_date = f"{datetime.now(UTC) + timedelta(days=20):%Y-%m-%d %H:%M}"
    later = _given(_ok(send_sms.sync(client=client, body=text)).item.request_id)
    assert _ok(cancel.sync(client=client, body=m.Cancel(request_id=later))).item.canceled_count == 1
    return str(_given(first.item.request_id))


def look_up(request_id: str) -> str:
    """Look everything up; return the minute of the first request."""
    found = _ok(list_messages.sync(client=client, body=m.ListMessages(receivers=PHONE)))
    assert found.total_count >= 6
    request = _ok(look_up_request.sync(client=client, request_id=request_id))
    detail = _ok(look_up_message.sync(client=client, message_id=request.items[0].message_id))
    assert detail.item.events[0].event == "accepted"
    results = _ok(list_results.sync(client=client, limit=100))
    assert len(results.items) == results.result_count
    day = detail.item.request_date[:10]
    _ok(list_statistics.sync(client=client, from_=day, group_by="product"))
    _ok(list_inbound_messages.sync(client=client))
    return str(detail.item.request_date[:16])


def manage(since: str) -> None:
    _ok(add_opt_outs.sync(client=client, body=m.AddOptOuts(phone_numbers=[PHONE], reason="전화")))
    _ok(list_opt_outs.sync(client=client, phone_number=PHONE))
    removed = _ok(remove_opt_outs.sync(client=client, body=m.RemoveOptOuts(phone_number=PHONE)))
    assert removed.item.removed_count == 1
    body = m.CreateWebhook(url=URL, events=[m.CreateWebhookEventsItem.MESSAGE_RESULT])
    webhook_id = _ok(create_webhook.sync(client=client, body=body)).item.webhook_id
    _ok(update_webhook.sync(client=client, body=m.UpdateWebhook(webhook_id=webhook_id, description="주문")))
    test = _ok(test_webhook.sync(client=client, body=m.TestWebhook(webhook_id=webhook_id)))
    assert _given(test.item.error)
    assert len(_ok(list_webhooks.sync(client=client)).items) == 1
    _ok(replay_webhook.sync(client=client, body=m.ReplayWebhook(webhook_id=webhook_id, since=since)))
    _ok(list_webhook_deliveries.sync(client=client, webhook_id=webhook_id))
    assert any(_ok(list_events.sync(client=client, since=since)).items for _ in range(MAX_POLLS))
    _ok(delete_webhook.sync(client=client, body=m.DeleteWebhook(webhook_id=webhook_id)))
    _ok(export_personal_data.sync(client=client, body=m.ExportPersonalData(phone_number=PHONE)))
    _ok(erase_personal_data.sync(client=client, body=m.ErasePersonalData(phone_number=PHONE)))


def is_refused_by_name() -> None:
    body = m.SendSms(content=CONTENT, sender=SENDER, receivers=[m.Receiver(phone_number="1")])
    answer = send_sms.sync(client=client, body=body)
    assert isinstance(answer, m.Envelope)
    assert _given(answer.errors)[0].field == "receivers[0].phoneNumber"


sender_key = register_channel()
approve_template(sender_key, "T1")
manage(look_up(send(sender_key, "T1")))
is_refused_by_name()
_ok(delete_sender.sync(client=client, body=m.DeleteSender(sender_key=sender_key)))
sys.stdout.write(json.dumps(sorted(set(called))))
