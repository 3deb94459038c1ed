"""Builds the items of webhooks' posts from events."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.answers.kakao_records import build_sender_item, build_template_item
from pabal.answers.message_records import build_message_items
from pabal.checks.body.locale import Locale
from pabal.domain.events.event import Event, EventType, format_event_id
from pabal.domain.kakao.profile import Category
from pabal.models.answers import MessageItem
from pabal.service.outgoing import EventItemBuilder
from pabal.service.policy import Policy
from pabal.store.events.events import EventData
from pabal.store.kakao import profiles, templates
from pabal.store.messages.history import ReadMessages
from pabal.store.rows import read_rows

_encode = msgspec.json.Encoder().encode


def event_item_builder(locale: Locale, policy: Policy) -> EventItemBuilder:
    """Return a function that builds the item of each event as JSON, None where nothing is left to tell."""

    def build(
        events: Sequence[Event],
        read: ReadMessages,
        data: Mapping[bytes, EventData],
        sender_categories: Mapping[str, Category],
    ) -> list[bytes | None]:
        ends = {item.messageId: item for item in build_message_items(read, locale, policy)}
        return [
            _end_item(each.id, ends[each.id.hex()])
            if each.type is EventType.MESSAGE_RESULT
            else _other_item(each, data.get(each.id), sender_categories, locale)
            for each in events
        ]

    return build


def _end_item(event_id: bytes, item: MessageItem) -> bytes:
    """Return a `ResultItem`, without making one: this is done for every message and each of its endpoints."""
    return b'%s,"eventId":"%s"}' % (_encode(item)[:-1], format_event_id(event_id).encode())


def _other_item(
    event: Event, found: EventData | None, sender_categories: Mapping[str, Category], locale: Locale
) -> bytes | None:
    """Return the item of another event; its data may have been erased, or be damaged."""
    if not found or not found.data:
        return None
    built = read_rows(
        [(event.id, found.data)], lambda row: _build_record(event.type, row[1], sender_categories, locale)
    )
    return _encode({"eventId": format_event_id(event.id), **built[event.id]}) if event.id in built else None


def _build_record(
    type: EventType, data: Mapping[str, Any], sender_categories: Mapping[str, Category], locale: Locale
) -> Mapping[str, Any]:
    """Return what an event says, where it is about a profile or a template in the words of their lists."""
    if type is EventType.TEMPLATE_STATUS:
        return _to_fields(build_template_item(templates.from_event(data), locale))
    if type is EventType.SENDER_AUTH:
        profile = profiles.from_event(data)
        return _to_fields(build_sender_item(profile, sender_categories.get(profile.category), locale))
    return data


def _to_fields(item: msgspec.Struct) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(item)
    return fields
