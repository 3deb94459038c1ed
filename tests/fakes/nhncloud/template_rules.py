"""The documented fields of templates, their limits and combinations."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tests.fakes.nhncloud import talk
from tests.fakes.nhncloud.answers import No

OTHER = "999999"
TEMPLATE_CATEGORIES = (
    ("회원", (("001001", "회원가입"), ("001002", "인증/비밀번호/로그인"))),
    ("구매", (("002001", "구매완료"), ("002009", "등대 소식"))),
    ("기타", ((OTHER, "기타"),)),
)
"""A few, one of them of its own."""
CATEGORY_CODES = frozenset(code for _, below in TEMPLATE_CATEGORIES for code, _ in below)
MOST_CONTENT = 1300
MOST_TITLE = 50
MOST_BUTTONS = 5
MOST_BUTTON_NAME = 14
MOST_LINK = 500
CHANNEL_BUTTON = "채널 추가"
BUTTON_TYPES = frozenset(("WL", "AL", "DS", "BK", "MD", "BC", "BT", "AC", "BF", "P1", "P2", "P3", "TN"))
_LINKS = ("linkMo", "linkPc", "schemeIos", "schemeAndroid")
_VARIABLE = "#{"


class TemplateButton(msgspec.Struct, forbid_unknown_fields=True):
    """A button of a template; it has fewer fields than that of a message."""

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
    templateItem: dict[str, Any] | None = None
    templateItemHighlight: dict[str, Any] | None = None
    templateRepresentLink: dict[str, Any] | None = None
    templateImageName: str | None = None
    templateImageUrl: str | None = None
    securityFlag: bool | None = None
    categoryCode: str | None = None
    buttons: list[TemplateButton] | None = None
    quickReplies: list[TemplateButton] | None = None


class Registration(Change, kw_only=True):
    """The body of a registration."""

    templateCode: str | None = None


def check(given: Change) -> None:
    """Raises No for a template that is none."""
    talk.needed("templateContent", given.templateContent, MOST_CONTENT)
    message_type = given.templateMessageType or "BA"
    emphasize_type = given.templateEmphasizeType or "NONE"
    if message_type not in ("BA", "EX", "AD", "MI") or emphasize_type not in (
        "NONE",
        "TEXT",
        "IMAGE",
        "ITEM_LIST",
    ):
        raise No(-4000, "Invalid parameter")
    _check_extra(given, message_type)
    _check_emphasis(given, emphasize_type)
    buttons = given.buttons or []
    if len(buttons) > MOST_BUTTONS or len(given.quickReplies or ()) > MOST_BUTTONS:
        raise No(-2004, f"The 'buttons' must be between 0 and {MOST_BUTTONS}.")
    if given.quickReplies and len(buttons) > 2:
        raise No(
            -2505,
            "The 'buttons' is too many. If you request the 'quickReplies', the buttons size muse be 2 or less.",
        )
    for button in buttons:
        _check_button(button)
    _check_channel_button(buttons, message_type)


def _check_extra(given: Change, message_type: str) -> None:
    has_extra = message_type in ("EX", "MI")
    if has_extra and not given.templateExtra:
        code = -3018 if message_type == "EX" else -3020
        raise No(code, f"The Template which messageType is '{message_type}' must have templateExtra.")
    if not has_extra and given.templateExtra:
        code = -3028 if message_type == "BA" else -3030
        raise No(code, f"The Template which messageType is '{message_type}' can't have templateExtra.")
    if _VARIABLE in (given.templateExtra or ""):
        raise No(-3021, "The templateExtra can't include the replacement parameter.")


def _check_emphasis(given: Change, emphasize_type: str) -> None:
    start = f"The Template which emphasizeType is '{emphasize_type}'"
    if emphasize_type == "TEXT" and not (given.templateTitle and given.templateSubtitle):
        raise No(-3016, f"{start} must have templateTitle, templateSubtitle.")
    if emphasize_type == "NONE" and (given.templateTitle or given.templateSubtitle):
        raise No(-3027, f"{start} can't have templateTitle, templateSubtitle.")
    if emphasize_type == "IMAGE" and not (given.templateImageName and given.templateImageUrl):
        raise No(-3032, f"{start} must have templateImageName, templateImageUrl.")
    if emphasize_type == "ITEM_LIST":
        _check_items(given, start)
    talk.fits("templateTitle", given.templateTitle or "", MOST_TITLE)
    talk.fits("templateSubtitle", given.templateSubtitle or "", MOST_TITLE)
    talk.fits("templateHeader", given.templateHeader or "", 16)
    if _VARIABLE in (given.templateSubtitle or ""):
        raise No(-3017, "The templateSubtitle can't include the replacement parameter.")
    if (given.templateTitle or "").endswith("\\s"):
        raise No(-3047, "The templateTitle and templateItemHighlight's title can't end with \\s.")


def _check_items(given: Change, start: str) -> None:
    some = (given.templateHeader, given.templateImageUrl, given.templateItem, given.templateItemHighlight)
    if not any(some):
        raise No(-3035, f"{start} must have at least one of them.")
    if given.securityFlag:
        raise No(-3036, f"{start} can't be a security template.")


def _check_button(button: TemplateButton) -> None:
    if button.type not in BUTTON_TYPES or button.ordering is None:
        raise No(-2018, "Button parameter is invalid.")
    if not button.name:
        raise No(-3009, "Not exist button name.")
    talk.fits("name", button.name, MOST_BUTTON_NAME)
    if _VARIABLE in button.name:
        raise No(-3008, "The button name can't include the replacement parameter.")
    for link in _LINKS:
        talk.fits(link, getattr(button, link) or "", MOST_LINK)
    code, why = talk.check_links(button)
    if code:
        raise No(code, why)


def _check_channel_button(buttons: Sequence[TemplateButton], message_type: str) -> None:
    in_order = sorted(buttons, key=lambda each: each.ordering or 0)
    types = [each.type for each in in_order]
    if "AC" in types:
        if message_type not in ("AD", "MI"):
            raise No(-3024, "The button of AC type can using only templateMessageType (AD/MI).")
        if types.index("AC") != 0 or types.count("AC") > 1:
            raise No(-3025, "AC type buttons should be located alone or on top.")
        if in_order[0].name != CHANNEL_BUTTON:
            raise No(-3026, f"AC type button name must have {CHANNEL_BUTTON}")
    elif message_type in ("AD", "MI"):
        raise No(-3050, "The templateMessageType (AD/MI) must have button of AC type.")
