"""A draft on the send page: what was typed, and the body of the API that it makes."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from msgspec import Struct

from pabal.checks.sends.brand import BRAND_TYPES, TARGETINGS
from pabal.console.history.phone import BrandPreview, preview_groups
from pabal.console.send import attachment_form
from pabal.console.send.attachment_form import AttachmentGroup, attachment_of, read_attachment, start_of
from pabal.console.send.draft_parts import (
    ALL_IMAGE_FIELDS,
    API_FIELDS,
    IMAGE_FIELDS,
    change_buttons,
    image_texts,
    read_button,
    read_buttons,
    without_image,
)
from pabal.console.sheets.mapping import read_roles
from pabal.domain.brand.message import BrandAttachment, BrandType, Targeting
from pabal.domain.brand.rules import RULES, TypeRules, max_buttons
from pabal.domain.content import button
from pabal.domain.content.advertising import AD_LABELS, begins_like_ad
from pabal.domain.sends.message import Product
from pabal.models import bodies
from pabal.models.brand_bodies import SendBrandMessage

SMS, LMS, MMS, ALIMTALK, FRIENDTALK, BRAND = "sms", "lms", "mms", "alimtalk", "friendtalk", "brand"
FRIENDTALK_PRODUCTS = (Product.FRIENDTALK_TEXT, Product.FRIENDTALK_IMAGE, Product.FRIENDTALK_WIDE_IMAGE)
_TEXT_FIELDS = (
    "content", "subject", "sender", "sendDate", "expireMinutes", "receivers", "senderKey", "templateCode",
    "messageType", "imageLink", *ALL_IMAGE_FIELDS, "resendPhoneNumber", "resendContent",
    "optOutNumber", "adSender", "targeting", "attachment", "edits", "resends", "columns", "purpose",
)  # fmt: skip
_CHECKBOXES = ("adFlag", "resend", "once", "later")
_OWN_WORDS = (
    "content", "subject", "receivers", "templateCode", "imageLink", "image_name", "resendContent", "adSender",
)  # fmt: skip
"""Fields that begin empty, so their content is the user's."""
_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_MISSING_DATE = "-"
"""Stands for the date of a scheduled message that has none: an empty one would mean now."""


class MessageKind(NamedTuple):
    """A tab of the send page."""

    word: str
    product: Product
    shape: type[Struct]


KINDS = {
    kind.word: kind
    for kind in (
        MessageKind(SMS, Product.SMS, bodies.SendSms),
        MessageKind(LMS, Product.LMS, bodies.SendLms),
        MessageKind(MMS, Product.MMS, bodies.SendMms),
        MessageKind(ALIMTALK, Product.ALIMTALK, bodies.SendAlimtalk),
        MessageKind(FRIENDTALK, Product.FRIENDTALK_TEXT, bodies.SendFriendtalk),
        MessageKind(BRAND, Product.BRAND_MESSAGE, SendBrandMessage),
    )
}


