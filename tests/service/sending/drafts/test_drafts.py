"""What of a draft is exported to the person whose number it names."""

import json

import pytest

from pabal.service.sending.drafts import MASKED, contains_number, find_lines

PHONE = "01077770001"


@pytest.mark.parametrize(
    ("line", "exported"),
    [
        ("010-7777-0001, 홍길동, 3", "010-7777-0001, 홍길동, 3"),
        ("+82 (0)10 7777 0001", "+82 (0)10 7777 0001"),
        ("문의 010-1111-2222, 010 7777 0001", f"문의 {MASKED}, 010 7777 0001"),
        ("01077770001\t01033334444\t+82-10-5555-6666", f"01077770001\t{MASKED}\t{MASKED}"),
        ("대표 02-123-4567 → 010.7777.0001", "대표 02-123-4567 → 010.7777.0001"),
    ],
)
def test_line_that_names_a_number_hides_those_of_others(line: str, exported: str) -> None:
    fields = json.dumps({"content": "봄맞이", "receivers": f"010-9999-8888, 남\n{line}"}, ensure_ascii=False)

    assert find_lines(fields, PHONE) == [exported]
    assert contains_number(fields, PHONE)


@pytest.mark.parametrize("line", ["주문 991077770001", "010-7777-00012", "010-9910, 77770001", "010-7777, 0001"])
def test_line_with_other_digits_is_not_exported(line: str) -> None:
    fields = json.dumps({"receivers": line})

    assert find_lines(fields, PHONE) == []


def test_erasure_finds_more_than_the_export() -> None:
    fields = json.dumps({"receivers": "010-9910, 77770001"})

    assert contains_number(fields, PHONE), "a draft too many is deleted rather than one too few"
    assert contains_number("no JSON", PHONE)
    assert not contains_number(json.dumps({"receivers": "010-1111-2222"}), PHONE)
