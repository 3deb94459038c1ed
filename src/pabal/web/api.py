"""The interface itself: finds the endpoint of a request, guards it, and answers in the envelope."""

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from pabal.checks import forms
from pabal.checks.call import Call
from pabal.checks.forms import Form
from pabal.checks.locale import Speech, locale_of
from pabal.domain.codes import LOCALES, Code, Problem, Refused, Words
from pabal.service.access.limits import Allowance
from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.service.sending.accept import Repeatable
from pabal.store.engine.base import StoreAway
from pabal.web import envelope
from pabal.web.endpoints import BY_PATH, Endpoint
from pabal.web.guard import Guard

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

FORM_TYPE = b"application/x-www-form-urlencoded"
JSON_TYPE = b"application/json"
MAX_IDEMPOTENCY_KEY = 255
MAX_QUERY_FIELDS = 100
RETRY_AFTER_TROUBLE_S = 1

log = logging.getLogger("pabal.web")


class Gone(Exception):
    """The caller hung up before its request was whole."""


class Answer(NamedTuple):
    """A finished answer: result, HTTP status, body and its own headers."""

    code: Code
    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]


class Api:
    """The interface on bare ASGI; what is not under /api/ goes to `rest`."""

    def __init__(
        self,
        context: Context,
        guard: Guard,
        rest: AsgiApp,
        *,
        max_body_bytes: int,
        always_ok: bool = False,
        logs_all: bool = False,
        has_simulator: bool = True,
    ) -> None:
        self._context = context
        self._guard = guard
        self._rest = rest
        self._max_body_bytes = max_body_bytes
        self._always_ok = always_ok
        self._logs_all = logs_all
        self._endpoints = {
            path: endpoint
            for path, endpoint in BY_PATH.items()
            if has_simulator or not path.startswith("/api/simulator/")
        }
        self._speeches = {locale: Speech(locale, context.policy.zone) for locale in LOCALES}
        self._requests = context.world.bits(32) << 32
        """Numbers the requests, from where no earlier run has begun."""
        self.is_stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        endpoint = self._endpoints.get(path)
        if endpoint is None and not path.startswith("/api/"):
            await self._rest(scope, receive, send)
            return
        world = self._context.world
        began = world.stopwatch()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        speech = self._speeches[locale_of(headers.get(b"accept-language", b""))]
        self._requests += 1
        request_id = f"{self._requests:016x}"
        try:
            answer = await self._answer(endpoint, scope, headers, receive, speech, request_id)
        except Gone:
            return
        path = endpoint.path if endpoint else "unknown"
        self._context.metrics.requests.add(1, path, answer.code.name)
        if self._logs_all or answer.code is not Code.SUCCESS:
            self._log(path, answer, request_id, world.stopwatch() - began)
        await send(
            {
                "type": "http.response.start",
                "status": answer.status,
                "headers": [
                    (b"content-type", envelope.CONTENT_TYPE),
                    (b"content-length", b"%d" % len(answer.body)),
                    (b"x-request-id", request_id.encode()),
                    *answer.headers,
                ],
            }
        )
        await send({"type": "http.response.body", "body": answer.body})

    async def _answer(
        self,
        endpoint: Endpoint | None,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        speech: Speech,
        request_id: str,
    ) -> Answer:
        extra: list[tuple[bytes, bytes]] = []
        retry_after_s: float | None = None
        try:
            if endpoint is None:
                raise Refused(Code.NOT_FOUND)
            additions = await self._additions(endpoint, scope, headers, receive, speech, extra)
            body = envelope.success(additions, self._context.world.now(), speech)
            return Answer(Code.SUCCESS, 200, body, extra)
        except Refused as refused:
            problems, retry_after_s = refused.problems, refused.retry_after_s
        except StoreAway as away:
            log.warning("the store is away", extra={"request_id": request_id, "error": str(away)})
            problems = (Problem(Code.SERVICE_UNAVAILABLE),)
        except Gone:
            raise
        except Exception as error:
            log.error("unhandled fault", extra={"request_id": request_id, **describe_error(error)})
            problems = (Problem(Code.INTERNAL_ERROR, detail=Words(f"ID: {request_id}", f"ID: {request_id}")),)
        code = problems[0].code
        if code is Code.METHOD_NOT_ALLOWED and endpoint:
            extra.append((b"allow", endpoint.method.encode()))
        if code is Code.SERVICE_UNAVAILABLE:
            retry_after_s = RETRY_AFTER_TROUBLE_S
        if retry_after_s is not None:
            extra.append((b"retry-after", b"%d" % max(1, -int(-retry_after_s // 1))))
        body = envelope.refusal(problems, self._context.world.now(), speech)
        return Answer(code, self._status(code), body, extra)

    async def _additions(
        self,
        endpoint: Endpoint,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        speech: Speech,
        extra: list[tuple[bytes, bytes]],
    ) -> Mapping[str, Any]:
        """Return what the endpoint adds to the envelope, after every check in the order that is promised."""
        if scope["method"] != endpoint.method:
            raise Refused(Code.METHOD_NOT_ALLOWED)
        length = headers.get(b"content-length")
        if length is not None and int(length) > self._max_body_bytes:
            raise self._too_large()
        if self.is_stopping:
            raise Refused(Code.SERVICE_UNAVAILABLE)
        try:
            key = await self._guard.admit(
                headers[b"apikey"].decode("latin-1") if b"apikey" in headers else None,
                endpoint.scope,
                scope["client"][0] if scope.get("client") else None,
                _forwarded_for(scope) if b"x-forwarded-for" in headers else "",
            )
        except Refused:
            if length is None:  # its size comes first, but nothing is kept for someone unknown
                await self._body(receive, is_kept=False)
            raise
        raw = await self._body(receive) if length is None else None
        if key.rate:
            allowance = await self._guard.spend(key)
            extra += _rate_headers(allowance)
            if not allowance.is_granted:
                raise Refused(Code.RATE_LIMITED, retry_after_s=allowance.retry_after_s)
        if raw is None:
            raw = await self._body(receive)
        form = _form(endpoint, scope["query_string"], headers.get(b"content-type", b""), raw)
        call = Call(
            self._context,
            key.account_id,
            form,
            speech,
            self._context.world.now(),
            _repeatable(endpoint, headers.get(b"idempotency-key"), raw),
        )
        return await endpoint.handle(call)

    async def _body(self, receive: Receive, *, is_kept: bool = True) -> bytes:
        """Return the whole body, refusing one that grows beyond the limit before it is read whole.

        One that is not to be kept is only measured.
        """
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body: bytes = message.get("body", b"")
        if not message.get("more_body") and len(body) <= self._max_body_bytes:
            return body
        parts, size = [body], len(body)
        while True:
            if size > self._max_body_bytes:
                raise self._too_large()
            if not message.get("more_body"):
                return b"".join(parts)
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Gone
            part = message.get("body", b"")
            size += len(part)
            if is_kept:
                parts.append(part)

    def _too_large(self) -> Refused:
        most = self._max_body_bytes
        return Refused(Code.PAYLOAD_TOO_LARGE, detail=Words(f"{most}바이트까지입니다.", f"At most {most} bytes."))

    def _status(self, code: Code) -> int:
        status = code.http_status
        return 200 if self._always_ok and 400 <= status < 500 and status != 429 else status

    def _log(self, path: str, answer: Answer, request_id: str, seconds: float) -> None:
        log.info(
            "request",
            extra={
                "request_id": request_id,
                "path": path,
                "result": answer.code.name,
                "status": answer.status,
                "ms": round(seconds * 1000, 1),
            },
        )


def _form(endpoint: Endpoint, query: bytes, content_type: bytes, raw: bytes) -> Form[Any]:
    if endpoint.takes == "query":
        return forms.from_fields(endpoint.body, forms.from_text(endpoint.body, _pairs(query)))
    kind = _media_type(content_type) if raw else JSON_TYPE
    if endpoint.takes == "anywhere":
        from_query = forms.from_text(endpoint.body, _pairs(query))
        if kind == FORM_TYPE:
            given: dict[str, Any] = forms.from_text(endpoint.body, _pairs(raw))
        elif kind == JSON_TYPE:
            given = forms.json_object(raw)
        else:
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE)
        form = forms.from_fields(endpoint.body, {**given, **from_query})
        for name, value in from_query.items():
            if given.get(name) is not None and given[name] != value:
                form.add(_conflict(name))
        return form
    if kind != JSON_TYPE:
        raise Refused(Code.UNSUPPORTED_MEDIA_TYPE)
    return forms.from_json(endpoint.body, raw)


def _forwarded_for(scope: Scope) -> str:
    """Return the forwarded addresses; a proxy may have added a header of its own to that of another."""
    lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return str(b",".join(lines).decode("latin-1"))


@lru_cache(maxsize=256)
def _media_type(header: bytes) -> bytes:
    """Return the type that a Content-Type names, empty for a charset we do not read; JSON if it is absent."""
    kind, *parameters = header.lower().split(b";")
    for parameter in parameters:
        name, _, value = parameter.strip().partition(b"=")
        if name == b"charset" and value.strip(b'" ') not in (b"utf-8", b"utf8"):
            return b""
    return kind.strip() or JSON_TYPE


def _pairs(encoded: bytes) -> dict[str, str]:
    """Return the fields of a query string or form.

    Raises Refused(INVALID_PARAMETER) for one that cannot be read or says two things at once.
    """
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS
        )
    except ValueError:
        detail = Words("UTF-8로 인코딩된 항목이 아닙니다.", "The fields are not encoded as UTF-8.")
        raise Refused(Code.INVALID_PARAMETER, detail=detail) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise Refused.for_all([_conflict(name)])
    return found


def _conflict(name: str) -> Problem:
    detail = Words("서로 다른 두 값이 있습니다.", "It has two different values.")
    return Problem(Code.INVALID_PARAMETER, name, detail)


def _repeatable(endpoint: Endpoint, header: bytes | None, raw: bytes) -> Repeatable | None:
    if header is None or not endpoint.is_repeatable:
        return None
    key = header.decode("latin-1")
    if not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY or not key.isascii() or not key.isprintable():
        most = MAX_IDEMPOTENCY_KEY
        detail = Words(f"1자부터 {most}자까지의 ASCII 문자입니다.", f"It has 1 to {most} printable characters.")
        raise Refused(Code.INVALID_PARAMETER, "Idempotency-Key", detail)
    return Repeatable(key, hashlib.sha256(endpoint.path.encode() + b"\n" + raw).digest())


def _rate_headers(allowance: Allowance) -> list[tuple[bytes, bytes]]:
    return [
        (b"ratelimit-limit", b"%d" % allowance.limit),
        (b"ratelimit-remaining", b"%d" % allowance.remaining),
        (b"ratelimit-reset", b"%d" % -int(-allowance.reset_s // 1)),
    ]
