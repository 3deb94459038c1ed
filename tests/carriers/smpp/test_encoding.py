import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.carriers.smpp.encoding import (
    GSM_7,
    GSM_7_EXTENSION,
    EncodedText,
    Encoding,
    UnencodableText,
    decode_text,
    encode_text,
    split_segments,
)
from pabal.domain.content.text import is_supported

GSM_CHARACTERS = GSM_7.replace("\x1b", "") + "".join(GSM_7_EXTENSION)
CARRIED = "".join(c for i in range(0x10000) if is_supported(c := chr(i)))


def long_texts(characters: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return texts, many of which need several segments.

    They are joined: `st.text` takes seconds to compare its constants with an alphabet of many gaps.
    """
    return st.builds(
        lambda text, times: "".join(text) * times, st.lists(characters, max_size=60), st.integers(1, 12)
    )


gsm_texts = long_texts(st.sampled_from(GSM_CHARACTERS))
ucs2_texts = long_texts(st.characters(exclude_categories=["Cs"]))
cp949_texts = long_texts(st.sampled_from("a가") | st.sampled_from(CARRIED))
texts: st.SearchStrategy[tuple[str, Encoding]] = st.one_of(
    st.tuples(gsm_texts, st.just("auto")),
    st.tuples(ucs2_texts, st.sampled_from(["auto", "ucs2"])),
    st.tuples(cp949_texts, st.just("cp949")),
)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("", ""),
        ("Hello_1", "48656C6C6F1131"),
        ("@£$¥", "00010203"),
        ("ÄÖÑÜ§", "5B5C5D5E5F"),
        ("äöñüà", "7B7C7D7E7F"),
        ("¡¿¤", "406024"),
        ("ΔΦΓΛΩΠΨΣΘΞ", "1012131415161718191A"),
        ("ÆæßÉ", "1C1D1E1F"),
        ("\n\r", "0A0D"),
        ("€", "1B65"),
        ("^{}\\[~]|\f", "1B141B281B291B2F1B3C1B3D1B3E1B401B0A"),
    ],
)
def test_default_alphabet_has_one_septet_in_each_octet(text: str, spelling: str) -> None:
    assert encode_text(text, "auto") == EncodedText(0, bytes.fromhex(spelling), "gsm7")


def test_default_alphabet_has_128_different_characters() -> None:
    assert len(GSM_7) == len(set(GSM_7)) == 128
    assert not set(GSM_7) & set(GSM_7_EXTENSION)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [("가", "AC00"), ("a가", "0061AC00"), ("`", "0060"), ("ç", "00E7"), ("😀", "D83DDE00"), ("\x1b", "001B")],
)
def test_one_character_outside_gsm_7_makes_the_text_ucs_2(text: str, spelling: str) -> None:
    assert encode_text(text, "auto") == EncodedText(8, bytes.fromhex(spelling), "ucs2")


@pytest.mark.parametrize(
    ("encoding", "data_coding", "expected"),
    [
        ("auto", None, 0),
        ("auto", 0x18, 0),  # GSM 7 always has data_coding 0
        ("ucs2", None, 8),
        ("ucs2", 0x18, 0x18),
        ("cp949", None, 14),
        ("cp949", 0x84, 0x84),
        ("cp949", 0, 0),
    ],
)
def test_data_coding_is_standard_or_configured(encoding: Encoding, data_coding: int | None, expected: int) -> None:
    assert encode_text("plain", encoding, data_coding).data_coding == expected


def test_cp949_encodes_every_syllable_in_two_octets() -> None:
    assert encode_text("뷁a", "cp949").octets == bytes.fromhex("94EE61")
    assert encode_text("가", "cp949").octets == bytes.fromhex("B0A1")


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [("50 €, ₩ 😀", "cp949", "U+20A9"), ("\ud800", "ucs2", "U+D800"), ("a\udfff", "auto", "U+DFFF")],
)
def test_unencodable_character_is_named(text: str, encoding: Encoding, named: str) -> None:
    with pytest.raises(UnencodableText) as no:
        encode_text(text, encoding)

    assert str(no.value) == f"{encoding} does not have {named}"


@pytest.mark.parametrize(
    ("longest", "encoding"),
    [
        ("a" * 160, "auto"),
        ("a" * 158 + "€", "auto"),
        ("가" * 70, "auto"),
        ("가" * 68 + "😀", "auto"),
        ("a" * 70, "ucs2"),
        ("a" * 140, "cp949"),
        ("가" * 70, "cp949"),
    ],
)
def test_text_is_split_when_it_exceeds_one_segment_by_an_octet(longest: str, encoding: Encoding) -> None:
    one, two = encode_text(longest, encoding), encode_text("a" + longest, encoding)

    assert one.fits_one_segment
    assert split_segments(one, 7) == [one.octets]
    assert not two.fits_one_segment
    assert len(split_segments(two, 7)) == 2


def test_segments_have_reference_total_and_number() -> None:
    first, second, third = split_segments(encode_text("a" * 305, "auto"), 0xABCD)

    assert first == bytes.fromhex("060804ABCD0301") + b"a" * 152
    assert second == bytes.fromhex("060804ABCD0302") + b"a" * 152
    assert third == bytes.fromhex("060804ABCD0303") + b"a"


def test_reference_is_cut_to_16_bits() -> None:
    long = encode_text("a" * 161, "auto")

    assert split_segments(long, 0x1_0002) == split_segments(long, 2)


@pytest.mark.parametrize(
    ("text", "encoding", "sizes"),
    [
        ("a" * 304, "auto", [152, 152]),
        ("a" * 151 + "€" + "a" * 150, "auto", [151, 152]),  # an escape stays with the escaped character
        ("a" * 150 + "€" + "a" * 150, "auto", [152, 150]),
        ("가" * 132, "ucs2", [132, 132]),
        ("가" * 65 + "😀" + "가" * 10, "ucs2", [130, 24]),
        ("가" * 64 + "😀" + "가" * 10, "ucs2", [132, 20]),
        ("a" * 266, "cp949", [133, 133]),
        ("가" * 132, "cp949", [132, 132]),
        ("a" + "가" * 132, "cp949", [133, 132]),
        ("a" * 132 + "가" + "a" * 10, "cp949", [132, 12]),
        ("뷁" * 132, "cp949", [132, 132]),
        ("갂" * 132, "cp949", [132, 132]),  # its second octet is an ASCII letter
        ("갂" * 60 + "a" + "갂" * 60, "cp949", [133, 108]),
        ("갂" * 65 + "a가가가가가가가가", "cp949", [133, 14]),
    ],
)
def test_segment_is_as_long_as_whole_characters_allow(text: str, encoding: Encoding, sizes: list[int]) -> None:
    assert [len(part) - 7 for part in split_segments(encode_text(text, encoding), 1)] == sizes


@pytest.mark.parametrize(
    ("longest", "encoding"),
    [("a" * 152 * 255, "auto"), ("가" * 66 * 255, "ucs2"), ("a" * 133 * 255, "cp949")],
)
def test_text_has_at_most_255_segments(longest: str, encoding: Encoding) -> None:
    parts = split_segments(encode_text(longest, encoding), 1)
    assert len(parts) == 255
    assert parts[-1][5:7] == b"\xff\xff"

    with pytest.raises(UnencodableText):
        split_segments(encode_text(longest + "a", encoding), 1)


@given(texts, st.integers(0, 0xFFFF))
def test_segments_contain_whole_characters_and_together_the_text(
    case: tuple[str, Encoding], reference: int
) -> None:
    text, encoding = case
    whole = encode_text(text, encoding)

    parts = split_segments(whole, reference)

    if whole.fits_one_segment:
        assert parts == [whole.octets]
        return
    room = 159 if whole.alphabet == "gsm7" else 140
    assert all(7 < len(part) <= room for part in parts)
    assert b"".join(part[7:] for part in parts) == whole.octets
    shown = [decode_text(part, whole.data_coding, has_udh=True) for part in parts]
    assert "".join(shown) == text


@given(texts)
def test_text_is_decoded_as_it_was_encoded(case: tuple[str, Encoding]) -> None:
    text, encoding = case
    whole = encode_text(text, encoding)

    assert decode_text(whole.octets, whole.data_coding, has_udh=False) == text


@given(cp949_texts, st.sampled_from([0x84, 0x94, 0xF0]))
def test_undefined_data_coding_is_decoded_as_cp949(text: str, data_coding: int) -> None:
    assert decode_text(encode_text(text, "cp949", data_coding).octets, data_coding, has_udh=False) == text


@pytest.mark.parametrize(
    ("spelling", "data_coding", "text"),
    [
        ("61E9", 1, "a\ufffd"),
        ("61E9", 3, "aé"),
        ("61E9", 4, "aé"),
        ("6180", 0, "a\ufffd"),
        ("1B", 0, ""),
        ("1B61", 0, "a"),  # unknown escape: the next character is shown
        ("611B1B65", 0, "a€"),
        ("AC00D8", 8, "가\ufffd"),
        ("D83D0061", 8, "\ufffda"),
        ("B0A1B0", 14, "가\ufffd"),
    ],
)
def test_undecodable_octets_are_replaced(spelling: str, data_coding: int, text: str) -> None:
    assert decode_text(bytes.fromhex(spelling), data_coding, has_udh=False) == text


@pytest.mark.parametrize(
    ("spelling", "text"), [("", ""), ("00", ""), ("0061", "a"), ("0500030102016162", "ab"), ("FF6162", "")]
)
def test_user_data_header_is_skipped(spelling: str, text: str) -> None:
    assert decode_text(bytes.fromhex(spelling), 0, has_udh=True) == text


@given(st.binary(max_size=200), st.integers(0, 255), st.booleans())
def test_any_octets_are_decoded(octets: bytes, data_coding: int, has_udh: bool) -> None:
    assert len(decode_text(octets, data_coding, has_udh)) <= len(octets)
