"""What is wrong with a field, in one sentence that names it."""

import pytest

from pabal.console.shell.problem_texts import LABELS, add_object_particle, spell_problem
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.content import button

DETAIL = Text("국내 휴대폰 번호가 아닙니다.", "It is not a Korean mobile number.")


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (Problem(Code.MISSING_PARAMETER, "content"), ("내용을 입력하세요.", "Enter the text.")),
        (Problem(Code.MISSING_PARAMETER, "events"), ("받을 알림을 고르세요.", "Choose the events.")),
        (
            Problem(Code.INVALID_BUTTON, "buttons[0].mobileUrl", button.REQUIRED),
            ("모바일 링크를 입력하세요.", "Enter the mobile link."),
        ),
        (Problem(Code.INVALID_PARAMETER, "role"), ("역할을 확인하세요.", "Check the role.")),
        (Problem(Code.INVALID_PHONE_NUMBER, "receivers[3].phoneNumber", DETAIL), DETAIL),
        (
            Problem(Code.UNSUPPORTED_CHARACTER, "content", Text("글자: 😀", "Characters: 😀")),
            (
                "보낼 수 없는 글자가 있습니다. 글자: 😀",
                "The text contains characters that cannot be sent. Characters: 😀",
            ),
        ),
    ],
)
def test_problem_is_one_sentence_that_names_its_field(problem: Problem, expected: tuple[str, str]) -> None:
    assert tuple(spell_problem(problem)) == expected


def test_labels_take_the_particle_of_their_last_sound() -> None:
    assert add_object_particle("이름") == "이름을"
    assert add_object_particle("주소(URL)") == "주소(URL)를"
    assert not any("(을" in add_object_particle(each.ko) for each in LABELS.values())
