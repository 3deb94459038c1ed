import pytest

from pabal.domain.kakao.profile import Category, InvalidCategoryTable, parse_categories


def test_table_has_its_categories_by_code_in_order() -> None:
    found = parse_categories(["code,name\n", '00100010001,"건강,병원,종합병원"\n', " 00100010002 , 약국 \n"])

    assert list(found.values()) == [
        Category("00100010001", "건강,병원,종합병원"),
        Category("00100010002", "약국"),
    ]
    assert list(found) == ["00100010001", "00100010002"]


def test_category_may_have_a_group() -> None:
    found = parse_categories(["group,code,name", "회원,001001,회원가입", ",999999,기타"])

    assert found["001001"].group == "회원"
    assert found["999999"].group is None


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "no categories"),
        (["code,name"], "no categories"),
        (["code,name", "001,a", ",b"], "line 3"),
        (["code,name", "001,a", "002, "], "line 3"),
        (["code,name", "001"], "line 2"),
        (["number,title", "001,a"], "line 2"),
        (["code,name", "001,a", "001,b"], "line 3: duplicate code 001"),
    ],
)
def test_invalid_table_is_refused_with_its_line_number(lines: list[str], why: str) -> None:
    with pytest.raises(InvalidCategoryTable, match=why):
        parse_categories(lines)
