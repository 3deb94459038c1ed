"""Searches an account's messages, and reads the timeline of one."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from pabal.carriers.base import Rejected
from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Outcome, Status
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged
from pabal.service.history.history import take_search_turn
from pabal.service.sending import compose
from pabal.store.accounts import accounts
from pabal.store.campaigns import campaigns
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import history, message_search, messages, requests
from pabal.store.messages.history import DeliveryRecord as DeliveryRecord
from pabal.store.messages.history import MessageFilter as MessageFilter
from pabal.store.messages.history import QueuePosition, RecordedAttempt, RequestKey
from pabal.store.messages.message_search import NEWEST as NEWEST
from pabal.store.messages.message_search import SearchPage as SearchPage
from pabal.store.messages.messages import Message as Message
from pabal.store.messages.requests import Request as Request
from pabal.store.queue.attempts import UNKNOWN
from pabal.store.queue.queue import Lane


class Timeline(NamedTuple):
    """A message, its unsuccessful attempts, and its fallback or the failed message it replaces."""

    message: Message
    request: Request
    tries: list[RecordedAttempt]
    queue_entry: QueuePosition | None
    origin: Message | None
    fallback: Message | None
    delivery: DeliveryRecord
    key: RequestKey | None

    @property
    def awaits_receipt(self) -> bool:
        """Whether a carrier has accepted the message and its receipt is still awaited."""
        return self.queue_entry is not None and self.queue_entry.lane == Lane.AWAITING_RECEIPT


class DeliveredPage(NamedTuple):
    """A page of messages, and of their deliveries what is stored with them."""

    page: SearchPage
    deliveries: Mapping[bytes, DeliveryRecord]
    key_names: Mapping[bytes, str]
    """The name of the API key of each request; those made without one are left out."""


async def search_messages(context: Context, message_filter: MessageFilter, before: bytes, limit: int) -> SearchPage:
    """Return a page of messages before an id, newest first.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    async with take_search_turn(context, message_filter.account_id):
        return await context.store.read(_search, message_filter, before, limit)


async def search_deliveries(
    context: Context, message_filter: MessageFilter, before: bytes, limit: int
) -> DeliveredPage:
    """Return a page of messages before an id, newest first, with how each was delivered.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    async with take_search_turn(context, message_filter.account_id):
        return await context.store.read(_search_deliveries, message_filter, before, limit)


def get_timeline(tx: Tx, account_id: int, message_id: bytes) -> Timeline | None:
    """Return the timeline of a message, None where the account has no such message.

    Raises RecordDamaged for one that cannot be read.
    """
    if not messages.is_stored(tx, account_id, message_id):
        return None
    message = messages.get(tx, [message_id]).get(message_id)
    request_id = identifiers.request_id_of(message_id)
    request = requests.get(tx, [request_id]).get(request_id)
    if message is None or request is None:
        raise RecordDamaged("message", message_id)
    origin_id = compose.origin_of(message, request)
    fallback_id = identifiers.make_message_id(request_id, identifiers.number_of(message_id) + request.total)
    others = messages.get(tx, [origin_id or fallback_id])
    return Timeline(
        message,
        request,
        history.list_attempts(tx, message_id),
        history.queue_position(tx, message_id),
        others.get(origin_id) if origin_id else None,
        None if origin_id else others.get(fallback_id),
        history.get_deliveries(tx, [message_id])[message_id],
        history.get_key(tx, request_id),
    )


async def get_fallback_statuses(context: Context, found: Sequence[tuple[Message, Request]]) -> dict[bytes, Status]:
    """Return the status of the fallback of each failed message that has one."""
    fallbacks = {
        identifiers.make_message_id(request.id, identifiers.number_of(message.id) + request.total): message.id
        for message, request in found
        if message.status is Status.FAIL and request.fallback_sender and not compose.is_fallback(message, request)
    }
    stored = await context.store.read(messages.get, list(fallbacks)) if fallbacks else {}
    return {fallbacks[each.id]: each.status for each in stored.values()}


@transaction(reader=Reader.SEARCHES)
def _search(tx: Tx, message_filter: MessageFilter, before: bytes, limit: int) -> SearchPage:
    """Search; the id of a campaign finds its messages, although they belong to its requests."""
    named = message_filter.request_id
    if named is not None and campaigns.get_account_id(tx, named) == message_filter.account_id:
        message_filter = message_filter._replace(request_id=None, campaign_id=named)
    return message_search.search(tx, message_filter, before, limit)


@transaction(reader=Reader.SEARCHES)
def _search_deliveries(tx: Tx, message_filter: MessageFilter, before: bytes, limit: int) -> DeliveredPage:
    page = _search(tx, message_filter, before, limit)
    key_ids = history.get_key_ids(tx, {request.id for _, request in page.found})
    names = {each.id: each.name for each in accounts.list_keys_by_account(tx, message_filter.account_id)}
    return DeliveredPage(
        page,
        history.get_deliveries(tx, [message.id for message, _ in page.found]),
        {request_id: names[key_id] for request_id, key_id in key_ids.items() if key_id in names},
    )


class MessageEventKind(Enum):
    """What can happen to a message; the words of the API."""

    ACCEPTED = "accepted"
    SCHEDULED = "scheduled"
    SUBMITTED = "submitted"
    VERDICT = "verdict"
    RECEIPT = "receipt"
    FALLBACK = "fallback"
    ENDED = "ended"


class MessageEvent(NamedTuple):
    """One thing that happened to a message."""

    kind: MessageEventKind
    at: Instant | None
    """None: that was not recorded."""
    carrier: str | None = None
    attempt: int | None = None
    verdict: str | None = None
    """The label of a verdict; ACCEPTED_LABEL for an acceptance."""
    code: str | None = None
    """The carrier's own code."""
    other_id: bytes | None = None
    """The fallback that was made, or the failed message that this one is the fallback of."""


