"""NHN Cloud's codes for what keeps a text from being sent (SMS, ko/error-code.md)."""

from pabal.compat.nhncloud.call import INVALID_PARAMETER, NhnRefused
from pabal.domain.base.codes import Code, Problem

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
