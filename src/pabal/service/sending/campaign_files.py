"""Campaigns before they are sent: their message, their file, and the rows of it that cannot be sent to."""

from collections.abc import Sequence

from pabal.domain.codes import Code, Problem, Refused
from pabal.domain.dates import Instant
from pabal.domain.sending import Sending, decode_shared
from pabal.service.context import Context
from pabal.service.sending.campaigns import begin_reading, describe_problems
from pabal.store import campaigns
from pabal.store.campaigns import Campaign, CampaignDraft, FileFindings, FileSummary, InvalidRow, ReceiverBlock

__all__ = [
    "Campaign", "CampaignDraft", "FileFindings", "FileSummary", "InvalidRow", "ReceiverBlock", "add_findings",
    "begin_reading", "end_reading", "get_campaign", "get_message", "get_sending", "list_invalid_rows",
    "refuse_file",
]  # fmt: skip


async def get_campaign(context: Context, account_id: int, campaign_id: bytes | None) -> Campaign:
    """Return a campaign.

    Raises Refused(NOT_FOUND), also for another account's.
    """
    campaign = await context.store.read(campaigns.get, campaign_id) if campaign_id else None
    if campaign is None or campaign.account_id != account_id:
        raise Refused(Code.NOT_FOUND)
    return campaign


async def get_message(context: Context, campaign: Campaign) -> str:
    """Return the message of a campaign, in the form in which it was created."""
    return await context.store.read(campaigns.get_body, campaign.id)


async def get_sending(context: Context, campaign_id: bytes) -> Sending | None:
    """Return what all receivers of a campaign get, None before a file was checked."""
    shared = await context.store.read(campaigns.get_sending, campaign_id)
    return decode_shared(shared) if shared else None


async def list_invalid_rows(context: Context, campaign: Campaign, after: int, limit: int) -> list[InvalidRow]:
    """Return rows that cannot be sent to, those with a number above `after`, in order."""
    return await context.store.read(campaigns.list_invalid_rows, campaign.id, after, limit)


async def add_findings(
    context: Context, campaign: Campaign, findings: FileFindings, changed_at: Instant, now: Instant
) -> bool:
    """Store the result of a part of the file; False where another file has replaced this one."""
    return await context.store.write(campaigns.add_findings, campaign.id, findings, changed_at, now)


async def end_reading(
    context: Context, campaign: Campaign, summary: FileSummary, changed_at: Instant, now: Instant
) -> None:
    """Store that the file was read to its end."""
    await context.store.write(campaigns.end_reading, campaign.id, summary, changed_at, now)


async def refuse_file(
    context: Context, campaign: Campaign, problems: Sequence[Problem], changed_at: Instant, now: Instant
) -> None:
    """Store why the whole file cannot be used; the campaign waits for another one."""
    await context.store.write(campaigns.refuse_file, campaign.id, describe_problems(problems), changed_at, now)
