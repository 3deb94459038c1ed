"""The requests of campaigns and their progress, counted from time to time."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.message import Status
from pabal.store.engine.base import Row, Tx
from pabal.store.messages import messages
from pabal.store.messages.messages import ResultCount
from pabal.store.rows import Select

MIN_COUNT_INTERVAL = 1 * SECOND
MAX_COUNT_INTERVAL = 30 * SECOND
"""A request is counted again after a tenth of its age, within these limits."""


_encode = msgspec.json.Encoder().encode
_decode_failures = msgspec.json.Decoder(list[tuple[int, int, int]]).decode


class FailureCount(NamedTuple):
    """How many messages ended with one outcome other than delivery, and how many fallbacks."""

    outcome: int
    """Its number; 0: none is stored."""
    messages: int
    fallbacks: int = 0


class CampaignProgress(NamedTuple):
    """Numbers of messages by status, and of fallbacks."""

    waiting: int = 0
    sending: int = 0
    completed: int = 0
    fail: int = 0
    cancel: int = 0
    fallbacks: int = 0
    fallbacks_completed: int = 0
    cost: int | None = None
    """What those that ended have cost, fallbacks included, in hundredths of a won; None: no price is known."""
    failures: tuple[FailureCount, ...] = ()
    """By outcome, the most frequent first; of several requests together only where it was asked for."""

    @property
    def total(self) -> int:
        return self.waiting + self.sending + self.completed + self.fail + self.cancel

    @property
    def open_fallbacks(self) -> int:
        """Fallbacks that have not ended; without `failures`, those that failed are among them."""
        failed = sum(each.fallbacks for each in self.failures)
        return max(0, self.fallbacks - self.fallbacks_completed - failed)


class CampaignRequest(NamedTuple):
    campaign_id: bytes
    number: int
    request_id: bytes
    receivers: int
    scheduled_at: Instant
    is_ended: bool
    progress: CampaignProgress


def _from_row(row: Row) -> CampaignRequest:
    campaign_id, number, request_id, receivers, scheduled_at, is_ended, *counts, failures = row
    reasons = tuple(FailureCount(*each) for each in _decode_failures(failures)) if failures else ()
    progress = CampaignProgress._make((*counts, reasons))
    return CampaignRequest(campaign_id, number, request_id, receivers, scheduled_at, bool(is_ended), progress)


_REQUESTS = Select(
    "select campaign_id, number, request_id, receivers, scheduled_at, is_ended,"
    " waiting, sending, completed, fail, cancel, fallbacks, fallbacks_completed, cost, failures"
    " from campaign_requests",
    _from_row,
)


def add(tx: Tx, campaign_id: bytes, number: int, request_id: bytes, receivers: int, scheduled_at: Instant) -> None:
    """Add a request of a campaign; it is first counted at its scheduled time."""
    tx.execute(
        "insert into campaign_requests (campaign_id, number, request_id, receivers, scheduled_at, count_at,"
        " is_ended, waiting, sending, completed, fail, cancel, fallbacks, fallbacks_completed, failures)"
        " values (?, ?, ?, ?, ?, ?, 0, ?, 0, 0, 0, 0, 0, 0, '')",
        (campaign_id, number, request_id, receivers, scheduled_at, scheduled_at, receivers),
    )


def list_requests(tx: Tx, campaign_id: bytes) -> list[CampaignRequest]:
    """Return all requests of a campaign, in order."""
    return _REQUESTS.fetch_all(tx, "where campaign_id = ? order by number", (campaign_id,))


def list_unfinished(tx: Tx, campaign_id: bytes) -> list[CampaignRequest]:
    """Return the requests of a campaign that had not ended when last counted."""
    return [each for each in list_requests(tx, campaign_id) if not each.is_ended]


def sum_progress(tx: Tx, campaign_ids: Iterable[bytes]) -> dict[bytes, tuple[CampaignProgress, bool]]:
    """Return each campaign's progress as last counted, without reasons, and whether all its requests have ended."""
    rows = tx.execute_list(
        "select campaign_id, sum(waiting), sum(sending), sum(completed), sum(fail), sum(cancel), sum(fallbacks),"
        " sum(fallbacks_completed), sum(cost), min(is_ended) from campaign_requests where campaign_id in ({list})"
        " group by campaign_id",
        campaign_ids,
    )
    return {
        row[0]: (CampaignProgress._make((*map(int, row[1:8]), messages.add_costs(row[8]), ())), bool(row[9]))
        for row in rows
    }


