"""Buttons under an Alimtalk or friend-talk message."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pabal.domain import text, variables
from pabal.domain.codes import Code, Problem, Refused, Words

MAX_BUTTONS = 5
MAX_BUTTONS_WIDE_IMAGE = 2
MAX_NAME_CHARACTERS = 14
MAX_LINK_CHARACTERS = 2000
MAX_CHAT_CHARACTERS = 50
MAX_ORDER_NO = 2**31 - 1

KOREAN_NAMES = {
    "webLink": "웹 링크",
    "appLink": "앱 링크",
    "channelAddition": "채널 추가",
    "botKeyword": "봇 키워드",
    "messageDelivery": "메시지 전달",
    "counselingTalkConversion": "상담톡 전환",
    "botConversion": "챗봇 전환",
    "deliveryTracking": "배송 조회",
}
_NEEDED = {
    "webLink": ("mobileUrl",),
    "counselingTalkConversion": ("chatExtra",),
    "botConversion": ("chatExtra", "chatEvent"),
}
_WEB_LINKS = ("mobileUrl", "pcUrl")
_APP_LINKS = ("androidUrl", "iosUrl")
LINKS = (*_WEB_LINKS, *_APP_LINKS)
_FORBIDDEN_SCHEMES = ("javascript:", "data:")
_OVERLOOKED = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
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


def read_buttons(given: Sequence[Mapping[str, str | int | None]], most: int) -> tuple[Button, ...]:
    """Return the buttons in the order they are to be shown.

    Raises Refused(INVALID_BUTTON), naming every wrong field as `buttons[0].name`.
    """
    if len(given) > most:
        raise Refused(
            Code.INVALID_BUTTON, "buttons", Words(f"버튼은 {most}개까지입니다.", f"At most {most} buttons.")
        )
    problems: list[Problem] = []
    placed: list[tuple[int, Button]] = []
    for index, fields in enumerate(given):
        button = _button(fields)
        problems += [
            Problem(Code.INVALID_BUTTON, f"buttons[{index}].{field}", words) for field, words in _wrong(button)
        ]
        placed.append((index + 1 if button.orderNo is None else button.orderNo, button))
    if problems:
        raise Refused.for_all(problems)
    return tuple(button for _, button in sorted(placed, key=lambda pair: pair[0]))


def filled(button: Button, values: Mapping[str, str]) -> Button:
    """Return the button with the variables of its links filled in.

    Raises Refused: INVALID_BUTTON where a filled link is not one, UNSUPPORTED_CHARACTER as texts do.
    """
    links = {
        field: text.cleaned(variables.fill(link, values))
        for field in LINKS
        if (link := getattr(button, field)) is not None
    }
    done = button._replace(**links)  # type: ignore[arg-type]
    for field, words in _wrong_links(done, is_filled=True):
        raise Refused(Code.INVALID_BUTTON, field, words)
    return done


def links_of(buttons: Sequence[Button]) -> list[str]:
    """Return every link of the buttons, in order."""
    return [link for button in buttons for field in LINKS if (link := getattr(button, field)) is not None]


def _button(fields: Mapping[str, str | int | None]) -> Button:
    given = {
        name: text.cleaned(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value is not None and value != ""
    }
    kind = str(given.pop("buttonType", "webLink"))
    name = str(given.pop("name", KOREAN_NAMES.get(kind, "")))
    return Button(kind, name, **given)  # type: ignore[arg-type]


def _wrong(button: Button) -> list[tuple[str, Words]]:
    if button.buttonType not in KOREAN_NAMES:
        allowed = ", ".join(KOREAN_NAMES)
        return [("buttonType", Words(f"허용되는 값: {allowed}", f"Allowed values: {allowed}"))]
    wrong: list[tuple[str, Words]] = []
    if len(button.name) > MAX_NAME_CHARACTERS:
        wrong.append(
            (
                "name",
                Words(f"{MAX_NAME_CHARACTERS}자까지입니다.", f"At most {MAX_NAME_CHARACTERS} characters."),
            )
        )
    for field in _NEEDED.get(button.buttonType, ()):
        if getattr(button, field) is None:
            wrong.append((field, Words("필요한 항목입니다.", "It is needed for this type of button.")))
    if button.buttonType == "appLink":
        links = (button.androidUrl, button.iosUrl, button.mobileUrl)
        if sum(link is not None for link in links) < 2:
            two = "androidUrl, iosUrl, mobileUrl"
            field = "androidUrl" if button.androidUrl is None else "iosUrl"
            wrong.append((field, Words(f"{two} 가운데 둘이 필요합니다.", f"Two of {two} are needed.")))
    for field in ("chatExtra", "chatEvent", "target"):
        given: str | None = getattr(button, field)
        if given is not None and len(given) > MAX_CHAT_CHARACTERS:
            most = MAX_CHAT_CHARACTERS
            wrong.append((field, Words(f"{most}자까지입니다.", f"At most {most} characters.")))
    if button.orderNo is not None and abs(button.orderNo) > MAX_ORDER_NO:
        most = MAX_ORDER_NO
        wrong.append(("orderNo", Words(f"{most}까지입니다.", f"At most {most}.")))
    return wrong + _wrong_links(button, is_filled=False)


def _wrong_links(button: Button, *, is_filled: bool) -> list[tuple[str, Words]]:
    wrong: list[tuple[str, Words]] = []
    for field in LINKS:
        link: str | None = getattr(button, field)
        if link is None:
            continue
        if len(link) > MAX_LINK_CHARACTERS:
            most = MAX_LINK_CHARACTERS
            wrong.append((field, Words(f"{most}자까지입니다.", f"At most {most} characters.")))
        elif not is_filled and variables.begins_with_one(link):
            continue  # its scheme is known only when it is filled in
        elif field in _WEB_LINKS and not is_web_link(link):
            wrong.append(
                (field, Words("http:// 나 https:// 로 시작해야 합니다.", "It must start with http(s)://."))
            )
        elif field in _APP_LINKS and _is_forbidden(link):
            wrong.append((field, Words("쓸 수 없는 주소입니다.", "This kind of link is not allowed.")))
    return wrong


def is_web_link(link: str) -> bool:
    """Say whether a link is one that a browser opens."""
    return link.lower().startswith(("http://", "https://"))


def _is_forbidden(link: str) -> bool:
    return _OVERLOOKED.sub("", link).lower().startswith(_FORBIDDEN_SCHEMES) or ":" not in link
