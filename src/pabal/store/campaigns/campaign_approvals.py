"""Campaigns that wait for the approval of a second user."""

from collections.abc import Sequence

from pabal.domain.base.dates import Instant
from pabal.domain.sends.campaign import CampaignState
from pabal.store.campaigns.campaigns import to_json
from pabal.store.engine.base import Tx


def get_submitter_id(tx: Tx, campaign_id: bytes) -> int | None:
    """Return the user who has asked for approval; None: nobody has."""
    row = tx.fetch_one("select submitter_id from campaigns where id = ?", (campaign_id,))
    return row[0] if row else None


def submit(
    tx: Tx,
    campaign_id: bytes,
    changed_at: Instant,
    name: str,
    scheduled_at: Instant | None,
    submitter_id: int,
    now: Instant,
) -> bool:
    """Submit a validated campaign for approval; return False if it is in another state, or has changed since."""
    return bool(
        tx.fetch_all(
            "update campaigns set state = ?, name = ?, scheduled_at = ?, submitter_id = ?, reason = '',"
            " changed_at = ? where id = ? and state = ? and changed_at = ? and receivers > 0 returning id",
            (
                CampaignState.TO_APPROVE.code, name, scheduled_at, submitter_id, now,
                campaign_id, CampaignState.CHECKED.code, changed_at,
            ),
        )
    )  # fmt: skip


def approve(
    tx: Tx, campaign_id: bytes, changed_at: Instant, approver_id: int, scheduled_at: Instant | None, now: Instant
) -> bool:
    """Start a campaign that waits; return False if it has changed since it was shown, or is the approver's own."""
    return bool(
        tx.fetch_all(
            "update campaigns set state = ?, scheduled_at = ?, changed_at = ? where id = ? and state = ?"
            " and changed_at = ? and submitter_id <> ? and user_id <> ? returning id",
            (
                CampaignState.MAKING.code, scheduled_at, now, campaign_id, CampaignState.TO_APPROVE.code,
                changed_at, approver_id, approver_id,
            ),
        )
    )  # fmt: skip


def send_back(tx: Tx, campaign_id: bytes, changed_at: Instant, reason: Sequence[str], now: Instant) -> bool:
    """Return a campaign that waits to those who prepare it; return False if it has changed since it was shown."""
    return bool(
        tx.fetch_all(
            "update campaigns set state = ?, submitter_id = null, reason = ?, changed_at = ?"
            " where id = ? and state = ? and changed_at = ? returning id",
            (
                CampaignState.CHECKED.code, to_json(reason) if reason else "", now,
                campaign_id, CampaignState.TO_APPROVE.code, changed_at,
            ),
        )
    )  # fmt: skip
