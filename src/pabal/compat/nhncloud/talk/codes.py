"""NHN Cloud's codes for KakaoTalk: why a call or a recipient is refused, and what became of a message."""

from enum import Enum

from pabal.carriers.nhncloud.codes import TALK_OUTCOMES
from pabal.compat.nhncloud.call import NhnRefused
from pabal.domain.base.codes import Code, Problem
from pabal.domain.sends.message import Outcome, Status


class TalkCode(Enum):
    """A code and its message, in the words of the documents."""

    SUCCESS = (0, "SUCCESS")
    MESSAGE_NOT_FOUND = (-1016, "It is not found any messages responding with that requestId or recipientSeq.")
    LIMIT_REACHED = (-1017, "Daily max count exceeded.")
    SENDER_BLOCKED = (-1027, "The sender is blocked status.")
    ALL_FAILED = (-1031, "All of receivers are failed to send.")
    TOO_LONG = (-2000, "A field is too long.")
    BLANK = (-2001, "A required field is blank.")
    MISSING = (-2002, "A required field is null.")
    TOO_MANY = (-2004, "The 'recipientList' must be between 1 and 1000.")
    BAD_PAGE = (-2005, "The 'pageSize' must be less than or equal to 1000.")
    NO_SENDER = (-2017, "Not exist plus friend.")
    BAD_BUTTON = (-2018, "Button parameter is invalid.")
    CONTENT_TOO_LONG = (
        -2019,
        "The content that is replaced by the template parameters can not exceed 1,300 characters.",
    )
    PAST_DATE = (-2025, "You can not send messages on past dates. Please check `requestDate` again.")
    FAR_DATE = (-2026, "You can not send messages after 90 days. Please check `requestDate` again.")
    BAD_DATE = (-2027, "The 'requestDate' has invalid format.")
    NOT_CANCELLABLE = (
        -2029,
        "All of your messages to cancel are not found or do not meet conditions to cancel.",
    )
    NO_RESEND_NUMBER = (-2502, "Please set up plus-friend resend setting.")
    BAD_FIELD = (-3002, "Field is not valid.")
    NO_TEMPLATE = (-3003, "Template does not exist.")
    BAD_PARAMETERS = (-3004, "Please check template parameter.")
    TEMPLATE_STATUS = (-3005, "Please check template status.")
    CONTENT_DIFFERS = (
        -3010,
        "The contents are not matched to template. This message can be resend by sms service if the resend setting"
        " is on.",
    )
    BUTTONS_DIFFER = (
        -3011,
        "The buttons or quickReplies are not matched to template. This message can be resend by sms service if the"
        " resend setting is on.",
    )
    NO_SUCH_BUTTON = (-3033, "The button or quickReply is not exist in template.")
    HEADER_DIFFERS = (
        -3042,
        "The templateHeader are not matched to template. This message can be resend by sms service if the resend"
        " setting is on.",
    )
    ITEMS_DIFFER = (
        -3043,
        "The templateItem or templateItemHighlight are not matched to template. This message can be resend by sms"
        " service if the resend setting is on.",
    )
    LINK_DIFFERS = (
        -3046,
        "The templateRepresentLink is not matched to template. This message can be resend by sms service if the"
        " resend setting is on.",
    )
    BAD_TARGETING = (-3298, "The targeting is invalid.")
    BAD_IMAGES = (-3344, "The image parameter is invalid.")
    BAD_UNSUBSCRIBE_NO = (-3340, "Invalid unsubscribeNo format.")
    INVALID_PARAMETER = (-4000, "Invalid parameter")
    LONG_PERIOD = (-4003, "Search is possible within 31 days.")
    NO_PERIOD = (-4103, "RequestId or startRequestDate/endRequestDate is invalid.")
    BAD_RESEND = (-4200, "Resend Message is invalid.")
    BAD_NUMBER = (-5000, "RecipientNo is invalid.")
    BAD_IMAGE = (-8001, "The image you upload is invalid.")
    NO_IMAGE = (-8002, "It is not found any images.")
    UPLOAD_FAILED = (-8010, "Uploading image file has failed for an unexpected error.")
    BAD_IMAGE_TYPE = (-8011, "The image type is invalid.")
    FRIENDTALK_ENDED = (
        -9992,
        "The API is no longer supported. Please migrate to the new brand-message endpoint/API.",
    )
    NO_PART = (-9993, "Required request part is not present.")

    def __init__(self, number: int, message: str) -> None:
        self.number = number
        self.message = message


def refuse(code: TalkCode, explanation: str = "") -> NhnRefused:
    """Return the error of a whole call."""
    return NhnRefused(code.number, f"{code.message} {explanation}".rstrip())


