"""Builds the records of messages that have ended, for the API and for webhooks."""

from collections.abc import Sequence

import msgspec

from pabal.answers.message_records import build_message_items
from pabal.checks.body.locale import Locale
from pabal.domain.events.event import Event, format_event_id
from pabal.models.results import ResultItem
from pabal.store.messages.history import ReadMessages


def build_result_items(ends: Sequence[Event], read: ReadMessages, locale: Locale) -> list[ResultItem]:
    """Return the records of messages in the order of their ends."""
    built = {item.messageId: item for item in build_message_items(read, locale)}
    return [
        ResultItem(**msgspec.structs.asdict(built[each.id.hex()]), eventId=format_event_id(each.id))
        for each in ends
    ]
