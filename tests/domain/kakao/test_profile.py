import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.kakao import profile
from pabal.domain.kakao.profile import AUTH_STATUS_BY_CODE, AuthStatus, parse_channel_id
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


def test_states_are_those_of_the_interface() -> None:
    assert list(AUTH_STATUS_BY_CODE.items()) == [
        ("waiting", AuthStatus.WAITING),
        ("approval", AuthStatus.APPROVAL),
    ]
    assert all(status.label.ko and status.label.en for status in AuthStatus)


def test_tokens_and_keys_have_the_specified_sizes() -> None:
    assert profile.TOKEN_DIGITS == 6
    assert profile.MAX_WRONG_TOKENS == 5
    assert profile.MAX_TOKENS_PER_HOUR == 5
    assert profile.SENDER_KEY_CHARACTERS == 40
