"""Texts and links with variables are refused exactly as if each were composed."""

import unicodedata
from collections.abc import Callable
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.content import text, variables
from pabal.domain.content.button import Button
from pabal.domain.sends.filled import ButtonChecker, ByteLengthChecker, LengthChecker, compose_within
from pabal.domain.sends.sending import fill_buttons, fill_text

_PIECES = st.text(st.sampled_from("가나뷁각ㄱaZ 1é₩\u0301\u0327\u11a8\u1100\u1161\u09beÅệ"), max_size=12)
_LINK_PIECES = st.sampled_from(["#{a}", "#{b}", "https://", "http:", "//", "java", "script:", "x", " ", ":"])
_LINKS = st.lists(_LINK_PIECES, max_size=4).map("".join)
_NAMES = ("a", "b")


@given(_PIECES, _PIECES, _PIECES, _PIECES, st.integers(16, 60))
def test_byte_check_refuses_exactly_the_texts_that_do_not_fit(
    before: str, after: str, first: str, second: str, most: int
) -> None:
    """A text whose pieces have unsupported characters is refused, even if they merge into supported ones."""
    template = text.normalize(f"{before}#{{a}}{after}#{{b}}#{{a}}")
    values = (text.normalize(first), text.normalize(second))
    pieces = "".join((*variables.split(template)[::2], *values))
    checker = ByteLengthChecker(template, _NAMES, most)

    refusal = _refusal(lambda: checker.check(values))

    if text.is_supported(pieces):
        assert refusal == _refusal(lambda: text.check_fits(fill_text(template, _NAMES, values), most))
    else:
        assert refusal is Code.UNSUPPORTED_CHARACTER


@given(_PIECES, _PIECES, _PIECES, _PIECES, st.integers(16, 60))
def test_character_check_refuses_exactly_the_texts_that_do_not_fit(
    before: str, after: str, first: str, second: str, most: int
) -> None:
    template = text.normalize(f"{before}#{{a}}{after}#{{b}}#{{a}}")
    values = (text.normalize(first), text.normalize(second))
    checker = LengthChecker(template, _NAMES, most)

    refusal = _refusal(lambda: checker.check(values))

    assert refusal == _refusal(lambda: text.check_characters(fill_text(template, _NAMES, values), most))


@given(_PIECES, _PIECES, _PIECES, st.integers(8, 40))
def test_text_composed_within_a_limit_is_the_one_filled_in(before: str, after: str, value: str, most: int) -> None:
    """For clean texts and values: no combining character is beside a variable."""
    template = text.normalize(f"{before}#{{a}}.{after}#{{a}}")
    value = text.normalize(f"x{value}")
    filled = fill_text(template, ("a",), (value,))

    try:
        composed = compose_within(variables.split(template), {"a": value}, most)
    except Refused:
        assert len(filled) > most
    else:
        assert composed == filled


@given(st.lists(_LINKS, min_size=4, max_size=4), _LINKS, _LINKS)
@example(["#{a}", "#{a}://x", "#{a}#{b}", "#{b}:"], "java\nscript", "https")
def test_button_check_refuses_exactly_the_links_that_are_not_allowed(links: list[str], a: str, b: str) -> None:
    mobile, pc, android, ios = links
    made = (Button("appLink", "a", mobile, pc, android, ios),)

    refusal = _refusal(lambda: ButtonChecker(made, _NAMES).check((a, b)))

    assert refusal == _refusal(lambda: fill_buttons(made, _NAMES, (a, b)))


def test_link_that_grows_beyond_the_limit_is_refused() -> None:
    made = (Button("webLink", "a", "https://a/#{a}"),)
    checker = ButtonChecker(made, ("a",))

    checker.check(("x" * 1990,))

    assert _refusal(lambda: checker.check(("x" * 1991,))) is Code.INVALID_BUTTON
    assert _refusal(lambda: checker.check(("x" * 10_000,))) is Code.INVALID_BUTTON


def test_scheme_hidden_behind_many_empty_variables_is_refused() -> None:
    made = (Button("webLink", "a", "#{a}" * 5 + "https://a"),)

    assert _refusal(lambda: ButtonChecker(made, ("a",)).check(("",))) is Code.INVALID_BUTTON


def test_every_character_that_nfc_can_merge_with_one_before_is_known() -> None:
    merged = {
        second
        for code in range(0x110000)
        if len(parts := unicodedata.decomposition(character := chr(code)).split()) == 2
        and not parts[0].startswith("<")
        and unicodedata.is_normalized("NFC", character)
        and unicodedata.combining(second := chr(int(parts[1], 16))) == 0
    }
    hangul = {part for syllable in "각낂갛히" for part in unicodedata.normalize("NFD", syllable)[1:]}

    assert all(text.starts_joining(character) for character in merged | hangul | {"\u0301", "\u3099"})
    assert not any(
        text.starts_joining(character) for character in ("", "a", "가", "ㄱ", "\u1100", "é", "漢", "😀", "\ufe0f")
    )


@pytest.mark.parametrize(
    ("checker", "code"),
    [(LengthChecker, Code.CONTENT_TOO_LONG), (ByteLengthChecker, Code.UNSUPPORTED_CHARACTER)],
)
def test_text_that_repeats_a_long_value_is_refused_without_composing_it(
    checker: type[LengthChecker | ByteLengthChecker], code: Code
) -> None:
    """It would have 25 million characters."""
    repeated = checker("#{a}" * 2500, ("a",), 2000)
    began = process_time()

    for _ in range(100):
        assert _refusal(lambda: repeated.check(("😀" * 10_000,))) is code

    assert process_time() - began < 1


def _refusal(work: Callable[[], object]) -> Code | None:
    try:
        work()
    except Refused as refusal:
        return refusal.code
    return None
