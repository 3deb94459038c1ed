"""What documents say of an answer or of a webhook call, and where a real one differs from it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from pabal.domain.base.codes import Text

_SHOWN_NAME = re.compile(r"(?!.*\d{5})[A-Za-z_][A-Za-z0-9_]{0,39}")
_SHOWN_CODE = re.compile(r"-?(?!.*\d{8})[A-Za-z0-9_]{1,24}")
"""Anything else might repeat a number or a text."""
_HIDDEN = "…"
_TYPE_NAMES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}

Shape = Any
"""What is documented of a value: a type (`object`: any), Codes, Each, OneOf, [shape], or {name: shape}.

A name that ends with `?` may be missing or null.
"""


@dataclass(frozen=True)
class Codes:
    """A value that is one of some documented codes."""

    type: type
    known: frozenset[str]


@dataclass(frozen=True)
class Each:
    """An object whose names are ids."""

    shape: Shape


@dataclass(frozen=True)
class OneOf:
    """Shapes of which documents show several."""

    shapes: tuple[Shape, ...]


class DifferenceKind(Enum):
    """How a value differs."""

    NOT_DOCUMENTED = Text("문서에 없는 필드", "a field that is not documented")
    MISSING = Text("문서에 있는 필드가 없음", "a documented field is missing")
    TYPE = Text("문서와 다른 자료형", "another type than documented")
    CODE = Text("문서에 없는 코드", "a code that is not documented")


class Difference(NamedTuple):
    """Where and how a value differs; it contains nothing that was sent."""

    place: str
    kind: DifferenceKind
    detail: str = ""


class DocumentedCall(NamedTuple):
    """A call with the shape of its answer; parts of the path in braces may be anything."""

    method: str
    path: str
    shape: Shape

    def matches(self, method: str, path: str) -> bool:
        wanted, given = self.path.split("/"), path.split("/")
        return (
            method == self.method
            and len(wanted) == len(given)
            and all(each[:1] == "{" or each == other for each, other in zip(wanted, given, strict=True))
        )


class RelayDocuments(NamedTuple):
    """What is documented of a relay, as far as a message has to do with it."""

    calls: Sequence[DocumentedCall]
    webhook: Shape
    error: Shape = object
    """An answer with an HTTP status of 400 or more."""

    def find_call(self, method: str, path: str) -> DocumentedCall | None:
        """Return what is documented of a call; None if that is not written down here."""
        return next((each for each in self.calls if each.matches(method, path)), None)


def shown_code(code: str) -> str:
    """Return a code as a report may show it."""
    return code if _SHOWN_CODE.fullmatch(code) else _HIDDEN


def find_differences(shape: Shape, value: Any, place: str = "") -> list[Difference]:
    """Return where a value differs from its documented shape."""
    return list(_compare(shape, value, place))


def _compare(shape: Shape, value: Any, place: str) -> Iterator[Difference]:
    if isinstance(shape, OneOf):
        yield from min(
            (find_differences(each, value, place) for each in shape.shapes),
            key=lambda found: (any(each.place == place for each in found), len(found)),
        )
    elif isinstance(shape, dict):
        if isinstance(value, dict):
            yield from _compare_fields(shape, value, place)
        else:
            yield _other_type(value, dict, place)
    elif isinstance(shape, list | Each):
        kind = list if isinstance(shape, list) else dict
        if not isinstance(value, kind):
            yield _other_type(value, kind, place)
            return
        part = shape[0] if isinstance(shape, list) else shape.shape
        for each in value.values() if isinstance(value, dict) else value:
            yield from _compare(part, each, f"{place}[]")
    elif isinstance(shape, Codes):
        if type(value) is not shape.type:
            yield _other_type(value, shape.type, place)
        elif str(value) not in shape.known:
            yield Difference(place, DifferenceKind.CODE, shown_code(str(value)))
    elif shape is not object and type(value) is not shape and not (shape is float and type(value) is int):
        yield _other_type(value, shape, place)


def _compare_fields(shape: Mapping[str, Shape], value: Mapping[str, Any], place: str) -> Iterator[Difference]:
    names = {name.removesuffix("?"): name for name in shape}
    for name, documented in names.items():
        if value.get(name) is not None:
            yield from _compare(shape[documented], value[name], f"{place}.{name}".lstrip("."))
        elif not documented.endswith("?"):
            detail = "null" if name in value else ""
            yield Difference(f"{place}.{name}".lstrip("."), DifferenceKind.MISSING, detail)
    for name in value.keys() - names.keys():
        shown = name if _SHOWN_NAME.fullmatch(name) else _HIDDEN
        detail = _TYPE_NAMES.get(type(value[name]), "null")
        yield Difference(f"{place}.{shown}".lstrip("."), DifferenceKind.NOT_DOCUMENTED, detail)


def _other_type(value: Any, wanted: type, place: str) -> Difference:
    given = _TYPE_NAMES.get(type(value), "null")
    return Difference(place, DifferenceKind.TYPE, f"{given} ≠ {_TYPE_NAMES[wanted]}")


def fields(shape: Shape, names: str) -> dict[str, Shape]:
    """Return fields of one shape from a list of their names."""
    return dict.fromkeys(names.split(), shape)


def codes(kind: type, listed: str) -> Codes:
    """Return documented codes from a list, in which `-1000..1004` is -1000 to -1004."""
    known: set[str] = set()
    for each in listed.split():
        first, dots, last = each.partition("..")
        sign = "-" if first.startswith("-") else ""
        first = first.removeprefix("-")
        known.update(f"{sign}{number}" for number in range(int(first), int(last) + 1)) if dots else known.add(each)
    return Codes(kind, frozenset(known))
