"""The marks of advertising texts."""

import pytest

from pabal.domain.content import advertising
from pabal.domain.content.text import LMS_MAX_BYTES

NUMBER = "0801234567"


@pytest.mark.parametrize(
    ("content", "marked"),
    [
        ("할인", "(광고)할인\n무료거부 0801234567"),
        ("(광고)할인", "(광고)할인\n무료거부 0801234567"),
        ("(광고) 할인", "(광고) 할인\n무료거부 0801234567"),
        ("[광고]할인", "(광고)[광고]할인\n무료거부 0801234567"),
        ("할인 (광고)", "(광고)할인 (광고)\n무료거부 0801234567"),
        ("할인\n", "(광고)할인\n\n무료거부 0801234567"),
        ("할인 무료거부 080-999-8888", "(광고)할인 무료거부 080-999-8888"),
        ("할인 무료수신거부 0809998888", "(광고)할인 무료수신거부 0809998888"),
        ("할인\n[무료 수신거부]0809998888", "(광고)할인\n[무료 수신거부]0809998888"),
        ("할인 무료 수신 거부 : 080 999 8888", "(광고)할인 무료 수신 거부 : 080 999 8888"),
        ("할인 무료거부", "(광고)할인 무료거부\n무료거부 0801234567"),
        ("무료거부 할인 0809998888", "(광고)무료거부 할인 0809998888\n무료거부 0801234567"),
        ("무료거부 080", "(광고)무료거부 080\n무료거부 0801234567"),
        ("무료거부 #{번호}", "(광고)무료거부 #{번호}\n무료거부 0801234567"),
        ("#{무료거부 0809998888}", "(광고)#{무료거부 0809998888}\n무료거부 0801234567"),
    ],
)
def test_marks_are_added_unless_they_are_there(content: str, marked: str) -> None:
    assert advertising.add_marks(content, NUMBER) == marked
    assert advertising.add_marks(marked, "0807654321") == marked
    assert advertising.has_marks(marked)


@pytest.mark.parametrize("content", ["할인", "(광고)할인", "할인 무료거부 0801234567", "[광고]무료거부 0801234567"])
def test_text_with_one_mark_is_not_complete(content: str) -> None:
    assert not advertising.has_marks(content)


@pytest.mark.parametrize(
    ("template", "values", "is_ad"),
    [
        ("(광고)할인", [], True),
        ("[광고] 할인", [], True),
        (" (광고)할인", [], False),
        ("할인(광고)", [], False),
        ("(광고", [], False),
        ("", [], False),
        (None, [], False),
        ("#{말}할인", [("봄 ",), ("(광고)",)], True),
        ("#{말}할인", [("봄 ",), ("광고)",)], False),
        ("(광#{말}할인", [("고)",)], True),
        ("#{빈}#{빈}[#{말}", [("광고]", "")], True),
        ("#{빈}" * 8 + "(광고)", [("", "")], False),
        ("안녕 #{말}", [("(광고)",)], False),
    ],
)
def test_label_at_the_beginning_is_found_for_any_receiver(
    template: str | None, values: list[tuple[str, ...]], is_ad: bool
) -> None:
    assert advertising.looks_like_ad(template, ("말", "빈"), values) is is_ad


def test_search_for_the_number_takes_no_time_for_a_hostile_text() -> None:
    hostile = "무료   " * LMS_MAX_BYTES + "무료거부" + " " * LMS_MAX_BYTES + "0" * LMS_MAX_BYTES

    assert not advertising.has_opt_out(hostile)
