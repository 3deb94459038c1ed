"""A message that is being written on the send page: what was typed, and how the interface would be sent it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from msgspec import Struct

from pabal.domain import button, text
from pabal.domain.message import Product
from pabal.models import bodies

SMS, LMS, MMS, ALIMTALK, FRIENDTALK = "sms", "lms", "mms", "alimtalk", "friendtalk"
TALKS = (Product.FRIENDTALK_TEXT, Product.FRIENDTALK_IMAGE, Product.FRIENDTALK_WIDE_IMAGE)
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
"""The fields that are asked for, by the type of a button."""
_TEXTS = (
    "content", "subject", "sender", "sendDate", "receivers", "senderKey", "templateCode", "messageType",
    "imageLink", "image_name", "image_type", "image_body", "resendPhoneNumber", "resendContent",
)  # fmt: skip
_BOXES = ("adFlag", "resend", "once", "later")
_BUTTON = re.compile(r"buttons\[([0-9])\]\.(\w{1,20})", re.ASCII)
_NO_DATE = "-"
"""What stands for a date that was to be picked and was not: it must not mean now."""


class Kind(NamedTuple):
    """A tab of the send page."""

    word: str
    product: Product
    shape: type[Struct]


KINDS = {
    kind.word: kind
    for kind in (
        Kind(SMS, Product.SMS, bodies.SendSms),
        Kind(LMS, Product.LMS, bodies.SendLms),
        Kind(MMS, Product.MMS, bodies.SendMms),
        Kind(ALIMTALK, Product.ALIMTALK, bodies.SendAlimtalk),
        Kind(FRIENDTALK, Product.FRIENDTALK_TEXT, bodies.SendFriendtalk),
    )
}


@dataclass(frozen=True)
class Draft:
    """What was typed; a field that was not is empty."""

    kind: Kind
    texts: Mapping[str, str]
    boxes: Mapping[str, bool]
    buttons: tuple[dict[str, str], ...] = ()

    @property
    def product(self) -> Product:
        """The kind of message that it becomes."""
        if self.kind.word != FRIENDTALK:
            return self.kind.product
        return next((each for each in TALKS if each.word == self.texts["messageType"]), TALKS[0])

    @property
    def has_image(self) -> bool:
        """Whether this kind of message holds a picture."""
        return self.product is Product.MMS or self.product in TALKS[1:]

    @property
    def is_ad(self) -> bool:
        """Whether it is an advertisement; what Alimtalk says must not be one."""
        return self.boxes["adFlag"] and self.kind.word != ALIMTALK

    @property
    def most_buttons(self) -> int:
        is_wide = self.product is Product.FRIENDTALK_WIDE_IMAGE
        return button.MAX_BUTTONS_WIDE_IMAGE if is_wide else button.MAX_BUTTONS

    @property
    def fields(self) -> list[str]:
        """The fields that something can be wrong with, by their names in the interface."""
        found = ["content", "receivers", "sendDate"]
        found += ["sender"] if self.product.is_text else ["senderKey", "resendPhoneNumber", "resendContent"]
        found += ["templateCode"] if self.kind.word == ALIMTALK else []
        found += ["subject"] if self.kind.word in (LMS, MMS) else []
        found += ["image"] if self.has_image else []
        if self.kind.word == FRIENDTALK:
            found += ["imageLink"] if self.has_image else []
            found += ["buttons", *(f"buttons[{n}].{name}" for n, one in enumerate(self.buttons) for name in one)]
        return found

    def body(self, receivers: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the body that the interface would be sent; it is checked there."""
        texts = self.texts
        given: dict[str, Any] = {"receivers": receivers, "sendDate": self._send_date()}
        if self.kind.word == ALIMTALK:
            given |= {name: texts[name] for name in ("senderKey", "templateCode")}
        else:
            given["content"] = texts["content"]
        if self.product.is_text:
            if self.is_ad and texts["content"]:
                given["content"] = text.add_ad_label(text.normalize(texts["content"]))
            given["sender"] = texts["sender"]
            given["subject"] = texts["subject"] if self.kind.word != SMS else ""
        else:
            given |= {name: texts[name] for name in ("resendPhoneNumber", "resendContent")}
            given["resend"] = self.boxes["resend"]
        if self.kind.word == FRIENDTALK:
            given |= {"senderKey": texts["senderKey"], "adFlag": self.is_ad, "messageType": self.product.word}
            given["buttons"] = [{name: value for name, value in one.items() if value} for one in self.buttons]
        if self.has_image:
            given |= {"image": self._image(), "imageLink": texts["imageLink"]}
        return {name: value for name, value in given.items() if value not in ("", None)}

    def without(self, *names: str) -> "Draft":
        """Return the draft with some texts left out."""
        return replace(self, texts={**self.texts, **dict.fromkeys(names, "")})

    def _send_date(self) -> str:
        """Return when to send, as the interface spells it; browsers put a T between day and time."""
        if not self.boxes["later"]:
            return ""
        return self.texts["sendDate"].strip().replace("T", " ") or _NO_DATE

    def _image(self) -> dict[str, str] | None:
        if not self.texts["image_name"] and not self.texts["image_body"]:
            return None
        names = {"contentType": "image_type", "fileName": "image_name", "body": "image_body"}
        return {field: self.texts[name] for field, name in names.items() if self.texts[name]}


