"""Finished messages are solved against their template, whatever parts it has."""

from typing import Any

import msgspec
import pytest

from pabal.carriers.nhncloud.templates import buttons_to_remote, parts_to_remote
from pabal.compat.nhncloud.talk.alimtalk import find_values
from pabal.compat.nhncloud.talk.bodies import FinishedRecipient
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.compat.nhncloud.talk.sends import RecipientRefused
from pabal.domain.content import variables
from pabal.domain.content.button import Button
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.kakao.template_parts import ItemEntry, ItemHighlight, TemplateParts, fill_parts
from pabal.domain.sends.sending import fill_buttons, fill_text

LINK = "https://shop.example/#{order}"
TEMPLATE = TemplateContent(
    "배송",
    "#{name}님, #{item} #{count}개를 보냈습니다. #{name}님께 곧 도착합니다.",
    "006003",
    emphasis_type="text",
    emphasis_title="주문 #{order}",
    buttons=(
        Button("webLink", "보기", LINK, "https://shop.example", target="out"),
        Button("appLink", "앱", android_url="shop://#{order}", ios_url="shop://#{order}"),
        Button("channelAddition", "채널 추가"),
        Button("phoneCall", "전화 연결", tel_number="1588-0000"),
    ),
    parts=TemplateParts(
        "#{item} 배송",
        ItemHighlight("#{count}개", "#{item}", "https://img.example/1.jpg"),
        (ItemEntry("물건", "#{item}"), ItemEntry("수량", "#{count}개")),
        ItemEntry("합계", "#{price}원"),
        Button("representLink", "", LINK),
        (Button("botKeyword", "문의"),),
    ),
)
VALUES = {"name": "김 철수", "item": "사과 상자", "count": "3", "order": "A-1", "price": "30,000"}


def finished(template: TemplateContent, values: dict[str, str]) -> dict[str, Any]:
    """Return a recipient as our own carrier writes it."""
    names, given = tuple(values), tuple(values.values())
    shown: dict[str, Any] = {
        "content": fill_text(template.content, names, given),
        "buttons": buttons_to_remote(fill_buttons(template.buttons, names, given)),
    }
    if template.title:
        shown["templateTitle"] = fill_text(template.title, names, given)
    return shown | parts_to_remote(fill_parts(template.parts, names, given))


def solve(template: TemplateContent, shown: dict[str, Any]) -> dict[str, str]:
    return find_values(template, msgspec.convert(shown, FinishedRecipient))


def test_values_of_every_part_are_found() -> None:
    assert solve(TEMPLATE, finished(TEMPLATE, VALUES)) == VALUES


def test_order_of_buttons_is_that_of_their_numbers() -> None:
    shown = finished(TEMPLATE, VALUES)
    shown["buttons"].reverse()

    assert solve(TEMPLATE, shown) == VALUES


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"content": "김 철수님, 사과 상자 3개를 보냈습니다."}, TalkCode.CONTENT_DIFFERS),
        ({"content": None}, TalkCode.CONTENT_DIFFERS),
        ({"templateTitle": "주문 A-2"}, TalkCode.LINK_DIFFERS),
        ({"templateTitle": None}, TalkCode.CONTENT_DIFFERS),
        ({"templateHeader": "배 배송"}, TalkCode.ITEMS_DIFFER),
        ({"templateHeader": None}, TalkCode.HEADER_DIFFERS),
        ({"templateItem": None}, TalkCode.ITEMS_DIFFER),
        ({"templateItem": {"list": [], "summary": None}}, TalkCode.ITEMS_DIFFER),
        ({"templateItemHighlight": None}, TalkCode.ITEMS_DIFFER),
        ({"templateItemHighlight": {"title": "3개", "description": "사과 상자"}}, TalkCode.ITEMS_DIFFER),
        ({"templateRepresentLink": {"linkMo": "https://other.example"}}, TalkCode.LINK_DIFFERS),
        ({"templateRepresentLink": None}, TalkCode.LINK_DIFFERS),
        ({"buttons": []}, TalkCode.BUTTONS_DIFFER),
        ({"quickReplies": []}, TalkCode.BUTTONS_DIFFER),
        ({"quickReplies": [{"ordering": 1, "type": "BK", "name": "다른 문의"}]}, TalkCode.BUTTONS_DIFFER),
    ],
)
def test_difference_is_named_by_the_part(changes: dict[str, Any], code: TalkCode) -> None:
    with pytest.raises(RecipientRefused) as difference:
        solve(TEMPLATE, finished(TEMPLATE, VALUES) | changes)

    assert difference.value.code is code


@pytest.mark.parametrize(
    "changes",
    [
        {"type": "BK"},
        {"name": "다른 이름"},
        {"linkMo": "https://other.example/A-1"},
        {"linkPc": None},
        {"target": "in"},
        {"chatExtra": "x"},
        {"pluginId": "p"},
        {"telNumber": "1588-0001"},
    ],
)
def test_button_that_differs_is_refused(changes: dict[str, Any]) -> None:
    shown = finished(TEMPLATE, VALUES)
    shown["buttons"][0] |= changes

    with pytest.raises(RecipientRefused):
        solve(TEMPLATE, shown)


def test_message_that_could_be_read_in_two_ways_is_sent_as_it_is() -> None:
    template = TemplateContent(
        "배송", "#{a} #{b}", "006003", buttons=(Button("webLink", "보기", "https://x.kr/#{b}"),)
    )
    shown = finished(template, {"a": "한 집", "b": "1 2"})
    found = solve(template, shown)

    assert found == {"a": "한 집", "b": "1 2"}
    assert variables.fill(template.content, found) == shown["content"]
