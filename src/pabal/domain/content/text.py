"""Texts of messages: normalized, and measured in CP949 bytes or in characters."""

import re
import unicodedata
from collections.abc import Sequence

from pabal.domain.base.codes import Code, Refused, Text

SMS_MAX_BYTES = 90
LMS_MAX_BYTES = 2000
SUBJECT_MAX_BYTES = 40
ALIMTALK_MAX_CHARACTERS = 1300
FRIENDTALK_TEXT_MAX_CHARACTERS = 1000
FRIENDTALK_IMAGE_MAX_CHARACTERS = 400
FRIENDTALK_WIDE_IMAGE_MAX_CHARACTERS = 76
MAX_INPUT_CHARACTERS = 10_000
"""Limit of a text before its variables are filled in, and of a variable's value."""
AD_LABEL = "(광고)"
"""Label that Korean law requires before the text of an advertisement."""

MAX_NAMED_CHARACTERS = 20
"""Unsupported characters listed in one error."""

DIGIT_MASK = "•"
_DIGIT = re.compile(r"\d")
_FORBIDDEN_CHARACTERS = re.compile("[\0\ud800-\udfff]")
_FIRST_COMBINING_CHARACTER = "\u0300"
_JOINING_STARTERS = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1b35"
    "\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
).union(map(chr, range(0x1161, 0x1176)), map(chr, range(0x11A8, 0x11C3)))
"""Characters of combining class 0 that NFC can merge with the one before: vowels and finals of some scripts."""


def mask_digits(text: str) -> str:
    """Return a text whose digits cannot be read."""
    return _DIGIT.sub(DIGIT_MASK, text)


def normalize(text: str) -> str:
    """Return `text` in NFC with LF line ends.

    Raises Refused(UNSUPPORTED_CHARACTER) for NUL and lone surrogates.
    """
    if text.isascii():
        if "\0" in text:
            raise _name_unsupported("\0")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if "\0" in text or not _is_unicode(text):
        raise _name_unsupported("".join(_FORBIDDEN_CHARACTERS.findall(text)))
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", text)


def normalize_all(texts: Sequence[str]) -> Sequence[str]:
    """Return each of `texts` as `normalize` does, in one pass: many short ones cost little more than one long one.

    Raises Refused as `normalize` does.
    """
    joined = "\0".join(texts)  # NFC merges nothing with NUL, and no text may contain it
    is_ascii = joined.isascii()
    if joined.count("\0") != len(texts) - 1 or not (is_ascii or _is_unicode(joined)):
        return [normalize(each) for each in texts]
    if "\r" in joined:
        joined = joined.replace("\r\n", "\n").replace("\r", "\n")
    elif is_ascii:
        return texts
    return unicodedata.normalize("NFC", joined).split("\0")


def starts_joining(content: str) -> bool:
    """Return whether NFC may merge the first character of `content` with a text before it."""
    first = content[:1]
    if first < _FIRST_COMBINING_CHARACTER:
        return False
    return unicodedata.combining(first) != 0 or first in _JOINING_STARTERS


def carried_bytes(content: str) -> int:
    """Return the length of `content` as Korean carriers count it.

    They carry CP949: one byte for ASCII, two for a Hangul syllable. Python's `euc_kr` codec spells
    the rarer syllables in eight bytes, so it must not be used here.

    Raises Refused(UNSUPPORTED_CHARACTER), naming the first MAX_NAMED_CHARACTERS that phones cannot show.
    """
    try:
        return len(content.encode("cp949"))
    except UnicodeEncodeError:
        raise unsupported(content) from None


def is_supported(content: str) -> bool:
    """Return whether a text message can contain these characters."""
    try:
        content.encode("cp949")
    except UnicodeEncodeError:
        return False
    return True


def replace_unsupported(content: str) -> str:
    """Return `content` with `?` for every character that a text message cannot contain."""
    return content.encode("cp949", "replace").decode("cp949")


def drop_unsupported(content: str) -> str:
    """Return `content` without the characters that a text message cannot contain."""
    return content.encode("cp949", "ignore").decode("cp949")


def unsupported_characters(content: str) -> set[str]:
    """Return the characters of `content` that a text message cannot contain."""
    distinct = set(content)
    return distinct.difference(drop_unsupported("".join(distinct)))


def check_fits(content: str, max_bytes: int) -> None:
    """Raises Refused(CONTENT_TOO_LONG) or Refused(UNSUPPORTED_CHARACTER)."""
    size = carried_bytes(content)
    if size > max_bytes:
        raise too_many_bytes(size, max_bytes)


def check_characters(content: str, limit: int) -> None:
    """Raises Refused(CONTENT_TOO_LONG) for more than `limit` characters."""
    if len(content) > limit:
        raise too_many_characters(len(content), limit)


def combining_refusal(character: str) -> Refused:
    """Return the refusal of a part of a character, such as an accent or a Hangul final, beside a variable.

    It would change the text beside it, whose length then could be known only by composing it for every receiver.
    """
    shown = _describe_character(character)
    detail = Text(
        f"앞 글자와 합쳐지는 문자는 변수 바로 뒤나 변수 값의 처음에 쓸 수 없습니다: {shown}",
        f"A combining character cannot follow a variable or begin its value: {shown}",
    )
    return Refused(Code.UNSUPPORTED_CHARACTER, detail=detail)


def unsupported(content: str) -> Refused:
    """Return the refusal of a text, naming the first MAX_NAMED_CHARACTERS that phones cannot show."""
    return _name_unsupported(_find_unsupported(content))


def too_many_bytes(size: int, limit: int) -> Refused:
    """Return the refusal of a text with so many bytes."""
    return _too_long(f"최대 {limit}바이트인데 {size}바이트입니다.", f"At most {limit} bytes; the text has {size}.")


def too_many_characters(size: int, limit: int) -> Refused:
    """Return the refusal of a text with so many characters."""
    return _too_long(f"최대 {limit}자인데 {size}자입니다.", f"At most {limit} characters; the text has {size}.")


def add_ad_label(content: str) -> str:
    """Return `content` with the label that Korean law requires before an advertisement."""
    return content if content.startswith(AD_LABEL) else f"{AD_LABEL}{content}"


def _find_unsupported(content: str) -> str:
    """Return the first MAX_NAMED_CHARACTERS that phones cannot show; much faster than to try each character."""
    found = ""
    while len(found) < MAX_NAMED_CHARACTERS:
        try:
            content.encode("cp949")
        except UnicodeEncodeError as error:
            found += content[error.start]
            content = content[error.start :].replace(content[error.start], "")
        else:
            break
    return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode()  # six times as fast as checking each character
    except UnicodeEncodeError:
        return False
    return True


def _too_long(ko: str, en: str) -> Refused:
    return Refused(Code.CONTENT_TOO_LONG, detail=Text(ko, en))


def _name_unsupported(characters: str) -> Refused:
    named = list(dict.fromkeys(characters))[:MAX_NAMED_CHARACTERS]
    listed = ", ".join(_describe_character(c) for c in named)
    return Refused(Code.UNSUPPORTED_CHARACTER, detail=Text(f"글자: {listed}", f"Characters: {listed}"))


def _describe_character(character: str) -> str:
    if character.isprintable():
        return f"{character} (U+{ord(character):04X})"
    return f"U+{ord(character):04X}"
