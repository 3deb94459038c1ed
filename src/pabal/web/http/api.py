"""The HTTP API: routes a request to its endpoint, authorizes it, and answers in the envelope."""

import asyncio
import logging
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from pabal.checks.body import forms
from pabal.checks.body.call import ApiCall
from pabal.checks.body.forms import Form
from pabal.checks.body.large_bodies import parse_large_json
from pabal.checks.body.locale import Locale, choose_language
from pabal.checks.body.unknown_fields import check_body, check_query
from pabal.domain.base.codes import LANGUAGES, Code, Problem, Refused, Text
from pabal.service.access.accounts.rate_limits import BodyBudget, RateLimitResult
from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.store.engine.base import StoreUnavailable
from pabal.web import envelope
from pabal.web.endpoints.endpoint import Endpoint, read_options
from pabal.web.endpoints.table import ENDPOINT_BY_PATH, suggest_path
from pabal.web.http.exchange import ClientDisconnected, HttpResponse, ReceivedRequest, read_body, too_large_refusal
from pabal.web.http.guard import ApiGuard

PREFIX = "/api/"
SEND_SCOPE = "send"
"""The scope of what sends and cancels."""
FORM_MEDIA_TYPE = b"application/x-www-form-urlencoded"
JSON_MEDIA_TYPE = b"application/json"
MAX_QUERY_FIELDS = 100
MAX_CONTENT_TYPE_BYTES = 200
RETRY_AFTER_UNAVAILABLE_S = 1
"""Retry-After of SERVICE_UNAVAILABLE."""
_SEND_JSON = Text("application/json으로 보내세요.", "Send application/json in UTF-8.")
_SEND_UTF_8 = Text(
    "본문을 UTF-8로 바꾸어 Content-Type: application/json으로 보내세요. 다른 charset은 받지 않습니다.",
    "Encode the body as UTF-8 and send Content-Type: application/json; no other charset is accepted.",
)
_SEND_UNCOMPRESSED = Text("압축하지 않은 본문을 보내세요.", "Send the body without compression.")
_SEND_JSON_OR_FORM = Text(
    "application/json 또는 application/x-www-form-urlencoded로 보내세요.",
    "Send application/json or application/x-www-form-urlencoded in UTF-8.",
)
_SENDING_FIELDS = frozenset(
    name for each in ENDPOINT_BY_PATH.values() if each.is_send for name in each.known_fields
)

log = logging.getLogger("pabal.web")


class ApiResponse(NamedTuple):
    """An encoded answer: result code, HTTP status, body and additional headers."""

    code: Code
    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]


