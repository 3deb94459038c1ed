"""A checked send request, and the texts of its receivers."""

import base64
import json
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text, at_most_characters
from pabal.domain.base.dates import Instant
from pabal.domain.brand import limits
from pabal.domain.brand.message import BrandMessage, decode_brand, encode_brand
from pabal.domain.content import button, text, variables
from pabal.domain.content.button import Button
from pabal.domain.content.image import Image
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts, parts_from_fields, to_fields
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product

SMALL_RECEIVERS = 10
"""Requests with at most this many receivers are small: they use lane 0, ahead of campaigns."""
MAX_REFERENCE_CHARACTERS = 64
MAX_EXPIRE_MINUTES = 3 * 24 * 60
"""Longest lifetime of a message that no carrier has taken."""
CODE_PURPOSE = "code"
"""The purpose of a send of one-time codes."""
MAX_CODE_RECEIVERS = SMALL_RECEIVERS
CODE_EXPIRE_MINUTES = 5
"""The lifetime of a one-time code whose caller gives none."""


class Receiver(NamedTuple):
    """What differs per receiver: number, values of the variables, own text, caller's reference."""

    phone: str
    values: tuple[str, ...] = ()
    """Values of the request's variables; with an own text, of as many as its links and fallback use."""
    content: str | None = None
    """Its own text, composed."""
    reference: str | None = None


class Fallback(NamedTuple):
    """The text message to send when an Alimtalk or friend talk fails."""

    sender: str
    content: str | None


class Sending(NamedTuple):
    """A checked request: what its receivers share, and the receivers."""

    product: Product
    content: str
    receivers: Sequence[Receiver]
    scheduled_at: Instant | None = None
    sender: str = ""
    subject: str | None = None
    images: tuple[Image, ...] = ()
    image_link: str | None = None
    buttons: tuple[Button, ...] = ()
    is_ad: bool = False
    fallback: Fallback | None = None
    profile_id: int | None = None
    template_code: str | None = None
    variables: tuple[str, ...] = ()
    expire_minutes: int | None = None
    """How long after its scheduled time it may be given to a carrier; None: the default of its product."""
    brand: BrandMessage | None = None
    """What a brand message has besides, and friend talk that is delivered as one."""
    opt_out_number: str | None = None
    """The free number that a receiver calls to get no more advertising."""
    parts: TemplateParts = NO_PARTS
    is_code: bool = False
    """Whether it is a one-time code: first of its account, never advertising, and masked where it is shown."""

    @property
    def lane(self) -> int:
        return 0 if len(self.receivers) <= SMALL_RECEIVERS else 1


def fill_text(template: str, names: Sequence[str], values: Sequence[str]) -> str:
    """Return the text of one receiver, with variables filled in and normalized."""
    if not values:
        return template
    return text.normalize(variables.fill(template, dict(zip(names, values, strict=True))))


def fill_buttons(buttons: Sequence[Button], names: Sequence[str], values: Sequence[str]) -> tuple[Button, ...]:
    """Return the buttons of one receiver, with the variables of their links filled in."""
    given = dict(zip(names, values, strict=True)) if values else {}
    return tuple(button.fill_button(one, given) for one in buttons)


def check_text(product: Product, content: str) -> None:
    """Raises Refused(CONTENT_TOO_LONG) or Refused(UNSUPPORTED_CHARACTER) for one receiver's text."""
    if product.is_text:
        text.check_fits(content, MAX_BYTES[product])
    else:
        text.check_characters(content, MAX_CHARACTERS[product])


MAX_BYTES = {
    Product.SMS: text.SMS_MAX_BYTES,
    Product.LMS: text.LMS_MAX_BYTES,
    Product.MMS: text.LMS_MAX_BYTES,
}
MAX_CHARACTERS = {
    Product.ALIMTALK: text.ALIMTALK_MAX_CHARACTERS,
    Product.FRIENDTALK_TEXT: text.FRIENDTALK_TEXT_MAX_CHARACTERS,
    Product.FRIENDTALK_IMAGE: text.FRIENDTALK_IMAGE_MAX_CHARACTERS,
    Product.FRIENDTALK_WIDE_IMAGE: text.FRIENDTALK_WIDE_IMAGE_MAX_CHARACTERS,
    Product.BRAND_MESSAGE: limits.MAX_TEXT_CHARACTERS,
}


