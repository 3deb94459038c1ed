"""Campaigns before they are sent: a message is written, its file validated, and it is confirmed or approved."""

from collections.abc import Sequence

from starlette.responses import Response

from pabal.checks.sends.friendtalk import apply_ad_hours
from pabal.console.campaigns import campaign_message, row_validation
from pabal.console.campaigns.campaign_file import FILE_REFUSED, Faults, is_stale, list_faults
from pabal.console.campaigns.campaign_file import TEXTS as FAULT_TEXTS
from pabal.console.campaigns.campaign_message import (
    REQUESTS_PATH,
    UPLOAD_PATH,
    FirstMessage,
    campaign_audit_entry,
    check_message,
    get_campaign,
    get_first_message,
    load_message,
    load_validator,
    make_bubble,
    store_campaign,
)
from pabal.console.send import kept_draft
from pabal.console.send import send as send_page
from pabal.console.send.preview import default_opt_out_number
from pabal.console.send.summary import CostEstimate, dearest_fallback, estimate_cost, open_times
from pabal.console.sheets import sheet, sheet_limits
from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.site import FILES_BUSY
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.sends.campaign import MAX_NAME_CHARACTERS, CampaignState
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.domain.sends.sending import Sending
from pabal.service.sending.campaigns import approvals, campaign_files
from pabal.service.sending.campaigns import campaigns as campaign_service
from pabal.service.sending.campaigns.campaign_files import Campaign
from pabal.service.sending.preconditions import choose_carrier

NO_CONTENT = 204
RELOAD_HEADERS = {"hx-refresh": "true"}
SCHEDULE_MISMATCH = Text(
    "예약하려면 ‘예약’을 고르고 시각을 정하세요. 지금 보내려면 ‘지금’을 고르세요.",
    "To schedule the campaign, choose “Schedule” and pick a time. To send it now, choose “Now”.",
)
FILE_CHANGED = Text(
    "이 화면을 연 뒤에 다른 파일이 올라왔습니다. 아래 인원과 내용을 다시 확인하고 보내세요.",
    "Another file was uploaded after you opened this page. Check the details below, then send.",
)


async def create_campaign(request: PageRequest) -> Response:
    """Store the message and show where to upload its file; or show the form with what is wrong."""
    try:
        start = await check_message(request)
    except Refused as refused:
        return await send_page.show_refused(request, refused)
    name = f"{request.translate(start.draft.product.label)} {request.minute(request.now)}"
    campaign_id = await store_campaign(request, start, name)
    return request.redirect(f"{UPLOAD_PATH}/{campaign_id.hex()}")


async def show_campaign(request: PageRequest) -> Response:
    """Show a campaign that is not sent yet: it needs a file, validates one, or waits for confirmation."""
    campaign = await get_campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")
    return await render_campaign(request, campaign)


async def show_progress(request: PageRequest) -> Response:
    """Answer with the progress of the file: nothing where nothing changed, a reload at its end."""
    campaign = await get_campaign(request)
    version = campaign_version(campaign, request.now)
    if version == request.field("seen"):
        return Response(status_code=NO_CONTENT)
    if campaign.state is not CampaignState.READING or is_stale(campaign, request.now):
        return Response(status_code=NO_CONTENT, headers=RELOAD_HEADERS)
    return request.render("campaigns/upload_progress.html", campaign=campaign, is_reading=True, version=version)


async def send_campaign(request: PageRequest) -> Response:
    """Start a campaign that was confirmed, or submit it for approval; for one that is already sent, show it."""
    campaign = await get_campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")
    try:
        if request.field("seen") != campaign_version(campaign, request.now):
            raise Refused(Code.INVALID_STATE, "", FILE_CHANGED)
        await load_validator(request, campaign)
        name = request.field("name")[:MAX_NAME_CHARACTERS] or campaign.name
        send_at = await _send_time(request, campaign)
        await campaign_message.cancel_replaced(request, await load_message(request, campaign), send_at)
        if not await _start_or_submit(request, campaign, name, send_at):
            raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
    except Refused as refused:
        return await render_campaign(request, campaign, refused.problems)
    message = await load_message(request, campaign)
    await kept_draft.end(request, message.draft, message.page)
    return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")


