import re
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.people import phone
from tests.fixtures.refusals import refused

mobile_digits = st.from_regex(re.compile(r"01(?:0[0-9]{8}|[16789][0-9]{7,8})", re.ASCII), fullmatch=True)
sender_digits = st.one_of(
    mobile_digits,
    st.from_regex(re.compile(r"02[2-9][0-9]{6,7}", re.ASCII), fullmatch=True),
    st.from_regex(
        re.compile(r"0(?:3[1-3]|4[1-4]|5[1-5]|6[1-4])[0-9]{7,8}", re.ASCII),
        fullmatch=True,
    ),
    st.from_regex(re.compile(r"1[568][0-9]{6}", re.ASCII), fullmatch=True),
    st.from_regex(re.compile(r"070[2-9][0-9]{7}", re.ASCII), fullmatch=True),
    st.from_regex(re.compile(r"080[0-9]{7,8}", re.ASCII), fullmatch=True),
    st.from_regex(re.compile(r"030[0-9]{8,9}", re.ASCII), fullmatch=True),
)


def with_separators(digits: str, separators: list[str]) -> str:
    """Return `digits` with the separators between the first digits."""
    pairs = zip_longest(digits, separators[: len(digits) - 1], fillvalue="")
    return "".join(digit + separator for digit, separator in pairs)


@pytest.mark.parametrize(
    ("spelling", "digits"),
    [
        ("010-0000-0000", "01000000000"),  # the example of the API
        ("01000000000", "01000000000"),
        ("010 1234 5678", "01012345678"),
        (" 010-1234-5678 ", "01012345678"),
        ("+82 10 1234 5678", "01012345678"),
        ("+821012345678", "01012345678"),
        ("+82 010-1234-5678", "01012345678"),  # with the zero that should be dropped
        ("+82 11 123 4567", "0111234567"),
        ("+82 16 123 4567", "0161234567"),  # looks like a 16xx number but is not
        ("+82 18 1234 5678", "01812345678"),
        ("011-123-4567", "0111234567"),
        ("011-1234-5678", "01112345678"),
    ],
)
def test_mobile_number_is_parsed_in_any_usual_format(spelling: str, digits: str) -> None:
    assert phone.parse_mobile(spelling) == digits


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "-",
        "+",
        "+82",
        "010-123-4567",  # 010 is followed by eight digits, never seven
        "010-1234-56789",
        "011-123-456",
        "012-1234-5678",
        "015-1234-5678",
        "02-1234-5678",
        "031-123-4567",
        "1588-0000",
        "10-1234-5678",
        "821012345678",
        "+1 212 555 0100",
        "+82 0010 1234 5678",
        "+82 2 1234 5678",
        "++821012345678",
        "+ 82 10 1234 5678",
        "0082 10 1234 5678",
        "010+12345678",
        "010-1234-5678-",
        "010.1234.5678",
        "(010) 1234-5678",
        "010\t1234\t5678",
        "010-1234-5678\n",
        "010\u00a01234\u00a05678",
        "010\u20131234\u20135678",
        "tel:010-1234-5678",
        "010-1234-5678\0",
        "010-1234-567\ud800",
        "０１０-１２３４-５６７８",
        "٠١٠-١٢٣٤-٥٦٧٨",
    ],
)
def test_anything_but_a_korean_mobile_number_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_PHONE_NUMBER):
        phone.parse_mobile(spelling)


def test_input_of_more_than_32_characters_is_refused() -> None:
    longest = f"010{' ' * 21}12345678"
    assert len(longest) == phone.MAX_SPELLING_CHARACTERS == 32
    assert phone.parse_mobile(longest) == "01012345678"

    with refused(Code.INVALID_PHONE_NUMBER):
        phone.parse_mobile(f"010{' ' * 22}12345678")


@given(mobile_digits, st.lists(st.sampled_from(["", "-", " ", " -"]), max_size=10))
def test_every_format_of_a_mobile_number_gives_the_same_digits(digits: str, separators: list[str]) -> None:
    assert phone.parse_mobile(with_separators(digits, separators)) == digits
    assert phone.parse_mobile(f"+82 {with_separators(digits[1:], separators)}") == digits
    assert phone.parse_mobile(phone.hyphenate(digits)) == digits


