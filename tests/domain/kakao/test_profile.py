import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.kakao.profile import parse_channel_id
from tests.fixtures.refusals import refused


@pytest.mark.parametrize(
    ("spelling", "kept"),
    [
        ("pabal", "@pabal"),
        ("@pabal", "@pabal"),
        (" @pabal ", "@pabal"),
        ("파발", "@파발"),
        ("@파발", "@파발"),
        ("pabal_2.0-test", "@pabal_2.0-test"),
        ("a", "@a"),
        (unicodedata.normalize("NFD", "@파발"), "@파발"),
    ],
)
def test_channel_keeps_its_at_sign(spelling: str, kept: str) -> None:
    assert parse_channel_id(spelling) == kept


@pytest.mark.parametrize("character", ["a", "가"])
def test_channel_may_have_at_most_30_characters_with_its_at_sign(character: str) -> None:
    longest = "@" + character * 29
    assert parse_channel_id(longest) == parse_channel_id(character * 29) == longest

    for spelling in (longest + character, character * 30):
        with refused(Code.INVALID_PARAMETER):
            parse_channel_id(spelling)


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        " ",
        "@",
        "@@",
        "@@pabal",
        "pa@bal",
        "pabal@",
        "pa bal",
        "pa\tbal",
        "pa\nbal",
        "@ pabal",
        "a\x01",
        "a/b",
        "a?b",
        "a#b",
        "a%2F",
        "a\\b",
        "a&b",
        "a\u200bb",
    ],
)
def test_invalid_channel_is_refused(spelling: str) -> None:
    with refused(Code.INVALID_PARAMETER):
        parse_channel_id(spelling)


@pytest.mark.parametrize("spelling", ["pa\0bal", "@\ud800"])
def test_nul_and_lone_surrogates_are_refused_in_a_channel(spelling: str) -> None:
    with refused(Code.UNSUPPORTED_CHARACTER):
        parse_channel_id(spelling)


@given(st.text())
def test_parsed_channel_is_parsed_unchanged(spelling: str) -> None:
    try:
        kept = parse_channel_id(spelling)
    except Refused:
        return
    assert parse_channel_id(kept) == parse_channel_id(kept[1:]) == kept
