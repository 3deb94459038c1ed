"""The kinds of text that SMS has endpoints for, and the words for what became of them."""

from typing import NamedTuple

from pabal.carriers.nhncloud.codes import SMS_OUTCOMES
from pabal.domain.sends.message import Outcome, Product, Status

MAX_KEY_CHARACTERS, MAX_MMS_KEY_CHARACTERS = 100, 1000
"""Of a recipientGroupingKey."""


class Kind(NamedTuple):
    """What is sent or listed by one endpoint."""

    products: tuple[Product, ...]
    is_ad: bool = False
    is_code: bool = False

    @property
    def is_mms(self) -> bool:
        return Product.SMS not in self.products

    @property
    def max_key_characters(self) -> int:
        return MAX_MMS_KEY_CHARACTERS if self.is_mms else MAX_KEY_CHARACTERS


TEXTS = (Product.SMS, Product.LMS, Product.MMS)
SMS, MMS = Kind((Product.SMS,)), Kind((Product.LMS, Product.MMS))
AD_SMS, AD_MMS = SMS._replace(is_ad=True), MMS._replace(is_ad=True)
AUTH = Kind((Product.SMS,), is_code=True)

_CHOSEN = {
    Outcome.UNKNOWN: "E900",
    Outcome.CARRIER_ERROR: "E999",
    Outcome.EXPIRED: "1019",
    Outcome.DUPLICATE: "E915",
    Outcome.OPTED_OUT: "3006",
    Outcome.NOT_SENDABLE_AS_TEXT: "3009",
    Outcome.UNDELIVERABLE: "3000",
}
"""The codes of what NHN Cloud has no code for, or several."""
DELIVERED_CODE = "1000"
_NAMES = {
    DELIVERED_CODE: "성공",
    "1019": "TTL 초과",
    "2000": "전송 시간 초과",
    "2003": "단말기 전원 꺼짐",
    "3000": "전송할 수 없음",
    "3001": "가입자 없음",
    "3003": "수신 번호 형식 오류 또는 결번(없는 번호)",
    "3006": "착신 거절",
    "3009": "메시지 형식 오류",
    "3012": "스팸",
    "E900": "기타 발송 오류",
    "E915": "중복 메시지",
    "E999": "기타 오류",
}
MESSAGE_STATES = {
    Status.WAITING: ("1", "요청"),
    Status.SENDING: ("2", "처리 중"),
    Status.COMPLETED: ("3", "성공"),
    Status.FAIL: ("0", "실패"),
    Status.CANCEL: ("4", "예약취소"),
}
"""msgStatus and msgStatusName."""
DUPLICATE_STATE = ("5", "중복실패")


def result_code(outcome: Outcome) -> str:
    """Return the resultCode of an outcome: ours where NHN Cloud has the same one."""
    if outcome in _CHOSEN:
        return _CHOSEN[outcome]
    own = str(outcome.number)
    return own if SMS_OUTCOMES.get(own) is outcome else _CHOSEN[Outcome.UNDELIVERABLE]


def result_name(code: str) -> str:
    """Return the resultCodeName of a code."""
    return _NAMES[code]


def message_type(product: Product, *, is_code: bool) -> str:
    """Return the messageType of a text."""
    return "AUTH" if is_code and product is Product.SMS else product.name


def send_type(product: Product, *, is_code: bool) -> str:
    """Return the sendType of a text: 0 SMS, 1 LMS and MMS, 2 AUTH."""
    return "1" if product is not Product.SMS else "2" if is_code else "0"
