"""Serves requests by an ASGI app: the console, pages and webhooks, whose bodies may be streams."""

import re
from collections.abc import MutableMapping
from typing import Any

from pabal.web.http.exchange import AsgiApp, ClientDisconnected, HeaderLines, HttpExchange

_VERSIONS = {"version": "3.0", "spec_version": "2.3"}
CALLER_LEFT = "pabal.caller_left"
"""An extension of ASGI: awaits `HttpExchange.wait_until_left`."""
REQUEST_ID = "pabal.request_id"
"""An extension of ASGI: `HttpExchange.request_id`."""
_WITHOUT_BODY = (204, 304)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_NOT_IN_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_LAST_CHUNK = b"0\r\n\r\n"


class InvalidResponse(Exception):
    """What an app sends is no response."""


Address = tuple[str, int] | None


async def run_asgi(app: AsgiApp, exchange: HttpExchange, client: Address, server: Address) -> None:
    """Let an app answer a request that came from the address `client` to `server`.

    Raises InvalidResponse, and what the app raises.
    """
    scope = {
        "type": "http",
        "asgi": _VERSIONS,
        "http_version": exchange.version,
        "method": exchange.method,
        "scheme": "http",
        "path": exchange.path,
        "raw_path": exchange.raw_path,
        "query_string": exchange.query,
        "root_path": "",
        "headers": exchange.header_lines,
        "client": client,
        "server": server,
        "extensions": {CALLER_LEFT: exchange.wait_until_left, REQUEST_ID: exchange.request_id},
    }
    adapter = _AsgiResponse(exchange)
    await app(scope, adapter.receive, adapter.send)
    if not exchange.is_answered and not exchange.is_disconnected:
        raise InvalidResponse("the app has returned without a whole response")


class _AsgiResponse:
    """Translates an app's messages; sends the head of a response together with the first part of its body."""

    def __init__(self, exchange: HttpExchange) -> None:
        self._exchange = exchange
        self._has_read_all = False
        self._head: bytes | None = None
        self._has_head = False
        self._is_chunked = False
        self._bytes_left: int | None = 0
        """How much of a body is still to come; None: unknown."""

    async def receive(self) -> MutableMapping[str, Any]:
        exchange = self._exchange
        if self._has_read_all:
            await exchange.wait()
            return {"type": "http.disconnect"}
        if exchange.is_answered:
            return {"type": "http.disconnect"}
        try:
            body = await exchange.read()
        except ClientDisconnected:
            return {"type": "http.disconnect"}
        self._has_read_all = exchange.is_received
        return {"type": "http.request", "body": body, "more_body": not exchange.is_received}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        await self._exchange.drain()
        if self._exchange.is_disconnected:
            return
        expected = "http.response.body" if self._has_head else "http.response.start"
        if message["type"] != expected or self._exchange.is_answered:
            raise InvalidResponse(f"unexpected {message['type']}")
        if self._has_head:
            self._send_body(message.get("body", b""), is_last=not message.get("more_body", False))
        else:
            self._has_head = True
            self._begin(message["status"], list(message.get("headers", ())))

    def _begin(self, status: int, header_lines: HeaderLines) -> None:
        exchange = self._exchange
        lines = [(name.lower(), value) for name, value in header_lines]
        for name, value in lines:
            if not _NAME.fullmatch(name) or _NOT_IN_VALUE.search(value):
                raise InvalidResponse("invalid header")
        headers = dict(lines)
        if b"close" in headers.get(b"connection", b"").lower():
            exchange.keeps_alive = False
        lines = [line for line in lines if line[0] not in (b"connection", b"transfer-encoding")]
        if exchange.method == "HEAD" or status in _WITHOUT_BODY:
            self._bytes_left = 0
        elif b"content-length" in headers:
            self._bytes_left = int(headers[b"content-length"])
        else:
            self._bytes_left = None
            if exchange.version == "1.0":  # it has no chunks: the body ends with the connection
                exchange.keeps_alive = False
            else:
                self._is_chunked = True
                lines.append((b"transfer-encoding", b"chunked"))
        self._head = exchange.encode_head(status, lines)

    def _send_body(self, body: bytes, *, is_last: bool) -> None:
        if self._exchange.method == "HEAD":
            body = b""
        if self._bytes_left is not None:
            self._bytes_left -= len(body)
            if self._bytes_left < 0 or (is_last and self._bytes_left):
                raise InvalidResponse("the body has not the length that was declared")
        elif self._is_chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (_LAST_CHUNK if is_last else b"")
        if self._head is not None:
            body, self._head = self._head + body, None
        if body:
            self._exchange.write(body)
        if is_last:
            self._exchange.finish()
