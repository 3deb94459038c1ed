"""Groups messages into calls to Solapi, and writes their bodies."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import msgspec

from pabal.carriers.relay.brand import is_deliverable
from pabal.carriers.solapi.brand import image_kind_of
from pabal.carriers.solapi.brand import to_remote as brand_to_remote
from pabal.carriers.solapi.client import OWN_ID
from pabal.carriers.solapi.templates import are_supported, buttons_to_remote
from pabal.domain.sends.message import Attempt, Product

MAX_MESSAGES = 10_000
"""The most messages of one call."""
MAX_BODY_BYTES = 14_000_000
"""A call may have 15 MB."""
PICTURE_OF_TEXTS = "MMS"
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
        """Return the body of the call; two messages to one number are two messages."""
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
    """Return whether Solapi has all parts of a message: it fills item lists and quick replies from templates."""
    if attempt.product is Product.ALIMTALK:
        return not attempt.parts.has_any and are_supported(attempt.buttons)
    return is_deliverable(attempt)


def image_of(attempt: Attempt) -> tuple[bytes, str] | None:
    """Return the request whose image a message has, and what it is uploaded for."""
    if attempt.image_request_id is None:
        return None
    kind = PICTURE_OF_TEXTS if attempt.product.is_text else image_kind_of(attempt)
    return attempt.image_request_id, kind


def encode(
    attempt: Attempt,
    image_ids: Mapping[tuple[bytes, str], str],
    template_ids: Mapping[tuple[str, str], str],
) -> Entry:
    """Return a message in Solapi's format, with the ids that its image and its template have there.

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
        message["kakaoOptions"] = _alimtalk(attempt, template_ids)
    return Entry(attempt, msgspec.json.encode(message))


def template_of(attempt: Attempt) -> tuple[str, str] | None:
    """Return sender key and template code of a message that needs a template's id."""
    if attempt.product is not Product.ALIMTALK:
        return None
    return attempt.sender_key or "", attempt.template_code or ""


def _alimtalk(attempt: Attempt, template_ids: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    template = template_of(attempt)
    assert template is not None
    options: dict[str, Any] = {
        "pfId": attempt.sender_key,
        "templateId": template_ids[template],
        "disableSms": True,  # we send the fallback
    }
    if attempt.subject:
        options["title"] = attempt.subject
    if attempt.buttons:
        options["buttons"] = buttons_to_remote(attempt.buttons)
    return options
