"""Lists campaigns and requests of an account with their progress: all, or those that a filter names."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import LabelledEnum, Text
from pabal.domain.base.dates import MINUTE, Instant, Period
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.service.context import Context
from pabal.service.errors import RecordDamaged
from pabal.service.sending.campaigns import campaigns as verbs
from pabal.store.campaigns import campaign_list, campaigns
from pabal.store.campaigns.campaigns import Campaign
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import campaign_requests, requests
from pabal.store.messages.campaign_requests import CampaignProgress, CampaignRequest
from pabal.store.messages.requests import Request as Request
from pabal.store.users import users

AFTER_NEWEST_ID = b"\xff" * identifiers.REQUEST_ID_BYTES


class SentState(LabelledEnum):
    """How far a campaign or a request has come, as one looks for it."""

    SCHEDULED = ("scheduled", Text("예약됨", "Scheduled"))
    MOVING = ("moving", Text("진행 중", "In progress"))
    HALTED = ("halted", Text("멈춤", "Halted"))
    ENDED = ("ended", Text("발송 종료", "Finished"))
    CANCELLED = ("cancelled", Text("취소됨", "Cancelled"))


SENT_STATE_BY_CODE = {state.code: state for state in SentState}


class SentFilter(NamedTuple):
    """What a list of sent items is filtered by; None or empty matches everything."""

    product: Product | None = None
    state: SentState | None = None
    words: str = ""
    """Part of a campaign's name, or of a request's subject or text; case does not matter."""
    period: Period | None = None
    is_campaign: bool | None = None

    @property
    def since_id(self) -> bytes:
        """The lowest id of the period."""
        return _lowest_id(self.period.start) if self.period and self.period.start is not None else b""

    @property
    def until_id(self) -> bytes:
        """The lowest id after the period."""
        return _lowest_id(self.period.end) if self.period and self.period.end is not None else AFTER_NEWEST_ID

    def fits_campaign(self, campaign: Campaign) -> bool:
        """Return whether a campaign may match, whatever its state."""
        return (
            self.is_campaign is not False
            and (self.product is None or campaign.kind == self.product.code)
            and self._has_words(campaign.name)
        )

    def fits_request(self, request: Request) -> bool:
        """Return whether a request that belongs to no campaign may match, whatever its state."""
        return (
            not self.is_campaign
            and self.product in (None, request.product)
            and (self._has_words(request.subject or "") or self._has_words(request.content))
            and not (request.is_code and any(map(str.isdigit, self.words)))  # it would tell hidden digits
        )

    def _has_words(self, text: str) -> bool:
        return self.words.casefold() in text.casefold()


EVERYTHING = SentFilter()


def _lowest_id(at: Instant) -> bytes:
    return identifiers.lowest_message_id(at)[: identifiers.REQUEST_ID_BYTES]


SCAN_BATCH_REQUESTS = 200
MAX_SCANS = 10
"""A page skips requests of campaigns, and what does not fit: it scans this many batches at most."""
MAX_COUNTED = 200
"""Most items whose messages are counted to find those in one state."""
MAX_UNSENT_COUNT = 100
"""Campaigns that were not sent are counted up to here."""
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

    def state(self, now: Instant) -> SentState:
        """Return how far it has come."""
        state = self.campaign.state if self.campaign else None
        if state is CampaignState.HALTED:
            return SentState.HALTED
        if state in (CampaignState.CANCELLING, CampaignState.CANCELLED) or self.is_all_cancelled:
            return SentState.CANCELLED
        if self.is_scheduled(now):
            return SentState.SCHEDULED
        return SentState.ENDED if self.has_ended else SentState.MOVING

    @property
    def is_all_cancelled(self) -> bool:
        """Whether nothing of it was sent."""
        return self.has_ended and self.total > 0 and self.progress.cancel == self.total

    def is_in_progress(self, now: Instant) -> bool:
        """Return whether its progress will change soon."""
        if self.campaign and self.campaign.state in (CampaignState.MAKING, CampaignState.CANCELLING):
            return True
        return not self.has_ended and (self.scheduled_at or 0) <= now + SOON_MS

    def is_scheduled(self, now: Instant) -> bool:
        """Return whether it waits for its scheduled time, and can be sent now."""
        if self.campaign and self.campaign.state not in (CampaignState.MAKING, CampaignState.MADE):
            return False
        return self.has_waiting and self.scheduled_at is not None and self.scheduled_at > now


class _Batch(NamedTuple):
    """Some ids in order, what of them fits, and the ids of those that cannot be read."""

    ids: Sequence[bytes]
    fitting: Sequence[Campaign | Request]
    unreadable: Sequence[bytes]


class _Scanned(NamedTuple):
    """What fits, the ids of what cannot be read, and the id to continue before, None at the end."""

    found: list[Campaign | Request]
    unreadable: list[bytes]
    further: bytes | None


class UnsentCounts(NamedTuple):
    """How many campaigns were not sent yet."""

    begun: int
    to_approve: int


class SentPage(NamedTuple):
    """A page of sent items, newest first; `next_before` is None on the last page."""

    items: list[SentItem]
    next_before: bytes | None
    unreadable: Sequence[bytes] = ()
    """The ids of requests and campaigns of this page that cannot be read."""


@transaction(reader=Reader.SEARCHES)
def list_sent(tx: Tx, account_id: int, before: bytes, limit: int, wanted: SentFilter, now: Instant) -> SentPage:
    """Return a page of what an account sent before an id, newest first.

    One with a filter may have fewer items although there are more: `next_before` says where to continue. Both kinds
    are scanned as far as they were complete, and what fits is counted.
    """
    before = min(before, wanted.until_id)
    singles = _scan(_request_batches(tx, account_id, wanted), before, limit)
    some = _scan(_campaign_batches(tx, account_id, wanted), before, limit)
    further = max((each.further for each in (singles, some) if each.further is not None), default=None)
    both = [each for each in (*some.found, *singles.found) if further is None or each.id >= further]
    both.sort(key=lambda each: each.id, reverse=True)
    looked_at = both[: MAX_COUNTED if wanted.state else limit]
    sums = campaign_requests.sum_progress(tx, [each.id for each in looked_at if isinstance(each, Campaign)])
    shown: list[SentItem] = []
    for place, each in enumerate(both):
        if len(shown) == limit or place == len(looked_at):
            further = both[place - 1].id
            break
        item = (
            _campaign_item(each, *sums.get(each.id, (CampaignProgress(), True)))
            if isinstance(each, Campaign)
            else _request_item(tx, each)
        )
        if wanted.state in (None, item.state(now)):
            shown.append(item)
    unreadable = [*singles.unreadable, *some.unreadable]
    return SentPage(shown, further, [one for one in unreadable if further is None or one >= further])


@transaction(reader=Reader.SEARCHES)
def list_unsent(tx: Tx, account_id: int, before: bytes, limit: int, is_to_approve: bool) -> SentPage:
    """Return a page of the campaigns that an account has begun and not sent, or that wait for approval."""
    ids, readable = campaign_list.list_unsent(tx, account_id, before, limit + 1, is_to_approve=is_to_approve)
    shown = [_campaign_item(readable[one], CampaignProgress(), True) for one in ids[:limit] if one in readable]
    further = ids[limit - 1] if len(ids) > limit else None
    return SentPage(shown, further, [one for one in ids[:limit] if one not in readable])


def count_unsent(tx: Tx, account_id: int) -> UnsentCounts:
    """Return how many campaigns an account has begun and not sent, each up to MAX_UNSENT_COUNT."""
    return UnsentCounts(
        campaign_list.count_unsent(tx, account_id, MAX_UNSENT_COUNT),
        campaign_list.count_unsent(tx, account_id, MAX_UNSENT_COUNT, is_to_approve=True),
    )


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
    return await context.store.read(campaign_requests.list_requests, campaign.id)


async def get_creator(context: Context, campaign: Campaign) -> str:
    """Return the name of the user who began a campaign; empty if the user is gone."""
    return await context.store.read(users.get_name, campaign.user_id)


async def campaign_of_request(context: Context, request_id: bytes) -> bytes | None:
    """Return the campaign of a request, if it has one."""
    return (await context.store.read(campaign_requests.campaigns_by_request, [request_id])).get(request_id)


def _scan(read: Callable[[bytes], _Batch], before: bytes, limit: int) -> _Scanned:
    """Return more than `limit` that fit, if there are so many in as much as one page looks at."""
    found: list[Campaign | Request] = []
    unreadable: list[bytes] = []
    for _ in range(MAX_SCANS):
        batch = read(before)
        found += batch.fitting
        unreadable += batch.unreadable
        if len(batch.ids) < SCAN_BATCH_REQUESTS:
            return _Scanned(found, unreadable, None)
        before = batch.ids[-1]
        if len(found) > limit:
            break
    return _Scanned(found, unreadable, before)


def _request_batches(tx: Tx, account_id: int, wanted: SentFilter) -> Callable[[bytes], _Batch]:
    """Return what reads some requests outside campaigns."""

    def read(before: bytes) -> _Batch:
        ids, readable = requests.list_by_account(tx, account_id, before, wanted.since_id, SCAN_BATCH_REQUESTS)
        theirs = campaign_requests.campaigns_by_request(tx, ids)
        fitting = [each for one, each in readable.items() if one not in theirs and wanted.fits_request(each)]
        return _Batch(ids, fitting, [one for one in ids if one not in readable and one not in theirs])

    return read


def _campaign_batches(tx: Tx, account_id: int, wanted: SentFilter) -> Callable[[bytes], _Batch]:
    """Return what reads some campaigns that were sent."""

    def read(before: bytes) -> _Batch:
        ids, readable = campaign_list.list_by_account(tx, account_id, before, wanted.since_id, SCAN_BATCH_REQUESTS)
        fitting = [each for each in readable.values() if each.state.is_sent and wanted.fits_campaign(each)]
        return _Batch(ids, fitting, [one for one in ids if one not in readable])

    return read


def _read_sent(tx: Tx, account_id: int, sent_id: bytes) -> SentItem | None:
    owner = campaigns.get_account_id(tx, sent_id)
    is_campaign = owner is not None
    if not is_campaign:
        owner = requests.account_ids(tx, [sent_id]).get(sent_id)
    if owner != account_id:
        return None
    campaign = campaigns.get(tx, sent_id) if is_campaign else None
    if campaign:
        progress, has_ended = campaign_requests.sum_progress(tx, [sent_id]).get(sent_id, (CampaignProgress(), True))
        whole = progress._replace(failures=campaign_requests.sum_failures(tx, sent_id))
        return _campaign_item(campaign, whole, has_ended)
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
