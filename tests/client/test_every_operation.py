"""Both clients drive a running service through every operation."""

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from pabal.client import (
    AddOptOuts,
    AsyncClient,
    AuthSender,
    CancelRequest,
    Client,
    CreateSender,
    CreateWebhook,
    DeleteSender,
    DeleteWebhook,
    ErasePersonalData,
    ExportPersonalData,
    FriendtalkReceiverBody,
    GetMessage,
    GetRequest,
    ListDeliveries,
    ListEvents,
    ListMessages,
    ListPhoneMessages,
    ListSenders,
    ListTemplates,
    ReceiverBody,
    RemoveOptOuts,
    ReplayWebhook,
    SendAlimtalk,
    SendBrandMessage,
    SendFriendtalk,
    SendLms,
    SendMms,
    SendSms,
    SendWebhookTest,
    TemplateKey,
    UpdateWebhook,
    WriteTemplate,
    errors,
    statistics_since,
)
from pabal.testing.service import LocalService
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.live import zone_at_noon

PHONE = "010-1234-5678"
SENDER = "02-1234-5678"
CONTENT = "#{name}님, 안녕하세요"
CLOSED_PORT = 1
MAX_POLLS = 2000
"""How often to look for events, which are numbered soon after they have happened."""
Caller = Callable[..., Any]


