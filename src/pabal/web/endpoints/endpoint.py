"""The type of an endpoint in the table of endpoints, and the codes that all of them may answer."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from pabal.checks.body.call import ApiCall
from pabal.domain.base.codes import Code, Text
from pabal.models.operations import Operation
from pabal.models.send_answers import AcceptedAnswer

Handler = Callable[[ApiCall], Awaitable[dict[str, Any]]]
InputSource = Literal["body", "query", "anywhere"]
FIELD_CODES = (Code.MISSING_PARAMETER, Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER)
"""Codes of endpoints that check fields."""

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
    summary: Text
    """What it does."""
    group: Text
    scope: str
    input_source: InputSource
    """Where its fields come from: the JSON body, the query string, or either of them or a form."""
    body: type[Struct]
    answer: type[Struct]
    handler: Handler
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


class Group(NamedTuple):
    """A group of endpoints in the documentation."""

    name: Text

    def endpoint(
        self,
        operation: Operation[Any],
        handler: Handler,
        scope: str,
        summary: Text,
        *own_codes: Code,
        input_source: InputSource | None = None,
    ) -> Endpoint:
        """Return an endpoint of this group; unless said otherwise, a GET reads the query and a POST the body."""
        usual: InputSource = "query" if operation.method == "GET" else "body"
        return Endpoint(
            operation.method,
            operation.path,
            operation.id,
            summary,
            self.name,
            scope,
            input_source or usual,
            operation.body,
            operation.answer,
            handler,
            own_codes,
        )


HISTORY = Group(Text("발송 내역", "History"))
"""A group that several modules have endpoints of."""
