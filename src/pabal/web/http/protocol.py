"""The server's HTTP protocol: HTTP/1.1 with time-outs, which answers what it refuses in the envelope."""

import asyncio
import re
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from pabal.web.http.connection_refusals import CROWDED_OUT, MALFORMED, TIMED_OUT, ConnectionRefusal
from pabal.web.http.connections import HEALTH_PATHS, CloseReason, ConnectionTable
from pabal.web.http.response_transport import WHOLE_RESPONSE, ResponseTransport

MAX_HEAD_BYTES = 64 * 1024
"""Limit of a request's line and headers."""
MAX_HEADERS = 100
MAX_PIPELINED = 16
"""Requests that may wait behind the one in progress on the same connection."""
MAX_CHUNK_OVERHEAD_BYTES = 64 * 1024
"""What a chunked body may add in sizes, extensions and trailers, besides its own length."""
DRAIN_S = 5.0
"""How long the rest of a body that was refused early is read, so that the caller sees the answer."""
VERSIONS = ("1.1", "1.0")
SINGLE_HEADERS = frozenset(
    {b"host", b"content-length", b"transfer-encoding", b"content-type", b"content-encoding"}
    | {b"apikey", b"idempotency-key"}
)
"""Headers that a request has at most once: two of them would mean one thing to a proxy and another to us."""
_REQUEST, _HEAD, _BODY, _ANSWER, _END = range(5)
"""What a connection waits for; plain numbers, since every request looks at them several times."""
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(:[0-9]{0,5})?")


class _Unacceptable(Exception):
    """A request that is refused for its head."""


