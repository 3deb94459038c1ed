"""Uploads: a message to everyone in a file; the file is checked row by row, looked over, and sent as a campaign."""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import IO

from starlette.responses import Response, StreamingResponse

from pabal.checks import sends
from pabal.console.history import export
from pabal.console.send import draft as drafts
from pabal.console.send import send as send_page
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload import row_validation, sheet
from pabal.console.upload.row_validation import Checker, Message, Reading
from pabal.domain import dates, identifiers
from pabal.domain.campaign import MAX_NAME_CHARACTERS, CampaignState
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.domain.dates import MINUTE, Instant
from pabal.domain.message import PRODUCT_BY_WORD
from pabal.domain.sending import decode_shared
from pabal.service.sending import campaigns as service
from pabal.service.sending.accept import choose_carrier
from pabal.store import campaigns
from pabal.store.audit_log import AuditEntry
from pabal.store.campaigns import Campaign, CampaignDraft, FileSummary, InvalidRow
from pabal.world import new_request_id

UPLOAD = "/console/send/upload"
FOLLOW = "/console/requests"
STALE_AFTER = 1 * MINUTE
"""A file that nobody has come on with for so long was given up: the service was stopped, or lost its store."""
SHOWN_FAULTS = 50
FAULTS_AT_ONCE = 1000
MAX_FILE_NAME_CHARACTERS = 120
NOTHING_NEW = 204
ANEW = {"hx-refresh": "true"}
UNCLEAR = Text(
    "예약하려면 ‘예약 발송’을 선택하고 시각을 정하세요. 지금 보내려면 둘 다 비우세요.",
    "To schedule it, tick the box and pick a time; to send it now, do neither.",
)
BUSY = Text(
    "다른 파일을 확인하고 있거나 이미 보낸 캠페인입니다. 화면을 새로 고치세요.",
    "Another file is being checked, or it has been sent already: reload the page.",
)
CHANGED = Text(
    "이 화면을 연 뒤에 다른 파일이 올라왔습니다. 아래 인원과 내용을 다시 확인하고 보내세요.",
    "Another file has come in since you opened this page: look at what is below, then send it.",
)


async def begin(request: PageRequest) -> Response:
    """Keep the message that was written, and go on to its file; what is wrong is told where it was written."""
    draft = drafts.read(request.fields)
    try:
        message = row_validation.message_of(draft)
        await row_validation.checker_of(request.context, request.account_id, message)
    except Refused as refused:
        return await send_page.refuse(request, draft, refused)
    campaign_id = new_request_id(request.context.world, 0)
    name = f"{request.translate(draft.product.label)} {request.locale.format_timestamp(request.now)[:16]}"
    begun = CampaignDraft(
        campaign_id, request.account_id, request.user.id, draft.product.word, name, message.to_json()
    )
    await service.create(request.context, begun, request.audit_entry("campaign.begin", campaign_id.hex()))
    return request.redirect(f"{UPLOAD}/{campaign_id.hex()}")


