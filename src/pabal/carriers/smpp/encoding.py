"""The text of a message as octets, in the alphabet its carrier takes and cut to the size of a short message."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

Encoding = Literal["auto", "ucs2", "cp949"]
"""How a carrier wants texts; auto: in GSM 7 where that has every character, else in UCS-2."""
Alphabet = Literal["gsm7", "ucs2", "cp949"]

SINGLE_SEPTETS = 160
SINGLE_OCTETS = 140
MAX_PARTS = 255

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
"""The default alphabet of GSM 03.38, in its order."""
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
"""What stands behind an escape."""

_ESCAPE = "\x1b"
_TO_GSM = {ord(c): chr(i) for i, c in enumerate(GSM_7)} | {
    ord(c): _ESCAPE + chr(i) for c, i in GSM_7_EXTENSION.items()
}
_GSM_CHARACTERS = frozenset(GSM_7).union(GSM_7_EXTENSION) - {_ESCAPE}
_FROM_GSM = dict(enumerate(GSM_7)) | dict.fromkeys(range(0x80, 0x100), "\ufffd")
_FROM_EXTENSION = {chr(i): c for c, i in GSM_7_EXTENSION.items()}
_NOT_ASCII = bytes(range(0x80, 0x100))

_PART_HEADER = b"\x06\x08\x04"
_HEADER_OCTETS = 7
_HEADER_SEPTETS = 8
_ROOM: Mapping[Alphabet, int] = {
    "gsm7": SINGLE_SEPTETS - _HEADER_SEPTETS,
    "ucs2": SINGLE_OCTETS - _HEADER_OCTETS - 1,
    "cp949": SINGLE_OCTETS - _HEADER_OCTETS,
}


class UnencodableText(ValueError):
    """A text that cannot be sent in the wanted encoding."""


class EncodedText(NamedTuple):
    """A text as a carrier takes it; GSM 7 has one septet in an octet."""

    data_coding: int
    octets: bytes
    alphabet: Alphabet

    @property
    def fits_one(self) -> bool:
        """Whether one short message holds it."""
        return len(self.octets) <= (SINGLE_SEPTETS if self.alphabet == "gsm7" else SINGLE_OCTETS)


def encode_text(text: str, encoding: Encoding, data_coding: int | None = None) -> EncodedText:
    """Return `text` as octets.

    `data_coding` is the number this operator gives to UCS-2 or CP949, where it is not the usual one.

    Raises Unwordable for a character that the encoding does not have.
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


def split_segments(worded: EncodedText, reference: int) -> list[bytes]:
    """Return the user data of each short message that the text takes.

    More than one begin with a header that joins them by `reference`, of which 16 bits count.

    Raises Unwordable for a text of too many parts.
    """
    if worded.fits_one:
        return [worded.octets]
    pieces = list(_pieces(worded))
    if len(pieces) > MAX_PARTS:
        raise UnencodableText(f"a text has at most {MAX_PARTS} parts, not {len(pieces)}")
    head = _PART_HEADER + (reference & 0xFFFF).to_bytes(2, "big")
    return [head + bytes((len(pieces), number)) + piece for number, piece in enumerate(pieces, 1)]


def decode_text(octets: bytes, data_coding: int, has_udh: bool) -> str:
    """Return the text that user data holds, with U+FFFD for what cannot be read.

    A coding that the specification does not give a text is taken for an operator's number for CP949.
    """
    if has_udh:
        octets = octets[1 + octets[0] :] if octets else b""
    return _READERS.get(data_coding, _read_cp949)(octets)


def _pieces(worded: EncodedText) -> Iterator[bytes]:
    octets, room = worded.octets, _ROOM[worded.alphabet]
    at = 0
    while len(octets) - at > room:
        end = at + room
        end -= _begun(octets[at:end], worded.alphabet)
        yield octets[at:end]
        at = end
    yield octets[at:]


def _begun(piece: bytes, alphabet: Alphabet) -> int:
    """Return how many octets at the end of `piece` belong to a character that goes on behind it."""
    if alphabet == "gsm7":
        return int(piece.endswith(b"\x1b"))
    if alphabet == "ucs2":
        return 2 if piece[-2] & 0xFC == 0xD8 else 0
    # The second octet of a pair may be ASCII, but what follows ASCII always begins a character.
    return (len(piece) - len(piece.rstrip(_NOT_ASCII))) % 2


def _read_gsm(octets: bytes) -> str:
    plain, *escaped = octets.decode("latin-1").split(_ESCAPE)
    return plain.translate(_FROM_GSM) + "".join(map(_read_escaped, escaped))


def _read_escaped(septets: str) -> str:
    first, rest = septets[:1], septets[1:]
    return _FROM_EXTENSION.get(first, first.translate(_FROM_GSM)) + rest.translate(_FROM_GSM)


def _read_ascii(octets: bytes) -> str:
    return octets.decode("ascii", "replace")


def _read_latin_1(octets: bytes) -> str:
    return octets.decode("latin-1")


def _read_ucs2(octets: bytes) -> str:
    return octets.decode("utf-16-be", "replace")


def _read_cp949(octets: bytes) -> str:
    return octets.decode("cp949", "replace")


_READERS: Mapping[int, Callable[[bytes], str]] = {
    DEFAULT_CODING: _read_gsm,
    ASCII_CODING: _read_ascii,
    LATIN_1_CODING: _read_latin_1,
    BINARY_CODING: _read_latin_1,
    UCS2_CODING: _read_ucs2,
    KS_C_5601_CODING: _read_cp949,
}
