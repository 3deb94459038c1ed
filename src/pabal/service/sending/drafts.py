"""Drafts of the console: kept for their user as they are typed, and deleted once they are sent."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

import msgspec

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import drafts
from pabal.store.campaigns.drafts import DraftKey as DraftKey  # for pages, which do not import the store
from pabal.store.campaigns.drafts import SavedText
from pabal.store.engine.base import Tx

MAX_DRAFT_BYTES = 2 * 1024 * 1024
"""A larger draft is not kept: a message with its picture and 1,000 receivers with values takes half of it."""
MAX_DRAFTS_PER_USER = 20
"""Forms of which a user can have a draft; beyond them, the oldest is dropped."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode
_NO_DIGITS = re.compile(r"\D+")
_SEPARATOR = r"[\s.()\-]{0,2}"
_COUNTRY = r"(?:\+?82[\s.()\-]{0,2})?"
_MOBILE = re.compile(rf"(?<!\d){_COUNTRY}0?{_SEPARATOR}1{_SEPARATOR}[016789](?:{_SEPARATOR}\d){{7,8}}(?!\d)")
MASKED = "***-****-****"
"""Replaces the numbers of other people in an export."""


class Keeping(Enum):
    """Whether a draft was kept, and why not."""

    KEPT = "kept"
    TOO_LARGE = "too large"
    SENT = "sent already"


class Draft(NamedTuple):
    """What was typed, by field, and when it last changed."""

    fields: dict[str, str]
    changed_at: Instant


async def save(context: Context, key: DraftKey, fields: Mapping[str, str], page: str = "") -> Keeping:
    """Keep a draft in place of the one before, and say whether it is kept; one that is too large deletes that one.

    What a page keeps after it has sent its draft (see `end`) comes late, and is ignored.
    """
    encoded = _encode({name: value for name, value in fields.items() if value}).decode()
    if len(encoded.encode()) > MAX_DRAFT_BYTES:
        await discard(context, key)
        return Keeping.TOO_LARGE
    is_kept = await context.store.write(drafts.save, key, encoded, page, context.world.now(), MAX_DRAFTS_PER_USER)
    return Keeping.KEPT if is_kept else Keeping.SENT


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


async def end(context: Context, key: DraftKey, page: str) -> None:
    """Delete a draft that was sent; `page` is where, so that nothing of it is kept any more. Empty: unknown."""
    if page:
        await context.store.write(drafts.end, key, page, context.world.now())
    else:
        await discard(context, key)


def contains_number(fields: str, phone: str) -> bool:
    """Return whether a stored draft may name a phone number, however it is spelled, or cannot be read any more."""
    lines = _decode_lines(fields)
    return lines is None or any(phone[1:] in _NO_DIGITS.sub("", line) for line in lines)


def find_lines(fields: str, phone: str) -> list[str]:
    """Return the lines of a stored draft that name a phone number, however it is spelled.

    They are for the person whose number it is: mobile numbers of others in these lines are masked.
    """
    own = re.compile(rf"(?<!\d){_COUNTRY}0?{_SEPARATOR}{_SEPARATOR.join(phone[1:])}(?!\d)")
    return [_mask_others(line, own) for line in _decode_lines(fields) or () if own.search(line)]


def _mask_others(line: str, own: re.Pattern[str]) -> str:
    """Return a line in which only this number can be read."""
    shown: list[str] = []
    end = 0
    for found in own.finditer(line):
        shown += [_MOBILE.sub(MASKED, line[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*shown, _MOBILE.sub(MASKED, line[end:])])


def _decode_lines(fields: str) -> list[str] | None:
    """Return every line of a stored draft, except its picture; None for one that cannot be read."""
    try:
        decoded = _decode(fields)
    except msgspec.DecodeError:
        return None
    return [line for name, value in decoded.items() if not name.endswith("_body") for line in value.splitlines()]


MAX_SAVED_TEXTS = 500
"""Texts that an account can save."""
MAX_NAME_CHARACTERS = 60
MAX_TEXT_BYTES = 2 * 1024 * 1024
"""A text with its picture."""

_TOO_MANY = Text(
    f"문자는 {MAX_SAVED_TEXTS}개까지 보관할 수 있습니다.", f"At most {MAX_SAVED_TEXTS} texts can be saved."
)
_TOO_LONG = Text(f"{MAX_NAME_CHARACTERS}자까지 쓸 수 있습니다.", f"At most {MAX_NAME_CHARACTERS} characters.")


async def save_text(
    context: Context, account_id: int, name: str, kind: str, fields: Mapping[str, str], audit_entry: AuditEntry
) -> int:
    """Save a text in place of the one of the same name, if there is one, and return its id.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER, PAYLOAD_TOO_LARGE, LIMIT_EXCEEDED.
    """
    name = " ".join(name.split())
    if not name:
        raise Refused(Code.MISSING_PARAMETER, "text_name")
    if len(name) > MAX_NAME_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, "text_name", _TOO_LONG)
    encoded = _encode(dict(fields)).decode()
    if len(encoded.encode()) > MAX_TEXT_BYTES:
        raise Refused(Code.PAYLOAD_TOO_LARGE, "text_name")
    return await context.store.write(_save_text, account_id, name, kind, encoded, context.world.now(), audit_entry)


async def list_saved(context: Context, account_id: int) -> list[tuple[SavedText, dict[str, str]]]:
    """Return the saved texts of an account, by name, each with its fields; none that cannot be read."""
    found = await context.store.read(drafts.list_texts, account_id, MAX_SAVED_TEXTS)
    return [(each, fields) for each in found if (fields := _decode_or_none(each.fields)) is not None]


async def get_fields(context: Context, account_id: int, text_id: int) -> dict[str, str]:
    """Return the fields of a saved text.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    found = await context.store.read(drafts.get_text, account_id, text_id)
    return require(_decode_or_none(found.fields) if found else None)


def delete_text(tx: Tx, account_id: int, text_id: int, audit_entry: AuditEntry) -> None:
    """Delete a saved text; one that is gone already is no error."""
    if drafts.delete_text(tx, account_id, text_id):
        audit_log.add(tx, audit_entry)


def _save_text(
    tx: Tx, account_id: int, name: str, kind: str, fields: str, now: Instant, audit_entry: AuditEntry
) -> int:
    text_id = drafts.save_text(tx, account_id, name, kind, fields, now)
    if drafts.count_texts(tx, account_id) > MAX_SAVED_TEXTS:
        raise Refused(Code.LIMIT_EXCEEDED, "text_name", _TOO_MANY)
    audit_log.add(tx, audit_entry._replace(target=str(text_id)))
    return text_id


def _decode_or_none(fields: str) -> dict[str, str] | None:
    try:
        return _decode(fields)
    except msgspec.DecodeError:
        return None
