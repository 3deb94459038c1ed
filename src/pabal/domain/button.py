"""Buttons under an Alimtalk or friend-talk message."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pabal.domain import text, variables
from pabal.domain.codes import Code, Problem, Refused, Text

MAX_BUTTONS = 5
MAX_BUTTONS_WIDE_IMAGE = 2
MAX_NAME_CHARACTERS = 14
MAX_LINK_CHARACTERS = 2000
MAX_CHAT_CHARACTERS = 50
MAX_ORDER_NUMBER = 2**31 - 1

DEFAULT_NAMES = {
    "webLink": "웹 링크",
    "appLink": "앱 링크",
    "channelAddition": "채널 추가",
    "botKeyword": "봇 키워드",
    "messageDelivery": "메시지 전달",
    "counselingTalkConversion": "상담톡 전환",
    "botConversion": "챗봇 전환",
    "deliveryTracking": "배송 조회",
}
_REQUIRED_FIELDS = {
    "webLink": ("mobileUrl",),
    "counselingTalkConversion": ("chatExtra",),
    "botConversion": ("chatExtra", "chatEvent"),
}
_WEB_LINK_FIELDS = ("mobileUrl", "pcUrl")
_APP_LINK_FIELDS = ("androidUrl", "iosUrl")
LINK_FIELDS = (*_WEB_LINK_FIELDS, *_APP_LINK_FIELDS)
_FORBIDDEN_SCHEMES = ("javascript:", "data:")
_IGNORED_BY_BROWSERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
"""What a browser may skip while it reads a scheme."""


class Button(NamedTuple):
    """A button as it is kept; `None` is a field that was not given."""

    buttonType: str
    name: str
    mobileUrl: str | None = None
    pcUrl: str | None = None
    androidUrl: str | None = None
    iosUrl: str | None = None
    chatExtra: str | None = None
    chatEvent: str | None = None
    target: str | None = None
    orderNo: int | None = None

    def given(self) -> dict[str, str | int]:
        """Return the fields that have a value."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def parse_buttons(given: Sequence[Mapping[str, str | int | None]], limit: int) -> tuple[Button, ...]:
    """Return the buttons in the order they are to be shown.

    Raises Refused(INVALID_BUTTON), naming every wrong field as `buttons[0].name`.
    """
    if len(given) > limit:
        raise Refused(
            Code.INVALID_BUTTON, "buttons", Text(f"버튼은 {limit}개까지입니다.", f"At most {limit} buttons.")
        )
    problems: list[Problem] = []
    placed: list[tuple[int, Button]] = []
    for index, fields in enumerate(given):
        button = _parse_button(fields)
        problems += [
            Problem(Code.INVALID_BUTTON, f"buttons[{index}].{field}", words)
            for field, words in _find_problems(button)
        ]
        placed.append((index + 1 if button.orderNo is None else button.orderNo, button))
    if problems:
        raise Refused.from_problems(problems)
    return tuple(button for _, button in sorted(placed, key=lambda pair: pair[0]))


def fill_button(button: Button, values: Mapping[str, str]) -> Button:
    """Return the button with the variables of its links filled in.

    Raises Refused: INVALID_BUTTON where a filled link is not one, UNSUPPORTED_CHARACTER as texts do.
    """
    links = {
        field: text.normalize(variables.fill(link, values))
        for field in LINK_FIELDS
        if (link := getattr(button, field)) is not None
    }
    done = button._replace(**links)  # type: ignore[arg-type]
    for field, words in _find_link_problems(done, is_filled=True):
        raise Refused(Code.INVALID_BUTTON, field, words)
    return done


def links_of(buttons: Sequence[Button]) -> list[str]:
    """Return every link of the buttons, in order."""
    return [link for button in buttons for field in LINK_FIELDS if (link := getattr(button, field)) is not None]


def _parse_button(fields: Mapping[str, str | int | None]) -> Button:
    given = {
        name: text.normalize(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value is not None and value != ""
    }
    kind = str(given.pop("buttonType", "webLink"))
    name = str(given.pop("name", DEFAULT_NAMES.get(kind, "")))
    return Button(kind, name, **given)  # type: ignore[arg-type]


def _find_problems(button: Button) -> list[tuple[str, Text]]:
    if button.buttonType not in DEFAULT_NAMES:
        allowed = ", ".join(DEFAULT_NAMES)
        return [("buttonType", Text(f"허용되는 값: {allowed}", f"Allowed values: {allowed}"))]
    wrong: list[tuple[str, Text]] = []
    if len(button.name) > MAX_NAME_CHARACTERS:
        wrong.append(
            (
                "name",
                Text(f"{MAX_NAME_CHARACTERS}자까지입니다.", f"At most {MAX_NAME_CHARACTERS} characters."),
            )
        )
    for field in _REQUIRED_FIELDS.get(button.buttonType, ()):
        if getattr(button, field) is None:
            wrong.append((field, Text("필요한 항목입니다.", "It is needed for this type of button.")))
    if button.buttonType == "appLink":
        links = (button.androidUrl, button.iosUrl, button.mobileUrl)
        if sum(link is not None for link in links) < 2:
            two = "androidUrl, iosUrl, mobileUrl"
            field = "androidUrl" if button.androidUrl is None else "iosUrl"
            wrong.append((field, Text(f"{two} 가운데 둘이 필요합니다.", f"Two of {two} are needed.")))
    for field in ("chatExtra", "chatEvent", "target"):
        given: str | None = getattr(button, field)
        if given is not None and len(given) > MAX_CHAT_CHARACTERS:
            most = MAX_CHAT_CHARACTERS
            wrong.append((field, Text(f"{most}자까지입니다.", f"At most {most} characters.")))
    if button.orderNo is not None and abs(button.orderNo) > MAX_ORDER_NUMBER:
        most = MAX_ORDER_NUMBER
        wrong.append(("orderNo", Text(f"{most}까지입니다.", f"At most {most}.")))
    return wrong + _find_link_problems(button, is_filled=False)


def _find_link_problems(button: Button, *, is_filled: bool) -> list[tuple[str, Text]]:
    wrong: list[tuple[str, Text]] = []
    for field in LINK_FIELDS:
        link: str | None = getattr(button, field)
        if link is None:
            continue
        if len(link) > MAX_LINK_CHARACTERS:
            most = MAX_LINK_CHARACTERS
            wrong.append((field, Text(f"{most}자까지입니다.", f"At most {most} characters.")))
        elif not is_filled and variables.starts_with_variable(link):
            continue  # its scheme is known only when it is filled in
        elif field in _WEB_LINK_FIELDS and not is_web_link(link):
            wrong.append((field, Text("http:// 나 https:// 로 시작해야 합니다.", "It must start with http(s)://.")))
        elif field in _APP_LINK_FIELDS and _is_forbidden(link):
            wrong.append((field, Text("쓸 수 없는 주소입니다.", "This kind of link is not allowed.")))
    return wrong


def is_web_link(link: str) -> bool:
    """Say whether a link is one that a browser opens."""
    return link.lower().startswith(("http://", "https://"))


def _is_forbidden(link: str) -> bool:
    return _IGNORED_BY_BROWSERS.sub("", link).lower().startswith(_FORBIDDEN_SCHEMES) or ":" not in link
