"""Campaigns that need a second user: they are approved, sent back or withdrawn."""

from starlette.responses import Response

from pabal.console.campaigns.campaign_message import (
    REQUESTS_PATH,
    UPLOAD_PATH,
    campaign_audit_entry,
    get_campaign,
    load_validator,
)
from pabal.console.campaigns.upload import FILE_CHANGED, campaign_version, check_carriers, render_campaign
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused
from pabal.domain.sends.campaign import CampaignState
from pabal.service.sending.campaigns import approvals, campaign_files
from pabal.service.sending.campaigns.campaign_files import Campaign


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
        await check_carriers(request, campaign, sending)
        audit_entry = campaign_audit_entry(request, campaign, "approve")
        await approvals.approve(request.context, campaign, sending, request.user, audit_entry)
    except Refused as refused:
        return await render_campaign(request, campaign, refused.problems)
    return request.redirect(f"{REQUESTS_PATH}/{campaign.id.hex()}")


async def refuse_campaign(request: PageRequest) -> Response:
    """Send a campaign back to those who prepare it, with a comment."""
    campaign = await get_campaign(request)
    try:
        _check_shown(request, campaign)
        audit_entry = campaign_audit_entry(request, campaign, "refuse")
        await approvals.refuse(request.context, campaign, request.user, request.field("comment"), audit_entry)
    except Refused as refused:
        return await render_campaign(request, campaign, refused.problems)
    return request.redirect(f"{UPLOAD_PATH}/{campaign.id.hex()}")


async def withdraw_campaign(request: PageRequest) -> Response:
    """Take a campaign back that waits for approval."""
    campaign = await get_campaign(request)
    try:
        _check_shown(request, campaign)
        await approvals.withdraw(request.context, campaign, campaign_audit_entry(request, campaign, "withdraw"))
    except Refused as refused:
        return await render_campaign(request, campaign, refused.problems)
    return request.redirect(f"{UPLOAD_PATH}/{campaign.id.hex()}")


def _check_shown(request: PageRequest, campaign: Campaign) -> None:
    """Raise Refused(INVALID_STATE) where a campaign is not what the page has shown."""
    is_waiting = campaign.state is CampaignState.TO_APPROVE
    if not is_waiting or request.field("seen") != campaign_version(campaign, request.now):
        raise Refused(Code.INVALID_STATE, "", approvals.CHANGED)
