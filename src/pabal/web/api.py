"""The interface itself: finds the endpoint of a request, guards it, and answers in the envelope."""

import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from pabal.checks import forms
from pabal.checks.call import ApiCall
from pabal.checks.forms import Form
from pabal.checks.locale import Locale, choose_language
from pabal.domain.codes import LANGUAGES, Code, Problem, Refused, Text
from pabal.service.access.limits import RateLimitResult
from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.service.sending.accept import IdempotencyKey
from pabal.store.engine.base import StoreUnavailable
from pabal.web import envelope
from pabal.web.endpoints import ENDPOINT_BY_PATH, Endpoint
from pabal.web.guard import ApiGuard

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

FORM_MEDIA_TYPE = b"application/x-www-form-urlencoded"
JSON_MEDIA_TYPE = b"application/json"
MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
MAX_QUERY_FIELDS = 100
RETRY_AFTER_UNAVAILABLE_S = 1

log = logging.getLogger("pabal.web")


class ClientDisconnected(Exception):
    """The caller hung up before its request was whole."""


class ApiResponse(NamedTuple):
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
        guard: ApiGuard,
        other_app: AsgiApp,
        *,
        max_body_bytes: int,
        always_ok: bool = False,
        logs_all_requests: bool = False,
        has_simulator: bool = True,
    ) -> None:
        self._context = context
        self._guard = guard
        self._other_app = other_app
        self._max_body_bytes = max_body_bytes
        self._always_ok = always_ok
        self._logs_all_requests = logs_all_requests
        self._endpoints = {
            path: endpoint
            for path, endpoint in ENDPOINT_BY_PATH.items()
            if has_simulator or not path.startswith("/api/simulator/")
        }
        self._locales = {locale: Locale(locale, context.policy.zone) for locale in LANGUAGES}
        self._request_count = context.world.random_bits(32) << 32
        """Numbers the requests, from where no earlier run has begun."""
        self.is_stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        endpoint = self._endpoints.get(path)
        if endpoint is None and not path.startswith("/api/"):
            await self._other_app(scope, receive, send)
            return
        world = self._context.world
        began = world.monotonic()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        speech = self._locales[choose_language(headers.get(b"accept-language", b""))]
        self._request_count += 1
        request_id = f"{self._request_count:016x}"
        try:
            answer = await self._respond(endpoint, scope, headers, receive, speech, request_id)
        except ClientDisconnected:
            return
        path = endpoint.path if endpoint else "unknown"
        self._context.metrics.http_requests.add(1, path, answer.code.name)
        if self._logs_all_requests or answer.code is not Code.SUCCESS:
            self._log(path, answer, request_id, world.monotonic() - began)
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

    async def _respond(
        self,
        endpoint: Endpoint | None,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        locale: Locale,
        request_id: str,
    ) -> ApiResponse:
        extra_headers: list[tuple[bytes, bytes]] = []
        retry_after_s: float | None = None
        try:
            if endpoint is None:
                raise Refused(Code.NOT_FOUND)
            additions = await self._call_endpoint(endpoint, scope, headers, receive, locale, extra_headers)
            body = envelope.encode_success(additions, self._context.world.now(), locale)
            return ApiResponse(Code.SUCCESS, 200, body, extra_headers)
        except Refused as refused:
            problems, retry_after_s = refused.problems, refused.retry_after_s
        except StoreUnavailable as away:
            log.warning("the store is away", extra={"request_id": request_id, "error": str(away)})
            problems = (Problem(Code.SERVICE_UNAVAILABLE),)
        except ClientDisconnected:
            raise
        except Exception as error:
            log.error("unhandled fault", extra={"request_id": request_id, **describe_error(error)})
            problems = (Problem(Code.INTERNAL_ERROR, detail=Text(f"ID: {request_id}", f"ID: {request_id}")),)
        code = problems[0].code
        if code is Code.METHOD_NOT_ALLOWED and endpoint:
            extra_headers.append((b"allow", endpoint.method.encode()))
        if code is Code.SERVICE_UNAVAILABLE:
            retry_after_s = RETRY_AFTER_UNAVAILABLE_S
        if retry_after_s is not None:
            extra_headers.append((b"retry-after", b"%d" % max(1, -int(-retry_after_s // 1))))
        body = envelope.encode_refusal(problems, self._context.world.now(), locale)
        return ApiResponse(code, self._http_status(code), body, extra_headers)

    async def _call_endpoint(
        self,
        endpoint: Endpoint,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        locale: Locale,
        extra_headers: list[tuple[bytes, bytes]],
    ) -> Mapping[str, Any]:
        """Return what the endpoint adds to the envelope, after every check in the order that is promised."""
        if scope["method"] != endpoint.method:
            raise Refused(Code.METHOD_NOT_ALLOWED)
        length = headers.get(b"content-length")
        if length is not None and int(length) > self._max_body_bytes:
            raise self._too_large_refusal()
        if self.is_stopping:
            raise Refused(Code.SERVICE_UNAVAILABLE)
        try:
            key = await self._guard.authorize(
                headers[b"apikey"].decode("latin-1") if b"apikey" in headers else None,
                endpoint.scope,
                scope["client"][0] if scope.get("client") else None,
                _join_forwarded_for(scope) if b"x-forwarded-for" in headers else "",
            )
        except Refused:
            if length is None:  # its size comes first, but nothing is kept for someone unknown
                await self._read_body(receive, is_kept=False)
            raise
        raw = await self._read_body(receive) if length is None else None
        if key.rate:
            allowance = await self._guard.consume_rate(key)
            extra_headers += _rate_headers(allowance)
            if not allowance.is_allowed:
                raise Refused(Code.RATE_LIMITED, retry_after_s=allowance.retry_after_s)
        if raw is None:
            raw = await self._read_body(receive)
        form = _read_form(endpoint, scope["query_string"], headers.get(b"content-type", b""), raw)
        call = ApiCall(
            self._context,
            key.account_id,
            form,
            locale,
            self._context.world.now(),
            _read_idempotency_key(endpoint, headers.get(b"idempotency-key"), raw),
        )
        return await endpoint.handler(call)

    async def _read_body(self, receive: Receive, *, is_kept: bool = True) -> bytes:
        """Return the whole body, refusing one that grows beyond the limit before it is read whole.

        One that is not to be kept is only measured.
        """
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        body: bytes = message.get("body", b"")
        if not message.get("more_body") and len(body) <= self._max_body_bytes:
            return body
        parts, size = [body], len(body)
        while True:
            if size > self._max_body_bytes:
                raise self._too_large_refusal()
            if not message.get("more_body"):
                return b"".join(parts)
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            part = message.get("body", b"")
            size += len(part)
            if is_kept:
                parts.append(part)

    def _too_large_refusal(self) -> Refused:
        most = self._max_body_bytes
        return Refused(Code.PAYLOAD_TOO_LARGE, detail=Text(f"{most}바이트까지입니다.", f"At most {most} bytes."))

    def _http_status(self, code: Code) -> int:
        status = code.http_status
        return 200 if self._always_ok and 400 <= status < 500 and status != 429 else status

    def _log(self, path: str, answer: ApiResponse, request_id: str, seconds: float) -> None:
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


def _read_form(endpoint: Endpoint, query: bytes, content_type: bytes, raw: bytes) -> Form[Any]:
    if endpoint.input_source == "query":
        return forms.parse_fields(endpoint.body, forms.convert_text_fields(endpoint.body, _parse_pairs(query)))
    kind = _parse_media_type(content_type) if raw else JSON_MEDIA_TYPE
    if endpoint.input_source == "anywhere":
        from_query = forms.convert_text_fields(endpoint.body, _parse_pairs(query))
        if kind == FORM_MEDIA_TYPE:
            given: dict[str, Any] = forms.convert_text_fields(endpoint.body, _parse_pairs(raw))
        elif kind == JSON_MEDIA_TYPE:
            given = forms.parse_json_object(raw)
        else:
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE)
        form = forms.parse_fields(endpoint.body, {**given, **from_query})
        for name, value in from_query.items():
            if given.get(name) is not None and given[name] != value:
                form.add(_conflict_problem(name))
        return form
    if kind != JSON_MEDIA_TYPE:
        raise Refused(Code.UNSUPPORTED_MEDIA_TYPE)
    return forms.parse_json(endpoint.body, raw)


def _join_forwarded_for(scope: Scope) -> str:
    """Return the forwarded addresses; a proxy may have added a header of its own to that of another."""
    lines = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return str(b",".join(lines).decode("latin-1"))


@lru_cache(maxsize=256)
def _parse_media_type(header: bytes) -> bytes:
    """Return the type that a Content-Type names, empty for a charset we do not read; JSON if it is absent."""
    kind, *parameters = header.lower().split(b";")
    for parameter in parameters:
        name, _, value = parameter.strip().partition(b"=")
        if name == b"charset" and value.strip(b'" ') not in (b"utf-8", b"utf8"):
            return b""
    return kind.strip() or JSON_MEDIA_TYPE


def _parse_pairs(encoded: bytes) -> dict[str, str]:
    """Return the fields of a query string or form.

    Raises Refused(INVALID_PARAMETER) for one that cannot be read or says two things at once.
    """
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS
        )
    except ValueError:
        detail = Text("UTF-8로 인코딩된 항목이 아닙니다.", "The fields are not encoded as UTF-8.")
        raise Refused(Code.INVALID_PARAMETER, detail=detail) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise Refused.from_problems([_conflict_problem(name)])
    return found


def _conflict_problem(name: str) -> Problem:
    detail = Text("서로 다른 두 값이 있습니다.", "It has two different values.")
    return Problem(Code.INVALID_PARAMETER, name, detail)


def _read_idempotency_key(endpoint: Endpoint, header: bytes | None, raw: bytes) -> IdempotencyKey | None:
    if header is None or not endpoint.takes_idempotency_key:
        return None
    key = header.decode("latin-1")
    if not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS or not key.isascii() or not key.isprintable():
        most = MAX_IDEMPOTENCY_KEY_CHARACTERS
        detail = Text(f"1자부터 {most}자까지의 ASCII 문자입니다.", f"It has 1 to {most} printable characters.")
        raise Refused(Code.INVALID_PARAMETER, "Idempotency-Key", detail)
    return IdempotencyKey(key, hashlib.sha256(endpoint.path.encode() + b"\n" + raw).digest())


def _rate_headers(allowance: RateLimitResult) -> list[tuple[bytes, bytes]]:
    return [
        (b"ratelimit-limit", b"%d" % allowance.limit),
        (b"ratelimit-remaining", b"%d" % allowance.remaining),
        (b"ratelimit-reset", b"%d" % -int(-allowance.reset_s // 1)),
    ]
