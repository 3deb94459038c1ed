"""The buttons and images of a draft: their fields, and how they are added, moved and removed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from pabal.domain.content import button

BUTTON_FIELDS = {
    "webLink": ("mobileUrl", "pcUrl"),
    "appLink": ("androidUrl", "iosUrl", "mobileUrl", "pcUrl"),
    "channelAddition": (),
    "botKeyword": (),
    "messageDelivery": (),
    "counselingTalkConversion": ("chatExtra",),
    "botConversion": ("chatExtra", "chatEvent"),
    "deliveryTracking": (),
}
"""The fields of each type of button."""
_BUTTON_FIELD = re.compile(r"buttons\[([0-9])\]\.(\w{1,20})", re.ASCII)


def read_buttons(fields: Mapping[str, str]) -> tuple[dict[str, str], ...]:
    """Return the buttons in the order of the form, each with the fields of its type only."""
    found: dict[int, dict[str, str]] = {}
    for name, value in fields.items():
        match = _BUTTON_FIELD.fullmatch(name)
        if match:
            found.setdefault(int(match[1]), {})[match[2]] = value.strip()
    return tuple(read_button(found[index]) for index in sorted(found)[: button.MAX_BUTTONS])


def read_button(fields: Mapping[str, object]) -> dict[str, str]:
    """Return a button with the fields of its type; of an unknown type, with those of a web link."""
    kind = str(fields.get("buttonType", ""))
    kind = kind if kind in BUTTON_FIELDS else "webLink"
    return {"buttonType": kind, **{name: str(fields.get(name, "")) for name in ("name", *BUTTON_FIELDS[kind])}}


def change_buttons(given: Sequence[dict[str, str]], verb: str, place: str) -> tuple[dict[str, str], ...]:
    """Return the buttons after an action: added, or the one in a place moved up or removed."""
    buttons = list(given)
    index = int(place) if place.isascii() and place.isdigit() and len(place) == 1 else len(buttons)
    if verb == "add":
        buttons.append(read_button({}))
    elif verb == "remove":
        del buttons[index : index + 1]
    elif verb == "up" and 0 < index < len(buttons):
        buttons.insert(index - 1, buttons.pop(index))
    return tuple(buttons[: button.MAX_BUTTONS])


IMAGE_FIELDS = tuple((f"image{n}_type", f"image{n}_name", f"image{n}_body") for n in ("", "2", "3"))
"""The fields of each image: type, name, and content in Base64."""
API_FIELDS = ("contentType", "fileName", "body")
"""What the API calls them."""
ALL_IMAGE_FIELDS = tuple(chain(*IMAGE_FIELDS))
MAX_IMAGE_BYTES = 1_000_000
"""Most bytes of an image that a form carries, whatever the carriers take."""


def image_texts(images: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the fields of images, each given by type, name and content in Base64."""
    pairs = (zip(names, each, strict=True) for names, each in zip(IMAGE_FIELDS, images, strict=False))
    return dict(chain.from_iterable(pairs))


def without_image(texts: Mapping[str, str], place: str) -> dict[str, str]:
    """Return the fields of all images without one; those after it take its place."""
    kept = [
        [texts[name] for name in names]
        for number, names in enumerate(IMAGE_FIELDS)
        if str(number) != place and texts[names[1]]
    ]
    return {**dict.fromkeys(ALL_IMAGE_FIELDS, ""), **image_texts(kept)}
