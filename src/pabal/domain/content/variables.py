"""Variables in a text, written `#{name}`, and their values for one receiver."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.content.text import starts_joining

MAX_CACHED_CHARACTERS = 2000
"""Longer texts are split each time, so that callers cannot fill the memory through the cache."""
MAX_NAMED_VARIABLES = 20
"""Missing variables listed in one error."""
MAX_SHOWN_CHARACTERS = 50
"""How much of a variable's name an error shows."""
_ONLY_TEXT = {str}
_VARIABLE = re.compile(r"#\{([^{}]+)\}")
_AFTER_VARIABLE = re.compile(r"#\{[^{}]+\}([^\x00-\u02ff#])")


class RawNumber(str):
    """A JSON number as the caller wrote it."""

    __slots__ = ()


def find_names(*texts: str | None) -> tuple[str, ...]:
    """Return the names of the variables in `texts`, each once, in the order they appear."""
    found = [name for text in texts if text for name in split(text)[1::2]]
    return tuple(dict.fromkeys(found))


def starts_with_variable(text: str) -> bool:
    """Return whether a text starts with a variable, so that its start is not known yet."""
    return _VARIABLE.match(text) is not None


def change_literals(text: str, change: Callable[[str], str]) -> str:
    """Return `text` with what is around its variables changed."""
    pieces = split(text)
    changed = [f"#{{{piece}}}" if place % 2 else change(piece) for place, piece in enumerate(pieces)]
    return "".join(changed)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its variables replaced in one pass: variables within values stay as they are."""
    pieces = split(text)
    if len(pieces) == 1:
        return text
    filled = list(pieces)
    filled[1::2] = [values[name] for name in pieces[1::2]]
    return "".join(filled)


def solve(template: str, text: str, known: Mapping[str, str] | None = None) -> dict[str, str] | None:
    """Return values with which a template gives a text, the shortest first ones; None where there are none.

    Of variables that touch each other, the last one gets everything. `known` are values that are certain already;
    they are among those that are returned.
    """
    values = dict(known or {})
    wanted: str | None = None
    literal, place = "", 0
    pieces = split(template)
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            literal += piece
        elif piece in values:
            literal += values[piece]
        else:
            end = place if wanted is None else text.find(literal, place)
            if not text.startswith(literal, end) or end < 0:
                return None
            if wanted is not None:
                values[wanted] = text[place:end]
            place, literal, wanted = end + len(literal), values.get(piece, ""), None if piece in values else piece
    if wanted is not None:
        values[wanted] = text[place : max(place, len(text) - len(literal))]
    return values if fill(template, values) == text else None


def collect_values(wanted: Sequence[str], data: Mapping[str, object] | None) -> list[str]:
    """Return the values of a receiver's `templateData` for the wanted names, in their order.

    Raises Refused: MISSING_VARIABLE naming the first MAX_NAMED_VARIABLES that are missing or null,
    INVALID_PARAMETER for an object or array.
    """
    given = data or {}
    if len(wanted) <= len(given):
        plain = list(map(given.get, wanted))
        if {*map(type, plain)} == _ONLY_TEXT:
            return plain  # type: ignore[return-value]
        found = [_value(name, given) for name in wanted]
        if None not in found:
            return found  # type: ignore[return-value]
    # Texts are NFC, but keys may be decomposed, as macOS writes them.
    composed = {unicodedata.normalize("NFC", key): value for key, value in given.items()}
    found = []
    missing: list[str] = []
    for name in wanted:
        value = _value(name, composed)
        found.append(value)
        if value is None:
            missing.append(_shorten(name))
            if len(missing) == MAX_NAMED_VARIABLES:
                break
    if missing:
        listed = ", ".join(missing)
        raise Refused(
            Code.MISSING_VARIABLE, detail=Text(f"값이 없는 변수: {listed}.", f"Without a value: {listed}.")
        )
    return found  # type: ignore[return-value]


def find_joining(text: str) -> str:
    """Return the first part of a character that follows a variable; empty if there is none."""
    if "#{" not in text or text.isascii():
        return ""
    return next((match[1] for match in _AFTER_VARIABLE.finditer(text) if starts_joining(match[1])), "")


def _shorten(name: str) -> str:
    return name if len(name) <= MAX_SHOWN_CHARACTERS else f"{name[:MAX_SHOWN_CHARACTERS]}…"


def _value(name: str, given: Mapping[str, object]) -> str | None:
    value = given.get(name)
    if value is None:
        value = given.get(f"#{{{name}}}")
    if value is None or type(value) is str:
        return value
    if isinstance(value, str):
        return str(value)  # a plain string: a RawNumber is not stored
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    shown = _shorten(name)
    raise Refused(
        Code.INVALID_PARAMETER,
        detail=Text(
            f"변수 {shown}의 값은 문자열, 숫자, true 또는 false여야 합니다.",
            f"The value of {shown} must be a string, a number or a boolean.",
        ),
    )


def split(text: str) -> tuple[str, ...]:
    """Split into literal, name, literal, name, …, literal."""
    return _split_and_keep(text) if len(text) <= MAX_CACHED_CHARACTERS else tuple(_VARIABLE.split(text))


@lru_cache(maxsize=128)
def _split_and_keep(text: str) -> tuple[str, ...]:
    return tuple(_VARIABLE.split(text))