def blank(word: str) -> Draft:
    """Return a draft of a kind in which nothing has been typed."""
    kind = KINDS.get(word, KINDS[SMS])
    return Draft(kind, dict.fromkeys(_TEXTS, ""), {**dict.fromkeys(_BOXES, False), "once": True})


def read(given: Mapping[str, str]) -> Draft:
    """Return the draft that a form holds."""
    draft = blank(given.get("to") or given.get("kind", ""))
    texts = {name: given.get(name, "") for name in _TEXTS}
    boxes = {name: bool(given.get(name)) for name in _BOXES}
    return _acted(replace(draft, texts=texts, boxes=boxes, buttons=_buttons(given)), given.get("act", ""))


def _buttons(given: Mapping[str, str]) -> tuple[dict[str, str], ...]:
    """Return the buttons in the order of the form, each with the fields of its type."""
    found: dict[int, dict[str, str]] = {}
    for name, value in given.items():
        match = _BUTTON.fullmatch(name)
        if match:
            found.setdefault(int(match[1]), {})[match[2]] = value.strip()
    return tuple(_button(found[index]) for index in sorted(found)[: button.MAX_BUTTONS])


def _button(given: Mapping[str, str]) -> dict[str, str]:
    kind = given.get("buttonType", "")
    kind = kind if kind in BUTTON_FIELDS else "webLink"
    return {"buttonType": kind, **{name: given.get(name, "") for name in ("name", *BUTTON_FIELDS[kind])}}


def _acted(draft: Draft, act: str) -> Draft:
    """Return the draft after its picture or a button was taken away, or one added or moved: `add`, `up-1`."""
    if act == "unpicture":
        return draft.without("image_name", "image_type", "image_body")
    verb, _, place = act.partition("-")
    deed = _ACTS.get(verb)
    index = int(place) if place.isascii() and place.isdigit() and len(place) == 1 else -1
    if deed is None or (verb != "add" and not 0 <= index < len(draft.buttons)):
        return draft
    buttons = list(draft.buttons)
    deed(buttons, index)
    return replace(draft, buttons=tuple(buttons[: button.MAX_BUTTONS]))


def _move_up(buttons: list[dict[str, str]], index: int) -> None:
    if index > 0:
        buttons[index - 1], buttons[index] = buttons[index], buttons[index - 1]


_ACTS: dict[str, Callable[[list[dict[str, str]], int], object]] = {
    "add": lambda buttons, _: buttons.append(_button({})),
    "remove": lambda buttons, index: buttons.pop(index),
    "up": _move_up,
}
