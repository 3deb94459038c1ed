"""A campaign or a request as pages show it: what it is, how far it has come, and its result in a few words."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.console.history.waits import describe_wait
from pabal.console.overview.figures import format_percent
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.campaign_message import REQUESTS_PATH
from pabal.domain.base import identifiers
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Status
from pabal.service.history.waiting import Wait, find_waits
from pabal.service.sending.campaigns.progress import SentItem

METER_WIDTH = 1000
"""The width of a meter in its own units."""
MIN_WIDTH = 2
"""The least width of a part, so that it stays visible."""
_CLASS_BY_STATE = {
    CampaignState.HALTED: "fail",
    CampaignState.CANCELLED: "cancel",
    CampaignState.CANCELLING: "cancel",
    CampaignState.DISCARDED: "cancel",
    CampaignState.MAKING: "sending",
}


class ReceiverCounts(NamedTuple):
    """Receivers by what became of them; each is counted once. Their texts are `follow.count.<word>`."""

    completed: int
    fallback: int
    """Reached by a fallback."""
    fail: int
    """Neither the message nor a fallback arrived."""
    cancel: int
    sending: int
    """The message or its fallback is on its way."""
    waiting: int

    @property
    def reached(self) -> int:
        return self.completed + self.fallback

    @property
    def ended(self) -> int:
        """Those who were reached or were not; a rate is of these."""
        return self.reached + self.fail

    @property
    def total(self) -> int:
        return sum(self)


class MeterPart(NamedTuple):
    """A part of a meter: its colour, where it begins, how wide it is."""

    word: str
    begin: int
    width: int


class RequestEntry(NamedTuple):
    """A campaign or a request as pages show it."""

    id: str
    path: str
    time: str
    short_time: str
    kind: str
    name: str
    state: str
    state_class: str
    scheduled: str
    total: int
    counts: list[tuple[str, int]]
    unmade: int
    unsent: int
    meter: list[MeterPart]
    is_campaign: bool
    is_code: bool
    is_moving: bool
    has_ended: bool
    has_waiting: bool
    is_for_later: bool
    why: str
    """Why it waits; empty: it does not, or only for its time."""


async def build_entries(request: PageRequest, items: Sequence[SentItem]) -> list[RequestEntry]:
    """Return campaigns and requests as pages show them, with why those that wait do."""
    waiting = [each.id for each in items if each.progress.waiting and not each.is_scheduled(request.now)]
    waits = await find_waits(request.context, waiting)
    return [_build_entry(request, each, waits.get(each.id)) for each in items]


async def build_entry(request: PageRequest, sent: SentItem) -> RequestEntry:
    """Return a campaign or a request as pages show it, with why it waits if it does."""
    (entry,) = await build_entries(request, [sent])
    return entry


def _build_entry(request: PageRequest, sent: SentItem, wait: Wait | None) -> RequestEntry:
    campaign, send_request, now = sent.campaign, sent.request, request.now
    counts = count_receivers(sent)
    state, word = describe_state(request, sent, counts)
    scheduled_at, requested_at = sent.scheduled_at, identifiers.requested_at(sent.id)
    is_scheduled = scheduled_at is not None and scheduled_at > requested_at
    name = campaign.name if campaign else ""
    if send_request and not campaign:
        text = send_request.subject or send_request.content[:60]
        name = request.shown_text(text, send_request, has_ended=sent.has_ended)
    return RequestEntry(
        id=sent.id.hex(),
        path=f"{REQUESTS_PATH}/{sent.id.hex()}",
        time=request.time(requested_at),
        short_time=request.short_minute(requested_at),
        kind=request.translate(sent.product.label),
        name=name,
        state=state,
        state_class=word,
        scheduled=request.minute(scheduled_at) if is_scheduled else "",
        total=sent.total,
        counts=[(word, count) for word, count in counts._asdict().items() if count],
        unmade=sent.not_yet_accepted,
        unsent=sent.never_accepted,
        meter=_draw_meter(counts, max(sent.total, counts.total), is_for_later=sent.is_scheduled(now)),
        is_campaign=campaign is not None,
        is_code=send_request is not None and send_request.is_code,
        is_moving=sent.is_in_progress(now),
        has_ended=sent.has_ended,
        has_waiting=sent.has_waiting,
        is_for_later=sent.is_scheduled(now),
        why=describe_wait(request, wait),
    )


def count_receivers(sent: SentItem) -> ReceiverCounts:
    """Return the receivers of what was sent by what became of them."""
    progress = sent.progress
    open_fallbacks = 0 if sent.has_ended else progress.open_fallbacks
    return ReceiverCounts(
        completed=progress.completed,
        fallback=progress.fallbacks_completed,
        fail=max(0, progress.fail - progress.fallbacks_completed - open_fallbacks),
        cancel=progress.cancel,
        sending=progress.sending + open_fallbacks,
        waiting=progress.waiting,
    )


def describe_state(request: PageRequest, sent: SentItem, counts: ReceiverCounts) -> tuple[str, str]:
    """Return the state, or the result, in a few words, and the CSS class that colours it.

    A result is bad from the failure rate on that accounts are told of by mail.
    """
    campaign = sent.campaign
    if campaign and campaign.state is not CampaignState.MADE:
        return request.translate(campaign.state.label), _CLASS_BY_STATE.get(campaign.state, "waiting")
    if sent.is_scheduled(request.now):
        return request.t("follow.scheduled_for", time=request.short_minute(sent.scheduled_at)), "scheduled"
    if not sent.has_ended:
        done = 100 * (counts.ended + counts.cancel) // sent.total if sent.total else 0
        return request.t("follow.sending", percent=done), "sending"
    if not counts.ended:
        return request.translate(Status.CANCEL.label), "cancel"
    if counts.fail * 100 >= counts.ended * request.context.policy.notices.failure_percent:
        return request.t("follow.failed", failed=counts.fail, ended=counts.ended), "fail"
    return request.t("follow.reached", share=format_percent(counts.reached, counts.ended)), "completed"


def _draw_meter(counts: ReceiverCounts, total: int, *, is_for_later: bool) -> list[MeterPart]:
    """Return the parts of a meter, those of final statuses first; what waits for its time is no part yet."""
    found: list[MeterPart] = []
    begin = 0
    for word, count in counts._asdict().items():
        if count and total and not (is_for_later and word == "waiting"):
            width = max(MIN_WIDTH, round(METER_WIDTH * count / total))
            found.append(MeterPart(word, begin, width))
            begin += width
    return found