async def _start_or_submit(request: PageRequest, campaign: Campaign, name: str, send_at: Instant | None) -> bool:
    """Start a campaign, or submit it for approval if it needs one; return False if it has changed meanwhile."""
    context = request.context
    sending = await campaign_files.get_sending(context, campaign.id)
    if await approvals.needs_approval(context, request.account_id, sending, campaign.receivers):
        audit_entry = campaign_audit_entry(request, campaign, "submit")
        return await approvals.submit(context, campaign, name, send_at, request.user.id, audit_entry)
    audit_entry = campaign_audit_entry(request, campaign, "send")
    async with approvals.count_unapproved(context, request.account_id, sending, campaign.receivers, campaign.id):
        return await campaign_service.start(context, campaign, name, send_at, audit_entry)


async def _send_time(request: PageRequest, campaign: Campaign) -> Instant | None:
    """Return when to send; None: now.

    Raises Refused, if the time is not valid or the message cannot be sent any more.
    """
    policy, now = request.context.policy, request.now
    send_at: Instant | None = None
    later = request.field("later")
    send_date = (later if "T" in later else request.field("sendDate")).replace("T", " ")  # a card that is a time
    if bool(later) is not bool(send_date):
        raise Refused(Code.INVALID_DATE, "sendDate", SCHEDULE_MISMATCH)
    if send_date:
        try:
            send_at = dates.parse_send_date(send_date, now, policy.zone, policy.max_days_ahead)
        except Refused as refused:
            raise Refused(refused.code, "sendDate", refused.problems[0].detail) from None
    sending = await campaign_files.get_sending(request.context, campaign.id)
    if sending is None:
        raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
    sending = apply_ad_hours(sending._replace(scheduled_at=send_at), policy, now)
    await _check_carriers(request, campaign, sending)
    return sending.scheduled_at


async def _check_carriers(request: PageRequest, campaign: Campaign, sending: Sending) -> None:
    """Raise Refused where a campaign has no carrier, or may not be sent from its numbers."""
    await choose_carrier(request.context, request.account_id, sending)
    if campaign.upgraded:
        await choose_carrier(request.context, request.account_id, sending._replace(product=Product.LMS))


async def approve_campaign(request: PageRequest) -> Response:
    """Start a campaign as it was shown to a second user; for one that is already sent, show it."""
    campaign = await get_campaign(request)
    if not campaign.state.is_before_sending:
        return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")
    try:
        _check_shown(request, campaign)
        await load_validator(request, campaign)
        sending = await campaign_files.get_sending(request.context, campaign.id)
        if sending is None:
            raise Refused(Code.INVALID_STATE, "", FILE_CHANGED)
        await _check_carriers(request, campaign, sending)
        audit_entry = campaign_audit_entry(request, campaign, "approve")
        await approvals.approve(request.context, campaign, sending, request.user, audit_entry)
    except Refused as refused:
        return await render_campaign(request, campaign, refused.problems)
    return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")


async def refuse_campaign(request: PageRequest) -> Response:
    """Send a campaign back to those who prepare it, with a comment.

    Raises Refused.
    """
    campaign = await get_campaign(request)
    _check_shown(request, campaign)
    audit_entry = campaign_audit_entry(request, campaign, "refuse")
    await approvals.refuse(request.context, campaign, request.user, request.field("comment"), audit_entry)
    return request.redirect(f"{UPLOAD_PATH}/{campaign.id.hex()}")


