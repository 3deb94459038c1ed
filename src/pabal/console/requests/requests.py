"""Campaigns and requests with live progress; those that wait can be sent now or cancelled."""

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history.history import SENDABLE_PRODUCTS
from pabal.console.requests.funnel import Funnel, build_funnel
from pabal.console.requests.list_filters import ListSearch, read_list_search
from pabal.console.send import kept_draft
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.campaign_message import REQUESTS_PATH, UPLOAD_PATH
from pabal.console.upload.upload import NO_CONTENT, RELOAD_HEADERS
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.domain.sends.campaign import MAX_NAME_CHARACTERS, CampaignState
from pabal.domain.sends.message import Status
from pabal.domain.sends.sending import Sending
from pabal.service.errors import RecordDamaged
from pabal.service.sending import send_now
from pabal.service.sending.campaigns import approvals, campaign_files, campaigns
from pabal.service.sending.campaigns import progress as progress_service
from pabal.service.sending.campaigns.campaign_files import Campaign
from pabal.service.sending.campaigns.progress import (
    AFTER_NEWEST_ID,
    MAX_UNSENT_COUNT,
    CampaignProgress,
    Request,
    SentItem,
    SentPage,
)
from pabal.service.sending.campaigns.sent_filter import SentState
from pabal.service.sending.cancel import cancel_request

UNSENT_PATH = f"{REQUESTS_PATH}/unsent"
APPROVALS_PATH = f"{REQUESTS_PATH}/approvals"
PAGE_SIZE = 20
MAX_POLLED = 20
SHOWN_PARTS = 200
BAR_WIDTH = 1000
"""The width of a bar in its own units."""
BAD_NAME = Text(
    f"캠페인 이름은 1자 이상 {MAX_NAME_CHARACTERS}자 이하로 입력하세요.",
    f"The name of a campaign has 1 to {MAX_NAME_CHARACTERS} characters.",
)


_CLASS_BY_STATE = {
    CampaignState.HALTED: "fail",
    CampaignState.CANCELLED: "cancel",
    CampaignState.DISCARDED: "cancel",
}


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
    is_code: bool
    is_moving: bool
    has_ended: bool
    has_waiting: bool
    is_for_later: bool


async def list_requests(request: PageRequest) -> Response:
    """Show what was sent, newest first, as far as it fits the filters."""
    before = identifiers.parse_request_id(request.field("before"))
    search = read_list_search(request.fields, request.locale)
    listed = SentPage([], None)
    if not search.problems:
        listed = await progress_service.list_sent(
            request.context, request.account_id, before or AFTER_NEWEST_ID, PAGE_SIZE, search.wanted
        )
    return await _render_list(request, listed, search, before, REQUESTS_PATH)


async def list_unsent(request: PageRequest) -> Response:
    """Show the campaigns that were begun and not sent, newest first."""
    return await _list_unsent(request, UNSENT_PATH)


async def list_approvals(request: PageRequest) -> Response:
    """Show the campaigns that wait for approval, newest first."""
    return await _list_unsent(request, APPROVALS_PATH)


async def _list_unsent(request: PageRequest, path: str) -> Response:
    before = identifiers.parse_request_id(request.field("before"))
    listed = await progress_service.list_unsent(
        request.context,
        request.account_id,
        before or AFTER_NEWEST_ID,
        PAGE_SIZE,
        is_to_approve=path == APPROVALS_PATH,
    )
    return await _render_list(request, listed, read_list_search({}, request.locale), before, path)


