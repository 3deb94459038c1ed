"""Records that a campaign is finished: no more requests are made, and all their messages have ended."""

from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EventType
from pabal.domain.events.notice import NoticeKind
from pabal.domain.sends.campaign import CampaignState
from pabal.store.campaigns import campaigns
from pabal.store.engine.base import Tx
from pabal.store.events import events, notices
from pabal.store.messages import campaign_requests

_SETTLED = (CampaignState.MADE, CampaignState.CANCELLED)


def settle_state(tx: Tx, campaign_id: bytes, before: CampaignState, after: CampaignState, now: Instant) -> bool:
    """Move a campaign to a state in which no more requests are made; it may be finished by that."""
    moved = campaigns.change_state(tx, campaign_id, (before,), after, now)
    if moved:
        record_if_finished(tx, campaign_id, now)
    return moved


def record_if_finished(tx: Tx, campaign_id: bytes, now: Instant) -> None:
    """Record that a campaign is finished, if it is, with its counts; once for each campaign.

    One that was cancelled before its first request is not told of: nothing was sent.
    """
    campaign = campaigns.get(tx, campaign_id)
    progress, has_ended = campaign_requests.sum_progress(tx, [campaign_id]).get(campaign_id, (None, False))
    if campaign is None or campaign.state not in _SETTLED or progress is None or not has_ended:
        return
    data = {
        "campaignId": campaign_id.hex(),
        "name": campaign.name,
        "counts": {
            "completed": progress.completed,
            "fail": progress.fail,
            "cancel": progress.cancel,
            "fallbacks": progress.fallbacks,
        },
    }
    event_id = events.record(tx, campaign.account_id, EventType.CAMPAIGN_FINISHED, campaign_id.hex(), data, now)
    notices.add(tx, event_id, NoticeKind.CAMPAIGN, campaign.account_id, data, now)
