import pytest

from pabal.checks.body.fields import API_FIELDS, parse_buttons, to_api_fields
from pabal.domain.base.codes import Refused
from pabal.domain.content.button import MAX_BUTTONS, Button
from pabal.models.answers import ButtonItem
from pabal.models.template_bodies import TemplateButtonBody

BODY: dict[str, str | int | None] = {
    "buttonType": "appLink",
    "name": "앱",
    "mobileUrl": "https://m.example",
    "pcUrl": "https://example",
    "androidUrl": "app://a",
    "iosUrl": "app://i",
    "chatExtra": "주문",
    "chatEvent": "event",
    "target": "out",
    "orderNo": 3,
}
BUTTON = Button(
    "appLink", "앱", "https://m.example", "https://example", "app://a", "app://i", "주문", "event", "out", 3
)


def test_every_field_of_a_button_has_its_name_in_the_interface() -> None:
    assert tuple(API_FIELDS) == Button._fields
    assert (
        set(API_FIELDS.values()) == set(TemplateButtonBody.__struct_fields__) == set(ButtonItem.__struct_fields__)
    )


def test_every_field_of_a_body_reaches_the_button_and_comes_back() -> None:
    (button,) = parse_buttons([BODY], MAX_BUTTONS)

    assert button == BUTTON
    assert to_api_fields(button) == BODY


def test_wrong_fields_are_reported_by_their_names_in_the_interface() -> None:
    wrong: list[dict[str, str | int | None]] = [
        {"buttonType": "webLink"},
        {"buttonType": "botConversion"},
        {"buttonType": "appLink", "androidUrl": "app://a"},
        {"buttonType": "nothing"},
        {"mobileUrl": "https://a", "orderNo": 2**31},
    ]

    with pytest.raises(Refused) as refusal:
        parse_buttons(wrong, MAX_BUTTONS)

    assert [problem.field for problem in refusal.value.problems] == [
        "buttons[0].mobileUrl",
        "buttons[1].chatExtra",
        "buttons[1].chatEvent",
        "buttons[2].iosUrl",
        "buttons[3].buttonType",
        "buttons[4].orderNo",
    ]
