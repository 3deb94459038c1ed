"""The history: what was sent, what became of it, and why."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.history import filters
from pabal.console.history.advice import ADVICE
from pabal.console.history.filters import Search
from pabal.console.shell.page_request import Visit
from pabal.domain import identifiers, phone
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import Instant
from pabal.domain.message import Product, Status
from pabal.service.history import timeline
from pabal.service.history.timeline import Story
from pabal.service.sending import compose
from pabal.store import queue
from pabal.store.message_search import NEWEST, Walked
from pabal.store.messages import Message
from pabal.store.requests import Request

PAGE_SIZE = 50
HISTORY = "/console/history"
SENDABLE = [each for each in Product if each not in (Product.EMAIL, Product.PUSH)]


class Row(NamedTuple):
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


class Moment(NamedTuple):
    """Something that happened to a message, or will."""

    time: str
    what: str
    is_bad: bool = False


async def show_history(visit: Visit) -> Response:
    """Show a page of the messages that the visitor looks for."""
    search = filters.read(visit.given, visit.account_id, visit.speech)
    walked = Walked([], None)
    if search.wanted:
        walked = await timeline.look_through(visit.context, search.wanted, search.before or NEWEST, PAGE_SIZE)
    return visit.page(
        "history/history.html",
        400 if search.problems else 200,
        search=search,
        told=[(each.field, each.message(visit.speech.locale)) for each in search.problems],
        rows=[_row(visit, message, request) for message, request in walked.found],
        older=_address(search, walked.further) if walked.further else "",
        newest=_address(search) if search.before else "",
        looked_until=_looked_until(visit, walked),
        export=_address(search, path=f"{HISTORY}.csv"),
        workbook=_address(search, path=f"{HISTORY}.xlsx"),
        products=SENDABLE,
        statuses=list(Status),
    )


async def show_message(visit: Visit) -> Response:
    """Tell the story of one message.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    message_id = identifiers.read_message(str(visit.request.path_params["message"]))
    story = await timeline.tell(visit.context, visit.account_id, message_id) if message_id else None
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
        moments=_moments(visit, story),
        origin=story.origin.id.hex() if story.origin else "",
        fallback=story.fallback.id.hex() if story.fallback else "",
        other=visit.words(other.status.label) if other else "",
    )


def _row(visit: Visit, message: Message, request: Request) -> Row:
    return Row(
        id=message.id.hex(),
        time=visit.speech.stamp(identifiers.requested_at(request.id)),
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
        return phone.hyphenated(request.fallback_sender) if request.fallback_sender else ""
    return request.channel_id or (phone.hyphenated(request.sender) if request.sender else "")


def _address(search: Search, before: bytes | None = None, path: str = HISTORY) -> str:
    fields = {name: value for name, value in search.typed.items() if value}
    if before:
        fields["before"] = before.hex()
    return f"{path}?{urlencode(fields)}" if fields else path


def _looked_until(visit: Visit, walked: Walked) -> str:
    """Return how far a search has looked that found less than a page, empty where it has seen all."""
    if walked.further is None or len(walked.found) >= PAGE_SIZE:
        return ""
    return visit.speech.stamp(identifiers.requested_at(walked.further))


def _moments(visit: Visit, story: Story) -> Sequence[Moment]:
    """Return what happened to a message, in order, and last what it waits for, if it does."""
    message, request, place = story.message, story.request, story.place
    requested_at = identifiers.requested_at(request.id)

    def at(when: Instant, key: str, *, is_bad: bool = False, **values: object) -> Moment:
        return Moment(visit.speech.stamp(when), visit.say(key, **values), is_bad)

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
        found.append(at(place.ready_at, _waits_for(place.lane, place.claimed_at), carrier=place.carrier))
    return found


def _waits_for(lane: int, claimed_at: Instant | None) -> str:
    if lane == queue.TAKEN:
        return "story.taken"
    return "story.in_hand" if claimed_at is not None else "story.waits"