async def _render_list(
    request: PageRequest, listed: SentPage, search: ListSearch, before: bytes | None, path: str
) -> Response:
    further = listed.next_before
    language = request.locale.language
    is_short = search.is_used and further is not None and len(listed.items) < PAGE_SIZE
    return request.render(
        "requests/requests.html",
        400 if search.problems else 200,
        entries=[build_entry(request, each) for each in listed.items],
        search=search,
        errors={each.field: each.message(language) for each in search.problems},
        view=path,
        is_unsent=path != REQUESTS_PATH,
        unsent=await progress_service.count_unsent(request.context, request.account_id),
        max_unsent=MAX_UNSENT_COUNT,
        products=SENDABLE_PRODUCTS,
        states=list(SentState),
        looked_until=request.time(identifiers.requested_at(further)) if is_short and further else "",
        older=search.url(path, before=further.hex()) if further else "",
        newest=search.url(path) if before else "",
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
    shown = found[0] if is_one and found else None
    parts = await _part_list(request, shown.campaign if shown else None)
    funnel: Funnel | None = build_funnel(request, shown) if shown and request.field("funnel") else None
    return request.render(
        "requests/requests_progress.html",
        entries=entries,
        funnel=funnel,
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
            await approvals.check_send_now(request.context, sent.campaign)
            deed = request.audit_entry("campaign.now", sent.id.hex())
            await campaigns.send_campaign_now(request.context, sent.campaign, deed)
        else:
            deed = request.audit_entry("request.now", sent.id.hex())
            await send_now.send_now(request.context, request.account_id, sent.id, deed)
    except Refused as refused:
        return await _render_request(request, sent, refused)
    return request.redirect(f"{REQUESTS_PATH}/{sent.id.hex()}")


async def rename_campaign(request: PageRequest) -> Response:
    """Give a campaign another name.

    Raises Refused(NOT_FOUND) for what is no campaign.
    """
    sent = await _get_progress(request)
    if sent.campaign is None:
        raise Refused(Code.NOT_FOUND)
    name = " ".join(request.field("name").split())
    if not name or len(name) > MAX_NAME_CHARACTERS:
        return await _render_request(request, sent, Refused(Code.INVALID_PARAMETER, "name", BAD_NAME))
    deed = request.audit_entry("campaign.rename", sent.id.hex())
    await campaigns.rename(request.context, sent.campaign, name, deed)
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
        funnel=build_funnel(request, sent),
        campaign=campaign,
        max_name=MAX_NAME_CHARACTERS,
        creator=await progress_service.get_creator(request.context, campaign) if campaign else "",
        sender=_sender(send_request, sending),
        send_request=send_request,
        content=_content(request, sent, sending),
        told=[each.message(request.locale.language) for each in refused.problems] if refused else [],
        reason=request.pick_language(campaign.reason) if campaign else [],
        is_halted=campaign is not None and campaign.state is CampaignState.HALTED,
        is_paused=campaign is not None and campaign.state is CampaignState.MAKING and bool(campaign.reason),
        parts=await _part_list(request, campaign),
        above=above.hex() if above else "",
        has_failed=sent.progress.fail > 0,
        rest_count=campaign.invalid_rows if campaign else await kept_draft.count_rest(request, sent.id),
        is_editable=send_request is not None and not above and sent.is_scheduled(request.now),
        news="",
    )


async def _part_list(request: PageRequest, campaign: Campaign | None) -> PartList:
    found = await progress_service.campaign_parts(request.context, campaign) if campaign else []
    shown = [(each.number, each.request_id.hex(), each.receivers) for each in found[:SHOWN_PARTS]]
    return PartList(shown, len(found) - len(shown))


def _content(request: PageRequest, sent: SentItem, sending: Sending | None) -> str:
    if sent.request:
        return request.shown_text(sent.request.content, sent.request, has_ended=sent.has_ended)
    return sending.content if sending else ""


def _sender(send_request: Request | None, sending: Sending | None) -> str:
    if send_request and send_request.channel_id:
        return send_request.channel_id
    digits = send_request.sender if send_request else sending.sender if sending else ""
    return phone.hyphenate(digits) if digits else ""


def build_entry(request: PageRequest, sent: SentItem) -> RequestEntry:
    """Return a campaign or a request as pages show it."""
    campaign, send_request, now = sent.campaign, sent.request, request.now
    state, word = _state(request, sent)
    scheduled_at = sent.scheduled_at
    is_scheduled = scheduled_at is not None and scheduled_at > identifiers.requested_at(sent.id)
    name = campaign.name if campaign else ""
    if send_request and not campaign:
        text = send_request.subject or send_request.content[:60]
        name = request.shown_text(text, send_request, has_ended=sent.has_ended)
    return RequestEntry(
        id=sent.id.hex(),
        path=f"{REQUESTS_PATH}/{sent.id.hex()}",
        time=request.time(identifiers.requested_at(sent.id)),
        kind=request.translate(sent.product.label),
        name=name,
        state=state,
        state_class=word,
        scheduled=request.minute(scheduled_at) if is_scheduled and scheduled_at is not None else "",
        total=sent.total,
        counts=[(status, getattr(sent.progress, status.code)) for status in Status],
        fallbacks=sent.progress.fallbacks,
        unmade=sent.not_yet_accepted,
        unsent=sent.never_accepted,
        segments=_bar_segments(sent.progress, max(sent.total, sent.progress.total)),
        is_campaign=campaign is not None,
        is_code=send_request is not None and send_request.is_code,
        is_moving=sent.is_in_progress(now),
        has_ended=sent.has_ended,
        has_waiting=sent.has_waiting,
        is_for_later=sent.is_scheduled(now),
    )


def _state(request: PageRequest, sent: SentItem) -> tuple[str, str]:
    """Return the text of the state, and the CSS class that colours it."""
    campaign = sent.campaign
    if campaign and campaign.state is not CampaignState.MADE:
        word = _CLASS_BY_STATE.get(campaign.state, "waiting")
        return request.translate(campaign.state.label), word
    if sent.is_scheduled(request.now):
        return request.t("follow.scheduled"), "waiting"
    if not sent.has_ended:
        return request.translate(Status.SENDING.label), "sending"
    if sent.is_all_cancelled:
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
