"""Finds what nothing is done with in a call: fields without a place in the shape of a body, unread parameters."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

import msgspec
from msgspec import Struct, structs

MAX_READ_BYTES = 16 * 1024
"""Longer bodies are not read a second time to find what is ignored in them: that would cost as much as sending."""
MAX_READ_ITEMS = 20
"""Items of a list that are looked at."""
MAX_NAMES = 20
"""Unknown names that are noted of one call."""
_EMPTY: tuple[Any, ...] = (None, [], {}, "")


class Query(dict[str, str]):
    """The parameters of a call, which knows those that nothing has asked for."""

    def __init__(self, given: Mapping[str, str]) -> None:
        super().__init__(given)
        self._unread = {name for name, value in given.items() if value}

    def __getitem__(self, name: str) -> str:
        self._unread.discard(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._unread.discard(name)
        return super().get(name, default)

    def list_unread(self) -> list[str]:
        """Return the names of the parameters with a value that nothing has asked for."""
        return sorted(self._unread)[:MAX_NAMES]


def decode_short(raw: bytes) -> Any:
    """Return a short body as it is; None where it is long, or where what its shape ignores is malformed."""
    try:
        return msgspec.json.decode(raw) if len(raw) <= MAX_READ_BYTES else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def list_ignored(given: Any, shape: type[Struct]) -> list[str]:
    """Return the names of the fields of a body, such as `outer.inner`, that have a value and no place."""
    return list(dict.fromkeys(find_ignored(given, shape)))[:MAX_NAMES]


def find_ignored(given: Any, shape: type[Struct], place: str = "") -> Iterator[str]:
    """Yield the names of the fields of a part that have a value and no place in its shape."""
    if isinstance(given, list):
        for each in given[:MAX_READ_ITEMS]:
            yield from find_ignored(each, shape, place)
    elif isinstance(given, dict):
        known = _fields_of(shape)
        for name, value in given.items():
            if name not in known:
                if value not in _EMPTY:
                    yield f"{place}{name}"
            elif (inner := known[name]) is not None:
                yield from find_ignored(value, inner, f"{place}{name}.")


@cache
def _fields_of(shape: type[Struct]) -> Mapping[str, type[Struct] | None]:
    """Return the fields of a shape by their names in JSON, with the shape of what is inside."""
    return {each.encode_name: _find_struct(each.type) for each in structs.fields(shape)}


def _find_struct(given: Any) -> type[Struct] | None:
    if isinstance(given, type) and issubclass(given, Struct):
        return given
    return next((found for each in get_args(given) if (found := _find_struct(each))), None)
