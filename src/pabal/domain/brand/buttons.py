"""Buttons of brand messages: from those of the API, and the rules of their types and places."""

from collections.abc import Sequence

from pabal.domain.base.codes import Code, Text, at_most_characters
from pabal.domain.brand import limits
from pabal.domain.brand.message import BrandButton, BrandType
from pabal.domain.brand.report import Report
from pabal.domain.content import button
from pabal.domain.content.button import Button

CHANNEL_ADDITION = "채널 추가"
"""The only name that a button for adding the channel may have."""
FORM_NAMES = ("톡에서 예약하기", "톡에서 설문하기", "톡에서 응모하기")
"""The only names that a button for a business form may have."""
BUTTON_TYPES = ("WL", "AL", "BK", "MD", "BT", "BF", "AC")
_TYPE_OF = {
    "webLink": "WL",
    "appLink": "AL",
    "botKeyword": "BK",
    "messageDelivery": "MD",
    "botConversion": "BT",
    "channelAddition": "AC",
}
"""The type of each button of the API that brand messages have."""
_VERTICAL = (BrandType.TEXT, BrandType.IMAGE)
"""Types whose buttons stand below each other."""

_ADDITION_NAME = Text(f"버튼 이름은 '{CHANNEL_ADDITION}'여야 합니다.", f"Its name must be '{CHANNEL_ADDITION}'.")
_ADDITION_FIRST = Text("채널 추가 버튼은 첫 번째여야 합니다.", "The button for adding the channel comes first.")
_ADDITION_LAST = Text("채널 추가 버튼은 마지막이어야 합니다.", "The button for adding the channel comes last.")
_TWO_LINKS = Text(
    "schemeAndroid, schemeIos, linkMo 가운데 두 개 이상 넣으세요.",
    "Give at least two of schemeAndroid, schemeIos and linkMo.",
)


def from_button(given: Button) -> BrandButton | None:
    """Return a button of the API as brand messages have it; None for a type that they do not have."""
    if given.type not in _TYPE_OF:
        return None
    return BrandButton(
        name=given.name,
        type=_TYPE_OF[given.type],
        link_mo=given.mobile_url,
        link_pc=given.pc_url,
        scheme_android=given.android_url,
        scheme_ios=given.ios_url,
        chat_extra=given.chat_extra,
        chat_event=given.chat_event,
    )


def check_own_buttons(report: Report, given: Sequence[Button], kind: BrandType, max_name: int) -> None:
    """Check buttons of the API, whose fields and links have been checked already."""
    converted = []
    for index, each in enumerate(given):
        one = from_button(each)
        if one is None:
            allowed = ", ".join(_TYPE_OF)
            detail = Text(f"사용할 수 있는 값: {allowed}", f"Allowed values: {allowed}")
            report.add(Code.INVALID_BUTTON, f"buttons[{index}].buttonType", detail)
            continue
        converted.append(one)
        for field, link in (
            ("mobileUrl", one.link_mo),
            ("pcUrl", one.link_pc),
            ("androidUrl", one.scheme_android),
            ("iosUrl", one.scheme_ios),
        ):
            if link and len(link) > limits.MAX_LINK_CHARACTERS:
                report.add(
                    Code.INVALID_BUTTON, f"buttons[{index}].{field}", at_most_characters(limits.MAX_LINK_CHARACTERS)
                )
    if len(converted) == len(given):
        _check_names_and_places(report, "buttons", converted, kind, max_name)


def check_buttons(report: Report, path: str, given: Sequence[BrandButton], kind: BrandType, max_name: int) -> None:
    """Check buttons that were given in the relay's shape; every problem is INVALID_BUTTON."""
    own = Report()
    for index, one in enumerate(given):
        _check_fields(own, f"{path}[{index}]", one)
    if not own.problems:
        _check_names_and_places(own, path, given, kind, max_name)
    report.problems += [
        problem._replace(code=Code.INVALID_BUTTON, detail=button.REQUIRED)
        if problem.code is Code.MISSING_PARAMETER
        else problem._replace(code=Code.INVALID_BUTTON)
        for problem in own.problems
    ]


def _check_fields(report: Report, path: str, one: BrandButton) -> None:
    if one.type not in BUTTON_TYPES:
        allowed = ", ".join(BUTTON_TYPES)
        report.add(
            Code.INVALID_BUTTON, f"{path}.type", Text(f"사용할 수 있는 값: {allowed}", f"Allowed values: {allowed}")
        )
        return
    report.check_text(f"{path}.name", one.name, limits.MAX_BUTTON_NAME_CHARACTERS, needed=True)
    report.check_links(path, one, needs_mobile=one.type == "WL")
    if one.type == "AL" and sum(bool(link) for link in (one.scheme_android, one.scheme_ios, one.link_mo)) < 2:
        report.add(Code.INVALID_BUTTON, f"{path}.schemeAndroid", _TWO_LINKS)
    report.check_text(f"{path}.chatExtra", one.chat_extra, limits.MAX_CHAT_CHARACTERS)
    report.check_text(f"{path}.chatEvent", one.chat_event, limits.MAX_CHAT_CHARACTERS)
    report.check_text(f"{path}.bizFormKey", one.biz_form_key, limits.MAX_FORM_KEY_CHARACTERS)
    if one.type == "BF" and not one.biz_form_key:
        report.add(Code.INVALID_BUTTON, f"{path}.bizFormKey", button.REQUIRED)


def _check_names_and_places(
    report: Report, path: str, given: Sequence[BrandButton], kind: BrandType, max_name: int
) -> None:
    for index, one in enumerate(given):
        place = f"{path}[{index}]"
        if len(one.name or "") > max_name:
            report.add(Code.INVALID_BUTTON, f"{place}.name", at_most_characters(max_name))
        if one.type == "BF" and one.name not in FORM_NAMES:
            names = ", ".join(FORM_NAMES)
            report.add(
                Code.INVALID_BUTTON,
                f"{place}.name",
                Text(f"사용할 수 있는 이름: {names}", f"Allowed names: {names}"),
            )
        if one.type != "AC":
            continue
        if one.name != CHANNEL_ADDITION:
            report.add(Code.INVALID_BUTTON, f"{place}.name", _ADDITION_NAME)
        elif index != (0 if kind in _VERTICAL else len(given) - 1):
            report.add(Code.INVALID_BUTTON, place, _ADDITION_FIRST if kind in _VERTICAL else _ADDITION_LAST)
