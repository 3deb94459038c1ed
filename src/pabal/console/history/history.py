"""The pages of the message history and of one message."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history import filters
from pabal.console.history.codes import advise
from pabal.console.history.filters import HistorySearch, list_offered
from pabal.console.history.history_texts import describe_wait
from pabal.console.history.phone import Bubble, preview_attachment, shown_time
from pabal.console.shell.form_fields import page_url
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import SECOND
from pabal.domain.kakao.template_parts import NO_PARTS
from pabal.domain.people import phone
from pabal.domain.sends.message import PRODUCT_BY_CODE, STATUS_BY_CODE, Outcome, Product, Status
from pabal.domain.sends.price import format_won
from pabal.service.history import timeline
from pabal.service.history.history import Wait, build_each, build_one, find_wait_of_message, find_waits
from pabal.service.history.timeline import (
    ACCEPTED_LABEL,
    NEWEST,
    Message,
    MessageEvent,
    MessageEventKind,
    Request,
    SearchPage,
    Timeline,
    current_carrier,
    list_events,
)
from pabal.service.sending import compose

PAGE_SIZE = 50
HISTORY_PATH = "/console/history"
OFFERED_PERIODS = ("today", "yesterday", "week", "month", "last_month")
"""Periods that one click chooses; more than a month is slow to read."""
SENDABLE_PRODUCTS = [each for each in Product if each not in (Product.EMAIL, Product.PUSH)]


class MessageRow(NamedTuple):
    """A message in the list."""

    id: str
    time: str
    short_time: str
    kind: str
    receiver: str
    status: Status
    state: str
    state_class: str
    reason: str
    text: str
    is_code: bool
    is_fallback: bool
    why: str
    """Why it waits; empty: it does not."""
    is_unreadable: bool = False


class UnreadableRow(NamedTuple):
    """A message in the list that is stored, but cannot be read."""

    id: str
    time: str
    is_unreadable: bool = True


class ChosenFilter(NamedTuple):
    """A filter that is chosen, and the URL of the search without it."""

    name: str
    value: str
    url: str
    is_beside: bool
    """Whether it is chosen in the bar itself, not behind its button."""


class TimelineEntry(NamedTuple):
    """An event of a message, past or expected."""

    time: str
    description: str
    is_failure: bool = False
    is_expected: bool = False


async def show_history(request: PageRequest) -> Response:
    """Show a page of the messages that the search finds."""
    search = filters.read_search(request)
    result = SearchPage([], None)
    if not search.problems:
        result = await timeline.search_messages(
            request.context, search.message_filter, search.before or NEWEST, PAGE_SIZE
        )
    fallbacks = await timeline.get_fallback_statuses(request.context, result.found)
    waits = await _find_waits(request, result)
    return request.render(
        "history/history.html",
        400 if search.problems else 200,
        search=search,
        offered=_offered_periods(request, search),
        chosen=_chosen_filters(request, search),
        errors=[(each.field, request.tell(each)) for each in search.problems],
        rows=build_each(
            result.found,
            result.unreadable,
            lambda message, send_request: _row(
                request, message, send_request, fallbacks.get(message.id), waits.get(send_request.id)
            ),
            lambda message_id: UnreadableRow(message_id.hex(), request.time(identifiers.requested_at(message_id))),
        ),
        older=_history_url(search, result.next_before) if result.next_before else "",
        newest=_history_url(search) if search.before else "",
        looked_until=_searched_until(request, result),
        export=_history_url(search, path=f"{HISTORY_PATH}.csv"),
        workbook=_history_url(search, path=f"{HISTORY_PATH}.xlsx"),
        products=SENDABLE_PRODUCTS,
        statuses=list(Status),
        reasons=filters.OUTCOME_BY_CODE,
    )


async def show_message(request: PageRequest) -> Response:
    """Show one message with its timeline.

    Raises Refused(NOT_FOUND), also for another account's, and RecordDamaged.
    """
    message_id = identifiers.parse_message_id(str(request.http.path_params["message"]))
    details = (
        await request.context.store.read(timeline.get_timeline, request.account_id, message_id)
        if message_id
        else None
    )
    if details is None:
        raise Refused(Code.NOT_FOUND)
    wait = await find_wait_of_message(request.context, details.queue_entry)
    shown = build_one(details.message.id, lambda: _shown_values(request, details, wait))
    return request.render("history/message.html", back=_search_before(request), **shown)


def _search_before(request: PageRequest) -> str:
    """Return the URL of the search that led to this page, or that of an empty one."""
    _, found, query = request.http.headers.get("referer", "").partition(f"{HISTORY_PATH}?")
    return f"{HISTORY_PATH}?{query}" if found else HISTORY_PATH


def _shown_values(request: PageRequest, details: Timeline, wait: Wait | None) -> dict[str, object]:
    """Return what the page of a message shows."""
    message, send_request, delivery = details.message, details.request, details.delivery
    other = details.origin or details.fallback
    is_fallback = compose.is_fallback(message, send_request)
    brand = None if is_fallback else send_request.brand
    row = _row(request, message, send_request, details.fallback.status if details.fallback else None, wait)
    if row.why:
        row = row._replace(why=describe_wait(request, wait))  # the list has a short one
    return {
        "row": row,
        "send_request": send_request,
        "request_id": send_request.id.hex(),
        "sender": _sender(message, send_request),
        "brand": brand,
        "bubble": _bubble(request, message, send_request, row),
        "reference": message.reference,
        "cost": "" if delivery.cost is None else request.t("word.won", won=format_won(delivery.cost)),
        "carrier": current_carrier(details) or "",
        "carrier_code": delivery.carrier_code or "",
        "key": details.key.name if details.key else "",
        "expires": _deadline(request, message, send_request),
        "advice": " ".join(request.translate(each) for each in advise(message, details.fallback)),
        "moments": _timeline_entries(request, details),
        "origin": details.origin.id.hex() if details.origin else "",
        "fallback": details.fallback.id.hex() if details.fallback else "",
        "other": request.translate(other.status.label) if other else "",
    }


def _bubble(request: PageRequest, message: Message, send_request: Request, row: MessageRow) -> Bubble:
    """Return the message as the phone of its receiver shows it; without links, and a code stays hidden."""
    is_fallback = compose.is_fallback(message, send_request)
    brand = None if is_fallback else send_request.brand
    subject = compose.subject_of(message, send_request) or ""
    at = message.completed_at if message.status is Status.COMPLETED else None
    return Bubble(
        time=request.time(at),
        shown_time=shown_time(request, at) if at else "",
        kind=row.kind,
        is_token=False,
        is_talk=not message.product.is_text,
        is_alimtalk=message.product is Product.ALIMTALK,
        sender=_sender(message, send_request),
        subject=request.shown_text(subject, send_request, has_ended=message.completed_at is not None),
        content=row.text,
        buttons=[(each.name, "") for each in compose.buttons_of(message, send_request)],
        images=0 if is_fallback else send_request.images,
        parts=preview_attachment(brand.attachment) if brand else (),
        talk_parts=NO_PARTS if send_request.is_code else compose.parts_of(message, send_request),
    )


async def _find_waits(request: PageRequest, result: SearchPage) -> dict[bytes, Wait]:
    """Return why the requests wait whose messages should have been sent."""
    waiting = {
        send_request.id
        for message, send_request in result.found
        if message.status is Status.WAITING and send_request.scheduled_at <= request.now
    }
    return await find_waits(request.context, sorted(waiting))


def _row(
    request: PageRequest, message: Message, send_request: Request, fallback: Status | None, wait: Wait | None
) -> MessageRow:
    """Return a message as pages show it: one that failed and whose fallback arrived has reached its receiver."""
    state, word = request.translate(message.status.label), message.status.code
    if message.status is Status.WAITING and send_request.scheduled_at > request.now:
        state, word = (
            request.t("follow.scheduled_for", time=request.short_minute(send_request.scheduled_at)),
            "scheduled",
        )
    elif fallback is Status.COMPLETED:
        state, word = request.t("history.reached_by_fallback"), Status.COMPLETED.code
    elif fallback in (Status.WAITING, Status.SENDING):
        state, word = request.t("history.fallback_sending"), Status.SENDING.code
    return MessageRow(
        id=message.id.hex(),
        time=request.time(identifiers.requested_at(send_request.id)),
        short_time=request.short_minute(identifiers.requested_at(send_request.id)),
        kind=request.translate(message.product.label),
        receiver=request.phone_number(message.receiver),
        status=message.status,
        state=state,
        state_class=word,
        reason=request.translate(message.outcome.label) if message.outcome else "",
        text=request.shown_text(
            compose.content_of(message, send_request), send_request, has_ended=message.completed_at is not None
        ),
        is_code=send_request.is_code,
        is_fallback=compose.is_fallback(message, send_request),
        why=describe_wait(request, wait, is_short=True) if message.status is Status.WAITING else "",
    )


def _deadline(request: PageRequest, message: Message, send_request: Request) -> str:
    """Return until when a message that has not ended, or has expired, must be with a carrier; else empty."""
    if message.status not in (Status.WAITING, Status.SENDING) and message.outcome is not Outcome.EXPIRED:
        return ""
    return request.time(request.context.policy.deadline_of(send_request))


def _sender(message: Message, send_request: Request) -> str:
    """Return the sender that the receiver sees."""
    if compose.is_fallback(message, send_request):
        return phone.hyphenate(send_request.fallback_sender) if send_request.fallback_sender else ""
    return send_request.channel_id or (phone.hyphenate(send_request.sender) if send_request.sender else "")


def _history_url(search: HistorySearch, before: bytes | None = None, path: str = HISTORY_PATH) -> str:
    return page_url(path, {**search.typed, "before": before.hex() if before else ""})


def _offered_periods(request: PageRequest, search: HistorySearch) -> list[tuple[str, str, bool]]:
    """Return name, URL and whether it is chosen of each period that one click adds to the search."""
    today = datetime.fromtimestamp(request.now / SECOND, request.locale.zone).date()
    offered = []
    for each in list_offered(today):
        if each.word in OFFERED_PERIODS:
            days = {"requested_from": each.first.isoformat(), "requested_to": each.last.isoformat()}
            url = _history_url(search._replace(typed={**search.typed, **days}))
            is_chosen = all(search.typed[name] == day for name, day in days.items())
            offered.append((request.t(f"statistics.offered.{each.word}"), url, is_chosen))
    return offered


def _chosen_filters(request: PageRequest, search: HistorySearch) -> list[ChosenFilter]:
    """Return what the search is narrowed by, each with the way to leave it out; a period is one filter."""
    typed, found = search.typed, list[ChosenFilter]()
    for name in filters.FIELDS:
        period, _, side = name.rpartition("_")
        names = (f"{period}_from", f"{period}_to") if period in filters.PERIODS else (name,)
        values = [typed[each] for each in names]
        if (len(names) > 1 and side == "to") or not any(values):
            continue
        first = _shown_value(request, name, values[0])
        value = first if len(names) == 1 or values[0] == values[1] else f"{values[0]}~{values[1]}"
        url = _history_url(search._replace(typed={**typed, **dict.fromkeys(names, "")}))
        key = f"history.{period}" if len(names) > 1 else f"history.{name}"
        found.append(ChosenFilter(request.t(key), value, url, name == "receiver"))
    return found


def _shown_value(request: PageRequest, name: str, value: str) -> str:
    """Return a filter as its list shows it; one that does not exist as it was typed."""
    if name == "product" and value in PRODUCT_BY_CODE:
        return request.translate(PRODUCT_BY_CODE[value].label)
    if name == "status" and value in STATUS_BY_CODE:
        return request.translate(STATUS_BY_CODE[value].label)
    outcome = filters.OUTCOME_BY_CODE.get(value) if name == "outcome" else None
    return f"{value} {request.translate(outcome.label)}" if outcome else value


def _searched_until(request: PageRequest, result: SearchPage) -> str:
    """Return how far an unfinished search with less than a page of results has looked; else empty."""
    if result.next_before is None or len(result.found) >= PAGE_SIZE:
        return ""
    return request.time(identifiers.requested_at(result.next_before))


def _timeline_entries(request: PageRequest, timeline: Timeline) -> Sequence[TimelineEntry]:
    """Return what happened to a message, in order, and last what it waits for, if anything."""
    entries = [_describe_event(request, timeline, each) for each in list_events(timeline)]
    if queue_entry := timeline.queue_entry:
        waiting = request.t(_waiting_key(timeline), carrier=queue_entry.carrier)
        entries.append(TimelineEntry(request.time(queue_entry.ready_at), waiting, is_expected=True))
    return entries


def _describe_event(request: PageRequest, timeline: Timeline, event: MessageEvent) -> TimelineEntry:
    message = timeline.message
    key, is_failure = f"timeline.{event.kind.value}", False
    if event.kind is MessageEventKind.VERDICT:
        key, is_failure = f"timeline.verdict.{event.verdict}", event.verdict != ACCEPTED_LABEL
    elif event.kind is MessageEventKind.ENDED:
        key, is_failure = f"timeline.{message.status.code}", message.status is Status.FAIL
    elif event.kind is MessageEventKind.FALLBACK and timeline.fallback:
        key = "timeline.fallback_made"
    reason = request.translate(message.outcome.label) if message.outcome else ""
    description = request.t(key, carrier=event.carrier, number=event.attempt, reason=reason)
    if event.code:
        description += " " + request.t("timeline.code", code=event.code)
    time = request.time(event.at)
    return TimelineEntry(time, description, is_failure, event.at is not None and event.at > request.now)


def _waiting_key(timeline: Timeline) -> str:
    """Return the text key of what a message in the queue waits for."""
    if timeline.awaits_receipt:
        return "timeline.awaiting_receipt"
    is_in_flight = timeline.queue_entry is not None and timeline.queue_entry.claimed_at is not None
    return "timeline.in_flight" if is_in_flight else "timeline.queued"
