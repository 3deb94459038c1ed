import unicodedata
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.content import text
from tests.fixtures.refusals import refused

SYLLABLES = "".join(map(chr, range(0xAC00, 0xD7A4)))
CARRIED = "".join(c for i in range(0x10000) if text.is_supported(c := chr(i)))
DECOMPOSED = unicodedata.normalize("NFD", "한글 각")

unicode_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def named_in(refusal: Refused) -> str:
    assert refusal.problems[0].detail is not None
    return refusal.problems[0].detail.en


def is_refused(given_text: str) -> bool:
    try:
        text.normalize(given_text)
    except Refused:
        return True
    return False


@pytest.mark.parametrize(
    ("content", "max_bytes"),
    [
        ("a" * 90, text.SMS_MAX_BYTES),
        ("가" * 44 + "ab", text.SMS_MAX_BYTES),
        ("뷁" * 45, text.SMS_MAX_BYTES),
        ("가" * 1000, text.LMS_MAX_BYTES),
        ("a" * 2000, text.LMS_MAX_BYTES),
        ("가" * 20, text.SUBJECT_MAX_BYTES),
    ],
)
def test_text_fits_exactly_up_to_its_limit(content: str, max_bytes: int) -> None:
    text.check_fits(content, max_bytes)

    with refused(Code.CONTENT_TOO_LONG) as refusal:
        text.check_fits(content + "\n", max_bytes)

    assert named_in(refusal.value) == f"At most {max_bytes} bytes; the text has {max_bytes + 1}."


def test_each_of_the_11172_syllables_counts_two_bytes() -> None:
    assert len(SYLLABLES) == 11_172

    assert {text.carried_bytes(syllable) for syllable in SYLLABLES} == {2}
    assert text.carried_bytes(SYLLABLES) == 22_344


@pytest.mark.slow
@given(st.lists(st.sampled_from(CARRIED)).map("".join))
def test_bytes_of_a_text_are_the_sum_of_its_characters(content: str) -> None:
    assert text.carried_bytes(content) == sum(text.carried_bytes(c) for c in content)
    assert text.carried_bytes(content) == sum(1 if c.isascii() else 2 for c in content)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("₩1,000", "₩ (U+20A9)"),
        ("café", "é (U+00E9)"),
        ("안녕😀", "😀 (U+1F600)"),
        ("½🙂🙂é🙂", "🙂 (U+1F642), é (U+00E9)"),
        ("a\u200bb", "U+200B"),  # invisible, so only its code point is named
        ("a\xa0b", "U+00A0"),
        ("a\ud83d", "U+D83D"),
    ],
)
def test_unsupported_characters_are_refused_by_name(content: str, named: str) -> None:
    with refused(Code.UNSUPPORTED_CHARACTER) as refusal:
        text.carried_bytes(content)

    assert named_in(refusal.value) == f"Characters: {named}"


def test_unsupported_character_is_reported_before_length() -> None:
    with refused(Code.UNSUPPORTED_CHARACTER):
        text.check_fits("가" * 100 + "😀", text.SMS_MAX_BYTES)


def test_unsupported_characters_are_found_as_fast_among_many_different_ones() -> None:
    syllables = "".join(map(chr, range(ord("가"), ord("가") + 9000)))
    began = process_time()

    for _ in range(100):
        with pytest.raises(Refused):
            text.carried_bytes(f"{syllables}😀")

    assert process_time() - began < 0.3


def test_no_combining_character_can_be_sent_in_a_text_message() -> None:
    combining = [character for code in range(0x110000) if text.starts_joining(character := chr(code))]

    assert len(combining) > 800
    assert not any(map(text.is_supported, combining))


def test_at_most_20_unsupported_characters_are_named() -> None:
    faces = [chr(0x1F600 + i) for i in range(21)]

    with pytest.raises(Refused) as refusal:
        text.carried_bytes("".join(faces))

    named = named_in(refusal.value)
    assert [face in named for face in faces] == [True] * 20 + [False]


@given(st.text())
def test_replaced_text_is_supported_and_keeps_supported_characters(content: str) -> None:
    replaced = text.replace_unsupported(content)

    assert text.carried_bytes(replaced) >= len(content)
    assert replaced == "".join(c if text.is_supported(c) else "?" for c in content)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("", ""),
        ("plain", "plain"),
        ("a\r\nb", "a\nb"),
        ("가\r\n나\r\n", "가\n나\n"),
        ("a\rb", "a\nb"),
        ("가\r나", "가\n나"),
        ("a\r\r\nb", "a\n\nb"),
        ("a\nb\tc", "a\nb\tc"),
        (DECOMPOSED, "한글 각"),
        ("e\u0301", "é"),
        ("😀", "😀"),
    ],
)
def test_cleaned_text_is_composed_and_has_lf_line_ends(given_text: str, kept: str) -> None:
    assert text.normalize(given_text) == kept


@pytest.mark.parametrize(
    ("given_text", "named"),
    [
        ("\0", "U+0000"),
        ("a\0b", "U+0000"),
        ("가\0", "U+0000"),
        ("\ud800", "U+D800"),
        ("a\udfff", "U+DFFF"),
        ("가\udc00\0\udc00", "U+DC00, U+0000"),
        ("\ude00\ud83d", "U+DE00, U+D83D"),  # a surrogate pair in reverse order
    ],
)
def test_nul_and_lone_surrogates_are_refused_everywhere(given_text: str, named: str) -> None:
    with refused(Code.UNSUPPORTED_CHARACTER) as refusal:
        text.normalize(given_text)

    assert named_in(refusal.value) == f"Characters: {named}"


@given(unicode_text)
def test_cleaning_a_clean_text_changes_nothing(given_text: str) -> None:
    once = text.normalize(given_text)

    assert text.normalize(once) == once
    assert "\r" not in once
    assert unicodedata.is_normalized("NFC", once)


@given(unicode_text)
def test_composed_and_decomposed_forms_are_equal_when_cleaned(given_text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, given_text) for form in ("NFC", "NFD"))

    assert text.normalize(composed) == text.normalize(decomposed)


@given(st.text())
def test_any_text_is_cleaned_or_refused_for_a_character(given_text: str) -> None:
    is_forbidden = any(c == "\0" or 0xD800 <= ord(c) <= 0xDFFF for c in given_text)

    assert is_refused(given_text) is is_forbidden


@given(st.lists(st.one_of(st.text(), st.sampled_from(["", "e", "\u0301", "\u1100", "\u1161", "\r", "\n", "\0"]))))
def test_many_texts_are_cleaned_as_each_of_them_is(given_texts: list[str]) -> None:
    if any(map(is_refused, given_texts)):
        with refused(Code.UNSUPPORTED_CHARACTER):
            text.normalize_all(given_texts)
    else:
        assert list(text.normalize_all(given_texts)) == [text.normalize(each) for each in given_texts]


@given(st.one_of(unicode_text, st.text(st.sampled_from("a가뷁😀€"))))
def test_unsupported_characters_are_found_and_dropped(content: str) -> None:
    lost = {character for character in content if not text.is_supported(character)}

    assert text.unsupported_characters(content) == lost
    assert text.drop_unsupported(content) == "".join(each for each in content if each not in lost)


@pytest.mark.parametrize("character", ["a", "가", "뷁", "😀", "\n"])
def test_characters_are_counted_regardless_of_bytes(character: str) -> None:
    text.check_characters(character * 1000, 1000)

    with refused(Code.CONTENT_TOO_LONG) as refusal:
        text.check_characters(character * 1001, 1000)

    assert named_in(refusal.value) == "At most 1000 characters; the text has 1001."
