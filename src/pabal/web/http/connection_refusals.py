"""The answers that end a connection: to malformed HTTP, a slow caller, and one connection too many."""

from typing import NamedTuple

from pabal.checks.body.locale import DEFAULT_LOCALE
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.base.dates import Instant
from pabal.web import envelope

RETRY_AFTER = (b"retry-after", b"1")


class ConnectionRefusal(NamedTuple):
    """An answer that ends a connection."""

    status_line: bytes
    code: Code
    detail: Text
    may_be_retried: bool = False

    def headers(self, body: bytes) -> list[tuple[bytes, bytes]]:
        """Return the headers of the answer with this body."""
        own = [(b"content-type", envelope.CONTENT_TYPE), (b"content-length", b"%d" % len(body))]
        return [*own, RETRY_AFTER] if self.may_be_retried else own

    def encode_body(self, now: Instant) -> bytes:
        """Return the body of the answer."""
        return envelope.encode_refusal([Problem(self.code, detail=self.detail)], now, DEFAULT_LOCALE)

    def encode(self, now: Instant) -> bytes:
        """Return the whole answer, as it is sent over a connection."""
        body = self.encode_body(now)
        lines = b"".join(b"%b: %b\r\n" % each for each in self.headers(body))
        return b"HTTP/1.1 %b\r\n%bconnection: close\r\n\r\n%b" % (self.status_line, lines, body)


MALFORMED = ConnectionRefusal(
    b"400 Bad Request",
    Code.INVALID_PARAMETER,
    Text("올바른 HTTP 요청이 아닙니다.", "The request is not valid HTTP."),
)
TIMED_OUT = ConnectionRefusal(
    b"408 Request Timeout",
    Code.INVALID_PARAMETER,
    Text("요청이 제때 도착하지 않아 접수하지 않았습니다.", "It did not arrive in time and was not accepted."),
)
CROWDED_OUT = ConnectionRefusal(
    b"503 Service Unavailable",
    Code.SERVICE_UNAVAILABLE,
    Text(
        "연결이 너무 많아 이 요청은 접수하지 않았습니다.",
        "There are too many connections; this request was not accepted.",
    ),
    may_be_retried=True,
)
