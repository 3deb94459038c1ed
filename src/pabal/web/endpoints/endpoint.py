"""The type of an endpoint in the table of endpoints, the codes that all may answer, and the headers they take."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import structs

from pabal.checks.body.call import ApiCall
from pabal.domain.base.codes import Code, Refused, Text
from pabal.models.answers import Envelope
from pabal.models.operations import Operation
from pabal.service.sending.accept import IdempotencyKey

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


class Endpoint(Operation[Envelope], frozen=True, kw_only=True):
    """An operation, and how it is served: the scope it needs, its input and its handler."""

    summary: Text
    """What it does."""
    group: Text
    scope: str
    input_source: InputSource
    """Where its fields come from: the JSON body, the query string, or either of them or a form."""
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


class Group(NamedTuple):
    """A group of endpoints in the documentation."""

    name: Text

    def endpoint(
        self,
        operation: Operation[Any],
        handler: Handler,
        scope: str,
        ko: str,
        en: str,
        *own_codes: Code,
        input_source: InputSource | None = None,
    ) -> Endpoint:
        """Return an endpoint of this group, with its summary in both languages.

        Unless said otherwise, a GET reads the query and a POST the body.
        """
        usual: InputSource = "query" if operation.method == "GET" else "body"
        return Endpoint(
            **structs.asdict(operation),
            summary=Text(ko, en),
            group=self.name,
            scope=scope,
            input_source=input_source or usual,
            handler=handler,
            own_codes=own_codes,
        )


HISTORY = Group(Text("발송 내역", "History"))
"""A group that several modules have endpoints of."""


MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
MISSPELT_DRY_RUNS = {b"dryrun": "DryRun", b"x-dry-run": "X-Dry-Run"}
"""Headers that are refused, so that a misspelt dry run never sends."""
_TRUTHS = {b"true": True, b"false": False}
_TRUE_OR_FALSE = Text("true 또는 false로 보내세요.", "Use true or false.")
_DRY_RUN_IS_SPELT_SO = Text("Dry-Run: true로 보내세요.", "Write it as Dry-Run: true.")
_ONLY_SENDS = Text("메시지를 보내는 요청에서만 쓸 수 있습니다.", "Only requests that send messages take it.")


class CallOptions(NamedTuple):
    """What the headers of a call say about how to handle it."""

    is_dry_run: bool
    is_strict: bool
    """Whether unknown fields are refused."""
    idempotency_key: IdempotencyKey | None


def read_options(endpoint: Endpoint, headers: Mapping[bytes, bytes], raw: bytes) -> CallOptions:
    """Return the options of a call; a dry run has no Idempotency-Key.

    Raises Refused(INVALID_PARAMETER) naming the header.
    """
    for header, name in MISSPELT_DRY_RUNS.items():
        if header in headers:
            raise Refused(Code.INVALID_PARAMETER, name, _DRY_RUN_IS_SPELT_SO)
    is_dry_run = b"dry-run" in headers and _read_truth(headers[b"dry-run"], "Dry-Run")
    if b"dry-run" in headers and not endpoint.is_send:
        raise Refused(Code.INVALID_PARAMETER, "Dry-Run", _ONLY_SENDS)
    is_strict = b"strict" in headers and _read_truth(headers[b"strict"], "Strict")
    key = headers.get(b"idempotency-key") if endpoint.is_send and not is_dry_run else None
    return CallOptions(is_dry_run, is_strict, None if key is None else _read_idempotency_key(endpoint, key, raw))


def _read_truth(value: bytes, name: str) -> bool:
    found = _TRUTHS.get(value.lower() if len(value) <= len(b"false") else b"")
    if found is None:
        raise Refused(Code.INVALID_PARAMETER, name, _TRUE_OR_FALSE)
    return found


def _read_idempotency_key(endpoint: Endpoint, header: bytes, raw: bytes) -> IdempotencyKey:
    key = header.decode("latin-1")
    if not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS or not key.isascii() or not key.isprintable():
        limit = MAX_IDEMPOTENCY_KEY_CHARACTERS
        detail = Text(
            f"출력 가능한 ASCII 문자 1~{limit}자로 보내세요.", f"Use 1 to {limit} printable ASCII characters."
        )
        raise Refused(Code.INVALID_PARAMETER, "Idempotency-Key", detail)
    return IdempotencyKey(key, hashlib.sha256(endpoint.path.encode() + b"\n" + raw).digest())