class HttpProtocol(HttpToolsProtocol):
    """One connection: HTTP/1.1 or 1.0; anything else is answered with 400."""

    def __init__(self, *args: Any, table: ConnectionTable, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._table = table
        self._limits = table.limits
        self._monotonic = table.world.monotonic
        self._is_regular = True
        self._valid_host: bytes | None = None
        self._phase = _REQUEST
        self._since: float | None = None
        """When the phase began, as far as the caller is to blame for its length."""
        self._timeout_s = table.limits.head_s
        self._raw_bytes = 0
        """Bytes of this head or of this body as they came."""
        self._body_bytes = 0
        self._bytes_before_since = 0
        self._running: RequestResponseCycle | None = None
        self._refusal: bytes | None = None
        """What remains to be said when all earlier requests are answered."""
        self.written_bytes = 0
        self._stalled_since: float | None = None
        self._flushed_before_stall = 0

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; one beyond the limit is only for health checks."""
        super().connection_made(transport)
        self._since = self._monotonic()
        self._is_regular = self._table.admit(self)
        if not self._is_regular:
            self.app = self._answer_health_checks

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._table.remove(self)
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]
        """Answer what is in progress before the connection is closed; half a request is refused."""
        if self._refusal is None and self._phase in (_HEAD, _BODY):
            self._refuse(MALFORMED, CloseReason.MALFORMED)
        if self._phase == _END or not self._is_answering():
            return False
        if self._refusal is None:
            self.cycle.keep_alive = False
        return True

    def data_received(self, data: bytes) -> None:
        """Parse data; refuse a head that is too large and a body that consists of anything but content."""
        if self._refusal is not None or self._phase == _END:
            return
        self._raw_bytes += len(data)
        super().data_received(data)
        phase = self._phase
        if phase in (_ANSWER, _END) or self.transport.is_closing():
            return
        if self._since is None:
            self._since = self._monotonic()
        if phase == _BODY:
            if self._raw_bytes > MAX_CHUNK_OVERHEAD_BYTES + 2 * self._body_bytes and not self._is_draining():
                self.send_400_response("the chunks are too small")
        elif self._raw_bytes > MAX_HEAD_BYTES:
            self.send_400_response("the head of the request is too large")

    # The request, as the parser reads it

    def on_message_begin(self) -> None:
        """Begin a request."""
        self._phase, self._since, self._timeout_s = _HEAD, None, self._limits.head_s
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; a trailer is none."""
        if self._phase == _BODY:
            return
        headers = self.headers
        if len(headers) >= MAX_HEADERS:
            raise _Unacceptable("too many headers")
        name = name.lower()
        if name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Start the request; its head is complete."""
        self._check_head()
        self._phase, self._since = _BODY, None
        self._raw_bytes = self._body_bytes = self._bytes_before_since = 0
        self._table.set_busy(self)
        super().on_headers_complete()
        response = ResponseTransport(self, self.cycle)
        self.cycle.transport = response  # type: ignore[assignment]
        self.cycle.on_response = response.end
        self.scope[WHOLE_RESPONSE] = response.respond  # type: ignore[literal-required]
        if not self._is_regular or self.parser.should_upgrade():
            self.cycle.keep_alive = False

    def _check_head(self) -> None:
        if len(self.pipeline) >= MAX_PIPELINED:
            raise _Unacceptable("too many requests at once")
        if self._raw_bytes > MAX_HEAD_BYTES:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > MAX_HEAD_BYTES:
                raise _Unacceptable("the head is too large")
        version = self.parser.get_http_version()
        headers = dict(self.headers)
        host = headers.get(b"host")
        if version not in VERSIONS or (version == "1.1" and host is None):
            raise _Unacceptable("not HTTP/1.1 with a host, nor HTTP/1.0")
        if host != self._valid_host:
            if host is not None and not _HOST.fullmatch(host):
                raise _Unacceptable("not a host")
            self._valid_host = host
        if version == "1.0" and b"transfer-encoding" in headers:
            raise _Unacceptable("HTTP/1.0 has no chunks")
        if len(headers) < len(self.headers):
            names = [name for name, _ in self.headers]
            if any(names.count(name) > 1 for name in SINGLE_HEADERS & headers.keys()):
                raise _Unacceptable("a header is there twice")

    def on_body(self, body: bytes) -> None:
        """Count and pass on a part of the body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Prepare for the next request's head."""
        is_draining = self._is_draining()
        if self._since is not None:  # it came in several parts
            self._table.set_received(self)
            self._since = None
        self._phase, self._raw_bytes = _ANSWER, 0
        super().on_message_complete()
        if is_draining:
            self._wait_for_request()

    # The response

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """Go on with the next request, or with the refusal that follows the last one.

        No timer is set for each wait: the table closes connections that idle.
        """
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        if self._is_answering():
            return
        if self._refusal is not None:
            self._close_with(self._refusal)
        elif self._phase == _ANSWER:
            self._wait_for_request()
        else:
            self._since = self._monotonic()
            self._table.set_waiting(self)

    def _wait_for_request(self) -> None:
        self._phase, self._since, self._timeout_s = _REQUEST, self._monotonic(), self._limits.idle_s
        self._table.set_waiting(self)

    def _is_answering(self) -> bool:
        newest: RequestResponseCycle | None = self.cycle
        return newest is not None and not newest.response_complete

    def _is_draining(self) -> bool:
        """Tell whether a body is read that nobody waits for: its request is answered."""
        return self._phase == _BODY and not self._is_answering()

    async def _answer_health_checks(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer health checks; refuse everything else."""
        if scope["path"] in HEALTH_PATHS:
            await self.config.loaded_app(scope, receive, send)
            return
        body = CROWDED_OUT.encode_body(self._table.world.now())
        await send({"type": "http.response.start", "status": 503, "headers": CROWDED_OUT.headers(body)})
        await send({"type": "http.response.body", "body": body})

    # Time-outs and refusals

    def check(self, now: float) -> None:
        """Close the connection if its caller is too slow."""
        if self._has_stalled(now):
            self._table.count_close(CloseReason.RESPONSE_TIMEOUT)
            self.transport.abort()
        elif self._since is None or self.transport.is_closing():
            return
        elif self._phase == _END:
            if now - self._since > DRAIN_S:
                self.transport.close()
        elif self._phase == _BODY:
            self._check_body(now, now - self._since)
        elif not self._is_answering() and now - self._since > self._timeout_s:
            if self._phase == _HEAD:
                self._refuse(TIMED_OUT, CloseReason.HEAD_TIMEOUT)
            else:
                self._table.count_close(CloseReason.IDLE_TIMEOUT)
                self.transport.close()

    def _check_body(self, now: float, waited_s: float) -> None:
        if self._is_draining():
            if waited_s > DRAIN_S:
                self._table.count_close(CloseReason.BODY_TIMEOUT)
                self.transport.close()
            return
        is_our_fault = self.flow.read_paused or self.pipeline or self.cycle.waiting_for_100_continue
        if not is_our_fault:
            self._table.set_receiving(self)
            if waited_s <= self._limits.body_s:
                return
            if self._body_bytes - self._bytes_before_since < waited_s * self._limits.min_bytes_per_s:
                self._refuse(TIMED_OUT, CloseReason.BODY_TIMEOUT)
                return
        self._since, self._bytes_before_since = now, self._body_bytes

    def _has_stalled(self, now: float) -> bool:
        """Tell whether the caller does not receive what it was sent."""
        unsent = self.transport.get_write_buffer_size()
        if not unsent:
            self._stalled_since = None
            return False
        flushed = self.written_bytes - unsent
        waited_s = now - self._stalled_since if self._stalled_since is not None else 0.0
        if waited_s > self._limits.response_s:
            if flushed - self._flushed_before_stall < waited_s * self._limits.min_bytes_per_s:
                return True
            self._stalled_since = None
        if self._stalled_since is None:
            self._stalled_since, self._flushed_before_stall = now, flushed
        return False

    def evict(self) -> None:
        """Close the connection to make room for another."""
        first: RequestResponseCycle | None = self.cycle
        if self._phase in (_HEAD, _BODY) or first is None:
            self._refuse(CROWDED_OUT, None)
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse an unreadable request and close the connection."""
        self._refuse(MALFORMED, CloseReason.MALFORMED)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: an upgrade is answered as a plain request."""

    def _refuse(self, refusal: ConnectionRefusal, reason: CloseReason | None) -> None:
        """Answer the request that is being received, after all earlier ones, and close the connection."""
        if reason:
            self._table.count_close(reason)
        answer = refusal.encode(self._table.world.now())
        if self._is_draining():  # it has its answer already
            self.transport.close()
        elif not self._is_answering():
            self._close_with(answer)
        elif self._phase == _BODY and not self.pipeline:
            self._break_off(answer)
        else:
            if self._phase == _BODY:  # it never started, and never will
                self.pipeline.popleft()
                assert self._running
                self.cycle = self.pipeline[0][0] if self.pipeline else self._running
            self._refusal = answer
            self.flow.pause_reading()

    def _break_off(self, answer: bytes) -> None:
        """End the request in progress, whose body will never be complete."""
        cycle = self.cycle
        cycle.disconnected = True
        cycle.message_event.set()
        if cycle.response_started:
            self.transport.close()
        else:
            self._close_with(answer)

    def _close_with(self, answer: bytes) -> None:
        """Send an answer and end the connection, but let the caller finish: else it may never see the answer."""
        self.written_bytes += len(answer)
        self.transport.write(answer)
        self.transport.write_eof()
        self._phase, self._since = _END, self._monotonic()
        self._table.set_received(self)
        self._table.set_waiting(self)