async def show(request: PageRequest) -> Response:
    """Show where a campaign that is not sent yet stands: it wants a file, checks one, or is to be looked over.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    campaign = await _campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{FOLLOW}/{campaign.id.hex()}")
    return await _page(request, campaign)


async def show_progress(request: PageRequest) -> Response:
    """Answer with how far the file is; nothing where nothing is new, and the whole page again at its end."""
    campaign = await _campaign(request)
    seen = _seen(campaign, request.now)
    if seen == request.field("seen"):
        return Response(status_code=NOTHING_NEW)
    if campaign.state is not CampaignState.READING or _is_stale(campaign, request.now):
        return Response(status_code=NOTHING_NEW, headers=ANEW)
    return request.render("upload/upload_progress.html", campaign=campaign, is_reading=True, seen=seen)


async def take_file(request: PageRequest) -> Response:
    """Take a file in, and check it to its end; the page sees by itself how that goes.

    Raises Refused: NOT_FOUND, PAYLOAD_TOO_LARGE, INVALID_STATE.
    """
    campaign = await _campaign(request)
    checker = await _checker(request, campaign)
    with _room() as (path, file):
        await _receive(request, file)
        await _read(request, campaign, checker, path)
    return Response(status_code=NOTHING_NEW)


async def give_template(request: PageRequest) -> Response:
    """Answer with an empty file that has the columns which the message needs."""
    campaign = await _campaign(request)
    checker = await _checker(request, campaign)
    head = export.BOM + export.csv_line([sheet.PHONE_NAMES[0], *checker.names])
    return _as_file(head.encode(), "pabal-template.csv")


async def give_faults(request: PageRequest) -> Response:
    """Answer with the rows that cannot be sent to, as they were, and the reason of each."""
    campaign = await _campaign(request)
    return StreamingResponse(
        _faults_written(request, campaign),
        media_type="text/csv; charset=utf-8",
        headers=_attached("pabal-bad-rows.csv"),
    )


async def send(request: PageRequest) -> Response:
    """Have a campaign sent that was looked over, now or at its time; asked for again, show how it goes."""
    campaign = await _campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{FOLLOW}/{campaign.id.hex()}")
    try:
        if request.field("seen") != _seen(campaign, request.now):
            raise Refused(Code.INVALID_STATE, "", CHANGED)
        await _checker(request, campaign)
        name = request.field("name")[:MAX_NAME_CHARACTERS] or campaign.name
        at = await _time(request, campaign)
        if not await service.start(request.context, campaign, name, at, _deed(request, campaign, "send")):
            raise Refused(Code.INVALID_STATE, "", BUSY)
    except Refused as refused:
        return await _page(request, campaign, refused.problems)
    return request.redirect(f"{FOLLOW}/{campaign.id.hex()}")


async def _time(request: PageRequest, campaign: Campaign) -> Instant | None:
    """Return when to send; None: now.

    Raises Refused, for what is wrong with the time or has come in the way since.
    """
    policy, now = request.context.policy, request.now
    at: Instant | None = None
    spelled = request.field("sendDate").replace("T", " ")
    if bool(request.field("later")) is not bool(spelled):
        raise Refused(Code.INVALID_DATE, "sendDate", UNCLEAR)
    if spelled:
        try:
            at = dates.parse_send_date(spelled, now, policy.zone, policy.max_days_ahead)
        except Refused as refused:
            raise Refused(refused.code, "sendDate", refused.problems[0].detail) from None
    shared = await request.context.store.read(campaigns.get_sending, campaign.id)
    if shared is None:
        raise Refused(Code.INVALID_STATE, "", BUSY)
    sending = decode_shared(shared)._replace(scheduled_at=at)
    sending = sends.check_ad_hours(sending, policy, now)
    await choose_carrier(request.context, request.account_id, sending)
    return sending.scheduled_at


async def _page(request: PageRequest, campaign: Campaign, problems: Sequence[Problem] = ()) -> Response:
    read = request.context.store.read
    fields = ("name", "sendDate")
    told = {each.field if each.field in fields else "": each.message(request.locale.language) for each in problems}
    message = Message.from_json(await read(campaigns.get_body, campaign.id))
    try:
        checker = await row_validation.checker_of(request.context, request.account_id, message)
        names, (subject, content) = checker.names, checker.texts
    except Refused as refused:
        names, subject, content = (), "", ""
        told.setdefault("", refused.problems[0].message(request.locale.language))
    faults: list[InvalidRow] = []
    if campaign.state is CampaignState.CHECKED:
        faults = await read(campaigns.list_invalid_rows, campaign.id, 0, SHOWN_FAULTS)
    is_stale = campaign.state is CampaignState.READING and _is_stale(campaign, request.now)
    send_date = request.field("sendDate") or message.send_date
    return request.render(
        "upload/upload.html",
        problems[0].code.http_status if problems else 200,
        campaign=campaign,
        told=told,
        names=names,
        subject=subject,
        content=content,
        faults=[(each.number, each.cells, request.pick_language(each.reason)) for each in faults],
        reason=request.pick_language(campaign.reason),
        is_reading=campaign.state is CampaignState.READING and not is_stale,
        is_stale=is_stale,
        seen=_seen(campaign, request.now),
        is_checked=campaign.state is CampaignState.CHECKED,
        state=campaign.state,
        product=PRODUCT_BY_WORD[campaign.kind],
        phone_name=sheet.PHONE_NAMES[0],
        most_rows=sheet.MOST_ROWS,
        most_megabytes=sheet.MOST_FILE_BYTES // (1024 * 1024),
        typed={"name": request.field("name") or campaign.name, "sendDate": send_date.replace(" ", "T")},
        is_later=bool(request.field("later") or message.send_date),
        zone=str(request.context.policy.zone),
    )


async def _campaign(request: PageRequest) -> Campaign:
    campaign_id = identifiers.parse_request_id(str(request.http.path_params["campaign"]))
    found = await request.context.store.read(campaigns.get, campaign_id) if campaign_id else None
    if found is None or found.account_id != request.account_id:
        raise Refused(Code.NOT_FOUND)
    return found


async def _checker(request: PageRequest, campaign: Campaign) -> Checker:
    body = await request.context.store.read(campaigns.get_body, campaign.id)
    return await row_validation.checker_of(request.context, request.account_id, Message.from_json(body))


async def _receive(request: PageRequest, file: IO[bytes]) -> None:
    """Write what is sent to a file.

    Raises Refused(PAYLOAD_TOO_LARGE).
    """
    size = 0
    async for part in request.http.stream():
        size += len(part)
        if size > sheet.MOST_FILE_BYTES:
            most = sheet.MOST_FILE_BYTES // (1024 * 1024)
            raise Refused(Code.PAYLOAD_TOO_LARGE, "file", Text(f"{most} MB까지입니다.", f"At most {most} MB."))
        file.write(part)
    file.flush()


async def _read(request: PageRequest, campaign: Campaign, checker: Checker, path: Path) -> None:
    """Read a file to its end, keeping what is found part by part."""
    store, beside = request.context.store, request.site.threads
    name, is_once = request.field("name")[:MAX_FILE_NAME_CHARACTERS], request.field("once") != "0"
    begun = await service.begin_reading(
        request.context, campaign, name, is_once, request.now - STALE_AFTER, _deed(request, campaign, "file")
    )
    if begun is None:
        raise Refused(Code.INVALID_STATE, "", BUSY)
    touched = begun

    def later() -> Instant:
        return max(request.now, touched + 1)

    try:
        reading = Reading(await beside.run(sheet.rows_of, path), checker, is_once=is_once)
        while findings := await beside.run(reading.go_on):
            at = later()
            if not await store.write(campaigns.add_findings, campaign.id, findings, touched, at):
                raise Refused(Code.INVALID_STATE, "", BUSY)
            touched = at
        places = reading.columns
        read = FileSummary(reading.shared, places.names if places else (), places.unused if places else ())
        await store.write(campaigns.end_reading, campaign.id, read, touched, later())
    except Refused as refused:
        await store.write(
            campaigns.refuse_file, campaign.id, service.describe_problems(refused.problems), touched, later()
        )


@contextlib.contextmanager
def _room() -> Iterator[tuple[Path, IO[bytes]]]:
    """A file that is gone afterwards."""
    with tempfile.NamedTemporaryFile(prefix="pabal-upload-") as file:
        yield Path(file.name), file


async def _faults_written(request: PageRequest, campaign: Campaign) -> AsyncIterator[bytes]:
    width = len(campaign.columns)
    head = [request.t("upload.row"), *campaign.columns, request.t("upload.reason")]
    yield (export.BOM + export.csv_line(head)).encode()
    after = 0
    while some := await request.context.store.read(campaigns.list_invalid_rows, campaign.id, after, FAULTS_AT_ONCE):
        after = some[-1].number
        yield "".join(export.csv_line(_fault_cells(request, each, width)) for each in some).encode()


def _fault_cells(request: PageRequest, fault: InvalidRow, width: int) -> list[str]:
    cells = [*fault.cells, *[""] * width][: max(width, len(fault.cells))]
    return [str(fault.number), *cells, " ".join(request.pick_language(fault.reason))]


def _as_file(body: bytes, name: str) -> Response:
    return Response(body, media_type="text/csv; charset=utf-8", headers=_attached(name))


def _attached(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _seen(campaign: Campaign, now: Instant) -> str:
    """Return what tells how a campaign stands from how it stood before."""
    is_given_up = campaign.state is CampaignState.READING and _is_stale(campaign, now)
    return f"{campaign.changed_at}{'-' if is_given_up else ''}"


def _is_stale(campaign: Campaign, now: Instant) -> bool:
    return campaign.changed_at < now - STALE_AFTER


def _deed(request: PageRequest, campaign: Campaign, what: str) -> AuditEntry:
    return request.audit_entry(f"campaign.{what}", campaign.id.hex())
