"""An account for one test: its key, its clients, and what its messages became."""

import re
import threading
from types import TracebackType
from typing import Any, Self

from pabal.client import (
    AsyncClient,
    AuthSender,
    Client,
    CreateSender,
    GetRequest,
    ListPhoneMessages,
    ListSenders,
    TemplateKey,
    WriteTemplate,
)
from pabal.models.answers import MessageItem
from pabal.models.lookup import PhoneItem
from pabal.testing.webhook_sink import WebhookSink
from pabal.world import RealWorld

POLL_INTERVAL_S = 0.02
END_TIMEOUT_S = 10.0
_CATEGORY = "00100010001"
_ADMINISTRATOR = "010-9999-0000"


class TemporaryAccount:
    """An account of a running service."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        """The base URL of the API."""
        self.api_key = api_key
        """A key of the account, with every scope."""
        self.client = Client(base_url, api_key)
        """A client with this key."""
        self._sinks: list[WebhookSink] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sink in self._sinks:
            sink.close()
        self.client.close()

    def async_client(self) -> AsyncClient:
        """Return a client for asyncio, which the caller closes."""
        return AsyncClient(self.base_url, self.api_key)

    def wait_until_ended(self, request_id: str, timeout_s: float = END_TIMEOUT_S) -> list[MessageItem]:
        """Wait until every message of a request has ended, and return them, fallbacks included.

        Raises TimeoutError.
        """
        world = RealWorld()
        until = world.monotonic() + timeout_s
        while True:
            counts = self.client.look_up_request(GetRequest(requestId=request_id)).item.counts
            if not counts.waiting and not counts.sending:
                return list(self.client.iterate(self.client.look_up_request, GetRequest(requestId=request_id)))
            if world.monotonic() > until:
                raise TimeoutError(f"after {timeout_s} s some messages have not ended: {counts}")
            threading.Event().wait(POLL_INTERVAL_S)

    def list_received(self, phone_number: str) -> list[PhoneItem]:
        """Return what a simulated phone has received from this account, newest first."""
        return list(self.client.iterate(self.client.look_at_phone, ListPhoneMessages(phoneNumber=phone_number)))

    def register_channel(self, channel_id: str = "@shop", category: str = _CATEGORY) -> str:
        """Register and approve a sender profile, and return its sender key."""
        self.client.create_sender(CreateSender(category=category, channelId=channel_id, cellphone=_ADMINISTRATOR))
        token = next(each for each in self.list_received(_ADMINISTRATOR) if each.kind == "token")
        (digits,) = re.findall("[0-9]{6}", token.content)
        self.client.authenticate_sender(AuthSender(channelId=channel_id, token=digits))
        (profile,) = self.client.list_senders(ListSenders(channelId=channel_id)).items
        return str(profile.senderKey)

    def register_template(
        self, content: str, template_code: str = "T1", sender_key: str = "", **fields: Any
    ) -> TemplateKey:
        """Register and approve a template, and return its keys; `fields` are more of those of `WriteTemplate`.

        Without `sender_key` it is of the sender profile of the account, which is registered if there is none.
        """
        if not sender_key:
            profiles = self.client.list_senders().items
            sender_key = str(profiles[0].senderKey) if profiles else self.register_channel()
        key = TemplateKey(senderKey=sender_key, templateCode=template_code)
        given = {"name": template_code, "category": self.client.list_template_categories().items[0].code, **fields}
        self.client.create_template(
            WriteTemplate(senderKey=sender_key, templateCode=template_code, content=content, **given)
        )
        self.client.request_template(key)
        return key

    def receive_webhooks(self, *events: str) -> WebhookSink:
        """Create a webhook for these events, such as `message.result`, and collect what is delivered to it."""
        sink = WebhookSink(self.client, events)
        self._sinks.append(sink)
        return sink
