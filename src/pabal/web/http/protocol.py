"""Parses the requests of a connection, hands them to the app and sends its answers."""

import asyncio
import logging
from collections import deque

import httptools

from pabal.service.errors import describe_error
from pabal.web.http.asgi import run_asgi
from pabal.web.http.connections import HEALTH_PATHS, ByteFlow, CloseReason, ConnectionTable
from pabal.web.http.exchange import (
    FAILED,
    MALFORMED,
    TIMED_OUT,
    TOO_MANY_CONNECTIONS,
    ClientDisconnected,
    ConnectionRefusal,
    HttpApp,
    HttpExchange,
    encode_head,
)
from pabal.web.http.head import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    UnacceptableHead,
    asks_for_upgrade,
    encode_plain_head,
    read_head,
)

MAX_PIPELINED = 16
"""Requests that may wait behind the one in progress on the same connection."""
MAX_CHUNK_OVERHEAD_BYTES = 64 * 1024
"""What a chunked body may add in sizes, extensions and trailers, besides its own length."""
DRAIN_S = 5.0
"""How long the rest of a body that was refused early is read, so that the caller sees the answer."""
_REQUEST, _HEAD, _BODY, _ANSWER, _END = range(5)
"""What a connection waits for; plain numbers, since every request looks at them several times."""

log = logging.getLogger("pabal.web")


