"""Buttons under an Alimtalk or friend-talk message."""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pabal.domain.base.codes import Code, Problem, Refused, Text, at_most_characters
from pabal.domain.content import text, variables

MAX_BUTTONS = 5
MAX_BUTTONS_WIDE_IMAGE = 2
MAX_NAME_CHARACTERS = 14
MAX_LINK_CHARACTERS = 2000
MAX_TEMPLATE_LINK_CHARACTERS = 500
"""Limit of the links of a template, and of an Alimtalk: Kakao has no longer ones there."""
MAX_CHAT_CHARACTERS = 50
MAX_ORDER_NUMBER = 2**31 - 1
MAX_WEB_SCHEME_CHARACTERS = len("https://")

DEFAULT_NAMES = {
    "webLink": "웹 링크",
    "appLink": "앱 링크",
    "channelAddition": "채널 추가",
    "botKeyword": "봇 키워드",
    "messageDelivery": "메시지 전달",
    "counselingTalkConversion": "상담톡 전환",
    "botConversion": "챗봇 전환",
    "deliveryTracking": "배송 조회",
    "phoneCall": "전화 연결",
}
"""Every type of button, and the name of a button that was given none."""
FRIENDTALK_BUTTON_TYPES = tuple(each for each in DEFAULT_NAMES if each != "phoneCall")
"""The types that a friend talk may have; templates of Alimtalk may have all."""
PHONE_CALL_NAMES = ("전화 연결", "고객센터 연결", "상담원 연결")
"""The names that a button which calls a number may have."""
MAX_TEL_NUMBER_CHARACTERS = 14
REQUIRED = Text("이 종류의 버튼에 꼭 필요한 항목입니다.", "This type of button requires it.")
_REQUIRED_FIELDS = {
    "webLink": ("mobile_url",),
    "counselingTalkConversion": ("chat_extra",),
    "botConversion": ("chat_extra", "chat_event"),
    "phoneCall": ("tel_number",),
}
_WEB_LINK_FIELDS = ("mobile_url", "pc_url")
_APP_LINK_FIELDS = ("android_url", "ios_url")
LINK_FIELDS = (*_WEB_LINK_FIELDS, *_APP_LINK_FIELDS)
_TEL_NUMBER = re.compile(rf"[0-9-]{{1,{MAX_TEL_NUMBER_CHARACTERS}}}", re.ASCII)
_TEL_NUMBER_RULE = Text(
    f"숫자와 하이픈으로 {MAX_TEL_NUMBER_CHARACTERS}자까지 쓰세요.",
    f"Use at most {MAX_TEL_NUMBER_CHARACTERS} digits and hyphens.",
)
_FORBIDDEN_SCHEMES = ("javascript:", "data:")
_IGNORED_BY_BROWSERS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
"""Characters that a browser may skip while it reads a scheme."""


