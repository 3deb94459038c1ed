"""Searches an account's messages, and reads the timeline of one."""

from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged
from pabal.service.history.history import take_search_turn
from pabal.service.sending import compose
from pabal.store.accounts import accounts
from pabal.store.campaigns import campaigns
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import message_search, messages, requests, timeline
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.message_search import NEWEST, SearchPage
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.messages.timeline import DeliveryRecord, QueuePosition, RecordedAttempt, RequestKey
from pabal.store.queue.queue import Lane

__all__ = [
    "NEWEST", "DeliveredPage", "DeliveryRecord", "Message", "MessageFilter", "Request", "SearchPage", "Timeline",
    "get_timeline", "search_deliveries", "search_messages",
]  # fmt: skip


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


async def get_timeline(context: Context, account_id: int, message_id: bytes) -> Timeline | None:
    """Return the timeline of a message, None where the account has no such message.

    Raises RecordDamaged for one that cannot be read.
    """
    return await context.store.read(_read_timeline, account_id, message_id)


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
    key_ids = timeline.get_key_ids(tx, {request.id for _, request in page.found})
    names = {each.id: each.name for each in accounts.list_keys_by_account(tx, message_filter.account_id)}
    return DeliveredPage(
        page,
        timeline.get_deliveries(tx, [message.id for message, _ in page.found]),
        {request_id: names[key_id] for request_id, key_id in key_ids.items() if key_id in names},
    )


def _read_timeline(tx: Tx, account_id: int, message_id: bytes) -> Timeline | None:
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
        timeline.list_attempts(tx, message_id),
        timeline.queue_position(tx, message_id),
        others.get(origin_id) if origin_id else None,
        None if origin_id else others.get(fallback_id),
        timeline.get_delivery(tx, message_id),
        timeline.get_key(tx, request_id),
    )
