"""The cursor of a message search: where its next page begins, and what was counted on the first."""

import re
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES

_CURSOR = re.compile(r"[0-9a-f]{44}", re.ASCII)
_PAGE_BYTES = 4
_TOTAL_BYTES = 2
_MAX_PAGE = (1 << 8 * _PAGE_BYTES) - 1
_UNREADABLE = Text(
    "앞선 응답의 nextCursor를 그대로 보내세요.", "Send the nextCursor of an earlier answer as it is."
)


class MessageCursor(NamedTuple):
    """A position in a search: the id to continue before, the number of the page, and the counted total."""

    before: bytes
    page: int
    counted: int
    """How many messages match; one above the highest total: that many are there, and were not counted further."""


def format_cursor(cursor: MessageCursor) -> str:
    """Return a cursor as callers see it."""
    page = min(cursor.page, _MAX_PAGE)
    packed = cursor.before + page.to_bytes(_PAGE_BYTES, "big") + cursor.counted.to_bytes(_TOTAL_BYTES, "big")
    return packed.hex()


def parse_cursor(spelling: str) -> MessageCursor:
    """Return the cursor that a caller sent back.

    Raises Refused(INVALID_PARAMETER).
    """
    if not _CURSOR.fullmatch(spelling):
        raise Refused(Code.INVALID_PARAMETER, detail=_UNREADABLE)
    packed = bytes.fromhex(spelling)
    page_at, total_at = MESSAGE_ID_BYTES, MESSAGE_ID_BYTES + _PAGE_BYTES
    return MessageCursor(
        packed[:page_at], int.from_bytes(packed[page_at:total_at], "big"), int.from_bytes(packed[total_at:], "big")
    )
