"""The documented rules of what a template has beside its text: header, items, highlight, link, quick replies."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tests.fakes.nhncloud.answers import Json

MAX_HEADER_CHARS = 16


class ItemLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of an item list, or its summary."""

    title: str | None = None
    description: str | None = None


class Items(msgspec.Struct, forbid_unknown_fields=True):
    """An item list (`templateItem`)."""

    lines: list[ItemLine] | None = msgspec.field(default=None, name="list")
    summary: ItemLine | None = None


class Highlight(msgspec.Struct, forbid_unknown_fields=True):
    title: str | None = None
    description: str | None = None
    imageUrl: str | None = None


class RepresentativeLink(msgspec.Struct, forbid_unknown_fields=True):
    linkMo: str | None = None
    linkPc: str | None = None
    schemeIos: str | None = None
    schemeAndroid: str | None = None


def find_difference(
    fields: Json, given: Any, matches: Callable[[str, str], bool], not_matched: str
) -> tuple[int, str] | None:
    """Return how the parts of a message differ from those of its template, None if they do not."""
    if len(given.templateHeader or "") > MAX_HEADER_CHARS:
        return -2035, "The templateHeader that is replaced by the template parameters can not exceed 16 characters."
    if not _text_matches(fields.get("templateHeader"), given.templateHeader, matches):
        return -3042, f"The templateHeader {not_matched}"
    for name in ("templateItem", "templateItemHighlight"):
        if not _value_matches(fields.get(name), _builtins(getattr(given, name)), matches):
            return -3043, f"The templateItem or templateItemHighlight {not_matched}"
    link = _builtins(given.templateRepresentLink)
    if not _value_matches(fields.get("templateRepresentLink"), link, matches):
        return -3046, f"The templateRepresentLink {not_matched}"
    return None


def _builtins(value: Any) -> Any:
    return msgspec.to_builtins(value) if value is not None else None


def _value_matches(registered: Any, given: Any, matches: Callable[[str, str], bool]) -> bool:
    if isinstance(registered, Mapping) or isinstance(given, Mapping):
        one, other = registered or {}, given or {}
        return all(_value_matches(one.get(name), other.get(name), matches) for name in {*one, *other})
    if isinstance(registered, list) or isinstance(given, list):
        rows, others = registered or [], given or []
        return len(rows) == len(others) and all(
            _value_matches(*pair, matches) for pair in zip(rows, others, strict=True)
        )
    return _text_matches(registered, given, matches)


def _text_matches(registered: str | None, given: str | None, matches: Callable[[str, str], bool]) -> bool:
    return matches(registered, given or "") if registered else not given
