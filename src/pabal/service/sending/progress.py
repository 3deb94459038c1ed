"""Lists campaigns and requests of an account with their progress."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.campaign import CampaignState
from pabal.domain.dates import MINUTE, Instant
from pabal.domain.message import PRODUCT_BY_CODE, Product
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged
from pabal.service.sending import campaigns as verbs
from pabal.store import campaign_requests, campaigns, requests
from pabal.store.campaign_requests import CampaignProgress as CampaignProgress  # for pages
from pabal.store.campaign_requests import CampaignRequest
from pabal.store.campaigns import Campaign
from pabal.store.engine.base import Tx, transaction
from pabal.store.requests import Request as Request

AFTER_NEWEST_ID = b"\xff" * identifiers.REQUEST_ID_BYTES
SCAN_BATCH_REQUESTS = 200
MAX_SCANS = 10
"""A page skips requests of campaigns: it scans this many batches at most."""
SOON_MS = 10 * MINUTE


class SentItem(NamedTuple):
    """A campaign or a request, with its progress."""

    id: bytes
    product: Product
    campaign: Campaign | None
    request: Request | None
    scheduled_at: Instant | None
    progress: CampaignProgress
    """Of receivers that are in a request already."""
    total: int
    has_ended: bool

    @property
    def not_yet_accepted(self) -> int:
        """Receivers of a running campaign that are in no request yet."""
        is_on_its_way = self.campaign is not None and self.campaign.state in (
            CampaignState.MAKING,
            CampaignState.HALTED,
        )
        return self.total - self.progress.total if is_on_its_way else 0

    @property
    def never_accepted(self) -> int:
        """Receivers of a cancelled campaign that never were in a request."""
        is_cancelled = self.campaign is not None and self.campaign.state is CampaignState.CANCELLED
        return self.total - self.progress.total if is_cancelled else 0

    @property
    def has_waiting(self) -> bool:
        """Whether something can still be cancelled."""
        return self.progress.waiting + self.not_yet_accepted > 0

    def is_in_progress(self, now: Instant) -> bool:
        """Say whether its progress will change soon."""
        if self.campaign and self.campaign.state in (CampaignState.MAKING, CampaignState.CANCELLING):
            return True
        return not self.has_ended and (self.scheduled_at or 0) <= now + SOON_MS

    def is_scheduled(self, now: Instant) -> bool:
        """Say whether it waits for its scheduled time, and can be sent now."""
        if self.campaign and self.campaign.state not in (CampaignState.MAKING, CampaignState.MADE):
            return False
        return self.has_waiting and self.scheduled_at is not None and self.scheduled_at > now


class SentPage(NamedTuple):
    """A page of sent items, newest first; `next_before` is None on the last page."""

    items: list[SentItem]
    next_before: bytes | None
    unreadable: Sequence[bytes] = ()
    """The ids of requests and campaigns of this page that cannot be read."""


async def list_sent(context: Context, account_id: int, before: bytes, limit: int) -> SentPage:
    """Return a page of what an account sent before an id, newest first."""
    return await context.store.read(_read_page, account_id, before, limit)


async def get_sent(context: Context, account_id: int, sent_id: bytes | None) -> SentItem | None:
    """Return a campaign or a request with current progress, None where the account has none of this id.

    Raises RecordDamaged for one that cannot be read.
    """
    if sent_id is None:
        return None
    found = await context.store.read(_read_sent, account_id, sent_id)
    if found and found.campaign and not found.has_ended and await verbs.update_progress(context, sent_id):
        return await context.store.read(_read_sent, account_id, sent_id)
    return found


async def campaign_parts(context: Context, campaign: Campaign) -> list[CampaignRequest]:
    """Return the requests of a campaign."""
    return await context.store.read(campaign_requests.list_requests, campaign.id)


async def campaign_of_request(context: Context, request_id: bytes) -> bytes | None:
    """Return the campaign of a request, if it has one."""
    return (await context.store.read(campaign_requests.campaigns_by_request, [request_id])).get(request_id)


@transaction(search=True)
def _read_page(tx: Tx, account_id: int, before: bytes, limit: int) -> SentPage:
    singles, unreadable, further = _single_requests(tx, account_id, before, limit)
    ids, readable = campaigns.list_by_account(tx, account_id, before, limit)
    if further is not None:
        ids = [one for one in ids if one > further]
    some = [readable[one] for one in ids if one in readable]
    unreadable += [one for one in ids if one not in readable]
    end = ids[-1] if len(ids) == limit else b""  # older campaigns are on the next page, with what is between them
    both: list[Campaign | Request] = [*some, *(each for each in singles if each.id >= end)]
    both.sort(key=lambda each: each.id, reverse=True)
    shown = both[:limit]
    sums = campaign_requests.sum_progress(tx, [each.id for each in shown if isinstance(each, Campaign)])
    found = [
        _campaign_item(each, *sums.get(each.id, (CampaignProgress(), True)))
        if isinstance(each, Campaign)
        else _request_item(tx, each)
        for each in shown
    ]
    if len(both) > limit or end:
        further = shown[-1].id if len(both) > limit else end
    return SentPage(found, further, [one for one in unreadable if further is None or one >= further])


def _single_requests(
    tx: Tx, account_id: int, before: bytes, limit: int
) -> tuple[list[Request], list[bytes], bytes | None]:
    """Return requests outside campaigns, ids of unreadable ones, and the id to continue before, None at the end."""
    found: list[Request] = []
    unreadable: list[bytes] = []
    for _ in range(MAX_SCANS):
        ids, readable = requests.list_by_account(tx, account_id, before, SCAN_BATCH_REQUESTS)
        theirs = campaign_requests.campaigns_by_request(tx, ids)
        found += [each for one, each in readable.items() if one not in theirs]
        unreadable += [one for one in ids if one not in readable and one not in theirs]
        if len(ids) < SCAN_BATCH_REQUESTS:
            return found, unreadable, None
        before = ids[-1]
        if len(found) > limit:
            break
    return found, unreadable, before


def _read_sent(tx: Tx, account_id: int, sent_id: bytes) -> SentItem | None:
    owner = campaigns.get_account_id(tx, sent_id)
    is_campaign = owner is not None
    if not is_campaign:
        owner = requests.account_ids(tx, [sent_id]).get(sent_id)
    if owner != account_id:
        return None
    campaign = campaigns.get(tx, sent_id) if is_campaign else None
    if campaign:
        sums = campaign_requests.sum_progress(tx, [sent_id])
        return _campaign_item(campaign, *sums.get(sent_id, (CampaignProgress(), True)))
    request = None if is_campaign else requests.get(tx, [sent_id]).get(sent_id)
    if request is None:
        raise RecordDamaged("request", sent_id)
    return _request_item(tx, request)


def _campaign_item(campaign: Campaign, progress: CampaignProgress, has_ended: bool) -> SentItem:
    is_settled = campaign.state not in (CampaignState.MAKING, CampaignState.HALTED, CampaignState.CANCELLING)
    return SentItem(
        campaign.id,
        PRODUCT_BY_CODE[campaign.kind],
        campaign,
        None,
        campaign.scheduled_at,
        progress,
        campaign.receivers,
        has_ended and is_settled,
    )


def _request_item(tx: Tx, request: Request) -> SentItem:
    progress, has_ended = campaign_requests.count_progress(tx, request.account_id, request.id, request.total)
    return SentItem(
        request.id, request.product, None, request, request.scheduled_at, progress, request.total, has_ended
    )
