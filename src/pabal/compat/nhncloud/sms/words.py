"""The words of NHN Cloud's SMS: its kinds of text, and its codes for what became of them and for refusals."""

from typing import NamedTuple

from pabal.carriers.nhncloud.codes import SMS_OUTCOMES
from pabal.compat.nhncloud.call import INVALID_PARAMETER, NhnRefused
from pabal.domain.base.codes import Code, Problem
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


NO_RECIPIENT = -2001
MESSAGES = {
    0: "SUCCESS",
    INVALID_PARAMETER: "Invalid parameter.",
    -1005: "Service parameter is invalid.",
    -1006: "MessageType is invalid.",
    -2000: "Date format error.",
    NO_RECIPIENT: "RecipientList can not be null.",
    -2002: "Invalid attach file name.",
    -2003: "Attach file required jpg or jpeg.",
    -2004: "File is expired or does not exist.",
    -2005: "The file size must be greater than 0 and less than 300KB.",
    -2008: "Invalid requestId.",
    -2009: "Upload attach file error.",
    -2011: "RequestId or start/endRequestDate or start/endCreateDate is required.",
    -2012: "Search parameter is invalid.(requestId and mtPr).",
    -2014: "The recipient can not be empty.",
    -2015: "Title or Body exceed maximum byte.",
    -2016: "The max recipient size is 1000.",
    -2018: "RecipientNo can not be empty.",
    -2019: "RecipientNo is invalid.",
    -2022: "RequestDate is not before currentDate.",
    -2023: "Unacceptable characters in title and body.",
    -2024: "LMS/MMS Type is not sent to outside of Korea.",
    -2044: "Invalid countryCode for sending.",
    -2050: "Conversion status is not ready.",
    -2052: "Blocked by organization message sending count exceed.",
    -2110: "Template is not exist.",
    -2111: "Template add parameter is invalid.",
    -2312: "Not regist sendno.",
    -2313: "This sendno is blocked.",
    -2704: "Invalid stats parameter.",
    -4000: "Search is possible within one month.",
    -6003: "The body must contain block guide ment.",
    -6004: "This is not a joined unsubscribeNo.",
    -8000: "The body must contain auth guide ment.",
}
_CODES = {
    Code.MISSING_PARAMETER: -2014,
    Code.INVALID_PHONE_NUMBER: -2019,
    Code.INVALID_DATE: -2000,
    Code.CONTENT_TOO_LONG: -2015,
    Code.UNSUPPORTED_CHARACTER: -2023,
    Code.TOO_MANY_RECEIVERS: -2016,
    Code.INVALID_IMAGE: -2009,
    Code.LIMIT_EXCEEDED: -2052,
    Code.SENDER_NUMBER_NOT_REGISTERED: -2312,
    Code.PRODUCT_NOT_AVAILABLE: -1006,
    Code.REQUEST_NOT_FOUND: -2008,
    Code.MESSAGE_NOT_FOUND: -2012,
}
_BY_FIELD = {"sender": -2312, "optOutNumber": -6003, "phoneNumber": -2018, "receivers": NO_RECIPIENT}
"""The codes of fields that are missing; that of a sender number also where it is wrong."""


def code_of(problem: Problem) -> tuple[int, str]:
    """Return the code and the message for a problem of ours."""
    field = problem.field.rpartition(".")[2]
    code = _CODES.get(problem.code, INVALID_PARAMETER)
    if field == "sender" or (problem.code is Code.MISSING_PARAMETER and field in _BY_FIELD):
        code = _BY_FIELD[field]
    return code, MESSAGES[code]


def refuse(code: int, detail: str = "") -> NhnRefused:
    """Return the error of a call, with what we say in addition."""
    return NhnRefused(code, f"{MESSAGES[code]} {detail}".rstrip())
