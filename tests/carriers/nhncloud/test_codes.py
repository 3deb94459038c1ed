"""The mapping of NHN Cloud's documented codes."""

import pytest

from pabal.carriers.base import Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.carriers.nhncloud import codes
from pabal.carriers.nhncloud.client import TOO_LARGE
from pabal.carriers.nhncloud.codes import ErrorKind, error_kind_of, outcome_of, outcome_of_row, verdict_for
from pabal.domain.sends.message import Outcome

NO_NUMBER = Rejected(Outcome.NUMBER_NOT_ASSIGNED)
REFUSED = Rejected(Outcome.REFUSED_BY_RECEIVER)
SPAM = Rejected(Outcome.SPAM)
DIFFERS = Rejected(Outcome.DIFFERS_FROM_TEMPLATE)
CALL_NOT_SUPPORTED = Declined(Outcome.UNDELIVERABLE)
ODD = Declined(Outcome.CARRIER_ERROR)

TEXTS: dict[int, Verdict] = {
    **dict.fromkeys((-1000, -1001, -1002, -1003, -1004, -1007, -1008, -9995), Busy()),
    **dict.fromkeys((-2009, -2010, -2047, -2051), Busy()),
    -2052: NotSent(),
    **dict.fromkeys((-2021, -9999), Unknown()),
    **dict.fromkeys((-2018, -2019), NO_NUMBER),
    -6001: REFUSED,
    **dict.fromkeys(
        (-2002, -2003, -2004, -2005, -2014, -2015, -2023, -2024, -2044, -2045, -2046), CALL_NOT_SUPPORTED
    ),
    **dict.fromkeys((-2312, -2313, -6000, -6003, -6004, TOO_LARGE), CALL_NOT_SUPPORTED),
    **dict.fromkeys((4, -1005, -1006, -2000, -2001, -2016, -9996, -9997, -9998, -12345), ODD),
}
TALKS: dict[int, Verdict] = {
    **dict.fromkeys((-1000, -1001, -1030, -4004, -4005), Busy()),
    **dict.fromkeys((-4018, -8010), Busy()),
    -1017: NotSent(),
    **dict.fromkeys((-1005, -7000, -9999), Unknown()),
    **dict.fromkeys((-4019, -5000), NO_NUMBER),
    -3301: REFUSED,
    -8008: SPAM,
    **dict.fromkeys((-3010, -3011, -3033, -3042, -3043, -3046, -3049), DIFFERS),
    **dict.fromkeys((TOO_LARGE, -1028, -1031, -2000, -2001, -2018, -2019, -2023, -2024), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-2030, -2031, -2032, -2033, -2034, -2035, -2036, -2037, -2504, -2505), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-3000, -3004, -3006, -3007, -3008, -3009, -3026, -3038, -3039, -3040), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-3041, -3044, -3045, -3048, -3051, -3052, -3053, -3101, -3102, -3103), CALL_NOT_SUPPORTED),
    **dict.fromkeys((*range(-3226, -3199), -3326, -3327), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-1006, -1014, -1024, -1027, -2017, -3003, -3005), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-4007, -4009, -8001, -8002, -8005, -9992), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-3298, -3300, -3325, -3340, -3341, -3348, -3349, -4029), CALL_NOT_SUPPORTED),
    **dict.fromkeys((*range(-3323, -3302), *range(-3338, -3327)), CALL_NOT_SUPPORTED),
    **dict.fromkeys((-3299, -3324, -3344, -3347), DIFFERS),
    **dict.fromkeys((4, -2002, -2004, -3002, -9993, -9996, -9998, -12345), ODD),
}
ACCOUNT_CLOSED = {
    True: (-1000, -1001, -1002, -1003, -1004, -1007, -1008, -9995),
    False: (-1000, -1001, -1030, -4004, -4005),
}
SHARED = {
    True: (-2004, -2312, -2313, -6000, -6004, -9996, -9998, -9999, -2052),
    False: (-1027, -2017, -3003, -3005, -3298, -3304, -4029, -9992, -9996, -9998, -9999, -8010),
}
"""Errors of fields that all messages of a call share: halves of the call would be refused again."""


