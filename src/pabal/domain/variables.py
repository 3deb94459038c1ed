"""Variables in a text, written `#{name}`, and their values for one receiver."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from pabal.domain.codes import Code, Refused, Words

_VARIABLE = re.compile(r"#\{([^{}]+)\}")
MAX_VARIABLES = 100


class Spelled(str):
    """A JSON number kept as the caller spelled it."""

    __slots__ = ()


def names(*texts: str | None) -> tuple[str, ...]:
    """Return the names of the variables in `texts`, each once, in the order they appear."""
    found = [name for text in texts if text for name in _VARIABLE.findall(text)]
    return tuple(dict.fromkeys(found))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return `text` with its variables replaced in one pass: a value that looks like one stays as it is."""
    parts = _parts(text)
    if len(parts) == 1:
        return text
    return "".join(values[part] if odd else part for odd, part in zip(_odd(len(parts)), parts, strict=True))


def values(wanted: Sequence[str], data: Mapping[str, object] | None) -> list[str]:
    """Return the values that a receiver's `templateData` has for the wanted names, in their order.

    Raises Refused: MISSING_VARIABLE for an absent or null one, INVALID_PARAMETER for an object or array.
    """
    given = data or {}
    return [_value(name, given) for name in wanted]


def _value(name: str, given: Mapping[str, object]) -> str:
    value = given.get(name)
    if value is None:
        value = given.get(f"#{{{name}}}")
    if isinstance(value, str):
        return value
    if value is None:
        raise Refused(Code.MISSING_VARIABLE, detail=Words(f"변수: {name}", f"Variable: {name}"))
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise Refused(
        Code.INVALID_PARAMETER,
        detail=Words(
            f"변수 {name}의 값은 문자열, 숫자, 참거짓이어야 합니다.",
            f"The value of {name} must be a string, a number or a boolean.",
        ),
    )


@lru_cache(maxsize=256)
def _parts(text: str) -> tuple[str, ...]:
    """Split into literal, name, literal, name, …, literal."""
    return tuple(_VARIABLE.split(text))


@lru_cache(maxsize=256)
def _odd(count: int) -> tuple[bool, ...]:
    return tuple(i % 2 == 1 for i in range(count))


def check_count(wanted: Iterable[str]) -> None:
    """Raises Refused(INVALID_PARAMETER) where one text asks for more than MAX_VARIABLES variables."""
    count = len(tuple(wanted))
    if count > MAX_VARIABLES:
        raise Refused(
            Code.INVALID_PARAMETER,
            detail=Words(
                f"변수는 {MAX_VARIABLES}개까지인데 {count}개입니다.",
                f"At most {MAX_VARIABLES} variables; it has {count}.",
            ),
        )
