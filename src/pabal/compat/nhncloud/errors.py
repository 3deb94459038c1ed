"""Errors of whole calls, in NHN Cloud's shape: a header with resultCode and resultMessage, mostly with HTTP 200."""

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

from pabal.carriers.nhncloud.client import TOO_LARGE
from pabal.compat.relay_api import CallRefused
from pabal.domain.base.codes import Code, Problem, Refused

INVALID_PARAMETER = 4
DUPLICATE_CALL = -1005
TOO_MANY_CALLS = 4290000
"""Of the gateway, whose codes begin with the HTTP status."""
UNAVAILABLE = 5030000
_GATEWAY = {
    Code.PAYLOAD_TOO_LARGE: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, TOO_LARGE),
    Code.RATE_LIMITED: (HTTPStatus.TOO_MANY_REQUESTS, TOO_MANY_CALLS),
    Code.SERVICE_UNAVAILABLE: (HTTPStatus.SERVICE_UNAVAILABLE, UNAVAILABLE),
}
"""What NHN Cloud's gateway refuses before a call reaches the API: it has an HTTP status."""
COMMON = {
    Code.UNAUTHORIZED: (-1000, "Invalid appKey."),
    Code.KEY_EXPIRED: (-1000, "Invalid appKey."),
    Code.FORBIDDEN: (-1004, "Not allow ip."),
    Code.INVALID_JSON: (-9997, "Invalid API parameters."),
    Code.NOT_FOUND: (-9998, "Not exist API."),
    Code.METHOD_NOT_ALLOWED: (-9998, "Not exist API."),
    Code.INTERNAL_ERROR: (-9999, "System error."),
}
"""Codes and messages that all services have."""


class NhnRefused(CallRefused):
    """An error answer; `body` is what stands beside the header."""

    def __init__(
        self,
        code: int,
        message: str,
        body: Mapping[str, Any] = MappingProxyType({}),
        *,
        status: int = HTTPStatus.OK,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(status, str(code), message, retry_after_s)
        self.body = body


def invalid(message: str) -> NhnRefused:
    """Return the error of a call with a wrong parameter that has no code of its own."""
    return NhnRefused(INVALID_PARAMETER, message)


def not_found() -> NhnRefused:
    """Return the error of a path that is not served."""
    return NhnRefused(*COMMON[Code.NOT_FOUND])


def from_gateway(refused: Refused) -> NhnRefused | None:
    """Return the error of a refusal that concerns no single service; None for another one."""
    problem = refused.problems[0]
    if problem.code in _GATEWAY:
        status, number = _GATEWAY[problem.code]
        return NhnRefused(number, problem.message("ko"), status=status, retry_after_s=refused.retry_after_s)
    if problem.code in COMMON:
        number, words = COMMON[problem.code]
        return NhnRefused(number, explain(words, problem))
    return None


def explain(words: str, problem: Problem) -> str:
    """Return NHN Cloud's message with what ours says in addition."""
    place = f" ({problem.field})" if problem.field else ""
    return f"{words} {problem.message('ko')}{place}"


def header(code: int = 0, message: str = "SUCCESS") -> dict[str, Any]:
    """Return the header of an answer."""
    return {"isSuccessful": code == 0, "resultCode": code, "resultMessage": message}