class Api:
    """The API: everything under /api/."""

    def __init__(
        self,
        context: Context,
        guard: ApiGuard,
        bodies: BodyBudget,
        *,
        max_body_bytes: int,
        always_ok: bool = False,
        logs_all_requests: bool = False,
        has_simulator: bool = True,
        strict_fields: bool = False,
        refuse_misspelt: bool = True,
    ) -> None:
        self._context = context
        self._guard = guard
        self._bodies = bodies
        self._max_body_bytes = max_body_bytes
        self._always_ok = always_ok
        self._logs_all_requests = logs_all_requests
        self._strict_fields = strict_fields
        self._refuse_misspelt = refuse_misspelt
        self._endpoints = {
            path: endpoint
            for path, endpoint in ENDPOINT_BY_PATH.items()
            if has_simulator or not path.startswith("/api/simulator/")
        }
        self._locales = {language: Locale(language, context.policy.zone) for language in LANGUAGES}
        self.is_stopping = False

    def serves(self, request: ReceivedRequest) -> bool:
        """Tell whether a request is for the API, be its path that of an endpoint or not."""
        return request.path.startswith(PREFIX)

    async def respond(self, request: ReceivedRequest) -> HttpResponse:
        """Answer a call.

        Raises ClientDisconnected.
        """
        world = self._context.world
        started_at = world.monotonic()
        endpoint = self._endpoints.get(request.path)
        locale = self._locales[choose_language(request.headers.get(b"accept-language", b""))]
        answer = await self._answer(endpoint, request, locale)
        path = endpoint.path if endpoint else "unknown"
        self._context.metrics.http_requests.add(1, path, answer.code.name)
        if self._logs_all_requests or answer.code is not Code.SUCCESS:
            self._log(path, answer, request.request_id, world.monotonic() - started_at)
        header_lines = [
            (b"content-type", envelope.CONTENT_TYPE),
            (b"content-length", b"%d" % len(answer.body)),
            *answer.headers,
        ]
        return HttpResponse(answer.status, header_lines, answer.body)

    async def _answer(self, endpoint: Endpoint | None, request: ReceivedRequest, locale: Locale) -> ApiResponse:
        extra_headers: list[tuple[bytes, bytes]] = []
        retry_after_s: float | None = None
        try:
            if endpoint is None:
                raise Refused(Code.NOT_FOUND, detail=suggest_path(request.path, self._endpoints))
            fields = await self._call_endpoint(endpoint, request, locale, extra_headers)
            body = envelope.encode_success(fields, self._context.world.now(), locale)
            return ApiResponse(Code.SUCCESS, 200, body, extra_headers)
        except Refused as refused:
            problems, retry_after_s = refused.problems, refused.retry_after_s
        except StoreUnavailable:  # the store logs the beginning of an outage
            problems = (Problem(Code.SERVICE_UNAVAILABLE),)
        except ClientDisconnected:
            raise
        except Exception as error:
            log.error("unhandled error", extra={"request_id": request.request_id, **describe_error(error)})
            number = f"ID: {request.request_id}"
            problems = (Problem(Code.INTERNAL_ERROR, detail=Text(number, number)),)
        code = problems[0].code
        if code is Code.METHOD_NOT_ALLOWED and endpoint:
            extra_headers.append((b"allow", endpoint.method.encode()))
        if code is Code.SERVICE_UNAVAILABLE:
            retry_after_s = RETRY_AFTER_UNAVAILABLE_S
        if retry_after_s is not None:
            extra_headers.append((b"retry-after", b"%d" % max(1, math.ceil(retry_after_s))))
        body = envelope.encode_refusal(problems, self._context.world.now(), locale)
        return ApiResponse(code, self._http_status(code), body, extra_headers)

    async def _call_endpoint(
        self,
        endpoint: Endpoint,
        request: ReceivedRequest,
        locale: Locale,
        extra_headers: list[tuple[bytes, bytes]],
    ) -> Mapping[str, Any]:
        """Return the fields that the endpoint adds to the envelope.

        The order of the checks is part of the API.
        """
        headers = request.headers
        if request.method != endpoint.method:
            detail = Text(f"{endpoint.method}로 보내세요.", f"Use {endpoint.method}.")
            raise Refused(Code.METHOD_NOT_ALLOWED, detail=detail)
        length = headers.get(b"content-length")
        size = int(length) if length is not None else 0
        if size > self._max_body_bytes:
            raise too_large_refusal(self._max_body_bytes)
        if self.is_stopping:
            raise Refused(Code.SERVICE_UNAVAILABLE)
        try:
            key = await self._guard.authorize(
                headers[b"apikey"].decode("latin-1") if b"apikey" in headers else None,
                endpoint.scope,
                request,
            )
        except Refused:
            if length is None:  # a body that is too large is reported before the key, but is not stored
                await read_body(request, self._max_body_bytes)
            raise
        if key.rate:
            allowance = await self._guard.consume_rate(key)
            extra_headers += _rate_headers(allowance)
            if not allowance.is_allowed:
                raise Refused(Code.RATE_LIMITED, retry_after_s=allowance.retry_after_s)
        with self._bodies.hold(key.id, size) as held:
            raw = await read_body(request, self._max_body_bytes, held)
            if headers.get(b"content-encoding", b"identity").lower() != b"identity":
                raise Refused(Code.UNSUPPORTED_MEDIA_TYPE, detail=_SEND_UNCOMPRESSED)
            form = await _read_form(endpoint, request.query, headers.get(b"content-type", b""), raw)
            if len(raw) > forms.MAX_EXPLAINED_BYTES:
                await asyncio.sleep(0)  # other calls run between decoding and checking
            options = read_options(endpoint, headers, raw)
            if options.is_strict or self._strict_fields:
                form.refuse_unknown_fields()
            self._refuse_misspelt_fields(endpoint, request.query, form, raw)
            call = ApiCall(
                self._context,
                key.account_id,
                form,
                locale,
                self._context.world.now(),
                options.idempotency_key,
                opt_out_number=key.opt_out_number or self._context.policy.opt_out_number,
                is_dry_run=options.is_dry_run,
                key_id=key.id,
            )
            fields = await endpoint.handler(call)
            return envelope.add_warnings(fields, form.warnings, locale) if form.warnings else fields

    def _refuse_misspelt_fields(self, endpoint: Endpoint, query: bytes, form: Form[Any], raw: bytes) -> None:
        """Refuse what would be sent although its caller meant to schedule or to try it."""
        if endpoint.scope != SEND_SCOPE or not self._refuse_misspelt:
            return
        if query:
            check_query(_parse_pairs(query))
        if form.warnings and not form.problems:
            check_body(endpoint.known_fields, _SENDING_FIELDS, raw)

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


