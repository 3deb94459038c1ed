"""Encodes texts in the alphabet a carrier accepts, and splits long ones into segments."""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

Encoding = Literal["auto", "ucs2", "cp949"]
"""How a carrier accepts texts; auto: GSM 7 if that can represent the whole text, else UCS-2."""
Alphabet = Literal["gsm7", "ucs2", "cp949"]

SINGLE_SEPTETS = 160
SINGLE_OCTETS = 140
MAX_SEGMENTS = 255

DEFAULT_CODING = 0
ASCII_CODING = 1
LATIN_1_CODING = 3
BINARY_CODING = 4
UCS2_CODING = 8
KS_C_5601_CODING = 14

GSM_7 = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\x1bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
"""The default alphabet of GSM 03.38, by code."""
GSM_7_EXTENSION: Mapping[str, int] = {
    "\f": 0x0A,
    "^": 0x14,
    "{": 0x28,
    "}": 0x29,
    "\\": 0x2F,
    "[": 0x3C,
    "~": 0x3D,
    "]": 0x3E,
    "|": 0x40,
    "€": 0x65,
}
"""The characters that follow an escape, with their codes."""

_ESCAPE = "\x1b"
_TO_GSM = {ord(c): chr(i) for i, c in enumerate(GSM_7)} | {
    ord(c): _ESCAPE + chr(i) for c, i in GSM_7_EXTENSION.items()
}
_GSM_CHARACTERS = frozenset(GSM_7).union(GSM_7_EXTENSION) - {_ESCAPE}
_FROM_GSM = dict(enumerate(GSM_7)) | dict.fromkeys(range(0x80, 0x100), "\ufffd")
_FROM_EXTENSION = {chr(i): c for c, i in GSM_7_EXTENSION.items()}
_NOT_ASCII = bytes(range(0x80, 0x100))

_CONCATENATION_HEADER_PREFIX = b"\x06\x08\x04"
_HEADER_OCTETS = 7
_HEADER_SEPTETS = 8
_SEGMENT_SIZE: Mapping[Alphabet, int] = {
    "gsm7": SINGLE_SEPTETS - _HEADER_SEPTETS,
    "ucs2": SINGLE_OCTETS - _HEADER_OCTETS - 1,  # even: two octets per code unit
    "cp949": SINGLE_OCTETS - _HEADER_OCTETS,
}


class UnencodableText(ValueError):
    """The text cannot be encoded as wanted."""


class EncodedText(NamedTuple):
    """A text as octets; GSM 7 is unpacked, one septet in each octet."""

    data_coding: int
    octets: bytes
    alphabet: Alphabet

    @property
    def fits_one_segment(self) -> bool:
        """Whether it fits into one short message."""
        return len(self.octets) <= (SINGLE_SEPTETS if self.alphabet == "gsm7" else SINGLE_OCTETS)


def encode_text(text: str, encoding: Encoding, data_coding: int | None = None) -> EncodedText:
    """Return the encoded text.

    `data_coding` overrides the usual data_coding of UCS-2 or CP949, for carriers that use another.

    Raises UnencodableText for a character that the encoding does not have.
    """
    if encoding == "auto" and _GSM_CHARACTERS.issuperset(text):
        return EncodedText(DEFAULT_CODING, text.translate(_TO_GSM).encode("latin-1"), "gsm7")
    try:
        if encoding == "cp949":
            octets = text.encode("cp949")
            return EncodedText(KS_C_5601_CODING if data_coding is None else data_coding, octets, "cp949")
        octets = text.encode("utf-16-be")
        return EncodedText(UCS2_CODING if data_coding is None else data_coding, octets, "ucs2")
    except UnicodeEncodeError as error:
        raise UnencodableText(f"{encoding} does not have U+{ord(text[error.start]):04X}") from None


def split_segments(text: EncodedText, reference: int) -> list[bytes]:
    """Return the user data of each segment.

    If there are several, each begins with a concatenation header with the low 16 bits of `reference`.

    Raises UnencodableText for a text with too many segments.
    """
    if text.fits_one_segment:
        return [text.octets]
    pieces = list(_split(text))
    if len(pieces) > MAX_SEGMENTS:
        raise UnencodableText(f"a text has at most {MAX_SEGMENTS} segments, not {len(pieces)}")
    head = _CONCATENATION_HEADER_PREFIX + (reference & 0xFFFF).to_bytes(2, "big")
    return [head + bytes((len(pieces), number)) + piece for number, piece in enumerate(pieces, 1)]


def decode_text(octets: bytes, data_coding: int, has_udh: bool) -> str:
    """Return the text of user data, with U+FFFD for what cannot be decoded.

    A data_coding that the specification does not define is taken for a carrier's own number for CP949.
    """
    if has_udh:
        octets = octets[1 + octets[0] :] if octets else b""
    if data_coding == DEFAULT_CODING:
        return _decode_gsm(octets)
    return octets.decode(_CODECS.get(data_coding, "cp949"), "replace")


def _split(text: EncodedText) -> Iterator[bytes]:
    octets, size = text.octets, _SEGMENT_SIZE[text.alphabet]
    at = 0
    while len(octets) - at > size:
        end = at + size
        end -= _incomplete_octets(octets[at:end], text.alphabet)
        yield octets[at:end]
        at = end
    yield octets[at:]


def _incomplete_octets(piece: bytes, alphabet: Alphabet) -> int:
    """Return how many octets at the end of `piece` belong to a character that continues after it."""
    if alphabet == "gsm7":
        return int(piece.endswith(b"\x1b"))
    if alphabet == "ucs2":
        return 2 if piece[-2] & 0xFC == 0xD8 else 0
    # The second octet of a pair may be ASCII, but the octet after ASCII always begins a character.
    return (len(piece) - len(piece.rstrip(_NOT_ASCII))) % 2


def _decode_gsm(octets: bytes) -> str:
    plain, *escaped = octets.decode("latin-1").split(_ESCAPE)
    return plain.translate(_FROM_GSM) + "".join(map(_decode_escaped, escaped))


def _decode_escaped(septets: str) -> str:
    first, rest = septets[:1], septets[1:]
    return _FROM_EXTENSION.get(first, first.translate(_FROM_GSM)) + rest.translate(_FROM_GSM)


_CODECS: Mapping[int, str] = {
    ASCII_CODING: "ascii",
    LATIN_1_CODING: "latin-1",
    BINARY_CODING: "latin-1",
    UCS2_CODING: "utf-16-be",
    KS_C_5601_CODING: "cp949",
}
"""The codec of each data_coding but the default alphabet."""
