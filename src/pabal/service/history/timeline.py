"""Searches an account's messages, and reads the timeline of one."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged
from pabal.service.history.history import take_search_turn
from pabal.service.sending import compose
from pabal.store import message_search, messages, requests, timeline
from pabal.store.engine.base import Tx
from pabal.store.history import MessageFilter
from pabal.store.message_search import NEWEST, SearchPage
from pabal.store.messages import Message
from pabal.store.queue import Lane
from pabal.store.requests import Request
from pabal.store.timeline import DeliveryRecord, QueuePosition, RecordedAttempt, RequestKey

__all__ = [
    "NEWEST", "Message", "MessageFilter", "Request", "SearchPage", "Timeline", "get_timeline", "search_messages",
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


async def search_messages(context: Context, message_filter: MessageFilter, before: bytes, limit: int) -> SearchPage:
    """Return a page of messages before an id, newest first.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    async with take_search_turn(context, message_filter.account_id):
        return await context.store.read(message_search.search, message_filter, before, limit)


async def get_timeline(context: Context, account_id: int, message_id: bytes) -> Timeline | None:
    """Return the timeline of a message, None where the account has no such message.

    Raises RecordDamaged for one that cannot be read.
    """
    return await context.store.read(_read_timeline, account_id, message_id)


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