def sum_failures(tx: Tx, campaign_id: bytes) -> tuple[FailureCount, ...]:
    """Return why messages of a campaign failed, as last counted: one short row is read for each request."""
    sums: dict[int, FailureCount] = {}
    for (stored,) in tx.fetch_all(
        "select failures from campaign_requests where campaign_id = ? and failures <> ''", (campaign_id,)
    ):
        for outcome, own, others in _decode_failures(stored):
            before = sums.get(outcome, FailureCount(outcome, 0))
            sums[outcome] = FailureCount(outcome, before.messages + own, before.fallbacks + others)
    return _most_frequent_first(sums.values())


def list_request_ids(tx: Tx, campaign_id: bytes) -> list[bytes]:
    return tx.fetch_values("select request_id from campaign_requests where campaign_id = ?", (campaign_id,))


def campaigns_by_request(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, bytes]:
    rows = tx.execute_list(
        "select request_id, campaign_id from campaign_requests where request_id in ({list})", request_ids
    )
    return dict(rows)


def first_waiting(tx: Tx, campaign_id: bytes) -> bytes | None:
    """Return the first request of a campaign with messages that wait, as last counted."""
    return tx.fetch_value(
        "select request_id from campaign_requests where campaign_id = ? and is_ended = 0 and waiting > 0"
        " order by request_id limit 1",
        (campaign_id,),
    )


def find_due(tx: Tx, campaign_id: bytes | None, now: Instant, limit: int) -> list[CampaignRequest]:
    """Return requests that are due to be counted, of one campaign or, with None, of all."""
    where, args = ("", ()) if campaign_id is None else (" and campaign_id = ?", (campaign_id,))
    return _REQUESTS.fetch_all(
        tx, f"where is_ended = 0 and count_at <= ?{where} order by count_at limit ?", (now, *args, limit)
    )


def count_progress(tx: Tx, account_id: int, request_id: bytes, receivers: int) -> tuple[CampaignProgress, bool]:
    """Return the progress of a request, and whether all its messages have ended, fallbacks included."""
    low, high = identifiers.message_id_range(request_id)
    last = identifiers.make_message_id(request_id, receivers)
    own = messages.count_by_result(tx, account_id, low, last)
    others = messages.count_by_result(tx, account_id, identifiers.make_message_id(request_id, receivers + 1), high)
    by_status = {status.code: _sum_of(own, status) for status in Status}
    found = CampaignProgress(
        **by_status,
        fallbacks=sum(each.messages for each in others.values()),
        fallbacks_completed=_sum_of(others, Status.COMPLETED),
        cost=messages.add_costs(*(each.cost for counts in (own, others) for each in counts.values())),
        failures=_most_frequent_first(
            FailureCount(outcome, _failed(own, outcome), _failed(others, outcome))
            for outcome in {outcome for status, outcome in (*own, *others) if status is Status.FAIL}
        ),
    )
    moving = sum(_sum_of(each, status) for each in (own, others) for status in (Status.WAITING, Status.SENDING))
    return found, moving == 0


def _sum_of(counts: Mapping[tuple[Status, int], ResultCount], wanted: Status) -> int:
    return sum(each.messages for (status, _), each in counts.items() if status is wanted)


def _failed(counts: Mapping[tuple[Status, int], ResultCount], outcome: int) -> int:
    return counts[Status.FAIL, outcome].messages if (Status.FAIL, outcome) in counts else 0


def _most_frequent_first(counts: Iterable[FailureCount]) -> tuple[FailureCount, ...]:
    return tuple(sorted(counts, key=lambda each: (-each.messages, -each.fallbacks, each.outcome)))


def save_progress(
    tx: Tx, request: CampaignRequest, progress: CampaignProgress, is_ended: bool, now: Instant
) -> None:
    """Save the progress of a request; once it has ended, it is final."""
    failures = _encode(progress.failures).decode() if progress.failures else ""
    wait = min(max((now - request.scheduled_at) // 10, MIN_COUNT_INTERVAL), MAX_COUNT_INTERVAL)
    tx.execute(
        "update campaign_requests set waiting = ?, sending = ?, completed = ?, fail = ?, cancel = ?, fallbacks = ?,"
        " fallbacks_completed = ?, cost = ?, failures = ?, is_ended = ?, count_at = ?"
        " where campaign_id = ? and number = ? and is_ended = 0",
        (*progress[:-1], failures, int(is_ended), now + wait, request.campaign_id, request.number),
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