async def _read_form(endpoint: Endpoint, query: bytes, content_type: bytes, raw: bytes) -> Form[Any]:
    if endpoint.input_source == "query":
        return forms.parse_fields(endpoint.body, forms.convert_text_fields(endpoint.body, _parse_pairs(query)))
    media_type = _parse_media_type(content_type) if raw else JSON_MEDIA_TYPE
    if endpoint.input_source == "anywhere":
        if len(raw) > forms.MAX_EXPLAINED_BYTES:
            raise too_large_refusal(forms.MAX_EXPLAINED_BYTES)
        from_query = forms.convert_text_fields(endpoint.body, _parse_pairs(query))
        if media_type == FORM_MEDIA_TYPE:
            given: dict[str, Any] = forms.convert_text_fields(endpoint.body, _parse_pairs(raw))
        elif media_type == JSON_MEDIA_TYPE:
            given = forms.parse_json_object(raw)
        else:
            raise _media_type_refusal(content_type, _SEND_JSON_OR_FORM)
        form = forms.parse_fields(endpoint.body, {**given, **from_query})
        for name, value in from_query.items():
            if given.get(name) is not None and given[name] != value:
                form.add(_conflict_problem(name))
        return form
    if media_type != JSON_MEDIA_TYPE:
        raise _media_type_refusal(content_type, _SEND_JSON)
    if len(raw) > forms.MAX_EXPLAINED_BYTES:
        return await parse_large_json(endpoint.body, raw)
    return forms.parse_json(endpoint.body, raw)


def _media_type_refusal(content_type: bytes, usual: Text) -> Refused:
    is_json = content_type.lower().startswith(JSON_MEDIA_TYPE)  # so its charset is what is wrong
    return Refused(Code.UNSUPPORTED_MEDIA_TYPE, detail=_SEND_UTF_8 if is_json else usual)


def _parse_media_type(header: bytes) -> bytes:
    """Return the media type of a Content-Type header: JSON if it is empty.

    It is empty for a header that is too long, or whose charset is not UTF-8.
    """
    return _parse_short_media_type(header) if len(header) <= MAX_CONTENT_TYPE_BYTES else b""


@lru_cache(maxsize=256)
def _parse_short_media_type(header: bytes) -> bytes:
    kind, *parameters = header.lower().split(b";")
    for parameter in parameters:
        name, _, value = parameter.strip().partition(b"=")
        if name == b"charset" and value.strip(b'" ') not in (b"utf-8", b"utf8"):
            return b""
    return kind.strip() or JSON_MEDIA_TYPE


def _parse_pairs(encoded: bytes) -> dict[str, str]:
    """Return the fields of a query string or form.

    Raises Refused(INVALID_PARAMETER) if it cannot be decoded or a field has two values.
    """
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS
        )
    except ValueError:
        detail = Text(
            f"UTF-8로 인코딩한 항목을 {MAX_QUERY_FIELDS}개까지 보내세요.",
            f"Encode the fields as UTF-8, and send at most {MAX_QUERY_FIELDS}.",
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail) from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if found.setdefault(name, value) != value:
            raise Refused.from_problems([_conflict_problem(name)])
    return found


def _conflict_problem(name: str) -> Problem:
    detail = Text("서로 다른 값이 두 개 있습니다. 하나만 보내세요.", "It has two different values; send only one.")
    return Problem(Code.INVALID_PARAMETER, name, detail)


def _rate_headers(allowance: RateLimitResult) -> list[tuple[bytes, bytes]]:
    return [
        (b"ratelimit-limit", b"%d" % allowance.limit),
        (b"ratelimit-remaining", b"%d" % allowance.remaining),
        (b"ratelimit-reset", b"%d" % math.ceil(allowance.reset_s)),
    ]
