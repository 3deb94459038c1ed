"""The type of an endpoint in the table of endpoints, and the codes that all of them may answer."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from pabal.checks.body.call import ApiCall
from pabal.domain.base.codes import Code, Text
from pabal.models.send_answers import AcceptedAnswer

InputSource = Literal["body", "query", "anywhere"]
FIELD_CODES = (Code.MISSING_PARAMETER, Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER)
"""Codes of endpoints that check fields."""
HISTORY = Text("발송 내역", "History")
"""A group of the documentation that several modules have endpoints of."""

COMMON_CODES = (
    Code.SUCCESS,
    Code.METHOD_NOT_ALLOWED,
    Code.PAYLOAD_TOO_LARGE,
    Code.UNAUTHORIZED,
    Code.KEY_EXPIRED,
    Code.FORBIDDEN,
    Code.RATE_LIMITED,
    Code.INVALID_PARAMETER,
    Code.INTERNAL_ERROR,
    Code.SERVICE_UNAVAILABLE,
)
"""Codes that every endpoint may answer."""
_BODY_CODES = (Code.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_JSON)


class Endpoint(NamedTuple):
    """One operation: its path, the scope it needs, its input, handler and answer."""

    method: str
    path: str
    operation_id: str
    """Its name in the OpenAPI document. Generated clients use it, so it never changes."""
    summary: Text
    """What it does."""
    group: Text
    scope: str
    input_source: InputSource
    """Where its fields come from: the JSON body, the query string, or either of them or a form."""
    body: type[Struct]
    answer: type[Struct]
    handler: Callable[[ApiCall], Awaitable[dict[str, Any]]]
    own_codes: tuple[Code, ...]
    """The codes that it may answer beyond those of every endpoint."""

    @property
    def codes(self) -> tuple[Code, ...]:
        """Every result code that it may answer."""
        body = _BODY_CODES if self.input_source != "query" else ()
        return tuple(dict.fromkeys((*COMMON_CODES, *body, *self.own_codes)))

    @property
    def known_fields(self) -> tuple[str, ...]:
        """The names of its fields in JSON."""
        return self.body.__struct_encode_fields__

    @property
    def is_send(self) -> bool:
        """Whether it sends messages: it takes the headers Idempotency-Key and Dry-Run."""
        return self.answer is AcceptedAnswer
