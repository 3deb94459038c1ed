"""Reads what has ended since a cursor."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.events.event import Event, EventType, Positions
from pabal.service.context import Context
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import events
from pabal.store.messages import history, messages
from pabal.store.messages.history import ReadMessages

_RESULTS = (EventType.MESSAGE_RESULT,)


class ResultPage(NamedTuple):
    """Ends of messages in order, these messages, and how far that is."""

    events: Sequence[Event]
    read: ReadMessages
    positions: dict[int, int]


async def read_results(
    context: Context, account_id: int, positions: Positions | None, limit: int
) -> ResultPage | None:
    """Return what has ended behind these positions, or from the oldest that is stored; None: they are too old.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a list that takes too long.
    """
    async with context.searches.acquire(account_id):
        return await context.store.read(_read_results, account_id, positions, limit)


@transaction(reader=Reader.SEARCHES)
def _read_results(tx: Tx, account_id: int, positions: Positions | None, limit: int) -> ResultPage | None:
    if positions is not None and events.is_expired(tx, positions):
        return None
    page = events.read_after(tx, account_id, positions or {}, limit, _RESULTS)
    return ResultPage(page.events, read_messages(tx, page.events), page.positions)


def read_messages(tx: Tx, ends: Sequence[Event]) -> ReadMessages:
    """Return the messages that have ended, with their requests."""
    ids = [each.id for each in ends]
    return history.join_requests(tx, ids, messages.get(tx, ids))