@pytest.mark.parametrize(
    ("code", "is_text", "verdict"),
    [(code, True, each) for code, each in TEXTS.items()] + [(code, False, each) for code, each in TALKS.items()],
)
def test_error_code_maps_to_its_verdict(code: int, is_text: bool, verdict: Verdict) -> None:
    assert verdict_for(error_kind_of(code, is_text=is_text)) == verdict


def test_every_code_of_the_tables_is_tested() -> None:
    assert set(codes._SMS) <= set(TEXTS)
    assert set(codes._TALK) <= set(TALKS)


@pytest.mark.parametrize("is_text", [True, False])
def test_closed_account_differs_from_a_busy_one(is_text: bool) -> None:
    known = TEXTS if is_text else TALKS

    closed = {code for code in known if error_kind_of(code, is_text=is_text) is ErrorKind.ACCOUNT_CLOSED}

    assert closed == set(ACCOUNT_CLOSED[is_text])


@pytest.mark.parametrize("is_text", [True, False])
def test_call_is_not_split_for_errors_that_its_messages_share(is_text: bool) -> None:
    assert not any(error_kind_of(code, is_text=is_text).concerns_one_message for code in SHARED[is_text])


@pytest.mark.parametrize("refusal", ErrorKind)
def test_every_error_kind_has_a_verdict(refusal: ErrorKind) -> None:
    assert isinstance(verdict_for(refusal), Busy | NotSent | Unknown | Declined | Rejected)
    assert ErrorKind[refusal.name] is refusal


SMS_ENDS = {
    "1000": Outcome.DELIVERED,
    "1001": Outcome.CARRIER_ERROR,
    "1002": Outcome.NUMBER_NOT_ASSIGNED,
    "1019": Outcome.TIMED_OUT,
    "2000": Outcome.TIMED_OUT,
    "2003": Outcome.PHONE_OFF,
    "3001": Outcome.NO_SUBSCRIBER,
    "3003": Outcome.NUMBER_NOT_ASSIGNED,
    "3006": Outcome.REFUSED_BY_RECEIVER,
    "3011": Outcome.CARRIER_ERROR,
    "3012": Outcome.SPAM,
    "4003": Outcome.NUMBER_NOT_ASSIGNED,
    "4005": Outcome.NO_SUBSCRIBER,
    "4007": Outcome.CARRIER_ERROR,
    "4008": Outcome.SPAM,
    "4009": Outcome.CARRIER_ERROR,
    "E900": Outcome.CARRIER_ERROR,
    "E915": Outcome.UNKNOWN,
    "E999": Outcome.CARRIER_ERROR,
}
TALK_ENDS = {
    "1000": Outcome.DELIVERED,
    **dict.fromkeys(("1020", "3008"), Outcome.NUMBER_NOT_ASSIGNED),
    "3019": Outcome.NOT_A_USER,
    "3020": Outcome.BLOCKED_BY_USER,
    **dict.fromkeys(("3005", "4000", "4001"), Outcome.UNKNOWN),
    **dict.fromkeys(
        ("3016", "3027", "3028", "3030", "3031", "3033", "3036", "3038", "3042"), Outcome.DIFFERS_FROM_TEMPLATE
    ),
    **dict.fromkeys(
        ("1033", "3043", "3044", "3045", "3053", "3054", "3055", "3057", "4132", "4134"),
        Outcome.DIFFERS_FROM_TEMPLATE,
    ),
    **dict.fromkeys(("2001", "2005", "3000", "3006", "3010", "3012", "9998", "9999"), Outcome.CARRIER_ERROR),
}
OTHER_ENDS = {
    True: ("1003", "2001", "2002", "2004", "2005", "2007", "3000", "3004", "3010", "3018", "3019", "E919", "E911"),
    False: (
        "1003",
        "1006",
        "1021",
        "1025",
        "3011",
        "3013",
        "3014",
        "3015",
        "3018",
        "3022",
        "MTR2",
        "2003",
        "1028",
        "4138",
    ),
}


@pytest.mark.parametrize("is_text", [True, False])
def test_result_code_maps_to_its_outcome(is_text: bool) -> None:
    ends = SMS_ENDS if is_text else TALK_ENDS

    assert {code: outcome_of(code, is_text=is_text) for code in ends} == ends
    assert set(ends) == set(codes.SMS_OUTCOMES if is_text else codes.TALK_OUTCOMES)


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
