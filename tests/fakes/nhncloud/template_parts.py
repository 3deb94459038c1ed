"""The documented rules of what a template has beside its text: header, items, highlight, link, quick replies."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tests.fakes.nhncloud.answers import ApiError, Json

MAX_HEADER_CHARS = 16
MAX_CONTENT_CHARS = 700
REPLY_TYPES = frozenset(("WL", "AL", "BK", "BC", "BT", "BF"))
CALL_NAMES = ("전화 연결", "고객센터 연결", "상담원 연결")
LINKS = ("linkMo", "linkPc", "schemeIos", "schemeAndroid")
MAX_LINK_CHARS = 500
_AMOUNT = re.compile(r"(?:#\{[^}]*\}|[0-9.,\s₩$€¥£]|원|엔|위안|달러|유로|[A-Z]{3})*")
_TEL_NUMBER = re.compile(r"[0-9-]{1,14}", re.ASCII)
_VARIABLE = "#{"


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


def check_parts(given: Any) -> None:
    """Raises ApiError for invalid parts of a template (ko/error-code.md, "공통" and "템플릿")."""
    if given.templateItem is not None:
        _check_items(given.templateItem)
        if len(given.templateContent or "") > MAX_CONTENT_CHARS:
            raise ApiError(-2037, "The 'content' is too long. If you request the 'templateItem', …")
    if given.templateItemHighlight is not None:
        _check_highlight(given.templateItemHighlight)
    if given.templateRepresentLink is not None:
        links = [getattr(given.templateRepresentLink, name) for name in LINKS]
        if not any(links) or any(len(link or "") > MAX_LINK_CHARS for link in links):
            raise ApiError(-2036, "TemplateRepresentLink parameter is invalid.")
    for each in given.quickReplies or ():
        if each.type not in REPLY_TYPES or each.ordering is None:
            raise ApiError(-2504, "The quickReplies parameter is invalid.")
        if not each.name:
            raise ApiError(-3101, "Not exist quickReply name.")
        if _VARIABLE in each.name:
            raise ApiError(-3102, "The quickReply name can't include the replacement parameter.")


def _check_items(given: Items) -> None:
    lines = given.lines or []
    if given.summary is not None and not lines:
        raise ApiError(-3039, "The TemplateItem's summary can't exist without templateItem list")
    if not 2 <= len(lines) <= 10:
        raise ApiError(-2033, "TemplateItem parameter is invalid.")
    for each, most in [*((line, 23) for line in lines), *([(given.summary, 14)] if given.summary else [])]:
        if not each.title or not each.description or len(each.title) > 6 or len(each.description) > most:
            raise ApiError(-2033, "TemplateItem parameter is invalid.")
    if any(_VARIABLE in (each.title or "") for each in lines):
        raise ApiError(-3037, "The templateItem's title can't include the replacement parameter.")
    if given.summary:
        if _VARIABLE in (given.summary.title or ""):
            raise ApiError(-3038, "The templateItem's summary title can't include the replacement parameter.")
        if not _AMOUNT.fullmatch(given.summary.description or ""):
            raise ApiError(-2033, "TemplateItem parameter is invalid.")


def _check_highlight(given: Highlight) -> None:
    title, description = given.title or "", given.description or ""
    if not title or not description or len(title) > 30 or len(description) > 19:
        raise ApiError(-2034, "TemplateItemHighlight parameter is invalid.")
    if given.imageUrl:
        if not given.imageUrl.startswith(("http://", "https://")):
            raise ApiError(-3041, "The imageUrl must include http:// or https://")
        if len(title) > 21 or len(description) > 13:
            raise ApiError(-3040, "The itemHighlight's title with thumbnail can not exceed 21 characters, …")
    if title.endswith("\\s"):
        raise ApiError(-3047, "The templateTitle and templateItemHighlight's title can't end with \\s.")


def check_call_button(button: Any) -> None:
    """Raises ApiError for an invalid button that calls a number."""
    if button.type != "TN":
        return
    if button.name not in CALL_NAMES:
        raise ApiError(-3051, f"TN button name must be one of: {', '.join(CALL_NAMES)}")
    if not button.telNumber:
        raise ApiError(-3052, "TN button must have telNumber field.")
    if not _TEL_NUMBER.fullmatch(button.telNumber):
        raise ApiError(-3053, "Invalid telephone number format. Must be digits/hyphens only, max 14 characters.")


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