ACCEPTED_LABEL = "accepted"


def list_events(timeline: Timeline) -> list[MessageEvent]:
    """Return what happened to a message, oldest first."""
    message, request = timeline.message, timeline.request
    requested_at = identifiers.requested_at(request.id)
    events = [MessageEvent(MessageEventKind.ACCEPTED, requested_at)]
    if timeline.origin:
        events.append(
            MessageEvent(MessageEventKind.FALLBACK, timeline.origin.completed_at, other_id=timeline.origin.id)
        )
    if request.scheduled_at > requested_at:
        events.append(MessageEvent(MessageEventKind.SCHEDULED, request.scheduled_at))
    events += _delivery_events(timeline)
    if timeline.fallback:
        events.append(MessageEvent(MessageEventKind.FALLBACK, message.completed_at, other_id=timeline.fallback.id))
    if message.completed_at is not None:
        events.append(MessageEvent(MessageEventKind.ENDED, message.completed_at))
    return _sorted(events)


def _delivery_events(timeline: Timeline) -> list[MessageEvent]:
    tries, submitted_at = timeline.tries, timeline.delivery.submitted_at
    carrier = current_carrier(timeline)
    if carrier is None or submitted_at is None:
        return [_refusal(each) for each in tries]
    was_accepted = _was_accepted(timeline)
    is_in_flight = timeline.queue_entry is not None and timeline.queue_entry.claimed_at is not None
    is_last_refused = bool(tries) and tries[-1].ended_at >= submitted_at and not is_in_flight and not was_accepted
    events = [_refusal(each) for each in (tries[:-1] if is_last_refused else tries)]
    if is_last_refused:
        carrier = tries[-1].carrier
    events.append(MessageEvent(MessageEventKind.SUBMITTED, submitted_at, carrier))
    if is_last_refused:
        events.append(_refusal(tries[-1]))
    if was_accepted:
        events.append(MessageEvent(MessageEventKind.VERDICT, None, carrier, verdict=ACCEPTED_LABEL))
    code = timeline.delivery.carrier_code
    if code is not None and was_accepted and timeline.message.completed_at is not None:
        events.append(MessageEvent(MessageEventKind.RECEIPT, timeline.message.completed_at, carrier, code=code))
    return events


def current_carrier(timeline: Timeline) -> str | None:
    """Return the carrier that has decided about the message, or has it now; None if none has."""
    entry = timeline.queue_entry
    if entry is not None and entry.attempt > 0:
        return entry.carrier
    return timeline.delivery.carrier


def _was_accepted(timeline: Timeline) -> bool:
    """Return whether a carrier has taken the message: it waits for a receipt, or no verdict has ended it."""
    entry, message, tries = timeline.queue_entry, timeline.message, timeline.tries
    if entry is not None:
        return timeline.awaits_receipt and not entry.is_in_doubt
    if timeline.delivery.carrier is None or message.status not in (Status.COMPLETED, Status.FAIL):
        return False
    if message.status is Status.COMPLETED or not tries:
        return True
    last = tries[-1]
    is_decided_by_verdict = last.verdict == Rejected.label or last.ended_at == message.completed_at
    is_in_doubt = message.outcome is Outcome.UNKNOWN and last.verdict == UNKNOWN
    return not is_decided_by_verdict and not is_in_doubt


def _refusal(attempt: RecordedAttempt) -> MessageEvent:
    number, carrier, verdict, ended_at, code = attempt
    return MessageEvent(MessageEventKind.VERDICT, ended_at, carrier, number, verdict, code)


def _sorted(events: list[MessageEvent]) -> list[MessageEvent]:
    """Return events by their time; one without a time stays behind the one before it."""
    times: list[Instant] = []
    for each in events:
        times.append(each.at if each.at is not None else times[-1])
    order = sorted(range(len(events)), key=lambda place: times[place])
    return [events[place] for place in order]
