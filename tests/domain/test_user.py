"""Names and passwords of the console's users."""

import pytest

from pabal.domain import user
from pabal.domain.codes import Code, Refused
from pabal.domain.user import Role


@pytest.mark.parametrize(
    ("spelling", "kept"),
    [("Kim", "kim"), (" kim ", "kim"), ("김철수", "김철수"), ("A.b+c@D-e_1", "a.b+c@d-e_1"), ("ＫＩＭ", "kim")],
)
def test_a_name_is_kept_in_one_spelling(spelling: str, kept: str) -> None:
    assert user.parse_name(spelling) == kept


@pytest.mark.parametrize("spelling", ["", "   ", "a b", "<script>", "a/b", "a" * 65, "a\0b", "\ud800"])
def test_what_is_no_name_is_refused(spelling: str) -> None:
    with pytest.raises(Refused) as refused:
        user.parse_name(spelling)

    assert refused.value.code is Code.INVALID_PARAMETER
    assert refused.value.problems[0].field == "name"


@pytest.mark.parametrize("word", ["short", "123456789", "x" * 201, "Kim-the-first"])
def test_a_password_that_is_short_endless_or_the_name_is_refused(word: str) -> None:
    with pytest.raises(Refused) as refused:
        user.validate_password(word, "kim-the-first")

    assert refused.value.problems[0].field == "password"


@pytest.mark.parametrize("word", ["1234567890", "긴 비밀번호 열 글자", "x" * 200])
def test_any_other_password_may_be_used(word: str) -> None:
    assert user.validate_password(word, "kim") == word


def test_only_viewers_do_not_see_numbers() -> None:
    assert [role for role in Role if not role.sees_phone_numbers] == [Role.VIEWER]
