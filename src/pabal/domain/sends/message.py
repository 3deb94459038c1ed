"""Products, statuses and outcomes of messages, and the attempt to send one."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from pabal.domain.base.codes import NumberedEnum, Text
from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.content.button import Button
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts


class Product(NumberedEnum):
    """The kinds of message; `number` is the stored value."""

    SMS = ("sms", 1, Text("단문(SMS)", "SMS"))
    LMS = ("lms", 2, Text("장문(LMS)", "LMS"))
    MMS = ("mms", 3, Text("멀티미디어(MMS)", "MMS"))
    EMAIL = ("email", 4, Text("이메일", "E-mail"))
    PUSH = ("push", 5, Text("푸시", "Push"))
    ALIMTALK = ("alimTalk", 6, Text("알림톡", "Alimtalk"))
    FRIENDTALK_TEXT = ("friendTalkText", 7, Text("친구톡 텍스트", "Friend talk, text"))
    FRIENDTALK_IMAGE = ("friendTalkImage", 8, Text("친구톡 이미지", "Friend talk, image"))
    FRIENDTALK_WIDE_IMAGE = (
        "friendTalkWideImage",
        9,
        Text("친구톡 와이드 이미지", "Friend talk, wide image"),
    )
    BRAND_MESSAGE = ("brandMessage", 10, Text("브랜드 메시지", "Brand message"))

    __hash__ = object.__hash__  # Enum's own hash is slow Python code, and products are looked up for every message

    @property
    def is_text(self) -> bool:
        """Whether it is a text message, carried in CP949."""
        return self in (Product.SMS, Product.LMS, Product.MMS)

    @property
    def is_friend_talk(self) -> bool:
        """Whether it is friend talk, which a relay may deliver as a brand message."""
        return self in (Product.FRIENDTALK_TEXT, Product.FRIENDTALK_IMAGE, Product.FRIENDTALK_WIDE_IMAGE)


class Status(NumberedEnum):
    """The status of a message; it never goes back, and the last three are final."""

    WAITING = ("waiting", 0, Text("대기", "Waiting"))
    SENDING = ("sending", 1, Text("발송 중", "Sending"))
    COMPLETED = ("completed", 2, Text("완료", "Completed"))
    FAIL = ("fail", 3, Text("실패", "Failed"))
    CANCEL = ("cancel", 4, Text("취소", "Cancelled"))


class Outcome(Enum):
    """Why a message ended; carriers map their own codes to these."""

    DELIVERED = (1000, Text("전달됨", "Delivered"))
    TIMED_OUT = (2000, Text("시간 초과", "No receipt in time"))
    PHONE_OFF = (2003, Text("전원 꺼짐", "Phone off"))
    NO_SUBSCRIBER = (3001, Text("가입자 없음", "No such subscriber"))
    NUMBER_NOT_ASSIGNED = (3003, Text("결번", "Number not assigned"))
    REFUSED_BY_RECEIVER = (3006, Text("수신 거부", "Refused by the receiver"))
    SPAM = (3012, Text("스팸", "Treated as spam"))
    DIFFERS_FROM_TEMPLATE = (3016, Text("템플릿과 내용이 다름", "Text differs from its template"))
    UNDELIVERABLE = (3018, Text("전달할 수 없음", "Cannot be delivered"))
    NOT_A_USER = (3019, Text("메신저 사용자가 아님", "Not a user of the messaging app"))
    BLOCKED_BY_USER = (3020, Text("사용자가 차단함", "Blocked by the user"))
    NOT_A_FRIEND = (3102, Text("채널의 친구가 아님", "Not a friend of the channel"))
    UNKNOWN = (9001, Text("결과를 알 수 없음", "Outcome unknown"))
    NOT_SENDABLE_AS_TEXT = (9002, Text("문자로 보낼 수 없음", "Cannot be sent as a text"))
    OPTED_OUT = (9003, Text("수신거부한 번호", "Opted out of advertising"))
    EXPIRED = (9004, Text("발송 기한 지남", "Expired before it could be sent"))
    DUPLICATE = (9005, Text("중복 발송", "Duplicate"))
    CARRIER_ERROR = (9999, Text("발송 경로의 시스템 오류", "Carrier system error"))

    __hash__ = object.__hash__

    def __init__(self, number: int, label: Text) -> None:
        self.number = number
        self.label = label

    @property
    def status(self) -> Status:
        return Status.COMPLETED if self is Outcome.DELIVERED else Status.FAIL


PRODUCT_BY_NUMBER = {product.number: product for product in Product}
BRAND_TYPE_OF_FRIEND_TALK = {
    Product.FRIENDTALK_TEXT: BrandType.TEXT,
    Product.FRIENDTALK_IMAGE: BrandType.IMAGE,
    Product.FRIENDTALK_WIDE_IMAGE: BrandType.WIDE,
}
"""As which brand message a relay sends friend talk."""
PRODUCT_BY_CODE = {product.code: product for product in Product}
STATUS_BY_NUMBER = {status.number: status for status in Status}
STATUS_BY_CODE = {status.code: status for status in Status}
OUTCOME_BY_NUMBER = {outcome.number: outcome for outcome in Outcome}


class Attempt(NamedTuple):
    """One message to submit to a carrier, and the number of the attempt."""

    message_id: bytes
    number: int
    account_id: int
    product: Product
    receiver: str
    sender: str
    subject: str | None
    content: str
    buttons: tuple[Button, ...] = ()
    image_request_id: bytes | None = None
    """The request whose image is attached, if any."""
    sender_key: str | None = None
    template_code: str | None = None
    tries: int = 0
    is_ad: bool = False
    image_link: str | None = None
    is_small: bool = True
    """Whether it belongs to a small request, which does not wait behind a campaign."""
    is_in_doubt: bool = False
    """Whether an earlier attempt at the same carrier ended with an unknown result."""
    expires_at: Instant | None = None
    """The time from which on it must not be sent."""
    brand: BrandMessage | None = None
    """What a brand message has besides; friend talk has it if the first carrier of its route delivers it as one."""
    opt_out_number: str | None = None
    """The free number that a receiver calls to get no more advertising."""
    parameters: Mapping[str, str] | None = None
    """Values of the variables of an Alimtalk, or of a brand message whose template is at the relay."""
    parts: TemplateParts = NO_PARTS
    """What its template has beside the text, filled in."""
    is_code: bool = False
    """Whether it is a one-time code, which may go by a line of its own."""
    images: int = 0
    """How many images `image_request_id` has."""


MAX_CODE_CHARACTERS = 40
"""Longest code that is stored; longer ones are cut off."""


def tidy_code(code: str | None) -> str | None:
    """Return a carrier's code without characters that cannot be shown; None if nothing is left."""
    if not code:
        return None
    kept = code if code.isprintable() else "".join(each for each in code if each.isprintable())
    return kept.strip()[:MAX_CODE_CHARACTERS].rstrip() or None


TOKEN_KIND = "token"
"""The kind of a message with the token of a sender profile."""


class DueReceipt(NamedTuple):
    """A receipt that the simulator sends when it is due."""

    due_at: Instant
    message_id: bytes
    outcome: Outcome


class SimulatedMessage(NamedTuple):
    """A message that the simulator accepted; `arrives_at` is None where it never arrives."""

    message_id: bytes | None
    account_id: int
    phone: str
    accepted_at: Instant
    arrives_at: Instant | None
    kind: str
    sender: str
    subject: str | None
    content: str
    buttons: Sequence[Button] = ()
    images: int = 0
    receipts: Sequence[tuple[Instant, Outcome]] = ()
    brand: BrandMessage | None = None
    parts: TemplateParts = NO_PARTS
