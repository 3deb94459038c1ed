"""Looks through an account's messages, page after page, and tells the story of one."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.service.context import Context
from pabal.service.sending import compose
from pabal.store import message_search, messages, requests, timeline
from pabal.store.engine.base import Tx
from pabal.store.history import Filter
from pabal.store.message_search import Walked
from pabal.store.messages import Message
from pabal.store.requests import Request
from pabal.store.timeline import Place, Try


class Story(NamedTuple):
    """One message, all that happened to it, and the one that it stands in for or that stands in for it."""

    message: Message
    request: Request
    tries: list[Try]
    place: Place | None
    origin: Message | None
    fallback: Message | None


async def look_through(context: Context, wanted: Filter, before: bytes, most: int) -> Walked:
    """Return some messages below an id, newest first, and from where to go on."""
    return await context.store.read(message_search.walk, wanted, before, most)


async def tell(context: Context, account_id: int, message_id: bytes) -> Story | None:
    """Return the story of a message, None where the account has no such message."""
    return await context.store.read(_tell, account_id, message_id)


def _tell(tx: Tx, account_id: int, message_id: bytes) -> Story | None:
    message = messages.get(tx, [message_id]).get(message_id)
    request_id = identifiers.request_of(message_id)
    request = requests.get(tx, [request_id]).get(request_id)
    if message is None or request is None or message.account_id != account_id:
        return None
    origin_id = compose.origin_of(message, request)
    fallback_id = identifiers.message_id(request_id, identifiers.number_of(message_id) + request.total)
    others = messages.get(tx, [origin_id or fallback_id])
    return Story(
        message,
        request,
        timeline.tries(tx, message_id),
        timeline.place(tx, message_id),
        others.get(origin_id) if origin_id else None,
        None if origin_id else others.get(fallback_id),
    )
