import pytest

from pabal.domain.base.codes import Code
from pabal.domain.content.button import Button
from pabal.domain.kakao import template
from pabal.domain.kakao.template import (
    DELETABLE_STATUSES,
    EDITABLE_STATUSES,
    TEMPLATE_STATUS_BY_CODE,
    TemplateContent,
)
from tests.fixtures.refusals import refused


def design(content: str, *buttons: Button) -> TemplateContent:
    return TemplateContent("주문 안내", content, "001001", buttons=buttons)


@pytest.mark.parametrize(
    ("word", "is_editable", "is_deletable"),
    [
        ("registered", True, True),
        ("inspecting", False, False),
        ("approved", True, False),
        ("rejected", True, True),
    ],
)
def test_template_can_be_edited_and_deleted_only_in_some_states(
    word: str, is_editable: bool, is_deletable: bool
) -> None:
    status = TEMPLATE_STATUS_BY_CODE[word]

    assert (status in EDITABLE_STATUSES) is is_editable
    assert (status in DELETABLE_STATUSES) is is_deletable


def test_variables_of_a_design_are_those_of_content_and_links() -> None:
    made = design(
        "#{이름}님, #{번호} 주문",
        Button("webLink", "#{no}", "https://a/#{번호}", "#{pc}"),
        Button(
            "appLink", "b", android_url="a://#{android}", ios_url="i://#{ios}", order_number=2, chat_extra="#{no}"
        ),
    )

    assert made.variables == ("이름", "번호", "pc", "android", "ios")


@pytest.mark.parametrize("code", ["T1", "a", "0", "order-1_2.3", "주문안내", "A" * 20, "a.."])
def test_code_has_letters_digits_and_a_few_signs(code: str) -> None:
    assert template.parse_code(code) == code


@pytest.mark.parametrize(
    "code",
    [
        ".",
        "..",
        "../..",
        "a/b",
        "a\\b",
        "a b",
        " a",
        "a?b",
        "a#b",
        "a%2F",
        "a&b",
        "a\n",
        "-a",
        "_a",
        "A" * 21,
        "ㄱ",
        "é",
    ],
)
def test_code_that_could_change_a_path_is_refused(code: str) -> None:
    with refused(Code.INVALID_PARAMETER):
        template.parse_code(code)
