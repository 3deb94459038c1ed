"""Texts of messages: normalized, and measured in CP949 bytes or in characters."""

import re
import unicodedata

from pabal.domain.codes import Code, Refused, Text

SMS_MAX_BYTES = 90
LMS_MAX_BYTES = 2000
SUBJECT_MAX_BYTES = 40
ALIMTALK_MAX_CHARACTERS = 1000
FRIENDTALK_TEXT_MAX_CHARACTERS = 1000
FRIENDTALK_IMAGE_MAX_CHARACTERS = 400
FRIENDTALK_WIDE_IMAGE_MAX_CHARACTERS = 76
MAX_INPUT_CHARACTERS = 10_000
"""Limit of a text before its variables are filled in, and of a variable's value."""
AD_LABEL = "(광고)"
"""Label that Korean law requires before the text of an advertisement."""

MAX_NAMED_CHARACTERS = 20
"""Unsupported characters listed in one error."""

_FORBIDDEN_CHARACTERS = re.compile("[\0\ud800-\udfff]")


def normalize(text: str) -> str:
    """Return `text` in NFC with LF line ends.

    Raises Refused(UNSUPPORTED_CHARACTER) for NUL and lone surrogates.
    """
    if text.isascii():
        if "\0" in text:
            raise _unsupported("\0")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\0" in text or not _is_unicode(text):
        raise _unsupported("".join(_FORBIDDEN_CHARACTERS.findall(text)))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def carried_bytes(content: str) -> int:
    """Return the length of `content` as Korean carriers count it.

    They carry CP949: one byte for ASCII, two for a Hangul syllable. Python's `euc_kr` codec spells
    the rarer syllables in eight bytes, so it must not be used here.

    Raises Refused(UNSUPPORTED_CHARACTER), naming every character that phones cannot show.
    """
    try:
        return len(content.encode("cp949"))
    except UnicodeEncodeError:
        raise _unsupported("".join(c for c in content if not is_supported(c))) from None


def is_supported(character: str) -> bool:
    """Say whether a text message can contain this character."""
    try:
        character.encode("cp949")
    except UnicodeEncodeError:
        return False
    return True


def replace_unsupported(content: str) -> str:
    """Return `content` with `?` for every character that a text message cannot contain."""
    return content.encode("cp949", "replace").decode("cp949")


def check_fits(content: str, max_bytes: int) -> None:
    """Raises Refused(CONTENT_TOO_LONG) or Refused(UNSUPPORTED_CHARACTER)."""
    size = carried_bytes(content)
    if size > max_bytes:
        raise _too_long(
            f"최대 {max_bytes}바이트인데 {size}바이트입니다.", f"At most {max_bytes} bytes; the text has {size}."
        )


def check_characters(content: str, limit: int) -> None:
    """Raises Refused(CONTENT_TOO_LONG) for more than `limit` characters."""
    if len(content) > limit:
        raise _too_long(
            f"최대 {limit}자인데 {len(content)}자입니다.",
            f"At most {limit} characters; the text has {len(content)}.",
        )


def add_ad_label(content: str) -> str:
    """Return `content` with the label that Korean law requires before an advertisement."""
    return content if content.startswith(AD_LABEL) else f"{AD_LABEL}{content}"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()  # six times as fast as checking each character
    except UnicodeEncodeError:
        return False
    return True


def _too_long(ko: str, en: str) -> Refused:
    return Refused(Code.CONTENT_TOO_LONG, detail=Text(ko, en))


def _unsupported(characters: str) -> Refused:
    named = list(dict.fromkeys(characters))[:MAX_NAMED_CHARACTERS]
    listed = ", ".join(_describe_character(c) for c in named)
    return Refused(Code.UNSUPPORTED_CHARACTER, detail=Text(f"글자: {listed}", f"Characters: {listed}"))


def _describe_character(character: str) -> str:
    if character.isprintable():
        return f"{character} (U+{ord(character):04X})"
    return f"U+{ord(character):04X}"