def check_reference(reference: str) -> None:
    """Raises Refused(INVALID_PARAMETER) for a reference that is too long."""
    if len(reference) > MAX_REFERENCE_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, detail=at_most_characters(MAX_REFERENCE_CHARACTERS))


def check_expire_minutes(minutes: int) -> int:
    """Return a lifetime.

    Raises Refused(INVALID_PARAMETER) for one outside the limits.
    """
    if not 1 <= minutes <= MAX_EXPIRE_MINUTES:
        limit = MAX_EXPIRE_MINUTES
        raise Refused(
            Code.INVALID_PARAMETER,
            detail=Text(f"1에서 {limit:,} 사이여야 합니다.", f"It must be from 1 to {limit:,}."),
        )
    return minutes


def fits_subject(subject: str) -> bool:
    """Return whether a text can be the subject of a text message."""
    try:
        text.check_fits(subject, text.SUBJECT_MAX_BYTES)
    except Refused:
        return False
    return True


def fallback_text(content: str, buttons: Sequence[Button]) -> str:
    """Return the text message that replaces a message with buttons: its text, and a line per web link."""
    links = [
        f"{each.name}: {each.mobile_url}"
        for each in buttons
        if each.type == "webLink" and each.mobile_url is not None
    ]
    return "\n".join([content, *links])


def choose_text_product(content: str) -> tuple[Product, str] | None:
    """Return the smallest text product that can carry `content`, None where none can."""
    try:
        size = text.carried_bytes(content)
    except Refused:
        return None
    if size <= text.SMS_MAX_BYTES:
        return Product.SMS, content
    return (Product.LMS, content) if size <= text.LMS_MAX_BYTES else None


def encode_shared(sending: Sending) -> str:
    """Return what the requests of a campaign share, as JSON: a send without receivers and time."""
    images = [[each.content_type, each.file_name, base64.b64encode(each.body).decode()] for each in sending.images]
    fields = {
        "product": sending.product.code,
        "content": sending.content,
        "sender": sending.sender,
        "subject": sending.subject,
        "image": images if len(images) > 1 else images[0] if images else None,
        "image_link": sending.image_link,
        "buttons": [each.given_fields() for each in sending.buttons],
        "is_ad": sending.is_ad,
        "fallback": list(sending.fallback) if sending.fallback else None,
        "profile_id": sending.profile_id,
        "template_code": sending.template_code,
        "variables": list(sending.variables),
        "expire_minutes": sending.expire_minutes,
        "brand": encode_brand(sending.brand),
        "opt_out_number": sending.opt_out_number,
        "parts": to_fields(sending.parts),
    }
    return json.dumps(fields, ensure_ascii=False)


def decode_shared(stored: str) -> Sending:
    """Return the send that `encode_shared` wrote, without receivers."""
    fields = json.loads(stored)
    stored_image = fields["image"] or []
    images = stored_image if stored_image and isinstance(stored_image[0], list) else [stored_image]
    return Sending(
        PRODUCT_BY_CODE[fields["product"]],
        fields["content"],
        (),
        sender=fields["sender"],
        subject=fields["subject"],
        images=tuple(Image(kind, name, base64.b64decode(body)) for kind, name, body in filter(None, images)),
        image_link=fields["image_link"],
        buttons=button.from_fields(fields["buttons"]),
        is_ad=fields["is_ad"],
        fallback=Fallback(*fields["fallback"]) if fields["fallback"] else None,
        profile_id=fields["profile_id"],
        template_code=fields["template_code"],
        variables=tuple(fields["variables"]),
        expire_minutes=fields.get("expire_minutes"),
        brand=decode_brand(fields.get("brand")),
        opt_out_number=fields.get("opt_out_number"),
        parts=parts_from_fields(fields.get("parts") or {}),
    )
