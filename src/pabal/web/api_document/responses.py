"""The responses and webhooks of the OpenAPI document, with their codes, headers and examples."""

from collections import defaultdict
from typing import Any

from pabal.domain.base.codes import LANGUAGES, Code, Text
from pabal.domain.events.event import EventType
from pabal.models.answers import Envelope
from pabal.models.webhook_posts import POSTS
from pabal.web.api_document.example_answers import answer_example, post_example, refusal_examples
from pabal.web.api_document.schemas import build_schemas, refer_to
from pabal.web.endpoints.endpoint import Endpoint

HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": Text("서비스 로그에 남는 호출의 ID", "Id of the call in the service's log."),
        "schema": {"type": "string"},
        "example": "9f0c3a5e00000001",
    },
    "RateLimit-Limit": {
        "description": Text(
            "키가 한꺼번에 호출할 수 있는 횟수. 제한이 없으면 생략합니다",
            "Calls that the key may make in a burst; absent if it has no limit.",
        ),
        "schema": {"type": "integer", "minimum": 0},
        "example": 1000,
    },
    "RateLimit-Remaining": {
        "description": Text("지금 남은 횟수", "Calls that are left of it now."),
        "schema": {"type": "integer", "minimum": 0},
        "example": 999,
    },
    "RateLimit-Reset": {
        "description": Text(
            "횟수가 모두 다시 찰 때까지 걸리는 시간(초)", "Seconds until all of it is there again."
        ),
        "schema": {"type": "integer", "minimum": 0},
        "example": 1,
    },
    "Retry-After": {
        "description": Text("다시 시도하기 전에 기다릴 시간(초)", "Seconds to wait before the next try."),
        "schema": {"type": "integer", "minimum": 1},
        "example": 1,
    },
    "Allow": {
        "description": Text("경로가 받는 메서드", "The method that the path takes."),
        "schema": {"type": "string"},
        "example": "POST",
    },
}
_RATE_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
_BEFORE_THE_RATE = {401, 403, 405, 413}
"""Statuses of calls that are refused before they are counted, by one code at least."""
_OWN_HEADERS = {405: ("Allow",), 429: ("Retry-After",), 503: ("Retry-After",)}


def build_responses(endpoint: Endpoint) -> dict[str, Any]:
    """Return the responses of an endpoint by HTTP status; texts are `Text`."""
    by_status: defaultdict[int, list[Code]] = defaultdict(list)
    for code in endpoint.codes:
        by_status[code.http_status].append(code)
    return {str(status): _response(endpoint, status, codes) for status, codes in sorted(by_status.items())}


def _response(endpoint: Endpoint, status: int, codes: list[Code]) -> dict[str, Any]:
    if status == Code.SUCCESS.http_status:
        media = {"schema": refer_to(endpoint.answer), "example": answer_example(endpoint.id)}
    else:
        media = {"schema": refer_to(Envelope), "examples": refusal_examples(codes)}
    return {
        "description": Text(*(_list_codes(codes, language) for language in LANGUAGES)),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in _headers_of(status)},
        "content": {"application/json": media},
    }


def _list_codes(codes: list[Code], language: str) -> str:
    return " ".join(f"`{code.name}`: {code.text.in_language(language)}" for code in codes)


def _headers_of(status: int) -> tuple[str, ...]:
    rate = () if status in _BEFORE_THE_RATE else _RATE_HEADERS
    return ("X-Request-Id", *rate, *_OWN_HEADERS.get(status, ()))


_PARAMETERS = [
    {
        "name": "webhook-id",
        "in": "header",
        "required": True,
        "description": Text("전송의 ID. 재시도해도 같습니다", "Id of the delivery, the same at every try."),
        "schema": {"type": "string"},
        "example": "msg_0f3c8a52c1d94e0c",
    },
    {
        "name": "webhook-timestamp",
        "in": "header",
        "required": True,
        "description": Text(
            "이번 시도를 한 시각: 1970-01-01부터 센 초", "When this try was made: seconds since 1970-01-01."
        ),
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1794711603",
    },
    {
        "name": "webhook-signature",
        "in": "header",
        "required": True,
        "description": Text(
            "`v1,`과 `id.timestamp.body`를 비밀 키로 서명한 HMAC-SHA256의 Base64."
            " 비밀 키를 교체하는 동안에는 서명 두 개를 공백으로 나눠 보냅니다",
            "`v1,` and the Base64 of the HMAC-SHA256 of `id.timestamp.body`, keyed with the secret;"
            " while a secret is replaced, two of them separated by a space.",
        ),
        "schema": {"type": "string"},
        "example": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    },
]
_RESPONSES = {
    "2XX": {
        "description": Text(
            "전송을 받았습니다. 그 밖의 응답에는 24시간 동안 다시 시도합니다",
            "The delivery has arrived. Everything else is tried again for 24 hours.",
        )
    },
    "410": {"description": Text("웹훅을 사용 중지합니다", "Disables the webhook.")},
}


def build_webhooks(tag: str) -> dict[str, Any]:
    """Return the delivery of each event by its name; texts are `Text`."""
    return {event.code: {"post": _post(event, tag)} for event in POSTS}


def _post(event: EventType, tag: str) -> dict[str, Any]:
    ko, en = (build_schemas(each)[POSTS[event].__name__]["description"].rstrip(".") for each in LANGUAGES)
    media = {"schema": refer_to(POSTS[event]), "example": post_example(event)}
    return {
        "operationId": f"on_{_snake(event.code)}",
        "summary": Text(ko, en),
        "description": Text(
            f"{ko}. 이벤트는 한 번에 최대 100개입니다. 서명은 받은 본문 그대로 검증하세요."
            " 같은 `eventId`의 이벤트가 다시 올 수 있습니다.",
            f"{en}: up to 100 events. Verify the signature over the body as it arrived."
            " An event can come again, with the same `eventId`.",
        ),
        "tags": [tag],
        "security": [],
        "parameters": _PARAMETERS,
        "requestBody": {"content": {"application/json": media}, "required": True},
        "responses": _RESPONSES,
    }


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).replace(".", "_")
