"""What pages about one campaign share: the campaign of the address, and what validates its receivers."""

from pabal.console.send.campaign_body import CampaignMessage
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.row_validation import RowValidator, create_validator
from pabal.domain.base import identifiers
from pabal.service.access.accounts.audit import AuditEntry
from pabal.service.sending.campaigns import campaign_files
from pabal.service.sending.campaigns.campaign_files import Campaign

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
