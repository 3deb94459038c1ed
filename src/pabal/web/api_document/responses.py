"""The responses and webhooks of the OpenAPI document, with their codes, headers and examples."""

from collections import defaultdict
from typing import Any

from pabal.domain.base.codes import Code
from pabal.domain.events.event import EventType
from pabal.models.answers import Envelope
from pabal.models.webhook_posts import POSTS
from pabal.web.api_document.example_answers import answer_example, post_example, refusal_examples
from pabal.web.api_document.schemas import build_schemas, refer_to
from pabal.web.endpoints.endpoint import Endpoint

HEADERS: dict[str, Any] = {
    "X-Request-Id": {
        "description": "Id of the call in the service's log.",
        "schema": {"type": "string"},
        "example": "9f0c3a5e00000001",
    },
    "RateLimit-Limit": {
        "description": "Calls that the key may make in a burst; absent if it has no limit.",
        "schema": {"type": "integer", "minimum": 0},
        "example": 1000,
    },
    "RateLimit-Remaining": {
        "description": "Calls that are left of it now.",
        "schema": {"type": "integer", "minimum": 0},
        "example": 999,
    },
    "RateLimit-Reset": {
        "description": "Seconds until all of it is there again.",
        "schema": {"type": "integer", "minimum": 0},
        "example": 1,
    },
    "Retry-After": {
        "description": "Seconds to wait before the next try.",
        "schema": {"type": "integer", "minimum": 1},
        "example": 1,
    },
    "Allow": {
        "description": "The method that the path takes.",
        "schema": {"type": "string"},
        "example": "POST",
    },
}
_RATE_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
_BEFORE_THE_RATE = {401, 403, 405, 413}
"""Statuses of calls that are refused before they are counted, by one code at least."""
_OWN_HEADERS = {405: ("Allow",), 429: ("Retry-After",), 503: ("Retry-After",)}


def build_responses(endpoint: Endpoint) -> dict[str, Any]:
    """Return the responses of an endpoint by HTTP status."""
    by_status: defaultdict[int, list[Code]] = defaultdict(list)
    for code in endpoint.codes:
        by_status[code.http_status].append(code)
    return {str(status): _response(endpoint, status, codes) for status, codes in sorted(by_status.items())}


def _response(endpoint: Endpoint, status: int, codes: list[Code]) -> dict[str, Any]:
    if status == Code.SUCCESS.http_status:
        media = {"schema": refer_to(endpoint.answer), "example": answer_example(endpoint.operation_id)}
    else:
        media = {"schema": refer_to(Envelope), "examples": refusal_examples(codes)}
    return {
        "description": " ".join(f"`{code.name}`: {code.text.en}" for code in codes),
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in _headers_of(status)},
        "content": {"application/json": media},
    }


def _headers_of(status: int) -> tuple[str, ...]:
    rate = () if status in _BEFORE_THE_RATE else _RATE_HEADERS
    return ("X-Request-Id", *rate, *_OWN_HEADERS.get(status, ()))


_PARAMETERS = [
    {
        "name": "webhook-id",
        "in": "header",
        "required": True,
        "description": "Id of the post, the same at every try.",
        "schema": {"type": "string"},
        "example": "msg_0f3c8a52c1d94e0c",
    },
    {
        "name": "webhook-timestamp",
        "in": "header",
        "required": True,
        "description": "When this try was made: seconds since 1970-01-01.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1794711603",
    },
    {
        "name": "webhook-signature",
        "in": "header",
        "required": True,
        "description": "`v1,` and the Base64 of the HMAC-SHA256 of `id.timestamp.body`, keyed with the secret;"
        " while a secret is replaced, two of them separated by a space.",
        "schema": {"type": "string"},
        "example": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    },
]
_RESPONSES = {
    "2XX": {"description": "The post has arrived. Everything else is tried again for 24 hours."},
    "410": {"description": "Disables the webhook."},
}


def build_webhooks(tag: str) -> dict[str, Any]:
    """Return the post of each event by its name."""
    return {event.code: {"post": _post(event, tag)} for event in POSTS}


def _post(event: EventType, tag: str) -> dict[str, Any]:
    summary = build_schemas()[POSTS[event].__name__]["description"].rstrip(".")
    media = {"schema": refer_to(POSTS[event]), "example": post_example(event)}
    return {
        "operationId": f"on_{_snake(event.code)}",
        "summary": summary,
        "description": f"{summary}: up to 100 events."
        " Verify the signature over the body as it arrived. An event can come again, with the same `eventId`.",
        "tags": [tag],
        "security": [],
        "parameters": _PARAMETERS,
        "requestBody": {"content": {"application/json": media}, "required": True},
        "responses": _RESPONSES,
    }


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).replace(".", "_")
