"""Every result code of the API, and the exception that refuses a request."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, TypeVar

T = TypeVar("T")

LANGUAGES = ("ko", "en")
MAX_PROBLEMS = 100
"""Problems reported in one response."""


class Text(NamedTuple):
    """A text in Korean and English."""

    ko: str
    en: str

    def in_language(self, language: str) -> str:
        """Return the text in `ko` or `en`."""
        return self.en if language == "en" else self.ko

    def __format__(self, spec: str) -> str:
        raise TypeError("a text is put into another one by its language: {text.ko}, {text.en}")


class LabelledEnum(Enum):
    """Values with the code that is stored or that callers see, and the name that people see."""

    def __init__(self, code: str, label: Text) -> None:
        self.code = code
        self.label = label


class NumberedEnum(Enum):
    """Values that are stored as numbers."""

    def __init__(self, code: str, number: int, label: Text) -> None:
        self.code = code
        self.number = number
        self.label = label


def at_most_characters(characters: int) -> Text:
    """Return what is wrong with a text that has more characters."""
    return Text(f"{characters}자 이하여야 합니다.", f"At most {characters} characters.")


def current_state(label: Text) -> Text:
    """Return what keeps something from being done in this state."""
    return Text(f"현재 상태: {label.ko}.", f"Current state: {label.en}.")


class TextError(Exception):
    """An error that people read, in their language; as a string, for logs, it is English."""

    def __init__(self, ko: str, en: str) -> None:
        super().__init__(ko, en)
        self.text = Text(ko, en)

    def __str__(self) -> str:
        return self.text.en


class Code(Enum):
    """The values of `result`: HTTP status, message and remedy of each code."""

    SUCCESS = (200, Text("성공했습니다.", "Success."), Text("", ""))
    INVALID_JSON = (
        400,
        Text("요청 본문이 올바른 JSON 객체가 아닙니다.", "The request body is not a valid JSON object."),
        Text(
            "UTF-8로 인코딩한 JSON 객체 하나를 본문에 넣어 보내세요.",
            "Send one JSON object in UTF-8, without deep nesting.",
        ),
    )
    MISSING_PARAMETER = (
        400,
        Text("필수 항목이 없거나 비어 있습니다.", "A required field is missing or empty."),
        Text("errors의 field에 적힌 항목을 채우세요.", "Fill in the field named in `errors`."),
    )
    INVALID_PARAMETER = (
        400,
        Text("항목의 값이 올바르지 않습니다.", "A field has an invalid value."),
        Text("값의 형식과 허용 범위를 확인하세요.", "Check the field's type and allowed values."),
    )
    INVALID_PHONE_NUMBER = (
        400,
        Text("전화번호가 올바르지 않습니다.", "A phone number is not valid."),
        Text(
            "010-0000-0000 형식의 국내 휴대폰 번호를 보내세요.",
            "Write it as 010-0000-0000; receivers are Korean mobile numbers.",
        ),
    )
    INVALID_DATE = (
        400,
        Text(
            "날짜 형식이 잘못되었거나 허용되지 않는 날짜입니다.", "A date has the wrong format or is not allowed."
        ),
        Text(
            "yyyy-MM-dd HH:mm 형식으로 보내세요. sendDate는 지나지 않은 시각이어야 합니다.",
            "Write it as yyyy-MM-dd HH:mm; sendDate must be in the future and within the limit.",
        ),
    )
    CONTENT_TOO_LONG = (
        400,
        Text("내용이 너무 깁니다.", "The text is too long."),
        Text(
            "내용을 줄이거나 LMS처럼 더 긴 내용을 보낼 수 있는 상품을 쓰세요.",
            "Shorten the text, or use a product that allows more, such as LMS.",
        ),
    )
    UNSUPPORTED_CHARACTER = (
        400,
        Text("보낼 수 없는 글자가 있습니다.", "The text contains characters that cannot be sent."),
        Text("해당 글자를 빼거나 다른 글자로 바꾸세요.", "Remove or replace these characters."),
    )
    MISSING_VARIABLE = (
        400,
        Text("수신자에 변수 값이 없습니다.", "A receiver has no value for a variable."),
        Text("수신자의 templateData에 변수 값을 넣으세요.", "Add the value to the receiver's templateData."),
    )
    INVALID_IMAGE = (
        400,
        Text("사용할 수 없는 이미지입니다.", "The image cannot be used."),
        Text(
            "JPEG 파일을 Base64로 인코딩해 보내세요. 51,200바이트까지는 언제나 받습니다. 더 큰 파일은 errors에 적힌"
            " 크기까지 줄이세요.",
            "Send a JPEG encoded as Base64: up to 51,200 bytes are always accepted, a larger one must be within the"
            " limit that `errors` names.",
        ),
    )
    INVALID_BUTTON = (
        400,
        Text("버튼이 올바르지 않습니다.", "A button is not valid."),
        Text("errors의 field에 적힌 버튼 항목을 고치세요.", "Correct the button field named in `errors`."),
    )
    TOO_MANY_RECEIVERS = (
        400,
        Text("수신자가 너무 많습니다.", "The request has too many receivers."),
        Text("수신자를 나누어 여러 번 요청하세요.", "Split the receivers into several requests."),
    )
    UNAUTHORIZED = (
        401,
        Text("apiKey 헤더가 없거나 유효하지 않은 키입니다.", "The apiKey header is missing or not a valid key."),
        Text(
            "운영자에게 받은 키를 apiKey 헤더에 넣으세요.",
            "Put the key you got from the operator in the apiKey header.",
        ),
    )
    KEY_EXPIRED = (
        401,
        Text("apiKey의 사용 기간이 끝났습니다.", "The apiKey has expired."),
        Text("운영자에게 새 키를 요청하세요.", "Ask the operator for a new key."),
    )
    FORBIDDEN = (
        403,
        Text("이 키에는 이 요청을 할 권한이 없습니다.", "This key is not allowed to do this."),
        Text(
            "키의 권한과 허용된 IP 주소를 운영자에게 확인하세요.",
            "Check the key's scopes and allowed IP addresses with the operator.",
        ),
    )
    LIMIT_EXCEEDED = (
        403,
        Text("계정의 발송 한도를 넘습니다.", "The send exceeds a limit of the account."),
        Text(
            "한도가 초기화된 뒤에 보내거나 운영자에게 한도를 올려 달라고 요청하세요.",
            "Send after the limit resets, or ask the operator to raise it.",
        ),
    )
    NOT_FOUND = (
        404,
        Text("없는 경로입니다.", "This path does not exist."),
        Text("/docs에서 경로를 확인하세요.", "Check the path in /docs."),
    )
    SENDER_NOT_FOUND = (
        404,
        Text("발신 프로필을 찾을 수 없습니다.", "The sender profile does not exist."),
        Text("senderKey 또는 channelId를 확인하세요.", "Check senderKey or channelId."),
    )
    TEMPLATE_NOT_FOUND = (
        404,
        Text("템플릿을 찾을 수 없습니다.", "The template does not exist."),
        Text("templateCode를 확인하세요.", "Check templateCode."),
    )
    CATEGORY_NOT_FOUND = (
        404,
        Text("없는 카테고리입니다.", "The category does not exist."),
        Text("카테고리 목록에 있는 코드를 쓰세요.", "Choose a code from the category list."),
    )
    MESSAGE_NOT_FOUND = (
        404,
        Text("메시지를 찾을 수 없습니다.", "There is no such message."),
        Text("messageId를 확인하세요.", "Check messageId."),
    )
    REQUEST_NOT_FOUND = (
        404,
        Text("발송 요청을 찾을 수 없습니다.", "The send request does not exist."),
        Text("requestId를 확인하세요.", "Check requestId."),
    )
    WEBHOOK_NOT_FOUND = (
        404,
        Text("웹훅을 찾을 수 없습니다.", "The webhook does not exist."),
        Text("webhookId를 확인하세요.", "Check webhookId."),
    )
    METHOD_NOT_ALLOWED = (
        405,
        Text("이 경로에서 쓸 수 없는 메서드입니다.", "This path does not allow the method."),
        Text("응답의 Allow 헤더에 있는 메서드를 쓰세요.", "Use a method listed in the Allow header."),
    )
    DUPLICATE = (
        409,
        Text("이미 있거나 이미 사용한 값입니다.", "The value already exists or was already used."),
        Text("다른 값을 쓰세요.", "Use another value."),
    )
    INVALID_STATE = (
        409,
        Text("지금 상태에서는 할 수 없습니다.", "Its current state does not allow this."),
        Text("먼저 현재 상태를 조회하세요.", "Look up its current state first."),
    )
    PAYLOAD_TOO_LARGE = (
        413,
        Text("요청 본문이 너무 큽니다.", "The request body is too large."),
        Text("요청을 나누어 보내세요.", "Split it into several requests."),
    )
    UNSUPPORTED_MEDIA_TYPE = (
        415,
        Text("지원하지 않는 Content-Type입니다.", "This Content-Type is not supported."),
        Text("application/json;charset=UTF-8로 보내세요.", "Send application/json;charset=UTF-8."),
    )
    SENDER_NUMBER_NOT_REGISTERED = (
        422,
        Text("등록되지 않은 발신번호입니다.", "The sender number is not registered."),
        Text(
            "운영자에게 발신번호 등록이나 승인을 요청하세요.", "Ask the operator to register it, or to approve it."
        ),
    )
    SENDER_NOT_APPROVED = (
        422,
        Text(
            "승인되지 않았거나 사용이 중지된 발신 프로필입니다.",
            "The sender profile is not approved or is disabled.",
        ),
        Text(
            "토큰 인증을 마치세요. 이미 마쳤으면 운영자에게 문의하세요.",
            "Finish the token authentication; if it is finished, ask the operator.",
        ),
    )
    TEMPLATE_NOT_APPROVED = (
        422,
        Text("승인되지 않았거나 사용이 중지된 템플릿입니다.", "The template is not approved or is disabled."),
        Text("검수를 요청하고 승인된 뒤에 보내세요.", "Request a review, and send after the template is approved."),
    )
    NIGHT_AD_RESTRICTED = (
        422,
        Text(
            "광고는 20:50부터 다음 날 08:00까지 보낼 수 없습니다.",
            "Advertisements cannot be sent from 20:50 to 08:00.",
        ),
        Text("sendDate를 08:00부터 20:50 사이로 예약하세요.", "Schedule it between 08:00 and 20:50."),
    )
    PRODUCT_NOT_AVAILABLE = (
        422,
        Text("이 상품을 보낼 발송 경로가 설정되어 있지 않습니다.", "No carrier is configured for this product."),
        Text(
            "운영자에게 이 상품의 발송 경로를 설정해 달라고 요청하세요.",
            "Ask the operator to add a route for this product.",
        ),
    )
    TOKEN_INVALID = (
        422,
        Text("토큰이 일치하지 않습니다.", "The token is wrong."),
        Text(
            "채널 관리자의 휴대폰으로 받은 토큰을 입력하세요.",
            "Use the token sent to the channel administrator's phone.",
        ),
    )
    TOKEN_EXPIRED = (
        422,
        Text("토큰의 유효 시간이 지났습니다.", "The token has expired."),
        Text("프로필을 다시 등록해 새 토큰을 받으세요.", "Register the profile again to get a new token."),
    )
    TOKEN_LOCKED = (
        422,
        Text("토큰을 여러 번 잘못 입력해 잠겼습니다.", "The token is locked after too many wrong attempts."),
        Text("프로필을 다시 등록해 새 토큰을 받으세요.", "Register the profile again to get a new token."),
    )
    RATE_LIMITED = (
        429,
        Text("요청이 너무 많습니다.", "Too many requests."),
        Text(
            "Retry-After 헤더의 시간(초)만큼 기다린 뒤 다시 보내세요.",
            "Wait for the seconds in the Retry-After header, then try again.",
        ),
    )
    INTERNAL_ERROR = (
        500,
        Text("서버에서 오류가 발생했습니다.", "The server failed to handle the request."),
        Text(
            "응답의 X-Request-Id를 운영자에게 알려 주세요.", "Give the operator the X-Request-Id of the response."
        ),
    )
    SERVICE_UNAVAILABLE = (
        503,
        Text(
            "지금은 처리할 수 없습니다. 요청이 이미 접수되었을 수도 있습니다.",
            "The service cannot handle this right now. The request may or may not have been accepted.",
        ),
        Text(
            "잠시 뒤에 같은 Idempotency-Key와 같은 본문으로 다시 보내세요. 키 없이 보내면 중복 발송될 수 있습니다.",
            "Repeat it in a moment with the same Idempotency-Key and body; without a key it may be sent twice.",
        ),
    )

    def __init__(self, http_status: int, text: Text, remedy: Text) -> None:
        self.http_status = http_status
        self.text = text
        self.remedy = remedy


class Problem(NamedTuple):
    """One thing that is wrong with a request: the code, the field, and details if any."""

    code: Code
    field: str = ""
    detail: Text | None = None

    def message(self, language: str) -> str:
        """Return the message for the caller."""
        sentence = self.code.text.in_language(language)
        return f"{sentence} {self.detail.in_language(language)}" if self.detail else sentence


class Refused(Exception):
    """The request is refused; `problems` says why, and the first one is the result."""

    def __init__(
        self, code: Code, field: str = "", detail: Text | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(code)
        self.problems: Sequence[Problem] = (Problem(code, field, detail),)
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.code.name

    @property
    def code(self) -> Code:
        return self.problems[0].code

    @classmethod
    def from_problems(cls, problems: Sequence[Problem], max_problems: int = MAX_PROBLEMS) -> "Refused":
        """Return a refusal for several problems; at most `max_problems` are reported."""
        refusal = cls(problems[0].code)
        refusal.problems = tuple(problems[:max_problems])
        return refusal


def require(found: T | None, code: Code = Code.NOT_FOUND, field: str = "", detail: Text | None = None) -> T:
    """Return what was found.

    Raises Refused where it is None.
    """
    if found is None:
        raise Refused(code, field, detail)
    return found
