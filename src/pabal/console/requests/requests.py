"""Campaigns and requests with live progress; those that wait can be sent now or cancelled."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.campaign_message import REQUESTS_PATH, UPLOAD_PATH
from pabal.console.upload.upload import NO_CONTENT, RELOAD_HEADERS
from pabal.domain import identifiers
from pabal.domain.campaign import CampaignState
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Status
from pabal.domain.sending import Sending
from pabal.service.errors import RecordDamaged
from pabal.service.sending import campaign_files, campaigns, send_now
from pabal.service.sending import progress as progress_service
from pabal.service.sending.campaign_files import Campaign
from pabal.service.sending.cancel import cancel_request
from pabal.service.sending.progress import AFTER_NEWEST_ID, CampaignProgress, Request, SentItem

PAGE_SIZE = 20
MAX_POLLED = 20
SHOWN_PARTS = 200
BAR_WIDTH = 1000
"""The width of a bar in its own units."""


class BarSegment(NamedTuple):
    """A part of a bar: its status, where it begins, how wide it is."""

    word: str
    begin: int
    width: int


class PartList(NamedTuple):
    """The requests of a campaign: number, id and receivers of each that is shown, and how many are not."""

    shown: Sequence[tuple[int, str, int]] = ()
    hidden: int = 0
    is_news: bool = False
    """Whether there are more of them than the page shows."""

    @property
    def total(self) -> int:
        return len(self.shown) + self.hidden


class RequestEntry(NamedTuple):
    """A campaign or a request as pages show it."""

    id: str
    path: str
    time: str
    kind: str
    name: str
    state: str
    state_class: str
    scheduled: str
    total: int
    counts: list[tuple[Status, int]]
    fallbacks: int
    unmade: int
    unsent: int
    segments: list[BarSegment]
    is_campaign: bool
    is_moving: bool
    has_ended: bool
    has_waiting: bool
    is_for_later: bool


async def list_requests(request: PageRequest) -> Response:
    """Show what was sent, newest first."""
    before = identifiers.parse_request_id(request.field("before"))
    listed = await progress_service.list_sent(
        request.context, request.account_id, before or AFTER_NEWEST_ID, PAGE_SIZE
    )
    return request.render(
        "requests/requests.html",
        entries=[build_entry(request, each) for each in listed.items],
        older=f"{REQUESTS_PATH}?before={listed.next_before.hex()}" if listed.next_before else "",
        newest=REQUESTS_PATH if before else "",
        news="",
        unreadable=[one.hex() for one in listed.unreadable],
    )


async def show_progress(request: PageRequest) -> Response:
    """Answer with the progress of the entries that the page polls."""
    words = request.field("ids").split(",")[:MAX_POLLED]
    found = []
    for word in words:
        with suppress(RecordDamaged):  # the page tells it when it is loaded again
            sent_id = identifiers.parse_request_id(word)
            found.append(await progress_service.get_sent(request.context, request.account_id, sent_id))
    is_one = bool(request.field("one"))
    if is_one and any(each and each.campaign and each.campaign.state is CampaignState.HALTED for each in found):
        return Response(status_code=NO_CONTENT, headers=RELOAD_HEADERS)  # the whole page shows the reason
    entries = [build_entry(request, each) for each in found if each]
    ended = [each.name or each.kind for each in entries if not each.is_moving]
    news = request.t("follow.news", names=", ".join(ended)) if ended else ""
    parts = await _part_list(request, found[0].campaign if is_one and found and found[0] else None)
    return request.render(
        "requests/requests_progress.html",
        entries=entries,
        news=news,
        is_one=is_one,
        parts=parts._replace(is_news=is_one and str(parts.total) != request.field("parts")),
    )


async def show_request(request: PageRequest) -> Response:
    """Show a campaign or a request.

    Raises Refused(NOT_FOUND), also for another account's, and RecordDamaged.
    """
    sent = await _get_progress(request)
    if sent.campaign and sent.campaign.state.is_before_sending and request.is_allowed(UPLOAD_PATH, "POST"):
        return request.redirect(f"{UPLOAD_PATH}/{sent.id.hex()}")
    return await _render_request(request, sent)


async def cancel_request_or_campaign(request: PageRequest) -> Response:
    """Cancel what is still waiting."""
    sent = await _get_progress(request)
    deed = request.audit_entry("campaign.cancel" if sent.campaign else "request.cancel", sent.id.hex())
    if sent.campaign:
        await campaigns.cancel_campaign(request.context, sent.campaign, deed)
    else:
        await cancel_request(request.context, request.account_id, sent.id, None, deed)
    return request.redirect(f"{REQUESTS_PATH}/{sent.id.hex()}")


async def send_request_now(request: PageRequest) -> Response:
    """Send now what is scheduled for later."""
    sent = await _get_progress(request)
    try:
        if sent.campaign:
            deed = request.audit_entry("campaign.now", sent.id.hex())
            await campaigns.send_campaign_now(request.context, sent.campaign, deed)
        else:
            deed = request.audit_entry("request.now", sent.id.hex())
            await send_now.send_now(request.context, request.account_id, sent.id, deed)
    except Refused as refused:
        return await _render_request(request, sent, refused)
    return request.redirect(f"{REQUESTS_PATH}/{sent.id.hex()}")


async def resume_campaign(request: PageRequest) -> Response:
    """Resume a campaign that was halted.

    Raises Refused(NOT_FOUND) for what is no campaign.
    """
    sent = await _get_progress(request)
    if sent.campaign is None:
        raise Refused(Code.NOT_FOUND)
    await campaigns.resume(request.context, sent.campaign, request.audit_entry("campaign.go_on", sent.id.hex()))
    return request.redirect(f"{REQUESTS_PATH}/{sent.id.hex()}")


async def _get_progress(request: PageRequest) -> SentItem:
    word = str(request.http.path_params["request"])
    found = await progress_service.get_sent(request.context, request.account_id, identifiers.parse_request_id(word))
    if found is None:
        raise Refused(Code.NOT_FOUND)
    return found


async def _render_request(request: PageRequest, sent: SentItem, refused: Refused | None = None) -> Response:
    campaign, send_request = sent.campaign, sent.request
    above = await progress_service.campaign_of_request(request.context, sent.id) if send_request else None
    sending = await campaign_files.get_sending(request.context, sent.id) if campaign else None
    return request.render(
        "requests/request.html",
        refused.code.http_status if refused else 200,
        entry=build_entry(request, sent),
        campaign=campaign,
        send_request=send_request,
        content=_content(send_request, sending),
        told=[each.message(request.locale.language) for each in refused.problems] if refused else [],
        reason=request.pick_language(campaign.reason) if campaign else [],
        is_halted=campaign is not None and campaign.state is CampaignState.HALTED,
        is_paused=campaign is not None and campaign.state is CampaignState.MAKING and bool(campaign.reason),
        parts=await _part_list(request, campaign),
        above=above.hex() if above else "",
        has_failed=sent.progress.fail > 0,
        is_editable=send_request is not None and not above and sent.is_scheduled(request.now),
        news="",
    )


async def _part_list(request: PageRequest, campaign: Campaign | None) -> PartList:
    found = await progress_service.campaign_parts(request.context, campaign) if campaign else []
    shown = [(each.number, each.request_id.hex(), each.receivers) for each in found[:SHOWN_PARTS]]
    return PartList(shown, len(found) - len(shown))


def _content(send_request: Request | None, sending: Sending | None) -> str:
    if send_request:
        return send_request.content
    return sending.content if sending else ""


def build_entry(request: PageRequest, sent: SentItem) -> RequestEntry:
    """Return a campaign or a request as pages show it."""
    campaign, send_request, now = sent.campaign, sent.request, request.now
    state, word = _state(request, sent)
    scheduled_at = sent.scheduled_at
    is_scheduled = scheduled_at is not None and scheduled_at > identifiers.requested_at(sent.id)
    name = (
        campaign.name if campaign else (send_request.subject or send_request.content[:60] if send_request else "")
    )
    return RequestEntry(
        id=sent.id.hex(),
        path=f"{REQUESTS_PATH}/{sent.id.hex()}",
        time=request.locale.format_timestamp(identifiers.requested_at(sent.id)),
        kind=request.translate(sent.product.label),
        name=name,
        state=state,
        state_class=word,
        scheduled=request.locale.format_timestamp(scheduled_at)[:16]
        if is_scheduled and scheduled_at is not None
        else "",
        total=sent.total,
        counts=[(status, getattr(sent.progress, status.code)) for status in Status],
        fallbacks=sent.progress.fallbacks,
        unmade=sent.not_yet_accepted,
        unsent=sent.never_accepted,
        segments=_bar_segments(sent.progress, max(sent.total, sent.progress.total)),
        is_campaign=campaign is not None,
        is_moving=sent.is_in_progress(now),
        has_ended=sent.has_ended,
        has_waiting=sent.has_waiting,
        is_for_later=sent.is_scheduled(now),
    )


def _state(request: PageRequest, sent: SentItem) -> tuple[str, str]:
    """Return the text of the state, and the CSS class that colours it."""
    campaign = sent.campaign
    if campaign and campaign.state is not CampaignState.MADE:
        word = {CampaignState.HALTED: "fail", CampaignState.CANCELLED: "cancel"}.get(campaign.state, "waiting")
        return request.translate(campaign.state.label), word
    if sent.is_scheduled(request.now):
        return request.t("follow.scheduled"), "waiting"
    if not sent.has_ended:
        return request.translate(Status.SENDING.label), "sending"
    if sent.total and sent.progress.cancel == sent.total:
        return request.translate(Status.CANCEL.label), "cancel"
    return request.t("follow.ended"), "completed"


def _bar_segments(progress: CampaignProgress, total: int) -> list[BarSegment]:
    """Return the segments of a bar, those of final statuses first."""
    found = []
    begin = 0
    for status in (Status.COMPLETED, Status.FAIL, Status.CANCEL, Status.SENDING, Status.WAITING):
        count = getattr(progress, status.code)
        if count and total:
            width = max(2, round(BAR_WIDTH * count / total))
            found.append(BarSegment(status.code, begin, width))
            begin += width
    return found
