"""Uploads: a message to everyone in a file; the file is checked row by row, looked over, and sent as a campaign."""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import IO

from starlette.responses import Response, StreamingResponse

from pabal.checks.friendtalk import check_ad_hours
from pabal.console.history import export
from pabal.console.send import draft as drafts
from pabal.console.send import send as send_page
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload import row_validation, sheet
from pabal.console.upload.row_validation import CampaignMessage, FileValidation, RowValidator
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

UPLOAD_PATH = "/console/send/upload"
REQUESTS_PATH = "/console/requests"
STALE_AFTER = 1 * MINUTE
"""A file that nobody has come on with for so long was given up: the service was stopped, or lost its store."""
SHOWN_INVALID_ROWS = 50
INVALID_ROWS_PER_READ = 1000
MAX_FILE_NAME_CHARACTERS = 120
NO_CONTENT = 204
RELOAD_HEADERS = {"hx-refresh": "true"}
SCHEDULE_MISMATCH = Text(
    "예약하려면 ‘예약 발송’을 선택하고 시각을 정하세요. 지금 보내려면 둘 다 비우세요.",
    "To schedule it, tick the box and pick a time; to send it now, do neither.",
)
FILE_REFUSED = Text(
    "다른 파일을 확인하고 있거나 이미 보낸 캠페인입니다. 화면을 새로 고치세요.",
    "Another file is being checked, or it has been sent already: reload the page.",
)
FILE_CHANGED = Text(
    "이 화면을 연 뒤에 다른 파일이 올라왔습니다. 아래 인원과 내용을 다시 확인하고 보내세요.",
    "Another file has come in since you opened this page: look at what is below, then send it.",
)


async def create_campaign(request: PageRequest) -> Response:
    """Keep the message that was written, and go on to its file; what is wrong is told where it was written."""
    draft = drafts.read_draft(request.fields)
    try:
        message = row_validation.message_from_draft(draft)
        await row_validation.create_validator(request.context, request.account_id, message)
    except Refused as refused:
        return await send_page.show_refused(request, draft, refused)
    campaign_id = new_request_id(request.context.world, 0)
    name = f"{request.translate(draft.product.label)} {request.locale.format_timestamp(request.now)[:16]}"
    begun = CampaignDraft(
        campaign_id, request.account_id, request.user.id, draft.product.word, name, message.to_json()
    )
    await service.create(request.context, begun, request.audit_entry("campaign.begin", campaign_id.hex()))
    return request.redirect(f"{UPLOAD_PATH}/{campaign_id.hex()}")


