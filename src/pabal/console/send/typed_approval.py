"""Typed sends that need the approval of a second user: they become campaigns that wait for it."""

from pabal.console.send import kept_draft
from pabal.console.send.campaign_body import message_from_draft
from pabal.console.send.draft import MessageDraft
from pabal.console.shell.form_fields import tab_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.sends.campaign import MAX_NAME_CHARACTERS
from pabal.domain.sends.sending import Sending
from pabal.service.sending.campaigns import approvals
from pabal.service.sending.campaigns.campaign_files import CampaignDraft


async def submit_typed(request: PageRequest, draft: MessageDraft, sending: Sending, key: str) -> bytes:
    """Store a typed send as a campaign that waits for approval, once for each key; return its id.

    Raises Refused for a draft that changes a scheduled request.
    """
    message = message_from_draft(draft)
    campaign_id = _campaign_id(key)
    at = request.locale.format_timestamp(request.now)[:16]
    name = " ".join((sending.subject or sending.content).split())
    new = CampaignDraft(
        campaign_id,
        request.account_id,
        request.user.id,
        draft.product.code,
        f"{name[: MAX_NAME_CHARACTERS - len(at) - 1]} {at}",
        message.to_json(),
    )
    audit_entry = request.audit_entry("campaign.submit", campaign_id.hex())
    await approvals.submit_typed(request.context, new, sending, audit_entry)
    await kept_draft.end(request, kept_draft.form_name(request), tab_id(request))
    return campaign_id


def _campaign_id(key: str) -> bytes:
    """Return the id of the campaign that a key of the send page makes: the time, and some of the random digits."""
    at, random_digits = key[: kept_draft.KEY_TIME_DIGITS], key[kept_draft.KEY_TIME_DIGITS :]
    random_bits = int(random_digits, 16) & ((1 << identifiers.RANDOM_BITS) - 1)
    return identifiers.make_request_id(int(at, 16), 0, random_bits)
