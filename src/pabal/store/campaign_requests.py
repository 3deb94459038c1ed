"""The requests of campaigns and their progress, counted from time to time."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.dates import SECOND, Instant
from pabal.domain.message import Status
from pabal.store import messages
from pabal.store.engine.base import Row, Tx

MIN_COUNT_INTERVAL = 1 * SECOND
MAX_COUNT_INTERVAL = 30 * SECOND
"""A request is counted again after a tenth of its age, within these limits."""


class CampaignProgress(NamedTuple):
    """Numbers of messages by status, and of fallbacks."""

    waiting: int = 0
    sending: int = 0
    completed: int = 0
    fail: int = 0
    cancel: int = 0
    fallbacks: int = 0

    @property
    def total(self) -> int:
        return self.waiting + self.sending + self.completed + self.fail + self.cancel


class CampaignRequest(NamedTuple):
    """One request of a campaign."""

    campaign_id: bytes
    number: int
    request_id: bytes
    receivers: int
    scheduled_at: Instant
    is_ended: bool
    progress: CampaignProgress


_COLUMNS = (
    "campaign_id, number, request_id, receivers, scheduled_at, is_ended,"
    " waiting, sending, completed, fail, cancel, fallbacks"
)


def add(tx: Tx, campaign_id: bytes, number: int, request_id: bytes, receivers: int, scheduled_at: Instant) -> None:
    """Add a request of a campaign; it is first counted at its scheduled time."""
    tx.execute(
        "insert into campaign_requests (campaign_id, number, request_id, receivers, scheduled_at, count_at,"
        " is_ended, waiting, sending, completed, fail, cancel, fallbacks)"
        " values (?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0, 0)",
        (campaign_id, number, request_id, receivers, scheduled_at, scheduled_at, receivers),
    )


def list_requests(tx: Tx, campaign_id: bytes) -> list[CampaignRequest]:
    """Return all requests of a campaign, in order."""
    rows = tx.fetch_all(
        f"select {_COLUMNS} from campaign_requests where campaign_id = ? order by number", (campaign_id,)
    )
    return [_from_row(row) for row in rows]


def list_unfinished(tx: Tx, campaign_id: bytes) -> list[CampaignRequest]:
    """Return the requests of a campaign that had not ended when last counted."""
    return [each for each in list_requests(tx, campaign_id) if not each.is_ended]


def sum_progress(tx: Tx, campaign_ids: Iterable[bytes]) -> dict[bytes, tuple[CampaignProgress, bool]]:
    """Return each campaign's progress as last counted, and whether all its requests have ended."""
    rows = tx.execute_many(
        "select campaign_id, sum(waiting), sum(sending), sum(completed), sum(fail), sum(cancel), sum(fallbacks),"
        " min(is_ended) from campaign_requests where campaign_id in ({list}) group by campaign_id",
        [(one,) for one in campaign_ids],
    )
    return {row[0]: (CampaignProgress(*(int(each) for each in row[1:7])), bool(row[7])) for row in rows}


def campaigns_by_request(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the campaign of each of these requests that has one."""
    rows = tx.execute_many(
        "select request_id, campaign_id from campaign_requests where request_id in ({list})",
        [(one,) for one in request_ids],
    )
    return dict(rows)


def find_due(tx: Tx, campaign_id: bytes | None, now: Instant, limit: int) -> list[CampaignRequest]:
    """Return requests that are due to be counted, of one campaign or, with None, of all."""
    where, args = ("", ()) if campaign_id is None else (" and campaign_id = ?", (campaign_id,))
    rows = tx.fetch_all(
        f"select {_COLUMNS} from campaign_requests where is_ended = 0 and count_at <= ?{where}"
        " order by count_at limit ?",
        (now, *args, limit),
    )
    return [_from_row(row) for row in rows]


def count_progress(tx: Tx, account_id: int, request_id: bytes, receivers: int) -> tuple[CampaignProgress, bool]:
    """Return the progress of a request, and whether all its messages have ended, fallbacks included."""
    low, high = identifiers.message_id_range(request_id)
    last = identifiers.make_message_id(request_id, receivers)
    own = messages.count_by_status(tx, account_id, low, last)
    others = messages.count_by_status(tx, account_id, identifiers.make_message_id(request_id, receivers + 1), high)
    counts = {status.code: own.get(status, 0) for status in Status}
    found = CampaignProgress(**counts, fallbacks=sum(others.values()))
    moving = sum(each.get(status, 0) for each in (own, others) for status in (Status.WAITING, Status.SENDING))
    return found, moving == 0


def save_progress(
    tx: Tx, request: CampaignRequest, progress: CampaignProgress, is_ended: bool, now: Instant
) -> None:
    """Save the progress of a request; once it has ended, it is final."""
    wait = min(max((now - request.scheduled_at) // 10, MIN_COUNT_INTERVAL), MAX_COUNT_INTERVAL)
    tx.execute(
        "update campaign_requests set waiting = ?, sending = ?, completed = ?, fail = ?, cancel = ?, fallbacks = ?,"
        " is_ended = ?, count_at = ? where campaign_id = ? and number = ? and is_ended = 0",
        (*progress, int(is_ended), now + wait, request.campaign_id, request.number),
    )


def recount_soon(tx: Tx, request_id: bytes, now: Instant, scheduled_at: Instant | None = None) -> None:
    """Count a request again soon, because it was changed; save its new time if it has one.

    Does nothing for a request that belongs to no campaign.
    """
    tx.execute(
        "update campaign_requests set count_at = ?, scheduled_at = coalesce(?{as_big}, scheduled_at)"
        " where request_id = ?",
        (now, scheduled_at, request_id),
    )


def _from_row(row: Row) -> CampaignRequest:
    campaign_id, number, request_id, receivers, scheduled_at, is_ended, *counts = row
    return CampaignRequest(
        campaign_id, number, request_id, receivers, scheduled_at, bool(is_ended), CampaignProgress(*counts)
    )
