"""A webhook of one test: a server on this machine that verifies and collects what the service delivers to it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import inf
from typing import Any

import msgspec

from pabal.client import Client, CreateWebhook, DeleteWebhook, InvalidPostError, ListDeliveries, read_post
from pabal.models.webhook_posts import OtherPost

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