class Button(NamedTuple):
    """A checked button; a field that was not given is None."""

    type: str
    name: str
    mobile_url: str | None = None
    pc_url: str | None = None
    android_url: str | None = None
    ios_url: str | None = None
    chat_extra: str | None = None
    chat_event: str | None = None
    target: str | None = None
    order_number: int | None = None
    tel_number: str | None = None

    def given_fields(self) -> dict[str, str | int]:
        """Return the fields that have a value."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def encode_buttons(buttons: Sequence[Button]) -> str | None:
    """Return buttons as the store keeps them; None where there are none."""
    if not buttons:
        return None
    return json.dumps([button.given_fields() for button in buttons], ensure_ascii=False)


def decode_buttons(stored: str | None) -> tuple[Button, ...]:
    """Return the buttons that `encode_buttons` wrote."""
    return from_fields(json.loads(stored)) if stored else ()


def from_fields(fields_of_each: Iterable[Mapping[str, Any]]) -> tuple[Button, ...]:
    """Return the buttons that have these given fields."""
    return tuple(Button(**fields) for fields in fields_of_each)


def parse_buttons(
    given: Sequence[Mapping[str, str | int | None]],
    limit: int,
    types: Collection[str] = DEFAULT_NAMES,
    max_link: int = MAX_LINK_CHARACTERS,
) -> tuple[Button, ...]:
    """Return the buttons in the order in which they are shown; `types` are the allowed ones.

    Raises Refused(INVALID_BUTTON), naming every wrong field as `buttons[0].name`.
    """
    check_number(len(given), limit)
    problems: list[Problem] = []
    positioned: list[tuple[int, Button]] = []
    for index, fields in enumerate(given):
        button = _parse_button(fields)
        for field, detail in _find_problems(button, types, max_link):
            problems.append(Problem(Code.INVALID_BUTTON, f"buttons[{index}].{field}", detail))
        positioned.append((index + 1 if button.order_number is None else button.order_number, button))
    if problems:
        raise Refused.from_problems(problems)
    return tuple(button for _, button in sorted(positioned, key=lambda pair: pair[0]))


def check_number(given: int, limit: int) -> None:
    """Raises Refused(INVALID_BUTTON) for too many buttons."""
    if given > limit:
        raise Refused(
            Code.INVALID_BUTTON,
            "buttons",
            Text(f"버튼은 {limit}개까지 넣을 수 있습니다.", f"At most {limit} buttons are allowed."),
        )


def fill_button(button: Button, values: Mapping[str, str]) -> Button:
    """Return the button with the variables of its links filled in.

    Raises Refused: INVALID_BUTTON where a filled link is not allowed, UNSUPPORTED_CHARACTER as texts do.
    """
    links = {
        field: text.normalize(variables.fill(link, values))
        for field in LINK_FIELDS
        if (link := getattr(button, field)) is not None
    }
    filled = button._replace(**links)  # type: ignore[arg-type]
    for field, detail in _find_link_problems(filled, is_filled=True):
        raise Refused(Code.INVALID_BUTTON, field, detail)
    return filled


def find_link_problems(links: Button, max_link: int = MAX_LINK_CHARACTERS) -> list[tuple[str, Text]]:
    """Return what is wrong with the links of a button, by field."""
    return _find_link_problems(links, is_filled=False, max_link=max_link)


def links_of(buttons: Sequence[Button]) -> list[str]:
    """Return every link of the buttons, in order."""
    return [link for button in buttons for field in LINK_FIELDS if (link := getattr(button, field)) is not None]


def is_web_link(link: str) -> bool:
    """Return whether a browser opens this link."""
    return link.lower().startswith(("http://", "https://"))


def is_allowed_start(start: str, field: str) -> bool:
    """Return whether a link that begins like this is allowed, whatever follows."""
    if field in _WEB_LINK_FIELDS:
        return is_web_link(start[:MAX_WEB_SCHEME_CHARACTERS])
    scheme, colon, _ = start.partition(":")
    return bool(colon) and not _is_forbidden(scheme + colon)


def _parse_button(fields: Mapping[str, str | int | None]) -> Button:
    given = {
        name: text.normalize(value) if isinstance(value, str) else value
        for name, value in fields.items()
        if value is not None and value != ""
    }
    button_type = str(given.pop("type", "webLink"))
    name = str(given.pop("name", DEFAULT_NAMES.get(button_type, "")))
    return Button(button_type, name, **given)  # type: ignore[arg-type]


def _find_problems(button: Button, types: Collection[str], max_link: int) -> list[tuple[str, Text]]:
    if button.type not in types:
        allowed = ", ".join(types)
        return [("type", Text(f"사용할 수 있는 값: {allowed}", f"Allowed values: {allowed}"))]
    problems: list[tuple[str, Text]] = []
    if len(button.name) > MAX_NAME_CHARACTERS:
        problems.append(("name", at_most_characters(MAX_NAME_CHARACTERS)))
    for field in _REQUIRED_FIELDS.get(button.type, ()):
        if getattr(button, field) is None:
            problems.append((field, REQUIRED))
    if button.type == "appLink":
        problems += _find_app_link_problems(button)
    if button.type == "phoneCall" and button.name not in PHONE_CALL_NAMES:
        allowed = ", ".join(PHONE_CALL_NAMES)
        problems.append(("name", Text(f"사용할 수 있는 이름: {allowed}", f"Allowed names: {allowed}")))
    if button.tel_number is not None and not _TEL_NUMBER.fullmatch(button.tel_number):
        problems.append(("tel_number", _TEL_NUMBER_RULE))
    for field in ("chat_extra", "chat_event", "target"):
        value: str | None = getattr(button, field)
        if value is not None and len(value) > MAX_CHAT_CHARACTERS:
            problems.append((field, at_most_characters(MAX_CHAT_CHARACTERS)))
    if button.order_number is not None and abs(button.order_number) > MAX_ORDER_NUMBER:
        limit = MAX_ORDER_NUMBER
        problems.append(("order_number", Text(f"{limit} 이하여야 합니다.", f"It must be at most {limit}.")))
    return problems + _find_link_problems(button, is_filled=False, max_link=max_link)


def _find_app_link_problems(button: Button) -> list[tuple[str, Text]]:
    links = (button.android_url, button.ios_url, button.mobile_url)
    if sum(link is not None for link in links) >= 2:
        return []
    field = "android_url" if button.android_url is None else "ios_url"
    detail = Text(
        "androidUrl, iosUrl, mobileUrl 가운데 두 개 이상 넣으세요.",
        "Give at least two of androidUrl, iosUrl and mobileUrl.",
    )
    return [(field, detail)]


def _find_link_problems(
    button: Button, *, is_filled: bool, max_link: int = MAX_LINK_CHARACTERS
) -> list[tuple[str, Text]]:
    problems: list[tuple[str, Text]] = []
    for field in LINK_FIELDS:
        link: str | None = getattr(button, field)
        if link is None:
            continue
        if len(link) > max_link:
            problems.append((field, at_most_characters(max_link)))
        elif not is_filled and variables.find_joining(link):
            detail = Text(
                "변수 바로 뒤에 결합 문자를 쓸 수 없습니다.", "No combining character may follow a variable."
            )
            problems.append((field, detail))
        elif not is_filled and variables.starts_with_variable(link):
            continue  # its scheme is known only when the variable is filled in
        elif field in _WEB_LINK_FIELDS and not is_web_link(link):
            detail = Text("http:// 또는 https://로 시작해야 합니다.", "It must start with http:// or https://.")
            problems.append((field, detail))
        elif field in _APP_LINK_FIELDS and _is_forbidden(link):
            detail = Text("사용할 수 없는 주소입니다.", "This kind of link is not allowed.")
            problems.append((field, detail))
    return problems


def _is_forbidden(link: str) -> bool:
    return _IGNORED_BY_BROWSERS.sub("", link).lower().startswith(_FORBIDDEN_SCHEMES) or ":" not in link
