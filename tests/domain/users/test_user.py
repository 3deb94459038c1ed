"""Names and passwords of the console's users."""

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.people import user
from pabal.domain.people.user import Role
from tests.fixtures.refusals import refused


@pytest.mark.parametrize(
    ("spelling", "kept"),
    [("Kim", "kim"), (" kim ", "kim"), ("김철수", "김철수"), ("A.b+c@D-e_1", "a.b+c@d-e_1"), ("ＫＩＭ", "kim")],
)
def test_name_is_normalized(spelling: str, kept: str) -> None:
    assert user.parse_name(spelling) == kept


@pytest.mark.parametrize("spelling", ["", "   ", "a b", "<script>", "a/b", "a" * 65, "a\0b", "\ud800"])
def test_invalid_name_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_PARAMETER, "name"):
        user.parse_name(spelling)


@pytest.mark.parametrize("word", ["short", "123456789", "x" * 201, "Kim-the-first"])
def test_password_too_short_too_long_or_equal_to_name_is_refused(word: str) -> None:
    with refused(Code.INVALID_PARAMETER, "password"):
        user.validate_password(word, "kim-the-first")


@pytest.mark.parametrize("word", ["1234567890", "긴 비밀번호 열 글자", "x" * 200])
def test_any_other_password_is_accepted(word: str) -> None:
    assert user.validate_password(word, "kim") == word


def test_only_viewers_see_masked_numbers() -> None:
    assert [role for role in Role if not role.sees_phone_numbers] == [Role.VIEWER]
