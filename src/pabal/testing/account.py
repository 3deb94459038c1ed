"""An account for one test: its key, its clients, what its messages became, and a server for its webhooks."""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from types import TracebackType
from typing import Any, Self

import msgspec

from pabal.client import (
    AsyncClient,
    AuthSender,
    Client,
    CreateSender,
    CreateWebhook,
    DeleteWebhook,
    GetRequest,
    InvalidPostError,
    ListDeliveries,
    ListPhoneMessages,
    ListSenders,
    TemplateKey,
    WriteTemplate,
    read_post,
)
from pabal.models.answers import MessageItem
from pabal.models.lookup import PhoneItem
from pabal.models.webhook_posts import OtherPost
from pabal.world import RealWorld

DELIVERY_TIMEOUT_S = 10.0
SHUTDOWN_POLL_S = 0.02
MAX_TRIES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class SignedDelivery:
    """A delivery whose signature is right."""

    type: str
    """The event, such as `message.result`."""
    headers: Mapping[str, str]
    """Its headers, in lowercase."""
    body: bytes
    """Its body as it arrived, for a handler that verifies it itself."""
    post: Any
    """Its body, as the type of its event: see `pabal.models.webhook_posts`."""


class WebhookSink:
    """A webhook of an account, and its deliveries."""

    def __init__(self, client: Client, events: Sequence[str]) -> None:
        self.deliveries: list[SignedDelivery] = []
        """All that was delivered, in the order of arrival."""
        self._returned: list[SignedDelivery] = []
        self._changed = threading.Condition()
        self._client = client
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler_class())
        threading.Thread(target=self._server.serve_forever, args=(SHUTDOWN_POLL_S,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        """Where the service delivers to."""
        try:
            created = client.create_webhook(CreateWebhook(url=self.url, events=list(events))).item
        except BaseException:
            self._stop()
            raise
        self.webhook_id: str = created.webhookId
        self.secret: str = created.secret
        """The secret to verify deliveries with, `whsec_…`."""

    def wait_for(
        self, matches: Callable[[Any], bool] = lambda post: True, timeout_s: float = DELIVERY_TIMEOUT_S
    ) -> SignedDelivery:
        """Wait for a delivery whose `post` matches, and return it; each delivery is returned once.

        Raises TimeoutError, which says what was delivered instead, and what the service has tried.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._find(matches), timeout_s):
                raise TimeoutError(self._explain(timeout_s))
            (found,) = self._find(matches)
            self._returned.append(found)
            return found

    def close(self) -> None:
        """Delete the webhook and stop listening."""
        self._client.delete_webhook(DeleteWebhook(webhookId=self.webhook_id))
        self._stop()

    def _find(self, matches: Callable[[Any], bool]) -> list[SignedDelivery]:
        returned = {id(each) for each in self._returned}
        return [each for each in self.deliveries if id(each) not in returned and matches(each.post)][:1]

    def _explain(self, timeout_s: float) -> str:
        delivered = ", ".join(each.type for each in self.deliveries) or "nothing"
        shown = ListDeliveries(webhookId=self.webhook_id, pageSize=MAX_TRIES_SHOWN)
        tries = self._client.list_webhook_deliveries(shown).items
        failed = [str(each.error or each.status) for each in tries if each.status != HTTPStatus.NO_CONTENT]
        return (
            f"after {timeout_s} s no such delivery has come. Delivered to this webhook so far: {delivered}."
            + (f" Failed tries of the service, newest first: {', '.join(failed)}." if failed else "")
            + " Is the event among those of the webhook, and has the message ended?"
        )

    def _stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _receive(self, headers: Mapping[str, str], body: bytes) -> HTTPStatus:
        try:  # whatever the time: the clock of the service may have been moved
            post = read_post(self.secret, headers, body, tolerance_s=inf)
        except InvalidPostError:
            return HTTPStatus.UNAUTHORIZED
        with self._changed:
            self.deliveries.append(
                SignedDelivery(msgspec.json.decode(body, type=OtherPost).type, headers, body, post)
            )
            self._changed.notify_all()
        return HTTPStatus.NO_CONTENT

    def _handler_class(self) -> type[BaseHTTPRequestHandler]:
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(
                    sink._receive({name.lower(): value for name, value in self.headers.items()}, body)
                )
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                """A test prints only what it fails at."""

        return Handler


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
