"""From the parameters of the list of inbound messages to a checked position, and back to records."""

import msgspec

from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.inbound import Inbound, to_record
from pabal.models.lookup import InboundItem

_CURSOR_DIGITS = 15


def build_inbound_item(inbound: Inbound, locale: Locale) -> InboundItem:
    """Return the record of an inbound message."""
    return msgspec.convert(to_record(inbound, locale.zone), InboundItem)


def format_cursor(after: int) -> str:
    """Return the position behind a message as callers see it."""
    return f"{after:x}"


def parse_cursor(cursor: str) -> int:
    """Return the position of a cursor.

    Raises Refused(INVALID_PARAMETER).
    """
    is_ours = 0 < len(cursor) <= _CURSOR_DIGITS and all(each in "0123456789abcdef" for each in cursor)
    if not is_ours:
        detail = Text(
            "앞선 응답의 nextCursor를 그대로 보내세요.", "Send the nextCursor of an earlier answer as it is."
        )
        raise Refused(Code.INVALID_PARAMETER, detail=detail)
    return int(cursor, 16)
