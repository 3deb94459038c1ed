"""The cursor of a message search: where its next page begins, and what was counted on the first of which search."""

import re
import zlib
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.identifiers import MESSAGE_ID_BYTES

_CURSOR = re.compile(r"[0-9a-f]{52}", re.ASCII)
_PAGE_BYTES = 4
_TOTAL_BYTES = 2
_CHECKSUM_BYTES = 4
_MAX_PAGE = (1 << 8 * _PAGE_BYTES) - 1
_UNREADABLE = Text(
    "같은 조건으로 조회한 앞선 응답의 nextCursor를 그대로 보내세요.",
    "Send the nextCursor of an earlier answer to the same parameters as it is.",
)


class MessageCursor(NamedTuple):
    """A position in a search: the id to continue before, the number of the page, and the counted total."""

    before: bytes
    page: int
    counted: int
    """How many messages match; one above the highest total: that many are there, and were not counted further."""


def format_cursor(cursor: MessageCursor, search: bytes) -> str:
    """Return a cursor as callers see it; `search` is what was asked for, and by whom."""
    page = min(cursor.page, _MAX_PAGE)
    packed = cursor.before + page.to_bytes(_PAGE_BYTES, "big") + cursor.counted.to_bytes(_TOTAL_BYTES, "big")
    return (packed + _checksum(packed, search)).hex()


def parse_cursor(spelling: str, search: bytes) -> MessageCursor:
    """Return the cursor that a caller sent back with the same search.

    Raises Refused(INVALID_PARAMETER): with another search, its totals would be wrong.
    """
    whole = bytes.fromhex(spelling) if _CURSOR.fullmatch(spelling) else b""
    packed, checksum = whole[:-_CHECKSUM_BYTES], whole[-_CHECKSUM_BYTES:]
    if checksum != _checksum(packed, search):
        raise Refused(Code.INVALID_PARAMETER, detail=_UNREADABLE)
    page_at, total_at = MESSAGE_ID_BYTES, MESSAGE_ID_BYTES + _PAGE_BYTES
    return MessageCursor(
        packed[:page_at], int.from_bytes(packed[page_at:total_at], "big"), int.from_bytes(packed[total_at:], "big")
    )


def _checksum(packed: bytes, search: bytes) -> bytes:
    """Return what binds a cursor to its search and shows that it was changed."""
    return zlib.crc32(search + packed).to_bytes(_CHECKSUM_BYTES, "big")
