"""The documented fields of templates, their limits and combinations."""

from collections.abc import Sequence

import msgspec

from tests.fakes.nhncloud import kakaotalk
from tests.fakes.nhncloud.answers import ApiError
from tests.fakes.nhncloud.template_parts import (
    Highlight,
    Items,
    RepresentativeLink,
    check_call_button,
    check_parts,
)

OTHER = "999999"
TEMPLATE_CATEGORIES = (
    ("회원", (("001001", "회원가입"), ("001002", "인증/비밀번호/로그인"))),
    ("구매", (("002001", "구매완료"), ("002009", "등대 소식"))),
    ("기타", ((OTHER, "기타"),)),
)
"""A few; one exists only here."""
CATEGORY_CODES = frozenset(code for _, below in TEMPLATE_CATEGORIES for code, _ in below)
MAX_CONTENT_CHARS = 1300
MAX_TITLE_CHARS = 50
MAX_BUTTONS = 5
MAX_BUTTON_NAME_CHARS = 14
MAX_LINK_CHARS = 500
CHANNEL_BUTTON = "채널 추가"
BUTTON_TYPES = frozenset(("WL", "AL", "DS", "BK", "MD", "BC", "BT", "AC", "BF", "P1", "P2", "P3", "TN"))
_LINKS = ("linkMo", "linkPc", "schemeIos", "schemeAndroid")
_VARIABLE = "#{"


class TemplateButton(msgspec.Struct, forbid_unknown_fields=True):
    """A button of a template; it has fewer fields than a message button."""

    ordering: int | None = None
    type: str | None = None
    name: str | None = None
    linkMo: str | None = None
    linkPc: str | None = None
    schemeIos: str | None = None
    schemeAndroid: str | None = None
    bizFormId: int | None = None
    pluginId: str | None = None
    telNumber: str | None = None


class Change(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The body of a change; a field with `tempalteTitle` in the tables is `templateTitle` in the examples."""

    templateName: str | None = None
    templateContent: str | None = None
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
    templateCode: str | None = None


def check_template(given: Change) -> None:
    """Raises ApiError for an invalid template."""
    kakaotalk.require_text("templateContent", given.templateContent, MAX_CONTENT_CHARS)
    message_type = given.templateMessageType or "BA"
    emphasize_type = given.templateEmphasizeType or "NONE"
    if message_type not in ("BA", "EX", "AD", "MI") or emphasize_type not in (
        "NONE",
        "TEXT",
        "IMAGE",
        "ITEM_LIST",
    ):
        raise ApiError(-4000, "Invalid parameter")
    _check_extra(given, message_type)
    _check_emphasis(given, emphasize_type)
    buttons = given.buttons or []
    if len(buttons) > MAX_BUTTONS or len(given.quickReplies or ()) > MAX_BUTTONS:
        raise ApiError(-2004, f"The 'buttons' must be between 0 and {MAX_BUTTONS}.")
    if given.quickReplies and len(buttons) > 2:
        raise ApiError(
            -2505,
            "The 'buttons' is too many. If you request the 'quickReplies', the buttons size muse be 2 or less.",
        )
    for button in (*buttons, *(given.quickReplies or ())):
        _check_button(button)
    check_parts(given)
    _check_channel_button(buttons, message_type)


def _check_extra(given: Change, message_type: str) -> None:
    has_extra = message_type in ("EX", "MI")
    if has_extra and not given.templateExtra:
        code = -3018 if message_type == "EX" else -3020
        raise ApiError(code, f"The Template which messageType is '{message_type}' must have templateExtra.")
    if not has_extra and given.templateExtra:
        code = -3028 if message_type == "BA" else -3030
        raise ApiError(code, f"The Template which messageType is '{message_type}' can't have templateExtra.")
    if _VARIABLE in (given.templateExtra or ""):
        raise ApiError(-3021, "The templateExtra can't include the replacement parameter.")


def _check_emphasis(given: Change, emphasize_type: str) -> None:
    start = f"The Template which emphasizeType is '{emphasize_type}'"
    if emphasize_type == "TEXT" and not (given.templateTitle and given.templateSubtitle):
        raise ApiError(-3016, f"{start} must have templateTitle, templateSubtitle.")
    if emphasize_type == "NONE" and (given.templateTitle or given.templateSubtitle):
        raise ApiError(-3027, f"{start} can't have templateTitle, templateSubtitle.")
    if emphasize_type == "IMAGE" and not (given.templateImageName and given.templateImageUrl):
        raise ApiError(-3032, f"{start} must have templateImageName, templateImageUrl.")
    if emphasize_type == "ITEM_LIST":
        _check_items(given, start)
    kakaotalk.check_length("templateTitle", given.templateTitle or "", MAX_TITLE_CHARS)
    kakaotalk.check_length("templateSubtitle", given.templateSubtitle or "", MAX_TITLE_CHARS)
    kakaotalk.check_length("templateHeader", given.templateHeader or "", 16)
    if _VARIABLE in (given.templateSubtitle or ""):
        raise ApiError(-3017, "The templateSubtitle can't include the replacement parameter.")
    if (given.templateTitle or "").endswith("\\s"):
        raise ApiError(-3047, "The templateTitle and templateItemHighlight's title can't end with \\s.")


def _check_items(given: Change, start: str) -> None:
    some = (given.templateHeader, given.templateImageUrl, given.templateItem, given.templateItemHighlight)
    if not any(some):
        raise ApiError(-3035, f"{start} must have at least one of them.")
    if given.securityFlag:
        raise ApiError(-3036, f"{start} can't be a security template.")


def _check_button(button: TemplateButton) -> None:
    if button.type not in BUTTON_TYPES or button.ordering is None:
        raise ApiError(-2018, "Button parameter is invalid.")
    if not button.name:
        raise ApiError(-3009, "Not exist button name.")
    kakaotalk.check_length("name", button.name, MAX_BUTTON_NAME_CHARS)
    if _VARIABLE in button.name:
        raise ApiError(-3008, "The button name can't include the replacement parameter.")
    for link in _LINKS:
        kakaotalk.check_length(link, getattr(button, link) or "", MAX_LINK_CHARS)
    check_call_button(button)
    code, why = kakaotalk.check_links(button)
    if code:
        raise ApiError(code, why)


def _check_channel_button(buttons: Sequence[TemplateButton], message_type: str) -> None:
    in_order = sorted(buttons, key=lambda each: each.ordering or 0)
    types = [each.type for each in in_order]
    if "AC" in types:
        if message_type not in ("AD", "MI"):
            raise ApiError(-3024, "The button of AC type can using only templateMessageType (AD/MI).")
        if types.index("AC") != 0 or types.count("AC") > 1:
            raise ApiError(-3025, "AC type buttons should be located alone or on top.")
        if in_order[0].name != CHANNEL_BUTTON:
            raise ApiError(-3026, f"AC type button name must have {CHANNEL_BUTTON}")
    elif message_type in ("AD", "MI"):
        raise ApiError(-3050, "The templateMessageType (AD/MI) must have button of AC type.")
