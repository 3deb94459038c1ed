"""The documented fields of templates, the rules that our refusals quote, and how a message may differ from one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from tests.fakes.nhncloud.answers import ApiError, Json

OTHER = "999999"
TEMPLATE_CATEGORIES = (
    ("회원", (("001001", "회원가입"), ("001002", "인증/비밀번호/로그인"))),
    ("구매", (("002001", "구매완료"), ("002009", "등대 소식"))),
    ("기타", ((OTHER, "기타"),)),
)
"""A few; one exists only here."""
CATEGORY_CODES = frozenset(code for _, below in TEMPLATE_CATEGORIES for code, _ in below)

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


class TemplateButton(msgspec.Struct, forbid_unknown_fields=True):
    """A button of a template; it has fewer fields than a message button."""

    ordering: int | None = None
    type: str | None = None
    name: str | None = None
    linkMo: str | None = None
    linkPc: str | None = None
    schemeIos: str | None = None
    schemeAndroid: str | None = None
    telNumber: str | None = None


class Change(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The body of a change; a field with `tempalteTitle` in the tables is `templateTitle` in the examples."""

    templateName: str
    templateContent: str
    templateMessageType: str | None = None
    templateEmphasizeType: str | None = None
    templateExtra: str | None = None
    templateTitle: str | None = None
    templateSubtitle: str | None = None
    templateHeader: str | None = None
    templateItem: Items | None = None
    templateItemHighlight: Highlight | None = None
    templateRepresentLink: RepresentativeLink | None = None
    templateImageName: str | None = None
    templateImageUrl: str | None = None
    securityFlag: bool | None = None
    categoryCode: str | None = None
    buttons: list[TemplateButton] | None = None
    quickReplies: list[TemplateButton] | None = None


class Registration(Change, kw_only=True):
    templateCode: str


def check_template(given: Change) -> None:
    """Raises ApiError for an invalid template."""
    if given.templateEmphasizeType == "TEXT" and not (given.templateTitle and given.templateSubtitle):
        start = "The Template which emphasizeType is 'TEXT'"
        raise ApiError(-3016, f"{start} must have templateTitle, templateSubtitle.")
    _check_channel_button(given.buttons or [], given.templateMessageType or "BA")


def _check_channel_button(buttons: Sequence[TemplateButton], message_type: str) -> None:
    types = [each.type for each in buttons]
    if "AC" in types:
        if message_type not in ("AD", "MI"):
            raise ApiError(-3024, "The button of AC type can using only templateMessageType (AD/MI).")
    elif message_type in ("AD", "MI"):
        raise ApiError(-3050, "The templateMessageType (AD/MI) must have button of AC type.")


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
