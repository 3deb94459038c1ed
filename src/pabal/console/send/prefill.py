"""Fills the send form from what was sent before, or from a saved text: to copy, to resend, or to change it."""

import csv
import io
import json
import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple

from pabal.checks.body.fields import to_api_fields
from pabal.console.send import draft as drafts
from pabal.console.send.draft import ALIMTALK, BRAND, FRIENDTALK, FRIENDTALK_PRODUCTS, LMS, MMS, SMS, MessageDraft
from pabal.console.send.draft_parts import API_FIELDS, BUTTON_FIELDS
from pabal.console.send.kept_draft import FORM
from pabal.console.send.review import MAX_TYPED_RECEIVERS
from pabal.console.sheets import sheet
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.brand.message import to_documented
from pabal.domain.content.image import Image
from pabal.domain.people import phone
from pabal.domain.sends.message import Product, Status
from pabal.domain.sends.sending import CODE_PURPOSE
from pabal.service.sending import drafts as kept_drafts
from pabal.service.sending.campaigns import campaign_files, copies
from pabal.service.sending.campaigns.copies import CampaignCopy, Message, Request, RequestCopy
from pabal.service.sending.replace import NOT_WAITING

HEAD = "수신번호"
"""Names the first column of receivers that have values."""
KIND_BY_PRODUCT = {
    Product.SMS: SMS,
    Product.LMS: LMS,
    Product.MMS: MMS,
    Product.ALIMTALK: ALIMTALK,
    Product.BRAND_MESSAGE: BRAND,
    **dict.fromkeys(FRIENDTALK_PRODUCTS, FRIENDTALK),
}
NOT_EDITABLE = Text(
    "수신자가 1,000명을 넘거나 참조값, 수신자별 내용, 여러 줄의 변수 값이 있는 요청은 여기서 바꿀 수 없습니다. "
    "취소하고 다시 요청하세요.",
    "A request with more than 1,000 receivers, references, texts of single receivers or values of several lines "
    "cannot be changed here. Cancel it, and request it again.",
)
_AD_SENDER = re.compile(r"\(광고\)\s*\[([^\]]{1,40})\]")
_WAYS: dict[str, Status | None] = {"copy": None, "resend": Status.FAIL, "edit": Status.WAITING, "rest": None}
"""What a form begins with, and which messages of the request it is for: who was cancelled stays out of an edit."""


class FormStart(NamedTuple):
    """What a form begins with: the name of its draft, what it is filled with, and what to say about it."""

    form: str = FORM
    draft: MessageDraft | None = None
    notice: str = ""
    """The key of a text; empty: nothing."""


def form_of(request: PageRequest) -> str:
    """Return the name of the draft of the form that the address asks for."""
    for way in _WAYS:
        sent_id = identifiers.parse_request_id(request.field(way))
        if sent_id:
            return f"{FORM}.{way}.{sent_id.hex()}"
    text_id = parse_id(request.field("text"))
    return f"{FORM}.text.{text_id}" if text_id else FORM


async def find_start(request: PageRequest) -> FormStart:
    """Return what the form begins with that the address asks for; an empty start for a new message.

    Raises Refused: REQUEST_NOT_FOUND, NOT_FOUND, also for another account's.
    """
    form = form_of(request)
    way = form.split(".")[1] if form != FORM else ""
    if way == "text":
        text_id = parse_id(request.field("text")) or 0
        fields = await kept_drafts.get_fields(request.context, request.account_id, text_id)
        return FormStart(form, drafts.read_draft({**fields, "once": "1"}))
    if not way:
        return FormStart()
    sent_id = identifiers.parse_request_id(request.field(way)) or b""
    if way == "rest":
        return await _start_from_rest(request, form, sent_id)
    campaign = await request.context.store.read(
        copies.copy_campaign, request.account_id, sent_id, MAX_TYPED_RECEIVERS
    )
    if campaign:
        if way == "edit":
            return await _start_from_edited(request, form, campaign, sent_id)
        return _start_from_campaign(form, campaign, way, sent_id)
    copy = await copies.copy_request(request.context, request.account_id, sent_id, MAX_TYPED_RECEIVERS, _WAYS[way])
    return _start_from_request(request, form, copy, way)


def is_editable(copy: RequestCopy) -> bool:
    """Return whether a request can be written anew without losing anything.

    References, own texts, and values of several lines would be lost.
    """
    return not copy.has_more and all(
        each.content is None and each.reference is None and all(map(_can_be_typed, each.values))
        for each in copy.messages
    )


def _start_from_request(request: PageRequest, form: str, copy: RequestCopy, way: str) -> FormStart:
    draft = draft_from_request(copy.request, copy.images)
    notice = f"send_start.{way}"
    if copy.has_more:
        notice = "send_start.many_failed" if way == "resend" else "send_start.too_many"
        draft = _resending(draft, copy.request.id, way)
    else:
        lines = type_receivers(copy.messages, copy.request.variables)
        numbers = [each.receiver for each in copy.messages]
        has_repeated = len(set(numbers)) < len(numbers)  # who was to get several messages still is
        draft = draft.changed(receivers=lines, once=not has_repeated)
    if way == "resend" and not copy.messages:
        notice = "send_start.none_failed"
    if way == "edit":
        if copy.request.scheduled_at <= request.now or not copy.messages:
            raise Refused(Code.INVALID_STATE, "", NOT_WAITING)
        if not is_editable(copy):
            raise Refused(Code.INVALID_STATE, "", NOT_EDITABLE)
        at = request.minute(copy.request.scheduled_at).replace(" ", "T")
        draft = draft.changed(sendDate=at, edits=copy.request.id.hex(), later=True)
    return FormStart(form, draft, notice)


