"""Saved texts of an account: messages of any kind, kept under a name, and sent again with other receivers."""

from collections.abc import Mapping

import msgspec

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import saved_texts
from pabal.store.campaigns.saved_texts import SavedText as SavedText  # for pages, which do not import the store
from pabal.store.engine.base import Tx

MAX_SAVED_TEXTS = 500
"""Texts that an account can save."""
MAX_NAME_CHARACTERS = 60
MAX_TEXT_BYTES = 256 * 1024
"""A text with its picture."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, str]).decode
_TOO_MANY = Text(
    f"문자는 {MAX_SAVED_TEXTS}개까지 보관할 수 있습니다.", f"At most {MAX_SAVED_TEXTS} texts can be saved."
)
_TOO_LONG = Text(f"{MAX_NAME_CHARACTERS}자까지 쓸 수 있습니다.", f"At most {MAX_NAME_CHARACTERS} characters.")


async def save(
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
    return await context.store.write(_save, account_id, name, kind, encoded, context.world.now(), audit_entry)


async def list_saved(context: Context, account_id: int) -> list[tuple[SavedText, dict[str, str]]]:
    """Return the saved texts of an account, by name, each with its fields; none that cannot be read."""
    found = await context.store.read(saved_texts.list_all, account_id, MAX_SAVED_TEXTS)
    return [(each, fields) for each in found if (fields := _decode_or_none(each.fields)) is not None]


async def get_fields(context: Context, account_id: int, text_id: int) -> dict[str, str]:
    """Return the fields of a saved text.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    found = await context.store.read(saved_texts.get, account_id, text_id)
    fields = _decode_or_none(found.fields) if found else None
    if fields is None:
        raise Refused(Code.NOT_FOUND)
    return fields


async def delete(context: Context, account_id: int, text_id: int, audit_entry: AuditEntry) -> None:
    """Delete a saved text; one that is gone already is no error."""
    await context.store.write(_delete, account_id, text_id, audit_entry)


def _save(tx: Tx, account_id: int, name: str, kind: str, fields: str, now: Instant, audit_entry: AuditEntry) -> int:
    text_id = saved_texts.save(tx, account_id, name, kind, fields, now)
    if saved_texts.count(tx, account_id) > MAX_SAVED_TEXTS:
        raise Refused(Code.LIMIT_EXCEEDED, "text_name", _TOO_MANY)
    audit_log.add(tx, audit_entry._replace(target=str(text_id)))
    return text_id


def _delete(tx: Tx, account_id: int, text_id: int, audit_entry: AuditEntry) -> None:
    if saved_texts.delete(tx, account_id, text_id):
        audit_log.add(tx, audit_entry)


def _decode_or_none(fields: str) -> dict[str, str] | None:
    try:
        return _decode(fields)
    except msgspec.DecodeError:
        return None