class HttpProtocol(asyncio.Protocol):
    """One connection: HTTP/1.1 or 1.0; anything else is answered with 400.

    Requests that arrive before earlier ones are answered wait for their turn.
    """

    transport: asyncio.Transport
    _flow: ByteFlow

    def __init__(self, app: HttpApp, table: ConnectionTable) -> None:
        self._app = app
        self._table = table
        self._limits = table.limits
        self._parser = httptools.HttpRequestParser(self)
        self._now = table.world.now
        self._monotonic = table.world.monotonic
        self._client: tuple[str, int] | None = None
        self._peer: str | None = None
        self._is_regular = True
        self._phase = _REQUEST
        self._since: float | None = None
        """When the phase began, as far as the caller is to blame for its length."""
        self._timeout_s = table.limits.head_s
        self._raw_bytes = 0
        """Bytes of this head or of this body as they came."""
        self._body_bytes = 0
        self._bytes_before_since = 0
        self._url = b""
        self._header_lines: list[tuple[bytes, bytes]] = []
        self._exchanges: deque[HttpExchange] = deque()
        """Those that are not answered yet; the first is in progress."""
        self._newest: HttpExchange | None = None
        """The one whose request was received last, or is being received."""
        self._ignores_input = False
        self._refusal: bytes | None = None
        """What remains to be said when all earlier requests are answered."""

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; one beyond the limit is only for health checks."""
        self.transport = transport
        self._flow = ByteFlow(transport)
        self._client = _address(transport, "peername")
        self._peer = self._client[0] if self._client else None
        self._since = self._monotonic()
        self._is_regular = self._table.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection; a request in progress ends by itself."""
        self._table.remove(self)
        self._ignores_input = True
        self._disconnect_all()
        self.resume_writing()

    def eof_received(self) -> bool:
        """Answer what is in progress before the connection is closed; half a request is refused."""
        if self._refusal is None and self._phase in (_HEAD, _BODY):
            self._refuse(MALFORMED, CloseReason.MALFORMED)
        if self._phase == _END or not self._exchanges:
            return False
        if self._refusal is None:
            self._exchanges[-1].keeps_alive = False
        for exchange in self._exchanges:
            exchange.receive_close()
        return True

    def data_received(self, data: bytes) -> None:
        """Parse data; refuse a head that is too large and a body that consists of anything but content."""
        if self._ignores_input:
            return
        self._raw_bytes += len(data)
        try:
            self._parse(data)
        except httptools.HttpParserError:
            if not self._ignores_input:
                self._refuse(MALFORMED, CloseReason.MALFORMED)
            return
        phase = self._phase
        if phase in (_ANSWER, _END) or self.transport.is_closing():
            return
        if self._since is None:
            self._since = self._monotonic()
        if phase == _BODY:
            is_mostly_overhead = self._raw_bytes > MAX_CHUNK_OVERHEAD_BYTES + 2 * self._body_bytes
            if is_mostly_overhead and not self._is_draining():
                self._refuse(MALFORMED, CloseReason.MALFORMED)
        elif self._raw_bytes > MAX_HEAD_BYTES:
            self._refuse(MALFORMED, CloseReason.MALFORMED)

    def _parse(self, data: bytes) -> None:
        while True:  # for each of the requests that may wait
            try:
                return self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:  # the parser has skipped the body, which is one like any
                data = encode_plain_head(self._parser, self._url, self._header_lines) + data[upgrade.args[0] :]
                self._parser = httptools.HttpRequestParser(self)

    def stop(self) -> None:
        """Close the connection as soon as what was received is answered."""
        if self._exchanges:
            self._exchanges[-1].keeps_alive = False
            self._ignores_input = self._phase == _ANSWER
        else:
            self.transport.close()

    def abort(self) -> None:
        """Close the connection at once."""
        self.transport.abort()

    # The request, as the parser reads it

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._phase, self._since, self._timeout_s = _HEAD, None, self._limits.head_s
        self._url, self._header_lines = b"", []

    def on_url(self, url: bytes) -> None:
        """Add a part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; a trailer is none."""
        if self._phase == _BODY:
            return
        if len(self._header_lines) >= MAX_HEADERS:
            raise UnacceptableHead("too many headers")
        self._header_lines.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Start the request, unless earlier ones wait; its head is complete.

        One that asks for another protocol is parsed again without that wish: we speak none.
        """
        if self._parser.should_upgrade() and asks_for_upgrade(self._header_lines):
            return
        if len(self._exchanges) > MAX_PIPELINED:
            raise UnacceptableHead("too many requests at once")
        head = read_head(self._parser, self._url, self._header_lines, self._raw_bytes)
        keeps_alive = head.keeps_alive and self._is_regular
        self._newest = HttpExchange(
            head,
            self._peer,
            self._flow,
            self._now,
            self._finish,
            request_id=self._table.new_request_id(),
            keeps_alive=keeps_alive,
        )
        self._phase, self._since = _BODY, None
        self._raw_bytes = self._body_bytes = self._bytes_before_since = 0
        self._table.set_busy(self)
        self._exchanges.append(self._newest)
        if len(self._exchanges) == 1:
            self._table.start(self._newest, self._answer(self._newest))
        else:
            self._flow.pause_reading()

    def on_body(self, body: bytes) -> None:
        """Count and pass on a part of the body."""
        self._body_bytes += len(body)
        assert self._newest
        self._newest.receive(body)

    def on_message_complete(self) -> None:
        """Prepare for the next request's head."""
        if self._phase != _BODY:  # its head is parsed again
            return
        assert self._newest
        is_draining = self._is_draining()
        if self._since is not None:  # it came in several parts
            self._table.set_received(self)
            self._since = None
        self._phase, self._raw_bytes = _ANSWER, 0
        self._newest.receive_end()
        if is_draining:
            self._wait_for_request()
        elif not self._newest.keeps_alive:
            self._ignores_input = True

    # The response

    async def _answer(self, exchange: HttpExchange) -> None:
        app = self._app
        try:
            if not self._is_regular and exchange.path not in HEALTH_PATHS:
                await exchange.respond(TOO_MANY_CONNECTIONS.build_response(self._now()))
            elif app.direct and app.direct.serves(exchange):
                await exchange.respond(await app.direct.respond(exchange))
            else:
                await run_asgi(app.asgi, exchange, self._client, _address(self.transport, "sockname"))
        except ClientDisconnected:
            return
        except Exception as error:
            about = {"path": "server", "request_id": exchange.request_id, **describe_error(error)}
            log.error("unhandled error", extra=about)
            if not exchange.is_started:
                exchange.keeps_alive = False
                await exchange.respond(FAILED.build_response(self._now()))
            elif not exchange.is_answered:
                self.transport.close()
        finally:
            self._table.end(exchange)

    def _finish(self, exchange: HttpExchange) -> None:
        """Go on with the next request, or with the refusal that follows the last one.

        No timer is set for each wait: the table closes connections that idle.
        """
        self._exchanges.popleft()
        if not exchange.keeps_alive:
            self._ignores_input = True
            self._disconnect_all()
            self.transport.close()
        if self.transport.is_closing():
            return
        self._flow.resume_reading()
        if self._exchanges:
            following = self._exchanges[0]
            self._table.start(following, self._answer(following))
        elif self._refusal is not None:
            self._close_with(self._refusal)
        elif self._phase == _ANSWER:
            self._wait_for_request()
        else:
            self._since = self._monotonic()
            self._table.set_waiting(self, self._since)

    def _wait_for_request(self) -> None:
        now = self._monotonic()
        self._phase, self._since, self._timeout_s = _REQUEST, now, self._limits.idle_s
        self._table.set_waiting(self, now)

    def _is_draining(self) -> bool:
        """Tell whether a body is read that nobody waits for: its request is answered."""
        return self._phase == _BODY and not self._exchanges

    def _disconnect_all(self) -> None:
        for exchange in self._exchanges:
            exchange.disconnect()
        self._exchanges.clear()

    # Flow of bytes

    def pause_writing(self) -> None:
        """Have responses wait: the caller receives too slowly."""
        self._flow.pause_writing()

    def resume_writing(self) -> None:
        """Have responses go on."""
        self._flow.resume_writing()

    # Timeouts and refusals

    def check(self, now: float) -> None:
        """Close the connection if its caller is too slow."""
        if self._flow.has_stalled(now, self._limits.response_s, self._limits.min_bytes_per_s):
            self._table.count_close(CloseReason.RESPONSE_TIMEOUT)
            self.transport.abort()
        elif self._since is None or self.transport.is_closing():
            return
        elif self._phase == _END:
            if now - self._since > DRAIN_S:
                self.transport.close()
        elif self._phase == _BODY:
            self._check_body(now, now - self._since)
        elif not self._exchanges and now - self._since > self._timeout_s:
            if self._phase == _HEAD:
                self._refuse(TIMED_OUT, CloseReason.HEAD_TIMEOUT)
            else:
                self._table.count_close(CloseReason.IDLE_TIMEOUT)
                self.transport.close()

    def _check_body(self, now: float, waited_s: float) -> None:
        assert self._newest
        if self._is_draining():
            if waited_s > DRAIN_S:
                self._table.count_close(CloseReason.BODY_TIMEOUT)
                self.transport.close()
            return
        is_our_fault = self._flow.is_read_paused or len(self._exchanges) > 1 or self._newest.expects_continue
        if not is_our_fault:
            self._table.set_receiving(self)
            if waited_s <= self._limits.body_s:
                return
            if self._body_bytes - self._bytes_before_since < waited_s * self._limits.min_bytes_per_s:
                self._refuse(TIMED_OUT, CloseReason.BODY_TIMEOUT)
                return
        self._since, self._bytes_before_since = now, self._body_bytes

    def evict(self) -> None:
        """Close the connection to make room for another."""
        if self._phase in (_HEAD, _BODY) or self._newest is None:
            self._refuse(TOO_MANY_CONNECTIONS, None)
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _refuse(self, refusal: ConnectionRefusal, reason: CloseReason | None) -> None:
        """Answer the request that is being received, after all earlier ones, and close the connection."""
        self._ignores_input = True
        if reason:
            self._table.count_close(reason)
        now = self._now()
        status, header_lines, body = refusal.build_response(now)
        answer = encode_head(status, header_lines, self._table.new_request_id(), now, keeps_alive=False) + body
        if self._is_draining():  # it has its answer already
            self.transport.close()
        elif not self._exchanges:
            self._close_with(answer)
        elif self._phase == _BODY and len(self._exchanges) == 1:
            self._break_off(answer)
        else:
            if self._phase == _BODY:  # it never started, and never will
                self._exchanges.pop()
            self._refusal = answer
            self._flow.pause_reading()

    def _break_off(self, answer: bytes) -> None:
        """End the request in progress, whose body will never be complete."""
        is_started = self._exchanges[0].is_started
        self._disconnect_all()
        if is_started:
            self.transport.close()
        else:
            self._close_with(answer)

    def _close_with(self, answer: bytes) -> None:
        """Send an answer and end the connection, but let the caller finish: else it may never see the answer."""
        self._flow.write(answer)
        self.transport.write_eof()
        self._phase, self._since = _END, self._monotonic()
        self._table.set_received(self)
        self._table.set_waiting(self, self._since)


def _address(transport: asyncio.BaseTransport, name: str) -> tuple[str, int] | None:
    found = transport.get_extra_info(name)
    return (str(found[0]), int(found[1])) if isinstance(found, tuple) else None
