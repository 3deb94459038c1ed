"""Drafts of the console: kept for their user as they are typed, and deleted once they are sent."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.store import drafts
from pabal.store.drafts import DraftKey as DraftKey  # for pages, which do not import the store

MAX_DRAFT_BYTES = 512 * 1024
"""A larger draft is not kept: a message with its picture and 1,000 receivers with values takes half of it."""
MAX_DRAFTS_PER_USER = 20
"""Forms of which a user can have a draft; beyond them, the oldest is dropped."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode
_NO_DIGITS = re.compile(r"\D+")


class Draft(NamedTuple):
    """What was typed, by field, and when it last changed."""

    fields: dict[str, str]
    changed_at: Instant


async def save(context: Context, key: DraftKey, fields: Mapping[str, str]) -> bool:
    """Keep a draft in place of the one before; say no for one that is too large, and delete the one before."""
    encoded = _encode({name: value for name, value in fields.items() if value}).decode()
    if len(encoded.encode()) > MAX_DRAFT_BYTES:
        await discard(context, key)
        return False
    await context.store.write(drafts.save, key, encoded, context.world.now(), MAX_DRAFTS_PER_USER)
    return True


async def load(context: Context, key: DraftKey) -> Draft | None:
    """Return a draft, None if there is none, or one that cannot be read."""
    found = await context.store.read(drafts.get, key)
    if found is None:
        return None
    try:
        return Draft(_decode(found.fields), found.changed_at)
    except msgspec.DecodeError:
        return None


async def discard(context: Context, key: DraftKey) -> None:
    """Delete a draft, if there is one."""
    await context.store.write(drafts.delete, key)


def contains_number(fields: str, phone: str) -> bool:
    """Say whether a stored draft names a phone number, however it is spelled, or cannot be read any more."""
    return _decode_lines(fields) is None or bool(find_lines(fields, phone))


def find_lines(fields: str, phone: str) -> list[str]:
    """Return the lines of a stored draft that name a phone number, however it is spelled."""
    return [line for line in _decode_lines(fields) or () if phone[1:] in _NO_DIGITS.sub("", line)]


def _decode_lines(fields: str) -> list[str] | None:
    """Return every line of a stored draft, except its picture; None for one that cannot be read."""
    try:
        decoded = _decode(fields)
    except msgspec.DecodeError:
        return None
    return [line for name, value in decoded.items() if name != "image_body" for line in value.splitlines()]