async def withdraw_campaign(request: PageRequest) -> Response:
    """Take a campaign back that waits for approval.

    Raises Refused.
    """
    campaign = await get_campaign(request)
    _check_shown(request, campaign)
    await approvals.withdraw(request.context, campaign, campaign_audit_entry(request, campaign, "withdraw"))
    return request.redirect(f"{UPLOAD_PATH}/{campaign.id.hex()}")


async def show_refused(request: PageRequest, refused: Refused) -> Response:
    """Show a campaign with what is wrong with it."""
    return await render_campaign(request, await get_campaign(request), refused.problems)


def _check_shown(request: PageRequest, campaign: Campaign) -> None:
    """Raise Refused(INVALID_STATE) where a campaign is not what the page has shown."""
    is_waiting = campaign.state is CampaignState.TO_APPROVE
    if not is_waiting or request.field("seen") != campaign_version(campaign, request.now):
        raise Refused(Code.INVALID_STATE, "", approvals.CHANGED)


async def render_campaign(request: PageRequest, campaign: Campaign, problems: Sequence[Problem] = ()) -> Response:
    """Show a campaign that is not sent yet, with what is wrong with it."""
    errors = {each.field if each.field in ("name", "sendDate") else "": request.tell(each) for each in problems}
    message = await load_message(request, campaign)
    validator = None
    try:
        validator = await row_validation.create_validator(request.context, request.account_id, message)
        variables, (subject, content) = validator.variables, validator.subject_and_content
        sender = validator.sender
    except Refused as refused:
        variables, subject, content, sender = (), "", "", ""
        errors.setdefault("", request.tell(refused.problems[0]))
    faults: Faults | None = None
    first: FirstMessage | None = None
    is_waiting = campaign.state is CampaignState.TO_APPROVE
    if campaign.state is CampaignState.CHECKED or is_waiting:
        faults = await list_faults(request, campaign, validator)
        first = await get_first_message(request, campaign, sender)
    is_interrupted = campaign.state is CampaignState.READING and is_stale(campaign, request.now)
    product = PRODUCT_BY_CODE[campaign.kind]
    send_date = request.field("sendDate") or message.send_date
    is_later = bool(request.field("later") or message.send_date)
    return request.render(
        "campaigns/upload.html",
        problems[0].code.http_status if problems else 200,
        campaign=campaign,
        errors=errors,
        variables=variables,
        subject=subject,
        content=content,
        sender=sender,
        first=first,
        bubble=first.bubble if first else make_bubble(request, product, sender, subject, content),
        faults=faults,
        reason=request.pick_language(campaign.reason),
        is_reading=campaign.state is CampaignState.READING and not is_interrupted,
        is_interrupted=is_interrupted,
        version=campaign_version(campaign, request.now),
        is_checked=campaign.state is CampaignState.CHECKED,
        approval=await approvals.get_approval(request.context, campaign, request.user) if is_waiting else None,
        needs_approval=await approvals.needs_approval(
            request.context,
            request.account_id,
            await campaign_files.get_sending(request.context, campaign.id),
            campaign.receivers,
        ),
        approvers=await approvals.count_approvers(request.context, request.account_id, request.user.id),
        submitted=request.minute(campaign.changed_at),
        scheduled=request.minute(campaign.scheduled_at),
        state=campaign.state,
        product=product,
        cost=await _cost(request, campaign, product),
        phone_name=sheet.PHONE_NAMES[0],
        max_rows=sheet_limits.MAX_ROWS,
        max_megabytes=sheet_limits.MAX_FILE_BYTES // (1024 * 1024),
        typed={"name": request.field("name") or campaign.name, "sendDate": send_date.replace(" ", "T")},
        is_later=is_later,
        times=open_times(request, send_date, is_later=is_later),
        zone=str(request.context.policy.zone),
    )


