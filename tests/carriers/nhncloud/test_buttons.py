"""Buttons are converted to NHN Cloud and back without loss."""

import pytest

from pabal.carriers.nhncloud import templates
from pabal.domain.content.button import DEFAULT_NAMES, Button

KEPT: list[Button] = [
    Button("webLink", "보기", mobile_url="https://m.example", pc_url="https://example"),
    Button("webLink", "밖에서", mobile_url="https://m.example", target="out"),
    Button("appLink", "앱", android_url="app://a", ios_url="app://i"),
    Button("deliveryTracking", "배송 조회"),
    Button("botKeyword", "키워드"),
    Button("messageDelivery", "전달"),
    Button("counselingTalkConversion", "상담", chat_extra="주문"),
    Button("botConversion", "챗봇", chat_extra="주문", chat_event="event"),
    Button("channelAddition", "채널 추가"),
]


@pytest.mark.parametrize("button", KEPT, ids=lambda button: button.type)
def test_button_is_converted_back_unchanged(button: Button) -> None:
    assert templates.button_from_remote(templates.button_to_remote(button)) == button


def test_every_button_type_is_mapped() -> None:
    words = {templates.button_to_remote(Button(ours, "이름"))["type"] for ours in DEFAULT_NAMES}

    assert words == {"WL", "AL", "DS", "BK", "MD", "BC", "BT", "AC", "TN"}


def test_buttons_are_numbered_as_shown() -> None:
    given: list[Button] = [
        Button("botKeyword", "하나", order_number=7),
        Button("botKeyword", "둘", order_number=9),
    ]

    assert templates.buttons_to_remote(given) == [
        {"ordering": 1, "type": "BK", "name": "하나"},
        {"ordering": 2, "type": "BK", "name": "둘"},
    ]


def test_channel_button_has_its_fixed_name() -> None:
    assert templates.button_to_remote(Button("channelAddition", "친구하기"))["name"] == "채널 추가"


@pytest.mark.parametrize(
    "theirs",
    [
        {"type": "BF", "name": "폼", "bizFormId": 3},
        {"type": "P1", "name": "사진", "pluginId": "plugin"},
        {"type": "XX", "name": "새것"},
        {"name": "종류 없음"},
    ],
)
def test_unsupported_button_is_none(theirs: dict[str, object]) -> None:
    assert templates.button_from_remote(theirs) is None