class RecordingTransport(httpx.HTTPTransport):
    """A transport that notes the paths of the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.paths: set[str] = set()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.add(request.url.path)
        return super().handle_request(request)


class AsyncRecordingTransport(httpx.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__()
        self.paths: set[str] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.paths.add(request.url.path)
        return await super().handle_async_request(request)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalService]:
    """A service where it is noon, so that it sends advertisements, and whose callers may have webhooks here."""
    allowed = [f"{name}@localhost:{CLOSED_PORT}" for name in ("sync", "asyncio")]
    folder = tmp_path_factory.mktemp("driven")
    with LocalService(folder, zone=ZoneInfo(zone_at_noon()), webhook_allow=allowed) as running:
        yield running


def _receiver(kind: Any = ReceiverBody) -> Any:
    return kind(phoneNumber=PHONE, templateData={"name": "홍길동"}, reference="1")


def _register_channel(call: Caller) -> str:
    category = call("list_sender_categories").items[0].code
    made = call("create_sender", CreateSender(category=category, channelId="@shop", cellphone="010-9999-0000"))
    assert made.item.authStatus.value == "waiting"
    phone = call("look_at_phone", ListPhoneMessages(phoneNumber="010-9999-0000"))
    (token,) = re.findall(r"[0-9]{6}", phone.items[0].content)
    call("authenticate_sender", AuthSender(channelId="@shop", token=token))
    (profile,) = call("list_senders", ListSenders(authStatus="approval")).items
    return str(profile.senderKey)


def _approve_template(call: Caller, sender_key: str) -> None:
    category = call("list_template_categories").items[0].code
    template = WriteTemplate(
        senderKey=sender_key, templateCode="T1", name="주문", content=CONTENT, category=category
    )
    key = TemplateKey(senderKey=sender_key, templateCode="T1")
    call("create_template", template)
    call("delete_template", key)
    call("create_template", template)
    call("update_template", template)
    assert call("request_template", key).item.status.value == "approved"
    assert len(call("list_templates", ListTemplates(status="approved")).items) == 1


def _send(call: Caller, sender_key: str) -> str:
    texts: dict[str, Any] = {"content": CONTENT, "sender": SENDER, "receivers": [_receiver()]}
    sms = SendSms(**texts)
    first = call("send_sms", sms, idempotency_key="1")
    assert call("send_sms", sms, idempotency_key="1").request_id == first.request_id
    dry = call("send_sms", sms, dry_run=True)
    assert [each.content for each in dry.item.receivers] == ["홍길동님, 안녕하세요"]
    call("send_lms", SendLms(subject="제목", **texts))
    call("send_mms", SendMms(**texts))
    call("send_alimtalk", SendAlimtalk(senderKey=sender_key, templateCode="T1", receivers=[_receiver()]))
    receivers = [_receiver(FriendtalkReceiverBody)]
    talk: dict[str, Any] = {"senderKey": sender_key, "content": CONTENT, "receivers": receivers}
    call("send_friendtalk", SendFriendtalk(**talk))
    call("send_brand_message", SendBrandMessage(**talk))
    sms.sendDate = f"{datetime.now(UTC) + timedelta(days=20):%Y-%m-%d %H:%M}"
    later = call("send_sms", sms).request_id
    assert call("cancel", CancelRequest(requestId=later)).item.canceledCount == 1
    return str(first.request_id)


def _look_up(call: Caller, request_id: str) -> str:
    """Look everything up; return the minute of the first request."""
    assert call("list_messages", ListMessages(receivers=PHONE)).totalCount >= 6
    message = call("look_up_request", GetRequest(requestId=request_id)).items[0]
    detail = call("look_up_message", GetMessage(messageId=message.messageId)).item
    assert detail.events[0].event == "accepted"
    results = call("list_results")
    assert results.resultCount == len(results.items)
    call("list_statistics", statistics_since(message.requestDate[:10], group_by=["product", "status"]))
    assert call("list_inbound_messages").items == []
    return str(message.requestDate[:16])


def _manage(call: Caller, url: str, since: str) -> None:
    assert call("add_opt_outs", AddOptOuts(phoneNumbers=[PHONE])).item.addedCount == 1
    assert call("list_opt_outs").totalCount == 1
    assert call("remove_opt_outs", RemoveOptOuts(phoneNumber=PHONE)).item.removedCount == 1
    webhook_id = call("create_webhook", CreateWebhook(url=url, events=["message.result"])).item.webhookId
    assert call("update_webhook", UpdateWebhook(webhookId=webhook_id, description="주문")).item.description
    assert call("test_webhook", SendWebhookTest(webhookId=webhook_id)).item.error
    assert len(call("list_webhooks").items) == 1
    call("replay_webhook", ReplayWebhook(webhookId=webhook_id, since=since))
    assert call("list_webhook_deliveries", ListDeliveries(webhookId=webhook_id)).items
    assert any(call("list_events", ListEvents(since=since)).items for _ in range(MAX_POLLS))
    call("delete_webhook", DeleteWebhook(webhookId=webhook_id))
    assert call("export_personal_data", ExportPersonalData(phoneNumber=PHONE)).item.phoneNumber == PHONE
    assert call("erase_personal_data", ErasePersonalData(phoneNumber=PHONE)).item.erasedCount > 0


def _drive(call: Caller) -> None:
    sender_key = _register_channel(call)
    _approve_template(call, sender_key)
    since = _look_up(call, _send(call, sender_key))
    _manage(call, f"https://localhost:{CLOSED_PORT}/pabal", since)
    with pytest.raises(errors.InvalidPhoneNumberError) as raised:
        call("send_sms", SendSms(content="안녕", sender=SENDER, receivers=[ReceiverBody(phoneNumber="1")]))
    assert [each.field for each in raised.value.errors] == ["receivers[0].phoneNumber"]
    call("delete_sender", DeleteSender(senderKey=sender_key))


def test_synchronous_client_drives_every_operation(service: LocalService) -> None:
    transport = RecordingTransport()
    with Client(service.base_url, service.create_account("sync"), transport=transport) as client:
        _drive(lambda name, *body, **options: getattr(client, name)(*body, **options))

    assert transport.paths == {endpoint.path for endpoint in ENDPOINTS}


def test_asynchronous_client_drives_every_operation(service: LocalService) -> None:
    transport = AsyncRecordingTransport()
    with asyncio.Runner() as runner:
        client = AsyncClient(service.base_url, service.create_account("asyncio"), transport=transport)
        _drive(lambda name, *body, **options: runner.run(getattr(client, name)(*body, **options)))
        runner.run(client.aclose())

    assert transport.paths == {endpoint.path for endpoint in ENDPOINTS}
