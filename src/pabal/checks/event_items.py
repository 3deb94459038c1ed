"""Builds the items of webhooks' posts from events."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from pabal.checks.locale import Locale
from pabal.checks.results import build_result_items
from pabal.domain.event import Event, EventType, format_event_id
from pabal.store.events import EventData
from pabal.store.history import ReadMessages

_encode = msgspec.json.Encoder().encode


def event_item_builder(
    locale: Locale,
) -> Callable[[Sequence[Event], ReadMessages, Mapping[bytes, EventData]], list[bytes | None]]:
    """Return a function that builds the item of each event as JSON, None where nothing is left to tell."""

    def build(events: Sequence[Event], read: ReadMessages, data: Mapping[bytes, EventData]) -> list[bytes | None]:
        ends = [each for each in events if each.type is EventType.MESSAGE_RESULT]
        results = {each.id: item for each, item in zip(ends, build_result_items(ends, read, locale), strict=True)}
        return [_encode(results[each.id]) if each.id in results else _other_item(each, data) for each in events]

    return build


def _other_item(event: Event, data: Mapping[bytes, EventData]) -> bytes | None:
    """Return the item of another event; its data may have been erased."""
    found = data.get(event.id)
    return _encode({"eventId": format_event_id(event.id), **found.data}) if found and found.data else None
