"""Every result code of the interface, declared once, with the one way to say no."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

LANGUAGES = ("ko", "en")
MAX_PROBLEMS = 100


class Text(NamedTuple):
    """One sentence in the two languages we speak."""

    ko: str
    en: str

    def in_language(self, language: str) -> str:
        return self.en if language == "en" else self.ko


class Code(Enum):
    """What `result` may say: HTTP status, sentence and remedy of each code."""

    SUCCESS = (200, Text("성공했습니다.", "Success."), Text("", ""))
    INVALID_JSON = (
        400,
        Text("요청 본문이 올바른 JSON 객체가 아닙니다.", "The request body is not a valid JSON object."),
        Text(
            "UTF-8로 된 JSON 객체 하나를 보내세요.",
            "Send one JSON object in UTF-8, not nested too deeply.",
        ),
    )
    MISSING_PARAMETER = (
        400,
        Text("필수 항목이 없거나 비어 있습니다.", "A required field is absent or empty."),
        Text("errors의 field에 적힌 항목을 채우세요.", "Fill in the field that `errors` names."),
    )
    INVALID_PARAMETER = (
        400,
        Text("항목의 값이 올바르지 않습니다.", "A field has a value that is not allowed."),
        Text("형식과 허용되는 값을 확인하세요.", "Check its type and the allowed values."),
    )
    INVALID_PHONE_NUMBER = (
        400,
        Text("전화번호가 올바르지 않습니다.", "A phone number is not valid."),
        Text(
            "010-0000-0000 형식으로 보내세요.",
            "Write it as 010-0000-0000; receivers are Korean mobile numbers.",
        ),
    )
    INVALID_DATE = (
        400,
        Text("날짜를 읽을 수 없거나 허용되지 않는 날짜입니다.", "A date cannot be read or is not allowed."),
        Text(
            "yyyy-MM-dd HH:mm 형식으로, 지나지 않은 날짜를 보내세요.",
            "Write it as yyyy-MM-dd HH:mm; a sendDate lies ahead, within the limit.",
        ),
    )
    CONTENT_TOO_LONG = (
        400,
        Text("내용이 너무 깁니다.", "The text is too long."),
        Text(
            "내용을 줄이거나 더 긴 메시지 종류를 쓰세요.",
            "Shorten it, or use a kind of message that holds more.",
        ),
    )
    UNSUPPORTED_CHARACTER = (
        400,
        Text("보낼 수 없는 글자가 있습니다.", "The text holds characters that cannot be sent."),
        Text("그 글자를 빼거나 바꾸세요.", "Remove or replace them."),
    )
    MISSING_VARIABLE = (
        400,
        Text("수신자에게 변수의 값이 없습니다.", "A receiver has no value for a variable."),
        Text("templateData에 그 변수의 값을 넣으세요.", "Give its value in the receiver's templateData."),
    )
    INVALID_IMAGE = (
        400,
        Text("이미지를 쓸 수 없습니다.", "The image cannot be used."),
        Text("50 KB 이하의 JPEG를 Base64로 보내세요.", "Send a JPEG of at most 50 KB as Base64."),
    )
    INVALID_BUTTON = (
        400,
        Text("버튼이 올바르지 않습니다.", "A button is not valid."),
        Text("errors의 field에 적힌 버튼 항목을 고치세요.", "Mend the button's field that `errors` names."),
    )
    TOO_MANY_RECEIVERS = (
        400,
        Text("수신자가 너무 많습니다.", "There are too many receivers."),
        Text("요청을 나누어 보내세요.", "Split the request."),
    )
    UNAUTHORIZED = (
        401,
        Text("apiKey가 없거나 쓸 수 없는 키입니다.", "The apiKey header is absent or not a usable key."),
        Text("운영자에게 받은 키를 apiKey 헤더에 넣으세요.", "Put the operator's key in the apiKey header."),
    )
    KEY_EXPIRED = (
        401,
        Text("apiKey의 사용 기간이 지났습니다.", "The apiKey has expired."),
        Text("운영자에게 새 키를 요청하세요.", "Ask the operator for a new key."),
    )
    FORBIDDEN = (
        403,
        Text("이 키로는 할 수 없는 요청입니다.", "This key may not do this."),
        Text(
            "키의 권한과 허용된 주소를 확인하세요.",
            "Check the key's scopes and its allowed addresses.",
        ),
    )
    NOT_FOUND = (
        404,
        Text("없는 경로입니다.", "There is no such path."),
        Text("/docs에서 경로를 확인하세요.", "See /docs for the paths."),
    )
    SENDER_NOT_FOUND = (
        404,
        Text("발신 프로필을 찾을 수 없습니다.", "There is no such sender profile."),
        Text("senderKey 또는 channelId를 확인하세요.", "Check senderKey or channelId."),
    )
    TEMPLATE_NOT_FOUND = (
        404,
        Text("템플릿을 찾을 수 없습니다.", "There is no such template."),
        Text("templateCode를 확인하세요.", "Check templateCode."),
    )
    CATEGORY_NOT_FOUND = (
        404,
        Text("없는 카테고리입니다.", "There is no such category."),
        Text("카테고리 목록에서 코드를 고르세요.", "Choose a code from the category list."),
    )
    REQUEST_NOT_FOUND = (
        404,
        Text("발송 요청을 찾을 수 없습니다.", "There is no such send request."),
        Text("requestId를 확인하세요.", "Check requestId."),
    )
    METHOD_NOT_ALLOWED = (
        405,
        Text("이 경로에서 쓸 수 없는 메서드입니다.", "This path does not take that method."),
        Text("Allow 헤더의 메서드를 쓰세요.", "Use the method that the Allow header names."),
    )
    DUPLICATE = (
        409,
        Text("이미 있거나 이미 쓰인 값입니다.", "It exists already or was used already."),
        Text("다른 값을 쓰세요.", "Use another value."),
    )
    INVALID_STATE = (
        409,
        Text("지금 상태에서는 할 수 없습니다.", "Its present state does not allow this."),
        Text("상태를 확인하세요.", "Look up its state first."),
    )
    PAYLOAD_TOO_LARGE = (
        413,
        Text("요청 본문이 너무 큽니다.", "The request body is too large."),
        Text("요청을 나누어 보내세요.", "Split the request."),
    )
    UNSUPPORTED_MEDIA_TYPE = (
        415,
        Text("지원하지 않는 Content-Type입니다.", "This Content-Type is not supported."),
        Text("application/json;charset=UTF-8로 보내세요.", "Send application/json;charset=UTF-8."),
    )
    SENDER_NUMBER_NOT_REGISTERED = (
        422,
        Text("등록되지 않은 발신번호입니다.", "The sender number is not registered."),
        Text("운영자에게 발신번호 등록을 요청하세요.", "Ask the operator to register it."),
    )
    SENDER_NOT_APPROVED = (
        422,
        Text(
            "승인되지 않았거나 사용하지 않는 발신 프로필입니다.",
            "The sender profile is not approved or not in use.",
        ),
        Text("토큰 인증을 마치세요.", "Finish the token authentication."),
    )
    TEMPLATE_NOT_APPROVED = (
        422,
        Text("승인되지 않았거나 사용하지 않는 템플릿입니다.", "The template is not approved or not in use."),
        Text("템플릿 승인을 기다리세요.", "Have it reviewed and approved first."),
    )
    NIGHT_AD_RESTRICTED = (
        422,
        Text(
            "광고는 20:50부터 08:00까지 보낼 수 없습니다.",
            "Advertisements may not be sent from 20:50 to 08:00.",
        ),
        Text("낮 시간으로 예약하세요.", "Schedule it for the day."),
    )
    PRODUCT_NOT_AVAILABLE = (
        422,
        Text("이 상품을 보낼 통신사가 설정되어 있지 않습니다.", "No carrier is configured for this product."),
        Text("운영자에게 문의하세요.", "Ask the operator to add a route for it."),
    )
    TOKEN_INVALID = (
        422,
        Text("토큰이 맞지 않습니다.", "The token is not right."),
        Text(
            "관리자 휴대폰으로 받은 토큰을 넣으세요.",
            "Use the token that the administrator's phone received.",
        ),
    )
    TOKEN_EXPIRED = (
        422,
        Text("토큰의 유효 시간이 지났습니다.", "The token has expired."),
        Text("프로필을 다시 등록해 새 토큰을 받으세요.", "Register the profile again for a new token."),
    )
    TOKEN_LOCKED = (
        422,
        Text("토큰을 여러 번 틀려 잠겼습니다.", "The token is locked after too many wrong tries."),
        Text("프로필을 다시 등록해 새 토큰을 받으세요.", "Register the profile again for a new token."),
    )
    RATE_LIMITED = (
        429,
        Text("요청이 너무 많습니다.", "Too many requests."),
        Text("Retry-After만큼 기다린 뒤 다시 보내세요.", "Wait as long as Retry-After says, then try again."),
    )
    INTERNAL_ERROR = (
        500,
        Text("처리하지 못한 오류입니다.", "Something went wrong on our side."),
        Text("X-Request-Id를 운영자에게 알려 주세요.", "Give the operator the X-Request-Id of the answer."),
    )
    SERVICE_UNAVAILABLE = (
        503,
        Text(
            "지금은 처리할 수 없습니다. 다시 시도해도 안전합니다.",
            "Not possible right now; it is safe to try again.",
        ),
        Text("잠시 뒤 다시 보내세요.", "Try again in a moment."),
    )

    def __init__(self, http_status: int, text: Text, remedy: Text) -> None:
        self.http_status = http_status
        self.text = text
        self.remedy = remedy


class Problem(NamedTuple):
    """One thing wrong with a request: what, where, and in more words if there are any."""

    code: Code
    field: str = ""
    detail: Text | None = None

    def message(self, language: str) -> str:
        sentence = self.code.text.in_language(language)
        return f"{sentence} {self.detail.in_language(language)}" if self.detail else sentence


class Refused(Exception):
    """The answer is no; `problems` says why, the first of them being the result."""

    def __init__(
        self, code: Code, field: str = "", detail: Text | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(code.name)
        self.problems: Sequence[Problem] = (Problem(code, field, detail),)
        self.retry_after_s = retry_after_s

    @property
    def code(self) -> Code:
        return self.problems[0].code

    @classmethod
    def from_problems(cls, problems: Sequence[Problem]) -> "Refused":
        """Refuse for several reasons at once; at most MAX_PROBLEMS are told."""
        refusal = cls(problems[0].code)
        refusal.problems = tuple(problems[:MAX_PROBLEMS])
        return refusal
