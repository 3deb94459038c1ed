"""Campaigns before they are sent: their message, their file, and the rows of it that cannot be sent to."""

import logging
from collections.abc import Sequence

from pabal.domain.base.codes import Problem, require
from pabal.domain.base.dates import Instant
from pabal.domain.sends.sending import Receiver, Sending, decode_shared
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged, describe_error
from pabal.service.sending.campaigns.campaigns import begin_reading as begin_reading
from pabal.service.sending.campaigns.campaigns import decode_receivers, describe_problems, sending_of_block
from pabal.store.campaigns import campaign_list, campaigns
from pabal.store.campaigns.campaigns import Campaign as Campaign
from pabal.store.campaigns.campaigns import CampaignDraft as CampaignDraft
from pabal.store.campaigns.campaigns import FileFindings as FileFindings
from pabal.store.campaigns.campaigns import FileSummary as FileSummary
from pabal.store.campaigns.campaigns import InvalidRow as InvalidRow
from pabal.store.campaigns.campaigns import ReceiverBlock as ReceiverBlock
from pabal.store.engine.base import Tx

log = logging.getLogger("pabal.campaigns")


async def get_campaign(context: Context, account_id: int, campaign_id: bytes | None) -> Campaign:
    """Return a campaign.

    Raises Refused(NOT_FOUND), also for another account's, and RecordDamaged for one that cannot be read.
    """
    return require(await context.store.read(_read_campaign, account_id, campaign_id) if campaign_id else None)


def _read_campaign(tx: Tx, account_id: int, campaign_id: bytes) -> Campaign | None:
    if campaigns.get_account_id(tx, campaign_id) != account_id:
        return None
    campaign = campaigns.get(tx, campaign_id)
    if campaign is None:
        raise RecordDamaged("request", campaign_id)
    return campaign


async def get_message(context: Context, campaign: Campaign) -> str:
    """Return the message of a campaign, in the form in which it was created."""
    return await context.store.read(campaigns.get_body, campaign.id)


async def get_sending(context: Context, campaign_id: bytes) -> Sending | None:
    """Return what all receivers of a campaign get, None before a file was checked.

    Raises RecordDamaged where it cannot be read, which is logged.
    """
    shared = await context.store.read(campaigns.get_sending, campaign_id)
    try:
        return decode_shared(shared) if shared else None
    except Exception as error:  # JSON that no version of ours has stored
        log.error("campaign cannot be read", extra={"campaign_id": campaign_id.hex(), **describe_error(error)})
        raise RecordDamaged("request", campaign_id) from None


async def get_first_message(context: Context, campaign: Campaign) -> tuple[Sending, Receiver] | None:
    """Return the first receiver of a checked campaign, and what that receiver gets; None where there is none."""
    sending = await get_sending(context, campaign.id)
    block = await context.store.read(campaigns.next_block, campaign.id)
    return (sending_of_block(sending, block), decode_receivers(block)[0]) if sending and block else None


async def list_invalid_rows(context: Context, campaign: Campaign, after: int, limit: int) -> list[InvalidRow]:
    """Return rows that cannot be sent to, those with a number above `after`, in order."""
    return await context.store.read(campaign_list.list_invalid_rows, campaign.id, after, limit)


async def count_reasons(context: Context, campaign: Campaign, most: int) -> list[tuple[tuple[str, ...], int]]:
    """Return the most frequent reasons of rows that cannot be sent to, and how many rows have each."""
    return await context.store.read(campaign_list.count_reasons, campaign.id, most)


async def list_rows_of_reason(
    context: Context, campaign: Campaign, reason: Sequence[str], limit: int
) -> list[InvalidRow]:
    """Return rows that cannot be sent to for this reason, in order."""
    return await context.store.read(campaign_list.list_rows_of_reason, campaign.id, reason, limit)


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
