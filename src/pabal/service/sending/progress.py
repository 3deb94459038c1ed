"""Follows what was sent: campaigns and requests of an account, newest first, and how far each has come."""

from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.campaign import State
from pabal.domain.dates import MINUTE, Instant
from pabal.domain.message import PRODUCT_BY_WORD, Product
from pabal.service.context import Context
from pabal.service.sending import campaigns as verbs
from pabal.store import campaign_requests, campaigns, requests
from pabal.store.campaign_requests import Part, Progress
from pabal.store.campaigns import Campaign
from pabal.store.engine.base import Tx
from pabal.store.requests import Request

NEWEST = b"\xff" * identifiers.REQUEST_ID_BYTES
LOOK = 200
MOST_LOOKS = 10
"""The requests of campaigns are passed over: so many at a time, and so often before it stops."""
SOON = 10 * MINUTE


class Sent(NamedTuple):
    """A campaign or a request, and how far it has come."""

    id: bytes
    product: Product
    campaign: Campaign | None
    request: Request | None
    scheduled_at: Instant | None
    progress: Progress
    """Of receivers that are in a request."""
    total: int
    has_ended: bool

    @property
    def unmade(self) -> int:
        """How many receivers wait to be in a request at all."""
        is_on_its_way = self.campaign is not None and self.campaign.state in (State.MAKING, State.HALTED)
        return self.total - self.progress.total if is_on_its_way else 0

    @property
    def unsent(self) -> int:
        """How many receivers never were in a request, and never will be."""
        is_cancelled = self.campaign is not None and self.campaign.state is State.CANCELLED
        return self.total - self.progress.total if is_cancelled else 0

    @property
    def has_waiting(self) -> bool:
        """Whether something is left that can be cancelled."""
        return self.progress.waiting + self.unmade > 0

    def is_moving(self, now: Instant) -> bool:
        """Say whether it is worth watching."""
        if self.campaign and self.campaign.state in (State.MAKING, State.CANCELLING):
            return True
        return not self.has_ended and (self.scheduled_at or 0) <= now + SOON

    def is_for_later(self, now: Instant) -> bool:
        """Say whether it waits for its time, and may be sent before."""
        if self.campaign and self.campaign.state not in (State.MAKING, State.MADE):
            return False
        return self.has_waiting and self.scheduled_at is not None and self.scheduled_at > now


class Listed(NamedTuple):
    """Some of what was sent, newest first, and from where to go on: None where there is nothing more."""

    found: list[Sent]
    further: bytes | None


async def list_sent(context: Context, account_id: int, before: bytes, most: int) -> Listed:
    """Return what an account sent before an id, newest first."""
    return await context.store.read(_listed, account_id, before, most)


async def look_at(context: Context, account_id: int, sent_id: bytes | None) -> Sent | None:
    """Return a campaign or a request as it stands now, None where the account has none of this id."""
    if sent_id is None:
        return None
    found = await context.store.read(_sent, account_id, sent_id)
    if found and found.campaign and not found.has_ended and await verbs.count(context, sent_id):
        return await context.store.read(_sent, account_id, sent_id)
    return found


async def parts_of(context: Context, campaign: Campaign) -> list[Part]:
    """Return the requests of a campaign."""
    return await context.store.read(campaign_requests.parts, campaign.id)


async def campaign_of(context: Context, request_id: bytes) -> bytes | None:
    """Return the campaign that a request belongs to, if it does."""
    return (await context.store.read(campaign_requests.among, [request_id])).get(request_id)


def _listed(tx: Tx, account_id: int, before: bytes, most: int) -> Listed:
    singles, further = _singles(tx, account_id, before, most)
    some = campaigns.of_account(tx, account_id, before, most)
    if further is not None:
        some = [each for each in some if each.id > further]
    both: list[Campaign | Request] = sorted([*some, *singles], key=lambda each: each.id, reverse=True)
    shown = both[:most]
    sums = campaign_requests.sums(tx, [each.id for each in shown if isinstance(each, Campaign)])
    found = [
        _of_campaign(each, *sums.get(each.id, (Progress(), True)))
        if isinstance(each, Campaign)
        else _of_request(tx, each)
        for each in shown
    ]
    if len(both) > most or len(some) == most:
        further = shown[-1].id
    return Listed(found, further)


def _singles(tx: Tx, account_id: int, before: bytes, most: int) -> tuple[list[Request], bytes | None]:
    """Return requests that are no campaign's, and where to go on, None at the end."""
    found: list[Request] = []
    for _ in range(MOST_LOOKS):
        some = requests.of_account(tx, account_id, before, LOOK)
        theirs = campaign_requests.among(tx, [each.id for each in some])
        found += [each for each in some if each.id not in theirs]
        if len(some) < LOOK:
            return found, None
        before = some[-1].id
        if len(found) > most:
            break
    return found, before


def _sent(tx: Tx, account_id: int, sent_id: bytes) -> Sent | None:
    campaign = campaigns.get(tx, sent_id)
    if campaign:
        if campaign.account_id != account_id:
            return None
        sums = campaign_requests.sums(tx, [sent_id])
        return _of_campaign(campaign, *sums.get(sent_id, (Progress(), True)))
    request = requests.get(tx, [sent_id]).get(sent_id)
    return _of_request(tx, request) if request and request.account_id == account_id else None


def _of_campaign(campaign: Campaign, progress: Progress, has_ended: bool) -> Sent:
    is_settled = campaign.state not in (State.MAKING, State.HALTED, State.CANCELLING)
    return Sent(
        campaign.id,
        PRODUCT_BY_WORD[campaign.kind],
        campaign,
        None,
        campaign.scheduled_at,
        progress,
        campaign.receivers,
        has_ended and is_settled,
    )


def _of_request(tx: Tx, request: Request) -> Sent:
    progress, has_ended = campaign_requests.count(tx, request.account_id, request.id, request.total)
    return Sent(
        request.id, request.product, None, request, request.scheduled_at, progress, request.total, has_ended
    )
