"""Solapi's codes for what happens to our messages, and for messages and calls that we refuse."""

from pabal.compat.relay_api import CallRefused as CallRefused
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.sends.message import Outcome, Status
from pabal.store.messages.history import MessageFilter

ACCEPTED, AT_CARRIER, DELIVERED = "2000", "3000", "4000"
DUPLICATE_RECEIVER = "1026"
WRONG_TYPE = "1025"
BAD_CUSTOM_FIELDS = "1032"
NO_IMAGE = "1034"
MISSING = "1010"
MALFORMED = "1011"
DIFFERS_FROM_TEMPLATE = "1043"
LIMIT_REACHED = "1030"

OUTCOME_CODES = {
    Outcome.DELIVERED: DELIVERED,
    Outcome.TIMED_OUT: "3040",
    Outcome.PHONE_OFF: "3043",
    Outcome.NO_SUBSCRIBER: "3032",
    Outcome.NUMBER_NOT_ASSIGNED: "3010",
    Outcome.REFUSED_BY_RECEIVER: "3047",
    Outcome.SPAM: "3054",
    Outcome.DIFFERS_FROM_TEMPLATE: "3103",
    Outcome.UNDELIVERABLE: "3031",
    Outcome.NOT_A_USER: "3104",
    Outcome.BLOCKED_BY_USER: "3107",
    Outcome.NOT_A_FRIEND: "3102",
    Outcome.UNKNOWN: "3048",
    Outcome.NOT_SENDABLE_AS_TEXT: "3031",
    Outcome.OPTED_OUT: "2061",
    Outcome.EXPIRED: "3040",
    Outcome.DUPLICATE: DUPLICATE_RECEIVER,
    Outcome.CARRIER_ERROR: "3024",
}
_CODES = list(OUTCOME_CODES.values())
_REFUSALS = {
    Code.MISSING_PARAMETER: MISSING,
    Code.MISSING_VARIABLE: DIFFERS_FROM_TEMPLATE,
    Code.CONTENT_TOO_LONG: "1031",
    Code.UNSUPPORTED_CHARACTER: "1029",
    Code.SENDER_NUMBER_NOT_REGISTERED: "1062",
    Code.SENDER_NOT_FOUND: "1041",
    Code.SENDER_NOT_APPROVED: "1041",
    Code.TEMPLATE_NOT_FOUND: "1042",
    Code.TEMPLATE_NOT_APPROVED: "1042",
    Code.INVALID_BUTTON: "1044",
    Code.INVALID_IMAGE: NO_IMAGE,
    Code.LIMIT_EXCEEDED: LIMIT_REACHED,
    Code.PRODUCT_NOT_AVAILABLE: "1058",
    Code.NIGHT_AD_RESTRICTED: "3108",
    Code.DUPLICATE: DUPLICATE_RECEIVER,
}
_TOO_LONG_SUBJECT = "1014"
MESSAGES = {
    MISSING: "필수 입력 값 미입력",
    MALFORMED: "Format Error",
    _TOO_LONG_SUBJECT: "제목은 40byte까지 사용 가능합니다.",
    WRONG_TYPE: "잘못된 메시지 타입",
    DUPLICATE_RECEIVER: "중복 수신번호",
    "1029": "문자메시지의 경우 EUC-KR(완성형 한글) 범위 안에 있는 문자만 사용 합니다.",
    LIMIT_REACHED: "잔액 부족",
    "1031": "글자 수 제한을 넘었습니다.",
    BAD_CUSTOM_FIELDS: "유효한 커스텀 필드 값이 아닙니다. 필드명은 30자 설정값은 100자까지 가능합니다.",
    NO_IMAGE: "imageId가 존재하지 않습니다.",
    "1041": "유효한 플러스 친구 값이 아닙니다.",
    "1042": "유효한 템플릿 아이디가 아닙니다.",
    DIFFERS_FROM_TEMPLATE: "등록한 템플릿과 내용이 다릅니다.",
    "1044": "유효한 버튼 값이 아닙니다.",
    "1058": "전송경로 없음",
    "1062": "발신번호 미등록",
    "3108": "메시지 발송 가능 시간이 아님",
    ACCEPTED: "정상 접수(이통사로 접수 예정) ",
}


_BY_CODE = {code: outcome for outcome, code in OUTCOME_CODES.items() if _CODES.count(code) == 1}


def refusal_code(problem: Problem) -> str:
    """Return the status code of a message that a problem keeps from being accepted."""
    if problem.code is Code.CONTENT_TOO_LONG and problem.field.startswith("subject"):
        return _TOO_LONG_SUBJECT
    return _REFUSALS.get(problem.code, MALFORMED)


def status_code(status: Status, outcome: Outcome | None) -> str:
    """Return the status code of a message; a cancelled one was never sent."""
    if outcome is not None:
        return OUTCOME_CODES[outcome]
    return AT_CARRIER if status is Status.SENDING else ACCEPTED if status is Status.WAITING else "3031"


def narrow(wanted: MessageFilter, code: str) -> MessageFilter:
    """Return a filter for messages with a status code; where several states have it, others match too."""
    if code in _BY_CODE:
        return wanted._replace(outcome=_BY_CODE[code])
    return wanted._replace(status={ACCEPTED: Status.WAITING, AT_CARRIER: Status.SENDING}.get(code))


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
