"""What can go wrong with a call: one exception for each result code, and others where there is no answer."""

from collections.abc import Sequence

from msgspec import UNSET

from pabal.domain.base.codes import Code
from pabal.models.answers import Envelope, ErrorItem


class PabalError(Exception):
    """The base of every exception of this package."""

    x_request_id = ""
    """The id of the call in the service's log, to be given to its operator; empty if no answer came."""


class NoAnswerError(PabalError):
    """The service gave no answer that can be read.

    `was_sent` is False if nothing of the request was transmitted. Otherwise it may have been carried out: repeat it
    only if that does no harm, such as a send with the same idempotency key.
    """

    def __init__(self, message: str, *, was_sent: bool, x_request_id: str = "") -> None:
        super().__init__(message + _name_request(x_request_id))
        self.was_sent = was_sent
        self.x_request_id = x_request_id


class InvalidPostError(PabalError):
    """A post to a webhook is not from the service, too old, or cannot be read."""


class ApiError(PabalError):
    """The service refused a call; each result code has a class of its own below."""

    def __init__(
        self, answer: Envelope, status: int, retry_after_s: float | None = None, x_request_id: str = ""
    ) -> None:
        super().__init__(f"{answer.result}: {answer.resultMessage}{_name_request(x_request_id)}")
        self.x_request_id = x_request_id
        self.result = answer.result
        """The result code."""
        self.message = answer.resultMessage
        """What is wrong, in the language of the client."""
        self.errors: Sequence[ErrorItem] = () if answer.errors is UNSET else answer.errors
        """Every problem that the same check found, with its field."""
        self.status = status
        """The HTTP status."""
        self.retry_after_s = retry_after_s
        """How long the service asks to wait before the next try, if it does."""


class InvalidRequestError(ApiError):
    """The request is wrong as it is: correct it before you send it again."""


class InvalidJsonError(InvalidRequestError):
    """INVALID_JSON."""


class MissingParameterError(InvalidRequestError):
    """MISSING_PARAMETER."""


class InvalidParameterError(InvalidRequestError):
    """INVALID_PARAMETER."""


class InvalidPhoneNumberError(InvalidRequestError):
    """INVALID_PHONE_NUMBER."""


class InvalidDateError(InvalidRequestError):
    """INVALID_DATE."""


class ContentTooLongError(InvalidRequestError):
    """CONTENT_TOO_LONG."""


class UnsupportedCharacterError(InvalidRequestError):
    """UNSUPPORTED_CHARACTER."""


class MissingVariableError(InvalidRequestError):
    """MISSING_VARIABLE."""


class InvalidImageError(InvalidRequestError):
    """INVALID_IMAGE."""


class InvalidButtonError(InvalidRequestError):
    """INVALID_BUTTON."""


class TooManyReceiversError(InvalidRequestError):
    """TOO_MANY_RECEIVERS."""


class PayloadTooLargeError(InvalidRequestError):
    """PAYLOAD_TOO_LARGE."""


class UnsupportedMediaTypeError(InvalidRequestError):
    """UNSUPPORTED_MEDIA_TYPE."""


class MethodNotAllowedError(InvalidRequestError):
    """METHOD_NOT_ALLOWED."""


class AccessError(ApiError):
    """The key may not do this."""


class UnauthorizedError(AccessError):
    """UNAUTHORIZED."""


class KeyExpiredError(AccessError):
    """KEY_EXPIRED."""


class ForbiddenError(AccessError):
    """FORBIDDEN."""


class LimitExceededError(AccessError):
    """LIMIT_EXCEEDED."""


class NotFoundError(ApiError):
    """NOT_FOUND, and the base of what else does not exist."""


class SenderNotFoundError(NotFoundError):
    """SENDER_NOT_FOUND."""


class TemplateNotFoundError(NotFoundError):
    """TEMPLATE_NOT_FOUND."""


class CategoryNotFoundError(NotFoundError):
    """CATEGORY_NOT_FOUND."""


class MessageNotFoundError(NotFoundError):
    """MESSAGE_NOT_FOUND."""


class RequestNotFoundError(NotFoundError):
    """REQUEST_NOT_FOUND."""


class WebhookNotFoundError(NotFoundError):
    """WEBHOOK_NOT_FOUND."""


class ConflictError(ApiError):
    """The request does not fit what is there."""


class DuplicateError(ConflictError):
    """DUPLICATE."""


class InvalidStateError(ConflictError):
    """INVALID_STATE."""


class NotPossibleError(ApiError):
    """The request is well-formed, but the account cannot do this now."""


class SenderNumberNotRegisteredError(NotPossibleError):
    """SENDER_NUMBER_NOT_REGISTERED."""


class SenderNotApprovedError(NotPossibleError):
    """SENDER_NOT_APPROVED."""


class TemplateNotApprovedError(NotPossibleError):
    """TEMPLATE_NOT_APPROVED."""


class NightAdRestrictedError(NotPossibleError):
    """NIGHT_AD_RESTRICTED."""


class ProductNotAvailableError(NotPossibleError):
    """PRODUCT_NOT_AVAILABLE."""


class TokenInvalidError(NotPossibleError):
    """TOKEN_INVALID."""


class TokenExpiredError(NotPossibleError):
    """TOKEN_EXPIRED."""


class TokenLockedError(NotPossibleError):
    """TOKEN_LOCKED."""


class TemporaryError(ApiError):
    """The service cannot do this now; the client has tried it again where that is safe."""


class RateLimitedError(TemporaryError):
    """RATE_LIMITED."""


class InternalServiceError(TemporaryError):
    """INTERNAL_ERROR."""


class ServiceUnavailableError(TemporaryError):
    """SERVICE_UNAVAILABLE."""


ERROR_BY_CODE: dict[str, type[ApiError]] = {
    code.name: globals()[f"{code.name.title().replace('_', '')}Error"]
    for code in Code
    if code not in (Code.SUCCESS, Code.INTERNAL_ERROR)
} | {Code.INTERNAL_ERROR.name: InternalServiceError}
"""The exception of each result code."""
_ERROR_BY_STATUS: dict[int, type[ApiError]] = {
    401: AccessError,
    403: AccessError,
    404: NotFoundError,
    409: ConflictError,
    422: NotPossibleError,
    429: TemporaryError,
}


def error_of(answer: Envelope, status: int, retry_after_s: float | None = None, x_request_id: str = "") -> ApiError:
    """Return the exception for a refusal; one of a code that this version does not know is told by its status."""
    fallback = TemporaryError if status >= 500 else _ERROR_BY_STATUS.get(status, InvalidRequestError)
    return ERROR_BY_CODE.get(answer.result, fallback)(answer, status, retry_after_s, x_request_id)


def _name_request(x_request_id: str) -> str:
    return f" (X-Request-Id: {x_request_id})" if x_request_id else ""
