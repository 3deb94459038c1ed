"""Builds the records of messages and of their results."""

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, structs

from pabal.checks.body.locale import Locale
from pabal.domain.base import dates, identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.content.text import mask_digits
from pabal.domain.events.event import Event, format_event_id
from pabal.domain.people import phone
from pabal.domain.people.inbound import Inbound, to_record
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import CODE_PURPOSE
from pabal.models.answers import LabelledValue, MessageItem
from pabal.models.lookup import InboundItem, MessageDetailItem, MessageEventItem, ResultItem
from pabal.service.history.history import build_each
from pabal.service.history.timeline import MessageEvent, MessageEventKind, Timeline, current_carrier, list_events
from pabal.service.policy import Policy
from pabal.service.sending import compose
from pabal.store.messages.history import MessagePage, ReadMessages
from pabal.store.messages.message_search import SearchPage
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request


def label_value(word: str, label: Text, locale: Locale) -> LabelledValue:
    """Return a coded value with its label in the caller's language."""
    return LabelledValue(word, label.in_language(locale.language))


def _brand_message(locale: Locale) -> LabelledValue:
    return label_value(Product.BRAND_MESSAGE.code, Product.BRAND_MESSAGE.label, locale)


def shown_texts(message: Message, request: Request, policy: Policy) -> tuple[str, str]:
    """Return subject and text of a message; those of a one-time code that has ended, without its digits."""
    texts = compose.subject_of(message, request) or "", compose.content_of(message, request)
    if not compose.hides_digits(request, policy, has_ended=message.completed_at is not None):
        return texts
    return mask_digits(texts[0]), mask_digits(texts[1])


def build_message_item(message: Message, request: Request, locale: Locale, policy: Policy) -> MessageItem:
    """Return the record of a message."""
    origin = compose.origin_of(message, request)
    outcome = message.outcome
    receiver = phone.hyphenate(message.receiver) if message.receiver else ""
    is_fallback = origin is not None
    subject, content = shown_texts(message, request, policy)
    return MessageItem(
        id=message.id.hex(),
        label=receiver,
        messageId=message.id.hex(),
        requestId=request.id.hex(),
        messageProductType=label_value(message.product.code, message.product.label, locale),
        sendingStatus=label_value(message.status.code, message.status.label, locale),
        resultCode=label_value(str(outcome.number), outcome.label, locale) if outcome else UNSET,
        receiver=receiver,
        reference=message.reference or UNSET,
        originMessageId=origin.hex() if origin is not None else UNSET,
        channelId=request.channel_id or UNSET,
        senderKey=request.sender_key or UNSET,
        templateCode=(None if is_fallback else request.template_code) or UNSET,
        templateData=compose.parameters_of(message, request) or UNSET,
        deliveredAs=_brand_message(locale) if request.is_delivered_as_brand and not is_fallback else UNSET,
        purpose=CODE_PURPOSE if request.is_code else UNSET,
        yyyyMM=dates.format_month(request.scheduled_at, locale.zone),
        requestDate=locale.format_timestamp(identifiers.requested_at(request.id)),
        scheduledDate=locale.format_timestamp(request.scheduled_at),
        completedDate=locale.format_timestamp(message.completed_at) if message.completed_at is not None else UNSET,
        subject=subject or UNSET,
        content=content,
    )


_UNKNOWN = Text("알 수 없음", "Unknown")


def unknown_value(locale: Locale) -> LabelledValue:
    """Return what stands for a coded value that cannot be read."""
    return label_value("unknown", _UNKNOWN, locale)


def build_unreadable_item(message_id: bytes, locale: Locale) -> MessageItem:
    """Return the record of a message that is stored, but cannot be read: what its id says, and a mark."""
    requested_at = identifiers.requested_at(message_id)
    unknown = unknown_value(locale)
    return MessageItem(
        id=message_id.hex(),
        label="",
        messageId=message_id.hex(),
        requestId=identifiers.request_id_of(message_id).hex(),
        messageProductType=unknown,
        sendingStatus=unknown,
        receiver="",
        yyyyMM=dates.format_month(requested_at, locale.zone),
        requestDate=locale.format_timestamp(requested_at),
        scheduledDate=locale.format_timestamp(requested_at),
        content="",
        unreadable=True,
    )


def build_message_items(
    page: MessagePage | ReadMessages | SearchPage, locale: Locale, policy: Policy
) -> list[MessageItem]:
    """Return the records of a page of messages, newest first."""
    return build_each(
        page.found,
        page.unreadable,
        lambda message, request: build_message_item(message, request, locale, policy),
        lambda message_id: build_unreadable_item(message_id, locale),
    )


VERDICT_WORDS = {"away": "notSent"}
"""Words of the API for verdicts whose stored word is another."""


def build_message_detail(timeline: Timeline, locale: Locale, policy: Policy) -> MessageDetailItem:
    """Return the record of a message, and what happened to it."""
    (item,) = build_message_items(ReadMessages([(timeline.message, timeline.request)], []), locale, policy)
    delivery, key = timeline.delivery, timeline.key
    carrier = current_carrier(timeline)
    submitted_at = delivery.submitted_at if carrier is not None else None
    return MessageDetailItem(
        **structs.asdict(item),
        carrier=carrier or UNSET,
        carrierCode=delivery.carrier_code or UNSET,
        submittedDate=locale.format_timestamp(submitted_at) if submitted_at is not None else UNSET,
        cost=delivery.cost / 100 if delivery.cost is not None else UNSET,
        key=LabelledValue(str(key.id), key.name) if key else UNSET,
        events=[_build_event(each, timeline.message, locale) for each in list_events(timeline)],
    )


def _build_event(event: MessageEvent, message: Message, locale: Locale) -> MessageEventItem:
    has_ended, outcome = event.kind is MessageEventKind.ENDED, message.outcome
    return MessageEventItem(
        event=event.kind.value,
        date=locale.format_timestamp(event.at) if event.at is not None else UNSET,
        carrier=event.carrier or UNSET,
        attempt=event.attempt or UNSET,
        verdict=VERDICT_WORDS.get(event.verdict, event.verdict) if event.verdict else UNSET,
        carrierCode=event.code or UNSET,
        sendingStatus=label_value(message.status.code, message.status.label, locale) if has_ended else UNSET,
        resultCode=label_value(str(outcome.number), outcome.label, locale) if has_ended and outcome else UNSET,
        messageId=event.other_id.hex() if event.other_id else UNSET,
    )


def build_result_items(
    ends: Sequence[Event], read: ReadMessages, locale: Locale, policy: Policy
) -> list[ResultItem]:
    """Return the records of messages in the order of their ends."""
    built = {item.messageId: item for item in build_message_items(read, locale, policy)}
    return [
        ResultItem(**msgspec.structs.asdict(built[each.id.hex()]), eventId=format_event_id(each.id))
        for each in ends
    ]


_CURSOR_DIGITS = 15


def build_inbound_item(inbound: Inbound, locale: Locale) -> InboundItem:
    """Return the record of an inbound message."""
    return msgspec.convert(to_record(inbound, locale.zone), InboundItem)


def format_inbound_cursor(after: int) -> str:
    """Return the position behind a message as callers see it."""
    return f"{after:x}"


def parse_inbound_cursor(cursor: str) -> int:
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
