"""Errors of whole calls, in Solapi's shape: errorCode and errorMessage."""

from pabal.compat.errors import CallRefused as CallRefused
from pabal.domain.base.codes import Code, Refused

_NAMES = {
    Code.INVALID_JSON: "ValidationError",
    Code.PAYLOAD_TOO_LARGE: "RequestEntityTooLarge",
    Code.FORBIDDEN: "Forbidden",
    Code.UNAUTHORIZED: "InvalidAPIKey",
    Code.KEY_EXPIRED: "InvalidAPIKey",
    Code.NOT_FOUND: "ResourceNotFound",
    Code.REQUEST_NOT_FOUND: "ResourceNotFound",
    Code.METHOD_NOT_ALLOWED: "ResourceNotFound",
    Code.RATE_LIMITED: "TooManyRequests",
    Code.SERVICE_UNAVAILABLE: "ServiceUnavailable",
    Code.INTERNAL_ERROR: "InternalError",
}
_STATUSES = {Code.UNAUTHORIZED: 403, Code.KEY_EXPIRED: 403, Code.METHOD_NOT_ALLOWED: 404}
"""Where Solapi has another HTTP status than we."""


def invalid(message: str) -> CallRefused:
    """Return the error of a call that has a wrong field."""
    return CallRefused(400, "ValidationError", message)


def not_found() -> CallRefused:
    """Return the error of a call for something that is not there."""
    return CallRefused(404, "ResourceNotFound", "해당 리소스가 없음")


def from_refusal(refused: Refused) -> CallRefused:
    """Return the error that tells what a refusal of ours does."""
    problem = refused.problems[0]
    if is_other_use(refused):
        return CallRefused(403, "DuplicatedSignature", "15분 안에 동일한 signature 값")
    place = f" ({problem.field})" if problem.field else ""
    return CallRefused(
        _STATUSES.get(problem.code, problem.code.http_status),
        _NAMES.get(problem.code, "ValidationError"),
        problem.message("ko") + place,
        refused.retry_after_s,
    )


def is_other_use(refused: Refused) -> bool:
    """Tell whether a signature was used for a different call."""
    problem = refused.problems[0]
    return problem.code is Code.DUPLICATE and problem.field == "Idempotency-Key"
