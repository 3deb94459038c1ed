"""Campaigns and requests with live progress and filters; those that wait can be sent now or cancelled."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from starlette.responses import Response

from pabal.checks.body.fields import one_of
from pabal.checks.body.locale import Locale
from pabal.console.campaigns import campaign_message
from pabal.console.campaigns.campaign_message import REQUESTS_PATH, UPLOAD_PATH
from pabal.console.campaigns.entry import build_entries, build_entry
from pabal.console.campaigns.funnel import Funnel, build_funnel
from pabal.console.campaigns.upload import NO_CONTENT, RELOAD_HEADERS
from pabal.console.history.history import SENDABLE_PRODUCTS
from pabal.console.send import kept_draft
from pabal.console.send.send import SEND_PATH
from pabal.console.shell.form_fields import FieldReader, page_url
from pabal.console.shell.page_request import PageRequest, Toast
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Problem, Refused, Text, require
from pabal.domain.people import phone
from pabal.domain.sends.campaign import MAX_NAME_CHARACTERS, CampaignState
from pabal.domain.sends.message import PRODUCT_BY_CODE
from pabal.domain.sends.sending import Sending
from pabal.service.errors import RecordDamaged
from pabal.service.sending import waiting
from pabal.service.sending.campaigns import approvals, campaign_files, campaigns
from pabal.service.sending.campaigns import progress as progress_service
from pabal.service.sending.campaigns.campaign_files import Campaign
from pabal.service.sending.campaigns.progress import (
    AFTER_NEWEST_ID,
    MAX_UNSENT_COUNT,
    SENT_STATE_BY_CODE,
    Request,
    SentFilter,
    SentItem,
    SentPage,
    SentState,
)
from pabal.service.sending.waiting import cancel_request

UNSENT_PATH = f"{REQUESTS_PATH}/unsent"
APPROVALS_PATH = f"{REQUESTS_PATH}/approvals"
PAGE_SIZE = 20
MAX_POLLED = 20
SHOWN_PARTS = 200
BAD_NAME = Text(
    f"캠페인 이름은 1자 이상 {MAX_NAME_CHARACTERS}자 이하로 입력하세요.",
    f"The name of a campaign has 1 to {MAX_NAME_CHARACTERS} characters.",
)


class NextSteps(NamedTuple):
    """What can be done with something that was sent."""

    has_failed: bool
    rest_count: int
    """Rows of a file, or lines, that could not be sent."""
    is_editable: bool


class PartList(NamedTuple):
    """The requests of a campaign: number, id and receivers of each that is shown, and how many are not."""

    shown: Sequence[tuple[int, str, int]] = ()
    hidden: int = 0
    is_news: bool = False
    """Whether there are more of them than the page shows."""

    @property
    def total(self) -> int:
        return len(self.shown) + self.hidden


FIELDS = ("words", "kind", "state", "what", "from", "to")
MAX_WORDS_CHARACTERS = 80
WHATS = {"campaign": True, "request": False}


class _ListSearch(NamedTuple):
    """The fields as typed, the filter that they make, and their problems."""

    typed: dict[str, str]
    wanted: SentFilter
    problems: list[Problem]

    @property
    def is_used(self) -> bool:
        """Whether anything is filtered by."""
        return any(self.typed.values())

    def url(self, path: str, **more: str) -> str:
        """Return an address of the list with the same filters."""
        return page_url(path, {**self.typed, **more})


def _read_list_search(fields: Mapping[str, str], locale: Locale) -> _ListSearch:
    """Return the filters of a form; empty fields do not filter, and one with a problem does not either."""
    typed = {name: fields.get(name, "").strip()[:MAX_WORDS_CHARACTERS] for name in FIELDS}
    reader = FieldReader(typed)
    wanted = SentFilter(
        product=reader.read("kind", one_of(PRODUCT_BY_CODE)),
        state=reader.read("state", one_of(SENT_STATE_BY_CODE)),
        words=typed["words"],
        period=reader.read_period("from", "to", locale.zone),
        is_campaign=reader.read("what", one_of(WHATS)),
    )
    return _ListSearch(typed, wanted, reader.problems)


async def list_requests(request: PageRequest) -> Response:
    """Show what was sent, newest first, as far as it fits the filters."""
    before = identifiers.parse_request_id(request.field("before"))
    search = _read_list_search(request.fields, request.locale)
    listed = SentPage([], None)
    if not search.problems:
        listed = await request.context.store.read(
            progress_service.list_sent,
            request.account_id,
            before or AFTER_NEWEST_ID,
            PAGE_SIZE,
            search.wanted,
            request.now,
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
    listed = await request.context.store.read(
        progress_service.list_unsent,
        request.account_id,
        before or AFTER_NEWEST_ID,
        PAGE_SIZE,
        path == APPROVALS_PATH,
    )
    return await _render_list(request, listed, _read_list_search({}, request.locale), before, path)


async def _render_list(
    request: PageRequest, listed: SentPage, search: _ListSearch, before: bytes | None, path: str
) -> Response:
    further = listed.next_before
    is_short = search.is_used and further is not None and len(listed.items) < PAGE_SIZE
    return request.render(
        "campaigns/requests.html",
        400 if search.problems else 200,
        entries=await build_entries(request, listed.items),
        search=search,
        errors={each.field: request.tell(each) for each in search.problems},
        view=path,
        is_unsent=path != REQUESTS_PATH,
        unsent=await request.context.store.read(progress_service.count_unsent, request.account_id),
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
    entries = await build_entries(request, [each for each in found if each])
    ended = [each.name or each.kind for each in entries if not each.is_moving]
    news = request.t("follow.news", names=", ".join(ended)) if ended else ""
    shown = found[0] if is_one and found else None
    parts = await _part_list(request, shown.campaign if shown else None)
    funnel: Funnel | None = None
    following: NextSteps | None = None
    if shown and request.field("funnel"):
        funnel = build_funnel(request, shown)
        above = await progress_service.campaign_of_request(request.context, shown.id) if shown.request else None
        following = await _next_steps(request, shown, is_part=above is not None)
    return request.render(
        "campaigns/requests_progress.html",
        entries=entries,
        funnel=funnel,
        next=following,
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
    return request.redirect(f"{REQUESTS_PATH}/{sent.id.hex()}?done=cancelled")


async def send_request_now(request: PageRequest) -> Response:
    """Send now what is scheduled for later.

    Raises Refused.
    """
    sent = await _get_progress(request)
    if sent.campaign:
        await approvals.check_send_now(request.context, sent.campaign)
        deed = request.audit_entry("campaign.now", sent.id.hex())
        await campaigns.send_campaign_now(request.context, sent.campaign, deed)
    else:
        deed = request.audit_entry("request.now", sent.id.hex())
        await waiting.send_now(request.context, request.account_id, sent.id, deed)
    return request.redirect(f"{REQUESTS_PATH}/{sent.id.hex()}")


async def rename_campaign(request: PageRequest) -> Response:
    """Give a campaign another name.

    Raises Refused: NOT_FOUND for what is no campaign, INVALID_PARAMETER.
    """
    campaign = require((await _get_progress(request)).campaign)
    name = " ".join(request.field("name").split())
    if not name or len(name) > MAX_NAME_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, "name", BAD_NAME)
    deed = request.audit_entry("campaign.rename", campaign.id.hex())
    await campaigns.rename(request.context, campaign, name, deed)
    return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")


async def resume_campaign(request: PageRequest) -> Response:
    """Resume a campaign that was halted.

    Raises Refused(NOT_FOUND) for what is no campaign.
    """
    campaign = require((await _get_progress(request)).campaign)
    await campaigns.resume(request.context, campaign, request.audit_entry("campaign.go_on", campaign.id.hex()))
    return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")


async def show_refused(request: PageRequest, refused: Refused) -> Response:
    """Show a campaign or a request with why something cannot be done with it."""
    return await _render_request(request, await _get_progress(request), refused)


async def _get_progress(request: PageRequest) -> SentItem:
    sent_id = identifiers.parse_request_id(str(request.http.path_params["request"]))
    return require(await progress_service.get_sent(request.context, request.account_id, sent_id))


async def _render_request(request: PageRequest, sent: SentItem, refused: Refused | None = None) -> Response:
    campaign, send_request = sent.campaign, sent.request
    above = await progress_service.campaign_of_request(request.context, sent.id) if send_request else None
    sending = await campaign_files.get_sending(request.context, sent.id) if campaign else None
    way_on = f"{SEND_PATH}?copy={sent.id.hex()}" if request.is_allowed(SEND_PATH) else ""
    cancelled = Toast(request.t("follow.cancelled"), way_on, link=request.t("follow.copy"))
    return request.render(
        "campaigns/request.html",
        refused,
        toast=cancelled if request.field("done") == "cancelled" else None,
        entry=await build_entry(request, sent),
        funnel=build_funnel(request, sent),
        campaign=campaign,
        max_name=MAX_NAME_CHARACTERS,
        creator=await progress_service.get_creator(request.context, campaign) if campaign else "",
        sender=_sender(send_request, sending),
        send_request=send_request,
        content=_content(request, sent, sending),
        told=[request.tell(each) for each in refused.problems] if refused else [],
        reason=request.pick_language(campaign.reason) if campaign else [],
        is_halted=campaign is not None and campaign.state is CampaignState.HALTED,
        is_paused=campaign is not None and campaign.state is CampaignState.MAKING and bool(campaign.reason),
        parts=await _part_list(request, campaign),
        above=above.hex() if above else "",
        next=await _next_steps(request, sent, is_part=above is not None),
        news="",
    )


async def _next_steps(request: PageRequest, sent: SentItem, *, is_part: bool) -> NextSteps:
    return NextSteps(
        has_failed=sent.progress.fail > 0,
        rest_count=sent.campaign.unusable_rows if sent.campaign else await kept_draft.count_rest(request, sent.id),
        is_editable=campaign_message.is_editable(sent.campaign, request.now)
        if sent.campaign
        else sent.request is not None and not is_part and sent.is_scheduled(request.now),
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