@dataclass(frozen=True)
class MessageDraft:
    """What was typed; a field that was left out is empty."""

    kind: MessageKind
    texts: Mapping[str, str]
    checkboxes: Mapping[str, bool]
    buttons: tuple[dict[str, str], ...] = ()

    @property
    def product(self) -> Product:
        """The product that it is sent as."""
        if self.kind.word != FRIENDTALK:
            return self.kind.product
        return next(
            (each for each in FRIENDTALK_PRODUCTS if each.code == self.texts["messageType"]), FRIENDTALK_PRODUCTS[0]
        )

    @property
    def has_image(self) -> bool:
        """Whether this kind of message has an image."""
        if self.is_brand:
            return self.brand_rules.needs_image
        return self.product is Product.MMS or self.product in FRIENDTALK_PRODUCTS[1:]

    @property
    def shown_images(self) -> tuple[str, ...]:
        """The fields that have the content of the chosen images."""
        return tuple(body for _, name, body in self._image_fields if self.has_image and self.texts[name])

    @property
    def _image_fields(self) -> tuple[tuple[str, str, str], ...]:
        return IMAGE_FIELDS if self.product is Product.MMS else IMAGE_FIELDS[:1]

    @property
    def has_unseen_image(self) -> bool:
        """Whether an image is named whose content this request leaves out: it was sent before."""
        return any(self.texts[name] and not self.texts[body] for _, name, body in IMAGE_FIELDS)

    @property
    def has_content(self) -> bool:
        """Whether this kind of message has a text that is typed."""
        return self.kind.word != ALIMTALK and (not self.is_brand or self.brand_rules.max_characters > 0)

    @property
    def has_buttons(self) -> bool:
        """Whether this kind of message has buttons of its own."""
        return self.kind.word == FRIENDTALK or (self.is_brand and self.brand_rules.max_buttons > 0)

    @property
    def is_brand(self) -> bool:
        """Whether it is a brand message."""
        return self.kind.word == BRAND

    @property
    def brand_type(self) -> BrandType:
        """The type of a brand message."""
        return BRAND_TYPES.get(self.texts["messageType"], BrandType.TEXT)

    @property
    def brand_rules(self) -> TypeRules:
        """What a brand message of this type may have."""
        return RULES[self.brand_type]

    @property
    def targeting(self) -> Targeting:
        """Who a brand message is for."""
        return TARGETINGS.get(self.texts["targeting"], Targeting.FRIENDS)

    @property
    def attachment(self) -> BrandAttachment:
        """The attachment of a brand message, as far as it can be read."""
        return attachment_of(read_attachment(self.texts["attachment"])) if self.is_brand else BrandAttachment()

    @property
    def attachment_groups(self) -> list[AttachmentGroup]:
        """The fields of the attachment of a brand message."""
        return attachment_form.groups_of(self.brand_type, self._tree)

    @property
    def part_looks(self) -> dict[str, BrandPreview]:
        """How a phone shows each part of the attachment."""
        return preview_groups(self.attachment)

    @property
    def next_part(self) -> str:
        """Which kind of part can be added to the attachment."""
        return attachment_form.next_part(self.brand_type, self._tree)

    @property
    def _tree(self) -> object:
        return read_attachment(self.texts["attachment"])

    @property
    def is_ad(self) -> bool:
        """Whether it is an advertisement: a brand message always is, an Alimtalk must not be one.

        One whose text begins with the label of advertisements is one, ticked or not.
        """
        is_marked = self.checkboxes["adFlag"] or self.has_typed_label
        return self.is_brand or (is_marked and self.kind.word != ALIMTALK)

    @property
    def has_typed_label(self) -> bool:
        """Whether its text or subject begins with the label of advertisements."""
        return any(begins_like_ad(text.lstrip()) for text in (self.texts["content"], self.texts["subject"]))

    @property
    def lacks_ad_sender(self) -> bool:
        """Whether it is an advertisement by text that does not say who advertises, as the law requires."""
        return self.is_ad and self.product.is_text and not self.texts["adSender"].strip()

    @property
    def content(self) -> str:
        """The text as it is sent: an advertisement by text names who advertises after its label."""
        content, sender = self.texts["content"], self.texts["adSender"].strip()
        if not (self.is_ad and self.product.is_text and sender and content.strip()):
            return content
        bare = content.lstrip()
        bare = next((bare.removeprefix(label).lstrip() for label in AD_LABELS if bare.startswith(label)), bare)
        named = bare if bare.startswith((sender, f"[{sender}]")) else f"[{sender}] {bare}"
        return f"{AD_LABELS[0]}{named}"

    @property
    def columns(self) -> list[str]:
        """What the columns of pasted receivers hold, where that was chosen."""
        return self.texts["columns"].split("\t") if self.texts["columns"] else []

    @property
    def max_buttons(self) -> int:
        if self.is_brand:
            return max_buttons(self.brand_type, self.attachment)
        is_wide = self.product is Product.FRIENDTALK_WIDE_IMAGE
        return button.MAX_BUTTONS_WIDE_IMAGE if is_wide else button.MAX_BUTTONS

    @property
    def fields(self) -> list[str]:
        """The fields that can have an error, by their names in the API."""
        found = ["content", "receivers", "sendDate", "expireMinutes", "text_name"]
        found += ["sender"] if self.product.is_text else ["senderKey", "resendPhoneNumber", "resendContent"]
        found += ["optOutNumber"] if self.is_ad and (self.product.is_text or self.is_brand) else []
        found += ["adSender"] if self.is_ad and self.product.is_text else []
        if self.is_brand:
            found += ["attachment", *(each.name for group in self.attachment_groups for each in group.fields)]
        found += ["templateCode"] if self.kind.word == ALIMTALK else []
        found += ["subject"] if self.kind.word in (LMS, MMS) else []
        found += ["image"] if self.has_image else []
        if self.has_buttons:
            found += ["imageLink"] if self.has_image else []
            found += ["buttons", *(f"buttons[{n}].{name}" for n, one in enumerate(self.buttons) for name in one)]
        return found

    def body(self, receivers: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the body of the API, not yet validated."""
        texts = self.texts
        given: dict[str, Any] = {
            "receivers": receivers,
            "sendDate": self._send_date(),
            "expireMinutes": self._expire_minutes(),
        }
        if "purpose" in self.kind.shape.__struct_fields__:
            given["purpose"] = texts["purpose"]
        if self.kind.word == ALIMTALK:
            given |= {name: texts[name] for name in ("senderKey", "templateCode")}
        elif self.has_content:
            given["content"] = self.content
        if self.product.is_text:
            given["sender"] = texts["sender"]
            if self.is_ad:
                given |= {"adFlag": True, "optOutNumber": texts["optOutNumber"].strip()}
            given["subject"] = texts["subject"] if self.kind.word != SMS else ""
        else:
            given |= {name: texts[name] for name in ("resendPhoneNumber", "resendContent")}
            given["resend"] = self.checkboxes["resend"]
        if self.kind.word == FRIENDTALK:
            given |= {"senderKey": texts["senderKey"], "adFlag": self.is_ad, "messageType": self.product.code}
            given["buttons"] = [{name: value for name, value in one.items() if value} for one in self.buttons]
        if self.is_brand:
            given |= self._brand_fields()
        if self.has_image:
            images = self.images
            given |= {"images": images} if len(images) > 1 else {"image": images[0] if images else None}
            given["imageLink"] = texts["imageLink"]
        return {name: value for name, value in given.items() if value not in ("", None)}

    def _brand_fields(self) -> dict[str, Any]:
        buttons = [{name: value for name, value in one.items() if value} for one in self.buttons]
        return {
            "senderKey": self.texts["senderKey"],
            "messageType": self.brand_type.value,
            "targeting": self.targeting.value,
            "optOutNumber": self.texts["optOutNumber"].strip(),
            "attachment": read_attachment(self.texts["attachment"]),
            "buttons": buttons if self.has_buttons and buttons else None,
        }

    def changed(self, texts: Mapping[str, str] | None = None, **fields: str | bool) -> "MessageDraft":
        """Return the draft with other values of some fields, texts and checkboxes."""
        typed = {name: value for name, value in fields.items() if isinstance(value, str)}
        ticked = {name: value for name, value in fields.items() if isinstance(value, bool)}
        return replace(
            self, texts={**self.texts, **(texts or {}), **typed}, checkboxes={**self.checkboxes, **ticked}
        )

    def _send_date(self) -> str:
        """Return the send date as the API writes it; browsers put a T between day and time."""
        if not self.checkboxes["later"]:
            return ""
        return self.texts["sendDate"].strip().replace("T", " ") or _MISSING_DATE

    def _expire_minutes(self) -> int | str:
        """Return the lifetime as the API takes it; what is no number is refused there."""
        typed = self.texts["expireMinutes"].strip()
        return int(typed) if _NUMBER.fullmatch(typed) else typed

    @property
    def images(self) -> list[dict[str, str]]:
        """The images that were chosen, as the API has them; only an MMS has several."""
        return [
            {part: self.texts[name] for part, name in zip(API_FIELDS, each, strict=True) if self.texts[name]}
            for each in self._image_fields
            if self.texts[each[1]] or self.texts[each[2]]
        ]


def blank_draft(kind_name: str) -> MessageDraft:
    """Return an empty draft of a kind."""
    kind = KINDS.get(kind_name, KINDS[SMS])
    return MessageDraft(kind, dict.fromkeys(_TEXT_FIELDS, ""), {**dict.fromkeys(_CHECKBOXES, False), "once": True})


def to_fields(draft: MessageDraft) -> dict[str, str]:
    """Return the fields of a form that `read_draft` reads as this draft; empty ones are left out."""
    texts = {name: value for name, value in draft.texts.items() if value}
    checkboxes = {name: "1" for name, is_checked in draft.checkboxes.items() if is_checked}
    buttons = {
        f"buttons[{number}].{name}": value
        for number, one in enumerate(draft.buttons)
        for name, value in one.items()
        if value
    }
    return {"kind": draft.kind.word, **texts, **checkboxes, **buttons}


def draft_from_body(body: Mapping[str, Any]) -> MessageDraft:
    """Return the draft that makes this body of the API, without receivers and time."""
    draft = blank_draft(str(body.get("kind", "")))
    images = body.get("images") or [body.get("image") or {}]
    given = {name: str(body[name] or "") for name in _TEXT_FIELDS if name in body and name != "sendDate"}
    given |= image_texts([[str(each.get(part, "")) for part in API_FIELDS] for each in images])
    if body.get("attachment"):
        given["attachment"] = json.dumps(body["attachment"], ensure_ascii=False, indent=2)
    buttons = tuple(read_button(each) for each in body.get("buttons") or ())
    draft = draft.changed(given, adFlag=bool(body.get("adFlag")), resend=bool(body.get("resend")))
    return replace(draft, buttons=buttons)


def write_roles(roles: Sequence[str]) -> str:
    """Return what columns hold as a form and a draft have it."""
    return "\t".join(roles)


def is_worth_keeping(draft: MessageDraft) -> bool:
    """Return whether something was typed or chosen that its author would miss."""
    typed = (draft.texts[name].strip() for name in _OWN_WORDS)
    start = start_of(draft.brand_type) if draft.is_brand else ""
    attachment = draft.texts["attachment"].strip().replace("\r\n", "\n")
    return any(typed) or bool(draft.buttons) or attachment not in ("", start)


def read_draft(fields: Mapping[str, str]) -> MessageDraft:
    """Return the draft that a form contains."""
    draft = blank_draft(fields.get("to") or fields.get("kind", ""))
    texts = {name: fields.get(name, "") for name in _TEXT_FIELDS}
    written = attachment_form.read_fields(fields, read_attachment(texts["attachment"]))
    texts["attachment"] = texts["attachment"] if written is None else written
    checkboxes = {name: bool(fields.get(name)) for name in _CHECKBOXES}
    if fields.get("morning"):
        texts["sendDate"], checkboxes["later"] = fields["morning"], True
    elif "T" in fields.get("later", ""):  # a card that is a time
        texts["sendDate"] = fields["later"]
    if roles := read_roles(fields):  # what is chosen as it was guessed stays a guess
        chosen = write_roles(roles)
        texts["columns"] = chosen if chosen != fields.get("columns_guess", "") else ""
    read = replace(draft, texts=texts, checkboxes=checkboxes, buttons=read_buttons(fields))
    return _apply_action(_with_start(read), fields.get("act", ""))


def _with_start(draft: MessageDraft) -> MessageDraft:
    """Return a draft whose type needs an attachment with one to start from; that of another type is replaced."""
    if not draft.is_brand:
        return draft
    typed = draft.texts["attachment"].strip().replace("\r\n", "\n")
    if typed and typed not in map(start_of, BrandType):
        return draft
    return draft.changed(attachment=start_of(draft.brand_type))


def _apply_action(draft: MessageDraft, action: str) -> MessageDraft:
    """Return the draft after an action: the image removed, or a button added, moved or removed (`add`, `up-1`)."""
    verb, _, place = action.partition("-")
    if verb == "unpicture":
        return draft.changed(without_image(draft.texts, place))
    return replace(draft, buttons=change_buttons(draft.buttons, verb, place))


def draft_digest(draft: MessageDraft, own_number: str = "") -> str:
    """Return a hash of everything in the draft."""
    whole = [own_number, draft.kind.word, dict(draft.texts), dict(draft.checkboxes), draft.buttons]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()
