"""Groups messages into calls to Solapi, and writes their bodies."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import msgspec

from pabal.carriers.relay.kakao import is_deliverable
from pabal.carriers.solapi.brand import DEFAULT_IMAGE_KIND, NotAtSolapi, image_kind_of
from pabal.carriers.solapi.brand import to_remote as brand_to_remote
from pabal.carriers.solapi.client import IMAGE_LIMITS, OWN_ID
from pabal.carriers.solapi.template_parts import (
    are_supported,
    message_buttons,
    parts_to_remote,
    template_buttons,
    without_thumbnail,
)
from pabal.carriers.solapi.templates import SendableTemplate
from pabal.domain.base.codes import Refused
from pabal.domain.content.image import ImageLimits
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.kakao.template_parts import TemplateParts, fill_parts
from pabal.domain.sends.message import Attempt, Product
from pabal.domain.sends.sending import fill_buttons, fill_text

MAX_MESSAGES = 10_000
"""The most messages of one call."""
MAX_BODY_BYTES = 14_000_000
"""Solapi's limit is 15 MB; we stay below it."""
IMAGE_KIND_TEXT, IMAGE_KIND_TEMPLATE = "MMS", "ATA"
SEND_PATH = "/messages/v4/send-many/detail"
_TYPES = {Product.SMS: "SMS", Product.LMS: "LMS", Product.MMS: "MMS", Product.ALIMTALK: "ATA"}
_BODY_BEGIN, _BODY_END = b'{"allowDuplicates":true,"showMessageList":true,"messages":[', b"]}"


class Entry(NamedTuple):
    """A message of a call: an attempt, and its JSON."""

    attempt: Attempt
    encoded: bytes


class SolapiCall(NamedTuple):
    """A call that submits messages."""

    entries: Sequence[Entry]

    @property
    def attempts(self) -> list[Attempt]:
        """The messages of the call."""
        return [each.attempt for each in self.entries]

    def body(self) -> bytes:
        """Return the body of the call; `allowDuplicates` keeps several messages to one number."""
        return _BODY_BEGIN + b",".join([each.encoded for each in self.entries]) + _BODY_END

    def halves(self) -> tuple[Self, Self]:
        """Return the same call in two halves."""
        middle = len(self.entries) // 2
        return self._replace(entries=self.entries[:middle]), self._replace(entries=self.entries[middle:])


def group_into_calls(entries: Sequence[Entry]) -> list[SolapiCall]:
    """Return as few calls as possible; small sends and campaigns do not share one."""
    calls = []
    for is_small in (True, False):
        some: list[Entry] = []
        size = 0
        for entry in entries:
            if entry.attempt.is_small is not is_small:
                continue
            if len(some) == MAX_MESSAGES or (some and size + len(entry.encoded) > MAX_BODY_BYTES):
                calls.append(SolapiCall(some))
                some, size = [], 0
            some.append(entry)
            size += len(entry.encoded) + 1
        if some:
            calls.append(SolapiCall(some))
    return calls


def can_be_sent(attempt: Attempt) -> bool:
    """Return whether Solapi supports all parts of a message."""
    if attempt.product is Product.ALIMTALK:
        return attempt.parts.link is None and are_supported(attempt.buttons)
    return is_deliverable(attempt)


def limits_of(product: Product) -> ImageLimits:
    """Return which images of a product Solapi takes."""
    if product.is_text:
        return IMAGE_LIMITS[IMAGE_KIND_TEXT]
    return IMAGE_LIMITS[IMAGE_KIND_TEMPLATE if product is Product.ALIMTALK else DEFAULT_IMAGE_KIND]


def image_of(attempt: Attempt) -> tuple[bytes, str] | None:
    """Return the request whose image a message has, and what it is uploaded for."""
    if attempt.image_request_id is None:
        return None
    kind = IMAGE_KIND_TEXT if attempt.product.is_text else image_kind_of(attempt)
    return attempt.image_request_id, kind


def encode(
    attempt: Attempt,
    image_ids: Mapping[tuple[bytes, str], str],
    templates: Mapping[tuple[str, str], SendableTemplate],
) -> Entry:
    """Return a message in Solapi's format, with the id of its image and the template that it has there.

    Raises NotAtSolapi.
    """
    image = image_of(attempt)
    image_id = None if image is None else image_ids[image]
    message: dict[str, Any] = {
        "to": attempt.receiver,
        "text": attempt.content,
        "type": _TYPES.get(attempt.product),
        "customFields": {OWN_ID: attempt.message_id.hex()},
    }
    if attempt.brand is not None:
        del message["text"], message["type"]
        message |= brand_to_remote(attempt, image_id)
    elif attempt.product.is_text:
        message["from"] = attempt.sender
        if attempt.subject and attempt.product is not Product.SMS:
            message["subject"] = attempt.subject
        if image_id is not None:
            message["imageId"] = image_id
    else:
        del message["text"]
        message |= _alimtalk(attempt, templates)
    return Entry(attempt, msgspec.json.encode(message))


def template_of(attempt: Attempt) -> tuple[str, str] | None:
    """Return sender key and template code of a message that needs a template's id."""
    if attempt.product is not Product.ALIMTALK:
        return None
    return attempt.sender_key or "", attempt.template_code or ""


def _alimtalk(attempt: Attempt, templates: Mapping[tuple[str, str], SendableTemplate]) -> dict[str, Any]:
    """Return an Alimtalk with the template's variables if they reproduce the recorded message, else with its text.

    Raises NotAtSolapi.
    """
    key = template_of(attempt)
    assert key is not None
    template = templates[key]
    options: dict[str, Any] = {
        "pfId": attempt.sender_key,
        "templateId": template.template_id,
        "disableSms": True,  # we send the fallback
    }
    if template.content is not None and _reproduces(template.content, attempt):
        options["variables"] = {f"#{{{name}}}": value for name, value in (attempt.parameters or {}).items()}
        return {"kakaoOptions": options}
    if attempt.parts.has_any:
        raise NotAtSolapi("parts that only a template can have")
    if attempt.subject:
        options["title"] = attempt.subject
    if attempt.buttons:
        options["buttons"] = message_buttons(attempt.buttons)
    return {"text": attempt.content, "kakaoOptions": options}


def _reproduces(template: TemplateContent, attempt: Attempt) -> bool:
    """Return whether Solapi's filled-in template equals the recorded message."""
    given = attempt.parameters or {}
    if any("." in name or "#{" in value for name, value in given.items()):
        return False  # Solapi has no such names, and might fill in values again
    names, values = tuple(given), tuple(given.values())
    try:
        return (
            fill_text(template.content, names, values).strip() == attempt.content.strip()
            and (not template.title or fill_text(template.title, names, values) == attempt.subject)
            and template_buttons(fill_buttons(template.buttons, names, values)) == template_buttons(attempt.buttons)
            and _comparable_parts(fill_parts(template.parts, names, values)) == _comparable_parts(attempt.parts)
        )
    except (KeyError, Refused):
        return False


def _comparable_parts(parts: TemplateParts) -> dict[str, Any]:
    """Return parts in Solapi's format without the thumbnail, whose address differs per relay."""
    return parts_to_remote(without_thumbnail(parts))
