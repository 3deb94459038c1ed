"""The mapping of NHN Cloud's documented codes."""

import pytest

from pabal.carriers.base import Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.carriers.nhncloud.client import TOO_LARGE
from pabal.carriers.nhncloud.codes import ErrorKind, error_kind_of, outcome_of, outcome_of_row, verdict_for
from pabal.domain.sends.message import Outcome

DECLINED = Declined(Outcome.UNDELIVERABLE)
TEXTS: list[tuple[Verdict, tuple[int, ...]]] = [
    (Busy(), (-1000, -1008, -9995, -2009, -2051)),
    (NotSent(), (-2052,)),
    (Unknown(), (-2021, -9999)),
    (Rejected(Outcome.NUMBER_NOT_ASSIGNED), (-2018, -2019)),
    (Rejected(Outcome.REFUSED_BY_RECEIVER), (-6001,)),
    (DECLINED, (-2002, -2014, -2024, -2046, -2312, -6004, TOO_LARGE)),
    (Declined(Outcome.CARRIER_ERROR), (4, -1005, -2000, -2016, -9998, -12345)),
]
TALKS: list[tuple[Verdict, tuple[int, ...]]] = [
    (Busy(), (-1000, -1030, -4005, -4018, -8010)),
    (NotSent(), (-1017,)),
    (Unknown(), (-1005, -7000, -9999)),
    (Rejected(Outcome.NUMBER_NOT_ASSIGNED), (-4019, -5000)),
    (Rejected(Outcome.REFUSED_BY_RECEIVER), (-3301,)),
    (Rejected(Outcome.SPAM), (-8008,)),
    (Rejected(Outcome.DIFFERS_FROM_TEMPLATE), (-3010, -3033, -3049, -3299, -3347)),
    (DECLINED, (TOO_LARGE, -1031, -2037, -2030, -2505, -3006, -3041, -3053, -3226, -3200, -3327)),
    (DECLINED, (-1006, -3005, -8005, -9992, -3298, -4029, -3323, -3303, -3325, -3338, -3328, -3349)),
    (Declined(Outcome.CARRIER_ERROR), (4, -2002, -3002, -9993, -9998, -12345)),
]
"""The ends of each range, and some between."""
SHARED = {
    True: (-2004, -2312, -2313, -6000, -6004, -9996, -9998, -9999, -2052),
    False: (-1027, -2017, -3003, -3005, -3298, -3304, -4029, -9992, -9996, -9998, -9999, -8010),
}
"""Errors of fields that all messages of a call share: halves of the call would be refused again."""


@pytest.mark.parametrize(
    ("code", "is_text", "verdict"),
    [(code, some is TEXTS, verdict) for some in (TEXTS, TALKS) for verdict, codes in some for code in codes],
)
def test_error_code_maps_to_its_verdict(code: int, is_text: bool, verdict: Verdict) -> None:
    assert verdict_for(error_kind_of(code, is_text=is_text)) == verdict


@pytest.mark.parametrize(("code", "is_text"), [(-1002, True), (-9995, True), (-1030, False), (-4004, False)])
def test_closed_account_differs_from_a_busy_one(code: int, is_text: bool) -> None:
    assert error_kind_of(code, is_text=is_text) is ErrorKind.ACCOUNT_CLOSED
    assert error_kind_of(-2051 if is_text else -8010, is_text=is_text) is ErrorKind.BUSY


@pytest.mark.parametrize("is_text", [True, False])
def test_call_is_not_split_for_errors_that_its_messages_share(is_text: bool) -> None:
    assert not any(error_kind_of(code, is_text=is_text).concerns_one_message for code in SHARED[is_text])


OTHER_ENDS = {
    True: ("1003", "2001", "2007", "3000", "3018", "3019", "E919"),
    False: ("1003", "1006", "1028", "2003", "3011", "3018", "3022", "4138", "MTR2"),
}


@pytest.mark.parametrize(
    ("row", "is_text", "outcome"),
    [
        ({"resultCode": "1000"}, True, Outcome.DELIVERED),
        ({"resultCode": "2003", "messageStatus": "FAILED"}, False, Outcome.UNDELIVERABLE),
        ({"resultCode": None, "messageStatus": "FAILED"}, False, Outcome.UNDELIVERABLE),
        ({"messageStatus": "CANCEL"}, False, Outcome.UNDELIVERABLE),
        ({"messageStatus": "DUPLICATED"}, True, Outcome.UNDELIVERABLE),
        ({"resultCode": "", "msgStatus": "0"}, True, Outcome.UNDELIVERABLE),
        ({"msgStatus": 5}, True, Outcome.UNDELIVERABLE),
        ({"msgStatus": "2"}, True, None),
        ({"msgStatus": "7"}, True, None),
        ({"resultCode": None, "messageStatus": "COMPLETED"}, False, None),
        ({"resultCode": "4161", "messageStatus": "COMPLETED"}, False, None),
        ({"resultCode": "4161", "messageStatus": "FAILED"}, False, None),
        ({}, True, None),
    ],
)
def test_row_has_an_outcome_only_if_its_message_ended(
    row: dict[str, object], is_text: bool, outcome: Outcome | None
) -> None:
    assert outcome_of_row(row, is_text=is_text) is outcome


@pytest.mark.parametrize("is_text", [True, False])
def test_unknown_result_code_is_a_failure(is_text: bool) -> None:
    for code in (*OTHER_ENDS[is_text], "", "0", "10000", "1000 ", "None", "성공"):
        assert outcome_of(code, is_text=is_text) is Outcome.UNDELIVERABLE