@given(sender_digits)
def test_sender_number_formats_are_equivalent(digits: str) -> None:
    assert phone.parse_sender(digits) == digits
    assert phone.parse_sender(phone.hyphenate(digits)) == digits
    assert phone.parse_sender(f"+82 {digits.removeprefix('0')}") == digits


@given(st.text(st.sampled_from("+0123456789 -０") | st.characters(), max_size=16))
def test_any_text_is_a_number_or_refused(spelling: str) -> None:
    for read in (phone.parse_mobile, phone.parse_sender):
        try:
            digits = read(spelling)
        except Refused:
            continue
        assert re.fullmatch("[0-9]{8,12}", digits)


@pytest.mark.parametrize(
    ("spelling", "digits", "shown"),
    [
        ("010-1234-5678", "01012345678", "010-1234-5678"),
        ("011-123-4567", "0111234567", "011-123-4567"),
        ("011-1234-5678", "01112345678", "011-1234-5678"),
        ("02-123-4567", "021234567", "02-123-4567"),
        ("02-1234-5678", "0212345678", "02-1234-5678"),
        ("+82 2 1234 5678", "0212345678", "02-1234-5678"),
        ("02-158-8000", "021588000", "02-158-8000"),  # seven digits are not a 15xx number
        ("02-1788-0000", "0217880000", "02-1788-0000"),
        ("031-123-4567", "0311234567", "031-123-4567"),
        ("031-1234-5678", "03112345678", "031-1234-5678"),
        ("055-1234-5678", "05512345678", "055-1234-5678"),
        ("064-123-4567", "0641234567", "064-123-4567"),
        ("1588-0000", "15880000", "1588-0000"),
        ("1688 0000", "16880000", "1688-0000"),
        ("18990000", "18990000", "1899-0000"),
        ("+82 1588 0000", "15880000", "1588-0000"),
        ("070-2123-4567", "07021234567", "070-2123-4567"),
        ("070-9123-4567", "07091234567", "070-9123-4567"),
        ("080-123-4567", "0801234567", "080-123-4567"),
        ("080-1234-5678", "08012345678", "080-1234-5678"),
        ("0303-123-4567", "03031234567", "0303-123-4567"),
        ("0303-1234-5678", "030312345678", "0303-1234-5678"),
    ],
)
def test_sender_number_of_every_kind_is_parsed_and_formatted(spelling: str, digits: str, shown: str) -> None:
    assert phone.parse_sender(spelling) == digits
    assert phone.hyphenate(digits) == shown


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "012-1234-5678",
        "02-12-3456",
        "02-123-456",
        "02-12345-6789",
        "02-1588-0000",  # a nationwide number has no area code
        "+82 2 1588 0000",
        "030-123-4567",
        "03031-1234-5678",
        "031-12-3456",
        "031-12345-6789",
        "034-123-4567",
        "039-123-4567",
        "040-123-4567",
        "045-123-4567",
        "050-1234-5678",
        "056-123-4567",
        "060-123-4567",
        "065-123-4567",
        "069-123-4567",
        "1388-0000",
        "1788-0000",
        "1588-000",
        "031-1588-00000",
        "0701-123-4567",
        "070-1123-4567",
        "070-2123-45678",
        "080-12-3456",
        "080-12345-6789",
        "090-1234-5678",
        "112",
        "00700-1234-5678",
        "+1 212 555 0100",
        "０２-１２３-４５６７",
    ],
)
def test_invalid_sender_number_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_PHONE_NUMBER):
        phone.parse_sender(spelling)


@pytest.mark.parametrize(
    ("digits", "shown"),
    [
        ("01012345678", "010-****-5678"),
        ("0111234567", "011-****-4567"),
        ("021234567", "02-****-4567"),
        ("03112345678", "031-****-5678"),
        ("07021234567", "070-****-4567"),
        ("030312345678", "0303-****-5678"),
        ("15880000", "1588-****"),
    ],
)
def test_masked_number_shows_its_first_and_last_digits(digits: str, shown: str) -> None:
    assert phone.mask(digits) == shown


@given(sender_digits)
def test_masked_number_hides_at_least_three_digits(digits: str) -> None:
    shown = phone.mask(digits)

    assert sum(c.isdigit() for c in shown) <= len(digits) - 3