async def show_campaign(request: PageRequest) -> Response:
    """Show where a campaign that is not sent yet stands: it wants a file, checks one, or is to be looked over.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    campaign = await _get_campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")
    return await _render_campaign(request, campaign)


async def show_progress(request: PageRequest) -> Response:
    """Answer with how far the file is; nothing where nothing is new, and the whole page again at its end."""
    campaign = await _get_campaign(request)
    seen = _version(campaign, request.now)
    if seen == request.field("seen"):
        return Response(status_code=NO_CONTENT)
    if campaign.state is not CampaignState.READING or _is_stale(campaign, request.now):
        return Response(status_code=NO_CONTENT, headers=RELOAD_HEADERS)
    return request.render("upload/upload_progress.html", campaign=campaign, is_reading=True, seen=seen)


async def receive_file(request: PageRequest) -> Response:
    """Take a file in, and check it to its end; the page sees by itself how that goes.

    Raises Refused: NOT_FOUND, PAYLOAD_TOO_LARGE, INVALID_STATE.
    """
    campaign = await _get_campaign(request)
    checker = await _load_validator(request, campaign)
    with _room() as (path, file):
        await _receive(request, file)
        await _validate_file(request, campaign, checker, path)
    return Response(status_code=NO_CONTENT)


async def download_template(request: PageRequest) -> Response:
    """Answer with an empty file that has the columns which the message needs."""
    campaign = await _get_campaign(request)
    checker = await _load_validator(request, campaign)
    head = export.BOM + export.csv_line([sheet.PHONE_NAMES[0], *checker.variables])
    return _csv_download(head.encode(), "pabal-template.csv")


async def download_invalid_rows(request: PageRequest) -> Response:
    """Answer with the rows that cannot be sent to, as they were, and the reason of each."""
    campaign = await _get_campaign(request)
    return StreamingResponse(
        _invalid_row_chunks(request, campaign),
        media_type="text/csv; charset=utf-8",
        headers=_attachment_headers("pabal-bad-rows.csv"),
    )


async def send_campaign(request: PageRequest) -> Response:
    """Have a campaign sent that was looked over, now or at its time; asked for again, show how it goes."""
    campaign = await _get_campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")
    try:
        if request.field("seen") != _version(campaign, request.now):
            raise Refused(Code.INVALID_STATE, "", FILE_CHANGED)
        await _load_validator(request, campaign)
        name = request.field("name")[:MAX_NAME_CHARACTERS] or campaign.name
        at = await _send_time(request, campaign)
        if not await service.start(request.context, campaign, name, at, _audit_entry(request, campaign, "send")):
            raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
    except Refused as refused:
        return await _render_campaign(request, campaign, refused.problems)
    return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")


async def _send_time(request: PageRequest, campaign: Campaign) -> Instant | None:
    """Return when to send; None: now.

    Raises Refused, for what is wrong with the time or has come in the way since.
    """
    policy, now = request.context.policy, request.now
    at: Instant | None = None
    spelled = request.field("sendDate").replace("T", " ")
    if bool(request.field("later")) is not bool(spelled):
        raise Refused(Code.INVALID_DATE, "sendDate", SCHEDULE_MISMATCH)
    if spelled:
        try:
            at = dates.parse_send_date(spelled, now, policy.zone, policy.max_days_ahead)
        except Refused as refused:
            raise Refused(refused.code, "sendDate", refused.problems[0].detail) from None
    shared = await request.context.store.read(campaigns.get_sending, campaign.id)
    if shared is None:
        raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
    sending = decode_shared(shared)._replace(scheduled_at=at)
    sending = check_ad_hours(sending, policy, now)
    await choose_carrier(request.context, request.account_id, sending)
    return sending.scheduled_at


async def _render_campaign(request: PageRequest, campaign: Campaign, problems: Sequence[Problem] = ()) -> Response:
    read = request.context.store.read
    fields = ("name", "sendDate")
    told = {each.field if each.field in fields else "": each.message(request.locale.language) for each in problems}
    message = CampaignMessage.from_json(await read(campaigns.get_body, campaign.id))
    try:
        checker = await row_validation.create_validator(request.context, request.account_id, message)
        names, (subject, content) = checker.variables, checker.subject_and_content
    except Refused as refused:
        names, subject, content = (), "", ""
        told.setdefault("", refused.problems[0].message(request.locale.language))
    faults: list[InvalidRow] = []
    if campaign.state is CampaignState.CHECKED:
        faults = await read(campaigns.list_invalid_rows, campaign.id, 0, SHOWN_INVALID_ROWS)
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
        seen=_version(campaign, request.now),
        is_checked=campaign.state is CampaignState.CHECKED,
        state=campaign.state,
        product=PRODUCT_BY_WORD[campaign.kind],
        phone_name=sheet.PHONE_NAMES[0],
        most_rows=sheet.MAX_ROWS,
        most_megabytes=sheet.MAX_FILE_BYTES // (1024 * 1024),
        typed={"name": request.field("name") or campaign.name, "sendDate": send_date.replace(" ", "T")},
        is_later=bool(request.field("later") or message.send_date),
        zone=str(request.context.policy.zone),
    )


async def _get_campaign(request: PageRequest) -> Campaign:
    campaign_id = identifiers.parse_request_id(str(request.http.path_params["campaign"]))
    found = await request.context.store.read(campaigns.get, campaign_id) if campaign_id else None
    if found is None or found.account_id != request.account_id:
        raise Refused(Code.NOT_FOUND)
    return found


async def _load_validator(request: PageRequest, campaign: Campaign) -> RowValidator:
    body = await request.context.store.read(campaigns.get_body, campaign.id)
    return await row_validation.create_validator(
        request.context, request.account_id, CampaignMessage.from_json(body)
    )


async def _receive(request: PageRequest, file: IO[bytes]) -> None:
    """Write what is sent to a file.

    Raises Refused(PAYLOAD_TOO_LARGE).
    """
    size = 0
    async for part in request.http.stream():
        size += len(part)
        if size > sheet.MAX_FILE_BYTES:
            most = sheet.MAX_FILE_BYTES // (1024 * 1024)
            raise Refused(Code.PAYLOAD_TOO_LARGE, "file", Text(f"{most} MB까지입니다.", f"At most {most} MB."))
        file.write(part)
    file.flush()


async def _validate_file(request: PageRequest, campaign: Campaign, validator: RowValidator, path: Path) -> None:
    """Read a file to its end, keeping what is found part by part."""
    store, beside = request.context.store, request.site.threads
    name, is_once = request.field("name")[:MAX_FILE_NAME_CHARACTERS], request.field("once") != "0"
    begun = await service.begin_reading(
        request.context, campaign, name, is_once, request.now - STALE_AFTER, _audit_entry(request, campaign, "file")
    )
    if begun is None:
        raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
    touched = begun

    def later() -> Instant:
        return max(request.now, touched + 1)

    try:
        reading = FileValidation(await beside.run(sheet.read_rows, path), validator, is_once=is_once)
        while findings := await beside.run(reading.validate_next_rows):
            at = later()
            if not await store.write(campaigns.add_findings, campaign.id, findings, touched, at):
                raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
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


async def _invalid_row_chunks(request: PageRequest, campaign: Campaign) -> AsyncIterator[bytes]:
    width = len(campaign.columns)
    head = [request.t("upload.row"), *campaign.columns, request.t("upload.reason")]
    yield (export.BOM + export.csv_line(head)).encode()
    after = 0
    while some := await request.context.store.read(
        campaigns.list_invalid_rows, campaign.id, after, INVALID_ROWS_PER_READ
    ):
        after = some[-1].number
        yield "".join(export.csv_line(_invalid_row_cells(request, each, width)) for each in some).encode()


def _invalid_row_cells(request: PageRequest, invalid_row: InvalidRow, width: int) -> list[str]:
    cells = [*invalid_row.cells, *[""] * width][: max(width, len(invalid_row.cells))]
    return [str(invalid_row.number), *cells, " ".join(request.pick_language(invalid_row.reason))]


def _csv_download(body: bytes, name: str) -> Response:
    return Response(body, media_type="text/csv; charset=utf-8", headers=_attachment_headers(name))


def _attachment_headers(name: str) -> dict[str, str]:
    return {"content-disposition": f'attachment; filename="{name}"'}


def _version(campaign: Campaign, now: Instant) -> str:
    """Return what tells how a campaign stands from how it stood before."""
    is_given_up = campaign.state is CampaignState.READING and _is_stale(campaign, now)
    return f"{campaign.changed_at}{'-' if is_given_up else ''}"


def _is_stale(campaign: Campaign, now: Instant) -> bool:
    return campaign.changed_at < now - STALE_AFTER


def _audit_entry(request: PageRequest, campaign: Campaign, action: str) -> AuditEntry:
    return request.audit_entry(f"campaign.{action}", campaign.id.hex())
