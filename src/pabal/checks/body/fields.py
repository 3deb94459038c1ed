"""Readers of the fields that several bodies share: dates, fallbacks, images, buttons, links and texts."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pabal.checks.body.forms import Form
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import button, text, variables
from pabal.domain.content.button import Button
from pabal.domain.content.image import LEAST_LIMITS, MAX_IMAGES, Image, ImageLimits, check_images, parse_image
from pabal.domain.people import phone
from pabal.domain.sends.sending import Fallback, check_expire_minutes
from pabal.models import bodies
from pabal.service.policy import Policy

_ONE_OF_TWO = Text("image와 images 중 하나만 쓸 수 있습니다.", "Give either image or images.")


def read_send_date(form: Form[Any], policy: Policy, now: Instant) -> Instant | None:
    """Return when to send, None for now."""
    return form.read_optional(
        "sendDate", lambda spelling: dates.parse_send_date(spelling, now, policy.zone, policy.max_days_ahead)
    )


def read_expire_minutes(form: Form[Any]) -> int | None:
    """Return the lifetime that the caller gave, in minutes, None for the default."""
    return form.read_optional("expireMinutes", check_expire_minutes)


def read_fallback(form: Form[Any]) -> Fallback | None:
    """Return the text message to send when this one fails, if the caller wants one."""
    number = form.read_optional("resendPhoneNumber", phone.parse_sender) if form.body.resendPhoneNumber else None
    content = form.read_optional("resendContent", clean_template)
    if not form.body.resend:
        return None
    if not form.body.resendPhoneNumber:
        form.add(Problem(Code.MISSING_PARAMETER, "resendPhoneNumber"))
    return Fallback(number or "", content or None)


def read_image_field(form: Form[Any], limits: ImageLimits = LEAST_LIMITS) -> Image | None:
    """Return the image of a form, if it has one; `raise_problems` reports what is wrong with it."""
    given: bodies.ImageBody | None = form.body.image
    if given is None or any(problem.field.startswith("image") for problem in form.problems):
        return None
    return _read_image(form, given, "image", limits)


def read_images(form: Form[Any], limits: ImageLimits) -> tuple[Image, ...]:
    """Return the images of an MMS, given as `image` or `images`; `raise_problems` reports what is wrong."""
    given: list[bodies.ImageBody] | None = form.body.images
    if given is None:
        image = read_image_field(form, limits)
        return (image,) if image else ()
    if any(problem.field.startswith("image") for problem in form.problems):
        return ()
    if form.body.image is not None:
        form.add(Problem(Code.INVALID_PARAMETER, "images", _ONE_OF_TWO))
        return ()
    if not 1 <= len(given) <= MAX_IMAGES:
        count = len(given)
        detail = Text(
            f"1개에서 {MAX_IMAGES}개까지 넣으세요. 지금은 {count}개입니다.",
            f"Give one to {MAX_IMAGES} images; there are {count}.",
        )
        form.add(Problem(Code.INVALID_IMAGE, "images", detail))
        return ()
    read = [_read_image(form, each, f"images[{number}]", limits) for number, each in enumerate(given)]
    found = tuple(each for each in read if each is not None)
    if len(found) == len(given):
        form.read_optional("images", lambda _: check_images(found, limits))
    return found


def _read_image(form: Form[Any], given: bodies.ImageBody, place: str, limits: ImageLimits) -> Image | None:
    absent = [field for field in ("contentType", "fileName", "body") if not getattr(given, field)]
    for field in absent:
        form.add(Problem(Code.MISSING_PARAMETER, f"{place}.{field}"))
    if absent:
        return None
    try:
        return parse_image(given.contentType, given.fileName, given.body, limits)
    except Refused as refused:
        form.add_refusal(refused, place)
        return None


def read_buttons(
    form: Form[Any],
    given: Sequence[bodies.ButtonBody],
    limit: int,
    types: Collection[str] = button.DEFAULT_NAMES,
    field: str = "buttons",
    max_link: int = button.MAX_LINK_CHARACTERS,
) -> tuple[Button, ...]:
    """Return the buttons of a form, or the entries like them in `field`; empty if it already has problems there.

    Raises Refused(INVALID_BUTTON).
    """
    if any(problem.field.startswith(field) for problem in form.problems):
        return ()
    try:
        button.check_number(len(given), limit)
        return parse_buttons(
            [{name: getattr(each, name) for name in each.__struct_fields__} for each in given],
            limit,
            types,
            max_link,
        )
    except Refused as refused:
        renamed = [each._replace(field=each.field.replace("buttons", field, 1)) for each in refused.problems]
        raise Refused.from_problems(renamed) from None


def parse_web_link(link: str) -> str:
    """Return a link that a browser opens.

    Raises Refused(INVALID_PARAMETER).
    """
    if not button.is_web_link(link) or len(link) > button.MAX_LINK_CHARACTERS:
        limit = button.MAX_LINK_CHARACTERS
        detail = Text(
            f"http:// 또는 https://로 시작하는 {limit:,}자 이하의 주소를 입력하세요.",
            f"Use a link of at most {limit:,} characters that starts with http:// or https://.",
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return link


def check_shared_text(form: Form[Any], shared_text: str | None, check: Callable[[str], None], field: str) -> None:
    """Check once a text that all receivers share; None: there is none."""
    if shared_text is None:
        return
    try:
        check(shared_text)
    except Refused as refusal:
        form.add_refusal(refusal, field)


def clean(given: str) -> str:
    """Return a normalized text.

    Raises Refused: CONTENT_TOO_LONG for one that exceeds every limit, UNSUPPORTED_CHARACTER.
    """
    text.check_characters(given, text.MAX_INPUT_CHARACTERS)
    return text.normalize(given)


def clean_template(given: str) -> str:
    """Return a normalized text of KakaoTalk that may have variables.

    Raises Refused as `clean` does, and UNSUPPORTED_CHARACTER for a combining character behind a variable.
    """
    if _is_clean(given):
        return given
    cleaned = clean(given)
    if joining := variables.find_joining(cleaned):
        raise text.combining_refusal(joining)
    return cleaned


def clean_all(given: Sequence[str]) -> Sequence[str]:
    """Return normalized texts.

    Raises Refused as `clean` does.
    """
    if _is_clean("".join(given)):
        return given
    text.check_characters(max(given, key=len, default=""), text.MAX_INPUT_CHARACTERS)
    return text.normalize_all(given)


def clean_values(given: Sequence[str]) -> Sequence[str]:
    """Return normalized values of the variables in a text of KakaoTalk.

    Raises Refused as `clean` does, and UNSUPPORTED_CHARACTER for a combining character at the beginning of one.
    """
    if _is_clean("".join(given)):
        return given
    cleaned = clean_all(given)
    for first in dict.fromkeys([value[:1] for value in cleaned]):
        if text.starts_joining(first):
            raise text.combining_refusal(first)
    return cleaned


def _is_clean(given: str) -> bool:
    """Shortcut: return True for ASCII within the limit without NUL and CR, which needs no cleaning."""
    return given.isascii() and len(given) <= text.MAX_INPUT_CHARACTERS and "\0" not in given and "\r" not in given


T = TypeVar("T")


def one_of(choices: Mapping[str, T]) -> Callable[[str], T]:
    """Return a parser that accepts only these words.

    The parser raises Refused(INVALID_PARAMETER).
    """

    def parse(word: str) -> T:
        if word not in choices:
            raise Refused(Code.INVALID_PARAMETER, detail=allowed_values(choices))
        return choices[word]

    return parse


def allowed_values(choices: Iterable[str]) -> Text:
    """Return the explanation of a refused word."""
    allowed = ", ".join(choices)
    return Text(f"허용되는 값: {allowed}", f"Allowed values: {allowed}")


API_FIELDS = {
    "type": "buttonType",
    "name": "name",
    "mobile_url": "mobileUrl",
    "pc_url": "pcUrl",
    "android_url": "androidUrl",
    "ios_url": "iosUrl",
    "chat_extra": "chatExtra",
    "chat_event": "chatEvent",
    "target": "target",
    "order_number": "orderNo",
    "tel_number": "telNumber",
}
"""What the API calls each field of a `Button`."""
API_LINK_FIELDS = tuple(API_FIELDS[field] for field in button.LINK_FIELDS)
_DOMAIN_FIELDS = {api_field: field for field, api_field in API_FIELDS.items()}
_FIELD_PATH = re.compile(r"(buttons\[\d+\])\.(\w+)", re.ASCII)


def parse_buttons(
    given: Sequence[Mapping[str, str | int | None]],
    limit: int,
    types: Collection[str] = button.DEFAULT_NAMES,
    max_link: int = button.MAX_LINK_CHARACTERS,
) -> tuple[Button, ...]:
    """Return the buttons of a body, in the order in which they are shown; `types` are the allowed ones.

    Raises Refused(INVALID_BUTTON), naming every wrong field as `buttons[0].mobileUrl`.
    """
    try:
        return button.parse_buttons(
            [{_DOMAIN_FIELDS[field]: value for field, value in fields.items()} for fields in given],
            limit,
            types,
            max_link,
        )
    except Refused as refused:
        raise Refused.from_problems(
            [problem._replace(field=_to_api_path(problem.field)) for problem in refused.problems]
        ) from None


def to_api_fields(given: Button) -> dict[str, str | int]:
    """Return the given fields of a button by the API's names."""
    return {API_FIELDS[field]: value for field, value in given.given_fields().items()}


def _to_api_path(path: str) -> str:
    return _FIELD_PATH.sub(lambda match: f"{match[1]}.{API_FIELDS[match[2]]}", path)