def _resending(draft: MessageDraft, sent_id: bytes, way: str) -> MessageDraft:
    """Return a draft that is resent to more receivers than can be typed: they are read when it is sent."""
    return draft.changed(resends=sent_id.hex() if way == "resend" else "")


def _start_from_campaign(form: str, copy: CampaignCopy, way: str, sent_id: bytes) -> FormStart:
    fields: dict[str, Any] = json.loads(copy.body)
    draft = drafts.draft_from_body(fields)
    if way == "copy":
        return FormStart(form, draft, "send_start.copy_campaign")
    if copy.has_more:
        return FormStart(form, _resending(draft, sent_id, way), "send_start.many_failed")
    lines = type_receivers(copy.failed, copy.variables)
    notice = "send_start.resend" if copy.failed else "send_start.none_failed"
    return FormStart(form, draft.changed(receivers=lines), notice)


async def _start_from_edited(request: PageRequest, form: str, copy: CampaignCopy, campaign_id: bytes) -> FormStart:
    """Return the message of a campaign that has not begun, with its time; its receivers stay."""
    campaign = await campaign_files.get_campaign(request.context, request.account_id, campaign_id)
    fields: dict[str, Any] = json.loads(copy.body)
    at = request.minute(campaign.scheduled_at) or str(fields.get("sendDate", ""))
    draft = drafts.draft_from_body(fields)
    draft = draft.changed(edits=campaign_id.hex(), sendDate=at.replace(" ", "T"), later=bool(at))
    notice = "send_start.edit_campaign" if campaign.state.is_before_sending else "send_start.edit_scheduled"
    return FormStart(form, draft, notice)


async def _start_from_rest(request: PageRequest, form: str, campaign_id: bytes) -> FormStart:
    """Return the message of a campaign with the rows of its file that could not be sent to."""
    rest = await request.context.store.read(copies.copy_rest, request.account_id, campaign_id, MAX_TYPED_RECEIVERS)
    if rest is None:  # lines of a request are in the draft of their user
        return FormStart(FORM, None, "send_start.no_rest")
    draft = drafts.draft_from_body(json.loads(rest.body))
    if rest.has_more:
        return FormStart(form, draft, "send_start.much_rest")
    if not rest.rows:
        return FormStart(form, draft, "send_start.no_rest")
    width = len(rest.columns)
    first = sheet.find_columns(rest.columns, ()).phone
    order = [first, *(place for place in range(width) if place != first)]
    rows = [[HEAD if place == first else rest.columns[place] for place in order]]
    for row in rest.rows:
        cells = [*row.cells, *[""] * width]
        rows.append([cells[place] for place in order])
    return FormStart(form, draft.changed(receivers=write_lines(rows)), "send_start.rest")


def draft_from_request(request: Request, images: Sequence[Image]) -> MessageDraft:
    """Return the draft that would make this request again, without receivers and time."""
    is_alimtalk = request.product is Product.ALIMTALK
    ad_sender = _AD_SENDER.match(request.content) if request.is_ad else None
    buttons = [each for each in request.buttons if each.type in BUTTON_FIELDS and not is_alimtalk]
    return drafts.draft_from_body(
        {
            "kind": KIND_BY_PRODUCT[request.product],
            "content": request.content,  # of an Alimtalk too: it may be resent as a text
            "subject": "" if is_alimtalk else request.subject,
            "sender": _hyphenate(request.sender),
            "senderKey": request.sender_key,
            "templateCode": request.template_code,
            "expireMinutes": request.expire_minutes,
            "purpose": CODE_PURPOSE if request.is_code else "",
            "imageLink": request.image_link,
            "resend": request.fallback_sender is not None,
            "resendPhoneNumber": _hyphenate(request.fallback_sender),
            "resendContent": request.fallback_content,
            "adFlag": request.is_ad,
            "optOutNumber": _hyphenate(request.opt_out_number),
            "adSender": ad_sender[1] if ad_sender else "",
            "images": [
                dict(
                    zip(API_FIELDS, (each.content_type, each.file_name, b64encode(each.body).decode()), strict=True)
                )
                for each in images
            ],
            "buttons": [{"buttonType": each.type, **to_api_fields(each)} for each in buttons],
            **_talk_fields(request),
        }
    )


def _hyphenate(number: str | None) -> str:
    return phone.hyphenate(number) if number else ""


def type_receivers(messages: Sequence[Message], variables: Sequence[str]) -> str:
    """Return receivers as they would be typed: a line each, below the names of their values if they have any."""
    rows = [[phone.hyphenate(each.receiver), *each.values] for each in messages if each.receiver]
    if any(each.values for each in messages):
        rows = [[HEAD, *variables], *rows]
    return write_lines(rows)


def write_lines(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as they would be typed: values are separated by commas, and of several lines made one."""
    typed = io.StringIO()
    writer = csv.writer(typed, lineterminator="\n")
    writer.writerows([" ".join(cell.splitlines()) for cell in row] for row in rows)
    return typed.getvalue().rstrip("\n")


def _can_be_typed(value: str) -> bool:
    """Return whether a value is the same after it was typed into a line of receivers."""
    return bool(value) and value == value.strip() and "\t" not in value and len(value.splitlines()) == 1


def _talk_fields(request: Request) -> dict[str, Any]:
    if request.product in FRIENDTALK_PRODUCTS:
        return {"messageType": request.product.code}
    brand = request.brand
    if request.product is not Product.BRAND_MESSAGE or brand is None:
        return {}
    return {
        "messageType": brand.type.value if brand.type else "",
        "targeting": brand.targeting.value,
        "attachment": to_documented(brand.attachment),
    }
