"""Buttons keep what they say on their way to NHN Cloud and back."""

import pytest

from pabal.carriers.nhncloud import buttons
from pabal.domain.button import DEFAULT_NAMES

KEPT: list[dict[str, str | int]] = [
    {"buttonType": "webLink", "name": "보기", "mobileUrl": "https://m.example", "pcUrl": "https://example"},
    {"buttonType": "webLink", "name": "밖에서", "mobileUrl": "https://m.example", "target": "out"},
    {"buttonType": "appLink", "name": "앱", "androidUrl": "app://a", "iosUrl": "app://i"},
    {"buttonType": "deliveryTracking", "name": "배송 조회"},
    {"buttonType": "botKeyword", "name": "키워드"},
    {"buttonType": "messageDelivery", "name": "전달"},
    {"buttonType": "counselingTalkConversion", "name": "상담", "chatExtra": "주문"},
    {"buttonType": "botConversion", "name": "챗봇", "chatExtra": "주문", "chatEvent": "event"},
    {"buttonType": "channelAddition", "name": "채널 추가"},
]


@pytest.mark.parametrize("button", KEPT, ids=lambda button: str(button["buttonType"]))
def test_a_button_comes_back_as_it_went(button: dict[str, str | int]) -> None:
    assert buttons.from_relay(buttons.to_relay(button)) == button


def test_every_type_we_know_has_a_word_there() -> None:
    words = {buttons.to_relay({"buttonType": ours, "name": "이름"})["type"] for ours in DEFAULT_NAMES}

    assert words == {"WL", "AL", "DS", "BK", "MD", "BC", "BT", "AC"}


def test_buttons_are_numbered_as_they_are_shown_and_our_own_order_stays_here() -> None:
    given: list[dict[str, str | int]] = [
        {"buttonType": "botKeyword", "name": "하나", "orderNo": 7},
        {"buttonType": "botKeyword", "name": "둘", "orderNo": 9},
    ]

    assert buttons.all_to_relay(given) == [
        {"ordering": 1, "type": "BK", "name": "하나"},
        {"ordering": 2, "type": "BK", "name": "둘"},
    ]


def test_a_button_that_adds_the_channel_has_the_one_name_it_may_have() -> None:
    assert buttons.to_relay({"buttonType": "channelAddition", "name": "친구하기"})["name"] == "채널 추가"


@pytest.mark.parametrize(
    "theirs",
    [
        {"type": "BF", "name": "폼", "bizFormId": 3},
        {"type": "P1", "name": "사진", "pluginId": "plugin"},
        {"type": "TN", "name": "전화", "telNumber": "0212345678"},
        {"type": "XX", "name": "새것"},
        {"name": "종류 없음"},
    ],
)
def test_a_button_of_a_kind_that_we_do_not_carry_is_said_to_be_so(theirs: dict[str, object]) -> None:
    assert buttons.from_relay(theirs) is None
