"""The history: what was sent, what became of it, and why."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.history import filters
from pabal.console.history.advice import ADVICE
from pabal.console.history.filters import HistorySearch
from pabal.console.shell.page_request import Visit
from pabal.domain import identifiers, phone
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import Instant
from pabal.domain.message import Product, Status
from pabal.service.history import timeline
from pabal.service.history.timeline import Timeline
from pabal.service.sending import compose
from pabal.store import queue
from pabal.store.message_search import NEWEST, SearchPage
from pabal.store.messages import Message
from pabal.store.requests import Request

PAGE_SIZE = 50
HISTORY_PATH = "/console/history"
SENDABLE_PRODUCTS = [each for each in Product if each not in (Product.EMAIL, Product.PUSH)]


class MessageRow(NamedTuple):
    """A message in the list."""

    id: str
    time: str
    kind: str
    receiver: str
    status: Status
    state: str
    reason: str
    text: str
    is_fallback: bool


class TimelineEntry(NamedTuple):
    """Something that happened to a message, or will."""

    time: str
    description: str
    is_failure: bool = False


async def show_history(visit: Visit) -> Response:
    """Show a page of the messages that the visitor looks for."""
    search = filters.read_search(visit.given, visit.account_id, visit.speech)
    walked = SearchPage([], None)
    if search.message_filter:
        walked = await timeline.search_messages(
            visit.context, search.message_filter, search.before or NEWEST, PAGE_SIZE
        )
    return visit.page(
        "history/history.html",
        400 if search.problems else 200,
        search=search,
        told=[(each.field, each.message(visit.speech.language)) for each in search.problems],
        rows=[_row(visit, message, request) for message, request in walked.found],
        older=_history_url(search, walked.next_before) if walked.next_before else "",
        newest=_history_url(search) if search.before else "",
        looked_until=_searched_until(visit, walked),
        export=_history_url(search, path=f"{HISTORY_PATH}.csv"),
        workbook=_history_url(search, path=f"{HISTORY_PATH}.xlsx"),
        products=SENDABLE_PRODUCTS,
        statuses=list(Status),
    )


async def show_message(visit: Visit) -> Response:
    """Tell the story of one message.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    message_id = identifiers.parse_message_id(str(visit.request.path_params["message"]))
    story = await timeline.get_timeline(visit.context, visit.account_id, message_id) if message_id else None
    if story is None:
        raise Refused(Code.NOT_FOUND)
    message, request = story.message, story.request
    outcome = message.outcome
    other = story.origin or story.fallback
    return visit.page(
        "history/message.html",
        row=_row(visit, message, request),
        request=request,
        request_id=request.id.hex(),
        sender=_sender(message, request),
        subject=compose.subject_of(message, request),
        content=compose.content_of(message, request),
        buttons=[str(one["name"]) for one in compose.buttons_of(message, request)],
        has_image=request.has_image and story.origin is None,
        reference=message.reference,
        advice=visit.words(ADVICE[outcome]) if outcome else "",
        moments=_timeline_entries(visit, story),
        origin=story.origin.id.hex() if story.origin else "",
        fallback=story.fallback.id.hex() if story.fallback else "",
        other=visit.words(other.status.label) if other else "",
    )


def _row(visit: Visit, message: Message, request: Request) -> MessageRow:
    return MessageRow(
        id=message.id.hex(),
        time=visit.speech.format_timestamp(identifiers.requested_at(request.id)),
        kind=visit.words(message.product.label),
        receiver=visit.number(message.receiver),
        status=message.status,
        state=visit.words(message.status.label),
        reason=visit.words(message.outcome.label) if message.outcome else "",
        text=compose.content_of(message, request),
        is_fallback=compose.is_fallback(message, request),
    )


def _sender(message: Message, request: Request) -> str:
    """Return whom the receiver sees it from."""
    if compose.is_fallback(message, request):
        return phone.hyphenate(request.fallback_sender) if request.fallback_sender else ""
    return request.channel_id or (phone.hyphenate(request.sender) if request.sender else "")


def _history_url(search: HistorySearch, before: bytes | None = None, path: str = HISTORY_PATH) -> str:
    fields = {name: value for name, value in search.typed.items() if value}
    if before:
        fields["before"] = before.hex()
    return f"{path}?{urlencode(fields)}" if fields else path


def _searched_until(visit: Visit, walked: SearchPage) -> str:
    """Return how far a search has looked that found less than a page, empty where it has seen all."""
    if walked.next_before is None or len(walked.found) >= PAGE_SIZE:
        return ""
    return visit.speech.format_timestamp(identifiers.requested_at(walked.next_before))


def _timeline_entries(visit: Visit, story: Timeline) -> Sequence[TimelineEntry]:
    """Return what happened to a message, in order, and last what it waits for, if it does."""
    message, request, place = story.message, story.request, story.queue_entry
    requested_at = identifiers.requested_at(request.id)

    def at(when: Instant, key: str, *, is_bad: bool = False, **values: object) -> TimelineEntry:
        return TimelineEntry(visit.speech.format_timestamp(when), visit.say(key, **values), is_bad)

    found = [at(requested_at, "story.accepted")]
    if story.origin and story.origin.completed_at is not None:
        found.append(at(story.origin.completed_at, "story.stands_in"))
    if request.scheduled_at > requested_at:
        found.append(at(request.scheduled_at, "story.scheduled"))
    found += [
        at(each.ended_at, f"story.{each.verdict}", is_bad=True, carrier=each.carrier, number=each.number)
        for each in story.tries
    ]
    if message.completed_at is not None:
        is_bad = message.status is Status.FAIL
        reason = visit.words(message.outcome.label) if message.outcome else ""
        found.append(at(message.completed_at, f"story.{message.status.word}", is_bad=is_bad, reason=reason))
    elif place:
        found.append(at(place.ready_at, _waiting_key(place.lane, place.claimed_at), carrier=place.carrier))
    return found


def _waiting_key(lane: int, claimed_at: Instant | None) -> str:
    if lane == queue.AWAITING_RECEIPT:
        return "story.taken"
    return "story.in_hand" if claimed_at is not None else "story.waits"
