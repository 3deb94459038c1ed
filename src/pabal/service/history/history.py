"""Looks up messages and requests."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple, TypeVar

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.inbound import Inbound as Inbound
from pabal.domain.sends.message import SimulatedMessage, Status
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged, describe_error
from pabal.store.engine.base import NodeUnavailable, Reader, ReadTimedOut, Tx, transaction
from pabal.store.messages import history, inbound, message_search, messages, requests
from pabal.store.messages.history import MessageFilter, MessagePage, ReadMessages
from pabal.store.messages.message_search import SearchPage
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.queue import simulator

T = TypeVar("T")

MAX_PARTIAL_TRIES = 3
"""How often a search is tried that leaves out lost nodes: each try may find another one lost."""
MAX_TOTAL = 10_000
"""Most messages that are counted."""

log = logging.getLogger("pabal.history")

SEARCH_TOO_SLOW = Text(
    "조회가 너무 오래 걸려 중단했습니다. 요청일이나 예약일 기간을 좁혀 다시 조회하세요.",
    "The search took too long and was stopped. Narrow the period of requestDate or scheduledDate.",
)


class RequestDetails(NamedTuple):
    """A request, its number of messages by status, and a page of them."""

    request_id: bytes
    request: Request | None
    """None: it cannot be read."""
    counts: dict[Status, int]
    page: MessagePage


class CursorPage(NamedTuple):
    """One page of the matching messages, how many match in all, and the id to continue before; None at the end."""

    total: int
    is_capped: bool
    """Whether there are more than `total`."""
    page: SearchPage


async def search_reachable(
    context: Context, message_filter: MessageFilter, search: Callable[[MessageFilter], Awaitable[T]]
) -> tuple[T, int]:
    """Return what a search finds in the slots that can be reached, and how many others there are.

    Raises NodeUnavailable where one node after the other is lost.
    """
    numbers = context.slots.numbers
    for tries in range(1, MAX_PARTIAL_TRIES + 1):
        reachable = tuple(context.nodes.reachable(numbers))
        is_partial = len(reachable) < len(numbers)
        wanted = message_filter._replace(slots=reachable) if is_partial else message_filter
        try:
            return await search(wanted), len(numbers) - len(reachable)
        except NodeUnavailable:  # it was lost just now
            if tries == MAX_PARTIAL_TRIES:
                raise
    raise AssertionError("a loop without an end")


async def find_messages(
    context: Context, message_filter: MessageFilter, page: int, page_size: int, max_total: int | None = None
) -> MessagePage:
    """Return a page of an account's messages, newest first; they are counted up to `max_total`.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    async with take_search_turn(context, message_filter.account_id):
        search = (message_filter, max_total)
        total = context.searches.known_total(search)
        found = await context.store.read(history.find, message_filter, page, page_size, total, max_total)
        if total is None:
            context.searches.remember_total(search, found.total + found.is_capped)
    return found


async def find_messages_before(
    context: Context, message_filter: MessageFilter, before: bytes, limit: int, known_total: int | None = None
) -> CursorPage:
    """Return some of an account's messages before an id, newest first, and count them unless their total is known.

    One that looks through many messages returns fewer than `limit`, with the id to continue before.
    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    async with take_search_turn(context, message_filter.account_id):
        return await context.store.read(_read_before, message_filter, before, limit, known_total)


@transaction(reader=Reader.SEARCHES)
def _read_before(
    tx: Tx, message_filter: MessageFilter, before: bytes, limit: int, known_total: int | None
) -> CursorPage:
    counted = message_search.count(tx, message_filter, MAX_TOTAL + 1) if known_total is None else known_total
    found = message_search.search(tx, message_filter, before, limit)
    return CursorPage(min(counted, MAX_TOTAL), counted > MAX_TOTAL, found)


async def get_first_message(context: Context, request_id: bytes) -> ReadMessages:
    """Return the message to the first receiver of a request."""
    return await context.store.read(_read_messages, [identifiers.make_message_id(request_id, 1)])


def _read_messages(tx: Tx, ids: Sequence[bytes]) -> ReadMessages:
    return history.join_requests(tx, ids, messages.get(tx, ids))


def build_each(
    found: Sequence[tuple[Message, Request]],
    unreadable: Sequence[bytes],
    build: Callable[[Message, Request], T],
    build_unreadable: Callable[[bytes], T],
) -> list[T]:
    """Return what is shown of each message, newest first; one that cannot be shown is logged and marked."""
    built = {one: build_unreadable(one) for one in unreadable}
    for message, request in found:
        try:
            built[message.id] = build(message, request)
        except Exception as error:  # values that do not fit the text, as no version of ours has stored them
            _log_damage(message.id, error)
            built[message.id] = build_unreadable(message.id)
    return [built[one] for one in sorted(built, reverse=True)]


def build_one(message_id: bytes, build: Callable[[], T]) -> T:
    """Return what is shown of one message.

    Raises RecordDamaged for one that cannot be shown, which is logged.
    """
    try:
        return build()
    except Exception as error:  # as in build_each
        _log_damage(message_id, error)
        raise RecordDamaged("message", message_id) from None


def _log_damage(message_id: bytes, error: Exception) -> None:
    log.error("message cannot be shown", extra={"message_id": message_id.hex(), **describe_error(error)})


@asynccontextmanager
async def take_search_turn(context: Context, account_id: int) -> AsyncIterator[None]:
    """Hold one of the account's searches.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE, with the remedy, where the search takes too long.
    """
    async with context.searches.acquire(account_id):
        try:
            yield
        except ReadTimedOut:
            raise Refused(Code.SERVICE_UNAVAILABLE, "", SEARCH_TOO_SLOW) from None


async def get_request_details(
    context: Context, account_id: int, request_id: bytes | None, page: int, page_size: int
) -> RequestDetails:
    """Return the details of a request, also of one that cannot be read.

    Raises Refused(REQUEST_NOT_FOUND), also for another account's.
    """
    if request_id is None:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    return await context.store.read(_read_request_details, account_id, request_id, page, page_size)


@transaction(reader=Reader.SEARCHES)
def _read_request_details(tx: Tx, account_id: int, request_id: bytes, page: int, page_size: int) -> RequestDetails:
    if requests.account_ids(tx, [request_id]).get(request_id) != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    counts = messages.count_by_status(tx, account_id, *identifiers.message_id_range(request_id))
    found = history.find(tx, MessageFilter(account_id, request_id=request_id), page, page_size)
    return RequestDetails(request_id, requests.get(tx, [request_id]).get(request_id), counts, found)


NEWEST = 2**62
"""An id above all others."""


async def list_after(context: Context, account_id: int, after: int, limit: int) -> list[Inbound]:
    """Return some messages of an account, oldest first, after an id."""
    return await context.store.read(inbound.list_after, account_id, after, limit)


async def list_before(
    context: Context, account_id: int | None, before: int, limit: int, sender: str | None = None
) -> list[Inbound]:
    """Return some messages of an account, newest first, before an id; None: those that belong to no account.

    With `sender`, only those that this number has sent.
    """
    return await context.store.read(inbound.list_before, account_id, before, limit, sender)


async def list_recent_phones(context: Context, account_id: int, limit: int) -> list[str]:
    """Return the numbers that received a message of an account, latest first."""
    return await context.store.read(simulator.list_recent_phones, account_id, context.world.now(), limit)


async def list_messages(
    context: Context, account_id: int, number: str, limit: int
) -> tuple[int, list[SimulatedMessage]]:
    """Return how many messages of an account a phone holds, and the latest of them."""
    return await context.store.read(simulator.list_on_phone, account_id, number, context.world.now(), 1, limit)