_REFUSALS = {
    Code.MISSING_PARAMETER: TalkCode.BLANK,
    Code.INVALID_PARAMETER: TalkCode.INVALID_PARAMETER,
    Code.INVALID_PHONE_NUMBER: TalkCode.BAD_NUMBER,
    Code.INVALID_DATE: TalkCode.BAD_DATE,
    Code.CONTENT_TOO_LONG: TalkCode.CONTENT_TOO_LONG,
    Code.UNSUPPORTED_CHARACTER: TalkCode.INVALID_PARAMETER,
    Code.MISSING_VARIABLE: TalkCode.BAD_PARAMETERS,
    Code.INVALID_IMAGE: TalkCode.BAD_IMAGE,
    Code.INVALID_BUTTON: TalkCode.BAD_BUTTON,
    Code.TOO_MANY_RECEIVERS: TalkCode.TOO_MANY,
    Code.LIMIT_EXCEEDED: TalkCode.LIMIT_REACHED,
    Code.SENDER_NOT_FOUND: TalkCode.NO_SENDER,
    Code.SENDER_NOT_APPROVED: TalkCode.SENDER_BLOCKED,
    Code.TEMPLATE_NOT_FOUND: TalkCode.NO_TEMPLATE,
    Code.TEMPLATE_NOT_APPROVED: TalkCode.TEMPLATE_STATUS,
    Code.SENDER_NUMBER_NOT_REGISTERED: TalkCode.BAD_RESEND,
    Code.PRODUCT_NOT_AVAILABLE: TalkCode.FRIENDTALK_ENDED,
}
_BY_FIELD = {
    "resendPhoneNumber": TalkCode.BAD_RESEND,
    "resendContent": TalkCode.BAD_RESEND,
    "optOutNumber": TalkCode.BAD_UNSUBSCRIBE_NO,
    "optOutAuthNumber": TalkCode.BAD_UNSUBSCRIBE_NO,
    "targeting": TalkCode.BAD_TARGETING,
}


def refusal_code(problem: Problem) -> TalkCode:
    """Return the code of a recipient, or of a call, that a problem keeps from being accepted."""
    found = _BY_FIELD.get(problem.field.split("[")[0])
    return found or _REFUSALS.get(problem.code, TalkCode.INVALID_PARAMETER)


CARRIER_ERROR = "9999"
_RESULTS: dict[Outcome, str] = {
    **{outcome: code for code, outcome in reversed(list(TALK_OUTCOMES.items()))},  # the first code of each
    Outcome.CARRIER_ERROR: CARRIER_ERROR,
    Outcome.NO_SUBSCRIBER: "3008",
    Outcome.UNDELIVERABLE: "3018",
    Outcome.NOT_A_FRIEND: "3018",
    Outcome.REFUSED_BY_RECEIVER: "3020",
    Outcome.OPTED_OUT: "3020",
    Outcome.EXPIRED: "4143",
    Outcome.DUPLICATE: "4131",
}
"""What our carrier for NHN Cloud reads as these outcomes, and what is nearest to the others."""
_NAMES = {
    "1000": "성공",
    "3005": "메시지를 발송했으나 수신 확인이 안 됨",
    "3008": "전화번호 오류",
    "3016": "메시지 내용이 템플릿과 일치하지 않음",
    "3018": "메시지를 전송할 수 없음",
    "3019": "카카오톡 유저가 아님",
    "3020": "알림톡 수신 차단",
    "4131": "중복 requestId",
    "4143": "만료된 요청",
    CARRIER_ERROR: "시스템 오류",
}


def result_code(outcome: Outcome) -> str:
    """Return NHN Cloud's code of a result; those that it has none for are system errors."""
    return _RESULTS.get(outcome, CARRIER_ERROR)


def result_name(code: str | None) -> str | None:
    """Return what NHN Cloud calls a result."""
    return None if code is None else _NAMES[code]


def message_result(status: Status, outcome: Outcome | None) -> tuple[str, str | None]:
    """Return messageStatus and resultCode of a message."""
    if status is Status.CANCEL:
        return "CANCEL", None
    if outcome is None:
        return "READY", None
    if outcome is Outcome.DUPLICATE:
        return "DUPLICATED", result_code(outcome)
    return "COMPLETED" if outcome is Outcome.DELIVERED else "FAILED", result_code(outcome)


def code_of(problem: Problem) -> tuple[int, str]:
    """Return the code and the message of a call that a problem refuses."""
    found = refusal_code(problem)
    return found.number, found.message


BAD_SECRET = (-1001, "Invalid secretKey.")