async def _cost(request: PageRequest, campaign: Campaign, product: Product) -> CostEstimate | None:
    """Return what a campaign is expected to cost; None where nobody can be sent to, or without prices."""
    if not campaign.receivers:
        return None
    context = request.context
    sending = await campaign_files.get_sending(context, campaign.id)
    is_ad = sending is not None and sending.is_ad
    number = await default_opt_out_number(context, request.account_id, is_ad=is_ad)
    messages = {product: campaign.receivers - campaign.upgraded}
    if campaign.upgraded:
        messages[Product.LMS] = campaign.upgraded
    fallback = dearest_fallback(context.policy, sending, number) if sending else None
    return estimate_cost(context.policy, messages, fallback)


def campaign_version(campaign: Campaign, now: Instant) -> str:
    """Return a string that changes whenever the page of a campaign would."""
    is_interrupted = campaign.state is CampaignState.READING and is_stale(campaign, now)
    return f"{campaign.changed_at}{'-' if is_interrupted else ''}"


TEXTS = FAULT_TEXTS | {
    "upload.tab": Text("파일은 다음 단계에서 고르기", "Choose the file on the next page"),
    "upload.drop": Text("파일을 끌어다 놓거나 눌러서 고르세요", "Drop a file here, or press to choose one"),
    "upload.tab.about": Text(
        "수신자가 많으면 CSV나 엑셀 파일로 올리세요. 위에 작성한 메시지를 발송합니다.",
        "For many receivers, upload a CSV or Excel file. The message written above is sent to them.",
    ),
    "upload.title": Text("여러 명에게 발송", "Send to many receivers"),
    "upload.back": Text("내용 고치기", "Change the text"),
    "upload.upgraded": Text("SMS {sms:,}명 · LMS {lms:,}명", "{sms:,} get an SMS · {lms:,} get an LMS"),
    "upload.upgraded.about": Text(
        "변수를 채운 문자가 SMS 길이(90바이트)를 넘는 수신자에게는 LMS로 발송합니다.",
        "Receivers whose filled-in text is too long for SMS (90 bytes) get an LMS.",
    ),
    "upload.columns": Text(
        "필요한 열: {names}. 열 이름이 다르면 파일을 고른 뒤 연결하세요.",
        "Required columns: {names}. If they have other names, choose the file, then say what its columns hold.",
    ),
    "upload.limits": Text(
        "CSV 또는 엑셀(.xlsx) 파일을 {rows:,}행, {megabytes} MB까지 올릴 수 있습니다.",
        "CSV or Excel (.xlsx), up to {rows:,} rows and {megabytes} MB.",
    ),
    "upload.template": Text("양식 내려받기 (CSV)", "Download sample file (CSV)"),
    "upload.choose": Text("파일 선택", "Choose a file"),
    "upload.do": Text("파일 올리고 확인", "Upload and check"),
    "upload.again": Text("다른 파일 올리기", "Upload another file"),
    "upload.sending": Text("올리는 중: {percent}%", "Uploading: {percent} %"),
    "upload.failed": Text(
        "파일을 올리지 못했습니다. 아무것도 발송되지 않았습니다. 연결과 파일을 확인하고 다시 시도하세요.",
        "The upload failed. Nothing was sent. Check the connection and the file, then try again.",
    ),
    "upload.too_large": Text(
        "파일이 너무 큽니다. 나누어 올리세요.", "The file is too large. Split it into smaller files."
    ),
    "upload.busy": FILES_BUSY,
    "upload.old_page": Text(
        "로그인이나 발송 상태가 바뀌었습니다. 화면을 새로 고치세요.",
        "Your sign-in or the status has changed. Reload the page.",
    ),
    "upload.checking": Text("파일을 확인하고 있습니다", "Checking the file"),
    "upload.checked_rows": Text(
        "{rows:,}행 확인 · 발송 가능 {good:,} · 발송 불가 {bad:,}",
        "{rows:,} rows checked · {good:,} valid · {bad:,} invalid",
    ),
    "upload.stale": Text(
        "파일 확인이 중단되었습니다. 파일을 다시 올리세요.", "The check was interrupted. Upload the file again."
    ),
    "upload.refused": Text("이 파일은 사용할 수 없습니다.", "This file cannot be used."),
    "upload.good": Text("발송 가능", "Valid"),
    "upload.bad": Text("발송 불가", "Invalid"),
    "upload.duplicates.out": Text("중복 번호 (한 번만 발송)", "Repeated (sent once)"),
    "upload.duplicates.in": Text("중복 번호 (모두 발송)", "Repeated (sent each time)"),
    "upload.unused": Text("쓰지 않은 열: {names}", "Columns that are not used: {names}"),
    "upload.people": Text("{count:,}명", "{count:,}"),
    "upload.bad.file": Text("발송할 수 없는 행 내려받기 (CSV)", "Download invalid rows (CSV)"),
    "upload.bad.more": Text(
        "처음 {shown}행만 표시합니다. 전체는 파일에서 확인하세요.",
        "The first {shown} are shown. Download the file to see all.",
    ),
    "upload.row": Text("행", "Row"),
    "upload.cells": Text("파일의 값", "Values in the file"),
    "upload.nobody": Text(
        "발송할 수 있는 행이 없습니다. 파일을 고쳐 다시 올리세요.",
        "There are no valid rows. Correct the file and upload it again.",
    ),
    "upload.first": Text("첫 수신자({receiver})가 받을 메시지", "The message for the first receiver ({receiver})"),
    "upload.name": Text("캠페인 이름", "Campaign name"),
    "upload.do_send": Text("{count:,}명에게 발송", "Send to {count:,}"),
    "upload.do_schedule": Text("{count:,}명 · {time} 예약", "Schedule for {time} ({count:,})"),
    "upload.rows": Text("{count:,}행", "{count:,}"),
    "approval.title": Text("승인 대기", "Waiting for approval"),
    "approval.about": Text(
        "아래 내용 그대로 발송됩니다. 확인하고 승인하거나 반려하세요.",
        "It is sent exactly as shown below. Look at it, then approve it or send it back.",
    ),
    "approval.own": Text(
        "다른 사용자가 승인하면 발송합니다. 바꾸려면 승인 요청을 취소하고, 바꾼 다음 다시 승인을 요청하세요.",
        "It is sent as soon as another user approves it. To change it, take it back and submit it again.",
    ),
    "approval.nobody": Text(
        "이 계정에 승인할 수 있는 다른 사용자(관리자·발송 담당)가 없습니다.",
        "The account has no other user who could approve it (an owner or a sender).",
    ),
    "approval.needed": Text(
        "{count}명에게 보내려면 다른 사용자의 승인이 필요합니다. 24시간 안에 같은 내용을 보낸 인원도 더해 셉니다.",
        "A send to {count} receivers needs the approval of a second user. Those who got the same text within 24"
        " hours count too.",
    ),
    "approval.dependent": approvals.DEPENDENT,
    "approval.submit": Text("{count:,}명 발송 승인 요청", "Submit for approval ({count:,})"),
    "approval.submitter": Text("요청한 사람", "Submitted by"),
    "approval.at_once": Text("승인하면 바로", "As soon as it is approved"),
    "approval.approve": Text("승인하고 {count:,}명에게 발송", "Approve and send to {count:,}"),
    "approval.refuse": Text("반려", "Send back"),
    "approval.refuse.do": Text("예, 반려합니다", "Yes, send it back"),
    "approval.comment": Text("반려 사유", "Reason"),
    "approval.withdraw": Text("승인 요청 취소", "Take it back"),
    "upload.discard": Text("삭제", "Discard"),
    "upload.discard.ask": Text(
        "올린 파일과 작성한 내용을 삭제하시겠습니까? 되돌릴 수 없습니다.",
        "Discard the file and the message? This cannot be undone.",
    ),
    "upload.discard.yes": Text("예, 삭제합니다", "Yes, discard"),
}
