"""Fields whose value is one of a few words."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from pabal.domain.base.codes import Code, Refused, Text

T = TypeVar("T")


def one_of(choices: Mapping[str, T]) -> Callable[[str], T]:
    """Return a parser that accepts only these words.

    The parser raises Refused(INVALID_PARAMETER).
    """

    def parse(word: str) -> T:
        if word not in choices:
            allowed = ", ".join(choices)
            detail = Text(f"허용되는 값: {allowed}", f"Allowed values: {allowed}")
            raise Refused(Code.INVALID_PARAMETER, detail=detail)
        return choices[word]

    return parse
