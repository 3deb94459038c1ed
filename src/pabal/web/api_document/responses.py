"""The responses of the OpenAPI document: one for each HTTP status, with its codes, headers and examples."""

from collections import defaultdict
from typing import Any

from pabal.domain.base.codes import Code
from pabal.models.answers import Envelope
from pabal.web.api_document.example_answers import answer_example, refusal_examples
from pabal.web.api_document.schemas import refer_to
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
