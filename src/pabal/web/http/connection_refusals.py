"""The answers that end a connection: to malformed HTTP, slow callers, and too many connections."""

from http import HTTPStatus
from typing import NamedTuple

from pabal.checks.body.locale import DEFAULT_LOCALE
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.base.dates import Instant
from pabal.web import envelope
from pabal.web.http.messages import HttpResponse

RETRY_AFTER = (b"retry-after", b"1")


class ConnectionRefusal(NamedTuple):
    """An answer that ends a connection."""

    status: HTTPStatus
    code: Code
    detail: Text | None = None
    may_be_retried: bool = False

    def build_response(self, now: Instant) -> HttpResponse:
        """Return the answer."""
        body = envelope.encode_refusal([Problem(self.code, detail=self.detail)], now, DEFAULT_LOCALE)
        lines = [(b"content-type", envelope.CONTENT_TYPE), (b"content-length", b"%d" % len(body))]
        return HttpResponse(self.status, [*lines, RETRY_AFTER] if self.may_be_retried else lines, body)


MALFORMED = ConnectionRefusal(
    HTTPStatus.BAD_REQUEST,
    Code.INVALID_PARAMETER,
    Text("올바른 HTTP 요청이 아닙니다.", "The request is not valid HTTP."),
)
TIMED_OUT = ConnectionRefusal(
    HTTPStatus.REQUEST_TIMEOUT,
    Code.INVALID_PARAMETER,
    Text("요청이 제때 도착하지 않아 접수하지 않았습니다.", "It did not arrive in time and was not accepted."),
)
TOO_MANY_CONNECTIONS = ConnectionRefusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    Code.SERVICE_UNAVAILABLE,
    Text(
        "연결이 너무 많아 이 요청은 접수하지 않았습니다.",
        "There are too many connections; this request was not accepted.",
    ),
    may_be_retried=True,
)
FAILED = ConnectionRefusal(HTTPStatus.INTERNAL_SERVER_ERROR, Code.INTERNAL_ERROR)
