"""What pages about one campaign share: its message and receivers, and the campaign whose place it takes."""

from typing import NamedTuple

from pabal.console.campaigns.row_validation import RowValidator, create_validator
from pabal.console.history.phone import Bubble, preview_attachment
from pabal.console.send import draft as drafts
from pabal.console.send import kept_draft
from pabal.console.send.campaign_body import CampaignMessage, message_from_draft
from pabal.console.send.draft import MessageDraft
from pabal.console.send.preview import upgrade_if_long
from pabal.console.send.review import ad_problems
from pabal.console.send.summary import find_edited
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.kakao.template_parts import fill_parts
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import fill_buttons, fill_text
from pabal.service.access.accounts.audit import AuditEntry
from pabal.service.sending.campaigns import campaign_files
from pabal.service.sending.campaigns import campaigns as campaign_service
from pabal.service.sending.campaigns.campaign_files import Campaign, CampaignDraft
from pabal.service.sending.replace import NOT_WAITING
from pabal.world import new_request_id

UPLOAD_PATH = "/console/send/upload"
REQUESTS_PATH = "/console/requests"


async def get_campaign(request: PageRequest) -> Campaign:
    """Return the campaign that the address names.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    campaign_id = identifiers.parse_request_id(str(request.http.path_params["campaign"]))
    return await campaign_files.get_campaign(request.context, request.account_id, campaign_id)


async def load_message(request: PageRequest, campaign: Campaign) -> CampaignMessage:
    """Return the message that was written for a campaign."""
    return CampaignMessage.from_json(await campaign_files.get_message(request.context, campaign))


async def load_validator(request: PageRequest, campaign: Campaign) -> RowValidator:
    """Return what validates the receivers of a campaign.

    Raises Refused, where its message cannot be sent any more.
    """
    return await create_validator(request.context, request.account_id, await load_message(request, campaign))


def campaign_audit_entry(request: PageRequest, campaign: Campaign, action: str) -> AuditEntry:
    """Return the audit entry of an action on a campaign."""
    return request.audit_entry(f"campaign.{action}", campaign.id.hex())


SAME_AGAIN = Text(
    "같은 내용을 같은 시각에 다시 예약하면 중복 발송으로 처리됩니다. 시각이나 내용을 바꾸세요.",
    "The same text at the same time would be dropped as a duplicate. Change the time or the text.",
)
ENDED = (CampaignState.CANCELLING, CampaignState.CANCELLED, CampaignState.DISCARDED)
"""Nothing more of it is sent."""


def is_editable(campaign: Campaign, now: Instant) -> bool:
    """Return whether nothing of a campaign is sent yet, and all of its receivers are known."""
    is_scheduled = campaign.state is CampaignState.MADE and (campaign.scheduled_at or 0) > now
    return is_scheduled or campaign.state is CampaignState.CHECKED


class CampaignStart(NamedTuple):
    """A message that is ready to become a campaign."""

    draft: MessageDraft
    message: CampaignMessage
    validator: RowValidator
    edited: Campaign | None = None
    """The campaign whose receivers it is for, if they are those of one."""

    @property
    def skips_duplicates(self) -> bool:
        """Whether everybody gets it once."""
        return self.edited is None or self.edited.skips_duplicates


async def check_message(request: PageRequest) -> CampaignStart:
    """Return the message of the send page; what was typed is kept.

    Raises Refused.
    """
    typed = drafts.read_draft(request.fields)
    kept = await kept_draft.keep_on(request, typed)
    draft = await upgrade_if_long(request, typed)
    if problems := ad_problems(draft):
        raise Refused.from_problems(problems)
    edited = await find_edited(request, draft)
    message = message_from_draft(draft, edited.id.hex() if edited else "")
    message = message._replace(draft=kept.form, page=kept.page)
    validator = await create_validator(request.context, request.account_id, message)
    return CampaignStart(draft, message, validator)


async def store_campaign(request: PageRequest, start: CampaignStart, name: str) -> bytes:
    """Store a campaign that has no receivers yet, and return its id."""
    campaign_id = new_request_id(request.context.world, 0)
    new = CampaignDraft(
        campaign_id, request.account_id, request.user.id, start.draft.product.code, name, start.message.to_json()
    )
    audit_entry = request.audit_entry("campaign.begin", campaign_id.hex())
    await request.context.store.write(campaign_service.create, new, audit_entry)
    return campaign_id


async def cancel_replaced(request: PageRequest, message: CampaignMessage, send_at: Instant | None) -> None:
    """Cancel the campaign whose place a message takes, so that never both are sent.

    Raises Refused(INVALID_STATE) where it has begun, or where the duplicate guard would drop the new one; NOT_FOUND
    for another account's.
    """
    if not message.replaces:
        return
    campaign_id = identifiers.parse_request_id(message.replaces)
    old = await campaign_files.get_campaign(request.context, request.account_id, campaign_id)
    if old.state in ENDED:
        return
    if not is_editable(old, request.now):
        raise Refused(Code.INVALID_STATE, "", NOT_WAITING)
    written = await load_message(request, old)
    is_same = old.scheduled_at == send_at and written.fields == message.fields
    if old.scheduled_at and is_same and await _has_duplicate_guard(request):
        raise Refused(Code.INVALID_STATE, "sendDate", SAME_AGAIN)
    audit_entry = request.audit_entry("campaign.cancel", old.id.hex())
    if not await campaign_service.cancel_campaign(request.context, old, audit_entry):
        raise Refused(Code.INVALID_STATE, "", NOT_WAITING)
    await kept_draft.end(request, written.draft, written.page)


async def _has_duplicate_guard(request: PageRequest) -> bool:
    limits = await request.context.limiter.limits_of(request.account_id)
    own = limits.duplicate_minutes
    return bool(request.context.policy.duplicate_minutes if own is None else own)


class FirstMessage(NamedTuple):
    """The message as the first receiver of a checked file gets it."""

    receiver: str
    bubble: Bubble


async def get_first_message(request: PageRequest, campaign: Campaign, sender: str) -> FirstMessage | None:
    """Return what the first receiver gets; None where nobody can be sent to."""
    found = await campaign_files.get_first_message(request.context, campaign)
    if found is None:
        return None
    sending, receiver = found
    names, values = sending.variables, receiver.values
    subject, content = fill_text(sending.subject or "", names, values), fill_text(sending.content, names, values)
    bubble = make_bubble(request, sending.product, sender, subject, content)._replace(
        buttons=[(each.name, "") for each in fill_buttons(sending.buttons, names, values)],
        images=len(sending.images),
        parts=preview_attachment(sending.brand.attachment) if sending.brand else (),
        talk_parts=fill_parts(sending.parts, names, values),
    )
    return FirstMessage(request.phone_number(receiver.phone), bubble)


def make_bubble(request: PageRequest, product: Product, sender: str, subject: str, content: str) -> Bubble:
    """Return a message as the phone beside a campaign shows it."""
    return Bubble(
        time="",
        shown_time="",
        kind=request.translate(product.label),
        is_token=False,
        is_talk=not product.is_text,
        is_alimtalk=product is Product.ALIMTALK,
        sender=sender,
        subject=subject,
        content=content,
        buttons=[],
        images=0,
    )
