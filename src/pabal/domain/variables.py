"""Variables in a text, written `#{name}`, and their values for one receiver."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pabal.domain.codes import Code, Refused, Text

_VARIABLE = re.compile(r"#\{([^{}]+)\}")


class RawNumber(str):
    """A JSON number as the caller wrote it."""

    __slots__ = ()


def find_names(*texts: str | None) -> tuple[str, ...]:
    """Return the names of the variables in `texts`, each once, in the order they appear."""
    found = [name for text in texts if text for name in split(text)[1::2]]
    return tuple(dict.fromkeys(found))


def starts_with_variable(text: str) -> bool:
    """Say whether a text starts with a variable, so that its start is not known yet."""
    return _VARIABLE.match(text) is not None


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its variables replaced in one pass: variables within values stay as they are."""
    pieces = split(text)
    if len(pieces) == 1:
        return text
    filled = list(pieces)
    filled[1::2] = [values[name] for name in pieces[1::2]]
    return "".join(filled)


def collect_values(wanted: Sequence[str], data: Mapping[str, object] | None) -> list[str]:
    """Return the values of a receiver's `templateData` for the wanted names, in their order.

    Raises Refused: MISSING_VARIABLE naming all that are missing or null, INVALID_PARAMETER for an object or
    array.
    """
    given = data or {}
    found = [_value(name, given) for name in wanted]
    if None in found:  # texts are NFC, but keys may be decomposed, as macOS writes them
        composed = {unicodedata.normalize("NFC", key): value for key, value in given.items()}
        found = [_value(name, composed) for name in wanted]
    if None in found:
        missing = ", ".join(name for name, value in zip(wanted, found, strict=True) if value is None)
        raise Refused(Code.MISSING_VARIABLE, detail=Text(f"변수: {missing}", f"Variables: {missing}"))
    return found  # type: ignore[return-value]


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
    raise Refused(
        Code.INVALID_PARAMETER,
        detail=Text(
            f"변수 {name}의 값은 문자열, 숫자, true 또는 false여야 합니다.",
            f"The value of {name} must be a string, a number or a boolean.",
        ),
    )


@lru_cache(maxsize=256)
def split(text: str) -> tuple[str, ...]:
    """Split into literal, name, literal, name, …, literal."""
    return tuple(_VARIABLE.split(text))
