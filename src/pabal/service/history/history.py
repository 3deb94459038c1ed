"""Looks up messages and requests, and says why those that wait have not been sent yet."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import Enum
from typing import NamedTuple, TypeVar

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.people.inbound import Inbound as Inbound
from pabal.domain.sends.message import SimulatedMessage, Status
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged, describe_error
from pabal.store.engine.base import NodeUnavailable, Reader, ReadTimedOut, Tx, transaction
from pabal.store.messages import campaign_requests, history, inbound, message_search, messages, requests
from pabal.store.messages.history import MessageFilter, MessagePage, QueuePosition, ReadMessages
from pabal.store.messages.message_search import SearchPage
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.queue import carriers, simulator
from pabal.store.queue.carriers import UP, CarrierState
from pabal.store.queue.queue import Lane

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


UNREMARKABLE_MS = 10 * SECOND
"""Whoever waits for less waits for nothing but the next batch."""


class WaitReason(Enum):
    """Why a message waits; the values are those of texts."""

    GONE = "gone"
    """Its carrier is not configured any more."""
    DOWN = "down"
    """Its carrier is not connected."""
    ASIDE = "aside"
    """Its carrier is paused after errors."""
    LATER = "later"
    """It is tried again, or may be sent, at a later time."""
    QUEUED = "queued"
    """Others are before it."""


class Wait(NamedTuple):
    """Why a message waits, at which carrier, and since or until when."""

    reason: WaitReason
    carrier: str
    at: Instant


def find_outage(name: str, states: Iterable[CarrierState]) -> CarrierState | None:
    """Return the state of a carrier that no worker sees up, None for others."""
    found = [each for each in states if each.name == name]
    if not found or any(each.state == UP for each in found):
        return None
    return max(found, key=lambda each: each.since)


def explain(
    position: QueuePosition, states: Sequence[CarrierState], configured: Iterable[str], now: Instant
) -> Wait | None:
    """Return why the message at a place in the queue waits, None where a carrier has it, or it is its turn."""
    carrier = position.carrier
    if position.lane == Lane.AWAITING_RECEIPT:
        return None
    if carrier not in configured:
        return Wait(WaitReason.GONE, carrier, position.ready_at)
    if outage := find_outage(carrier, states):
        word = WaitReason.DOWN if outage.state == WaitReason.DOWN.value else WaitReason.ASIDE
        return Wait(word, carrier, outage.since)
    if position.claimed_at is not None:
        return None
    if position.ready_at > now + UNREMARKABLE_MS:
        return Wait(WaitReason.LATER, carrier, position.ready_at)
    is_late = position.ready_at < now - UNREMARKABLE_MS
    return Wait(WaitReason.QUEUED, carrier, position.ready_at) if is_late else None


async def find_waits(context: Context, sent_ids: Sequence[bytes]) -> dict[bytes, Wait]:
    """Return why the first waiting message of each request or campaign waits, of those that have a reason."""
    if not sent_ids:
        return {}
    found, states = await context.store.read(_read_waiting, sent_ids)
    now = context.world.now()
    waits = {one: explain(position, states, context.carriers, now) for one, position in found.items()}
    return {one: wait for one, wait in waits.items() if wait}


async def find_wait_of_message(context: Context, position: QueuePosition | None) -> Wait | None:
    """Return why a message waits, by its place in the queue."""
    if position is None:
        return None
    states = await context.store.read(_read_states)
    return explain(position, states, context.carriers, context.world.now())


@transaction(reader=Reader.SEARCHES)
def _read_waiting(tx: Tx, sent_ids: Sequence[bytes]) -> tuple[Mapping[bytes, QueuePosition], list[CarrierState]]:
    found = {one: history.first_waiting(tx, campaign_requests.first_waiting(tx, one) or one) for one in sent_ids}
    return {one: each for one, each in found.items() if each}, carriers.list_states(tx)


@transaction(reader=Reader.SEARCHES)
def _read_states(tx: Tx) -> list[CarrierState]:
    return carriers.list_states(tx)
