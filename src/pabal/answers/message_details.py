"""Builds the record of one message with its timeline, for the API."""

from msgspec import UNSET, structs

from pabal.answers.message_records import build_message_items, label_value
from pabal.checks.body.locale import Locale
from pabal.domain.sends.message import Outcome
from pabal.models.answers import LabelledValue
from pabal.models.lookup import MessageDetailItem, MessageEventItem
from pabal.service.history.events import MessageEvent, MessageEventKind, current_carrier, list_events
from pabal.service.history.timeline import Timeline
from pabal.store.messages.history import ReadMessages
from pabal.store.messages.messages import Message

VERDICT_WORDS = {"away": "notSent"}
"""Words of the API for verdicts whose stored word is another."""


def build_message_detail(timeline: Timeline, locale: Locale) -> MessageDetailItem:
    """Return the record of a message, and what happened to it."""
    (item,) = build_message_items(ReadMessages([(timeline.message, timeline.request)], []), locale)
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
    has_ended = event.kind is MessageEventKind.ENDED
    return MessageEventItem(
        event=event.kind.value,
        date=locale.format_timestamp(event.at) if event.at is not None else UNSET,
        carrier=event.carrier or UNSET,
        attempt=event.attempt or UNSET,
        verdict=VERDICT_WORDS.get(event.verdict, event.verdict) if event.verdict else UNSET,
        carrierCode=event.code or UNSET,
        sendingStatus=label_value(message.status.code, message.status.label, locale) if has_ended else UNSET,
        resultCode=_label_outcome(message.outcome, locale) if has_ended and message.outcome else UNSET,
        messageId=event.other_id.hex() if event.other_id else UNSET,
    )


def _label_outcome(outcome: Outcome, locale: Locale) -> LabelledValue:
    return label_value(str(outcome.number), outcome.label, locale)
