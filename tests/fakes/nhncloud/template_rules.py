"""The documented fields of templates, and the rules that our refusals quote."""

from collections.abc import Sequence

import msgspec

from tests.fakes.nhncloud.answers import ApiError
from tests.fakes.nhncloud.template_parts import Highlight, Items, RepresentativeLink

OTHER = "999999"
TEMPLATE_CATEGORIES = (
    ("회원", (("001001", "회원가입"), ("001002", "인증/비밀번호/로그인"))),
    ("구매", (("002001", "구매완료"), ("002009", "등대 소식"))),
    ("기타", ((OTHER, "기타"),)),
)
"""A few; one exists only here."""
CATEGORY_CODES = frozenset(code for _, below in TEMPLATE_CATEGORIES for code, _ in below)


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
