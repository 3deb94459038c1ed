"""Reads the figures that the console shows: statistics, carriers and the queue."""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import MINUTE, Instant, Period
from pabal.domain.sends.message import Outcome, Product
from pabal.service.context import Context
from pabal.service.history.history import take_search_turn
from pabal.service.upkeep.statistics import QUICK_MS, update_statistics
from pabal.store.accounts import accounts
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.engine.postgres import partitions
from pabal.store.events import mails, webhooks
from pabal.store.kakao import templates
from pabal.store.messages import statistics
from pabal.store.messages.statistics import GroupCounts as GroupCounts
from pabal.store.messages.statistics import PeriodCounts as PeriodCounts
from pabal.store.queue import carriers, queue_admin, receipts
from pabal.store.queue import slots as slot_store
from pabal.store.queue.carriers import CarrierState as CarrierState
from pabal.store.queue.carriers import MinuteLatency as MinuteLatency
from pabal.store.queue.queue_admin import QueueDepth
from pabal.store.queue.receipts import ReceiptTimeouts
from pabal.store.queue.slots import Worker
from pabal.store.queue.slots import WorkerState as WorkerState
from pabal.store.users import users

RECENT_LATENCY_MS = 10 * MINUTE
"""How far back the percentiles of the status page go."""


class AccountReport(NamedTuple):
    """The messages of an account in each period, the carriers as each worker sees them, and the figures' time."""

    rows: list[PeriodCounts]
    """The messages of each period, one row for each product and outcome."""
    month: list[PeriodCounts]
    """Those of the month, together."""
    before: list[PeriodCounts]
    """Those of the period to compare the last one with, together."""
    carriers: list[CarrierState]
    as_of: Instant | None


class DeliveryReport(NamedTuple):
    """The carriers as each worker sees them, the depth of each lane, and the workers."""

    carriers: list[CarrierState]
    queue: list[QueueDepth]
    kinds: dict[str, str]
    """The kind of every carrier that the store knows, configured or not."""
    workers: list[WorkerState]
    """Empty: this process is the only one."""
    latencies: list[MinuteLatency]
    """How long carriers took to answer lately, by minute."""


async def get_account_report(
    context: Context, account_id: int, periods: list[Period], month: Period, before: Period
) -> AccountReport:
    """Return an account's statistics of some periods, of a month, and of the period to compare the last one with.

    The newest are updated first, where that is quick.
    """
    await update_statistics(context, max_ms=QUICK_MS)
    return await context.store.read(_read_account_report, account_id, periods, month, before)


class GroupNames(NamedTuple):
    """The names of what messages are counted by; what was deleted has none."""

    keys: dict[int, str]
    users: dict[int, str]
    templates: dict[str, str]


class GroupedStatistics(NamedTuple):
    """An account's messages by period and group, when the newest were counted, and the names of the groups."""

    rows: list[PeriodCounts]
    as_of: Instant | None
    names: GroupNames
    before: list[PeriodCounts]
    """Those of the periods to compare with."""


async def get_grouped_statistics(
    context: Context,
    account_id: int,
    periods: list[Period],
    columns: list[str],
    most: int,
    before: Sequence[Period] = (),
) -> GroupedStatistics:
    """Return an account's statistics by columns of StatisticsGroup; quick ones are updated first.

    Up to `most` rows, and as many of the periods `before`.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    await update_statistics(context, max_ms=QUICK_MS)
    async with take_search_turn(context, account_id):
        return await context.store.read(_read_grouped, account_id, periods, columns, most, before)


async def get_delivery_report(context: Context) -> DeliveryReport:
    """Return the state of all carriers, of the queue and of the workers, as far as nodes can be reached."""
    return await context.store.read(
        _read_delivery,
        context.nodes.reachable(context.slots.numbers),
        list(context.carriers),
        context.world.now(),
    )


@transaction(reader=Reader.SEARCHES)
def get_latencies(tx: Tx, since: Instant) -> list[MinuteLatency]:
    """Return how long carriers took to answer since an instant, by minute."""
    return carriers.list_latencies(tx, since)


@transaction(reader=Reader.BACKGROUND)
def queue_depths(tx: Tx, slots: Sequence[int], configured: Iterable[str], now: Instant) -> list[QueueDepth]:
    """Return the depth of every lane of the configured carriers, and of others that the store knows."""
    configured = list(configured)
    others = [name for name in carriers.get_kinds(tx) if name not in configured]
    gone = [each for each in queue_admin.depths(tx, slots, others, now) if each.jobs]
    return queue_admin.depths(tx, slots, configured, now) + gone


class StoreFigures(NamedTuple):
    """What the metrics take from the store: lanes, stopped webhooks, carriers, workers and mails."""

    depths: list[QueueDepth]
    oldest_awaited: dict[str, Instant]
    """When the oldest message was submitted that awaits its receipt, by carrier."""
    paused_webhooks: int
    gone_webhooks: int
    """Those that are disabled because they answered 410."""
    carriers: list[CarrierState]
    workers: list[tuple[Worker, int]]
    """Every worker, with the number of slots it holds."""
    mails_waiting: int
    is_mail_server_failing: bool
    months_missing: int
    """Months without partitions that have begun or begin soon."""


@transaction(reader=Reader.BACKGROUND)
def store_figures(
    tx: Tx,
    slots: Sequence[int],
    configured: Collection[str],
    timeouts: ReceiptTimeouts,
    mail_server: str,
    now: Instant,
) -> StoreFigures:
    """Return what the metrics take from the store; the name of the mail server is empty if there is none."""
    return StoreFigures(
        queue_depths(tx, slots, configured, now),
        receipts.oldest_submitted_at(tx, slots, configured, timeouts, now),
        *webhooks.count_stopped(tx),
        carriers.list_states(tx),
        slot_store.list_workers(tx),
        mails.count_waiting(tx),
        mails.get(tx, mail_server).failing_since is not None,
        partitions.count_late_months(tx, now),
    )


@transaction(reader=Reader.SEARCHES)
def _read_account_report(
    tx: Tx, account_id: int, periods: list[Period], month: Period, before: Period
) -> AccountReport:
    most = len(periods) * len(Product) * (1 + len(Outcome))
    return AccountReport(
        statistics.list_groups(tx, account_id, periods, ["product", "outcome"], most),
        statistics.list_groups(tx, account_id, [month], [], 1),
        statistics.list_groups(tx, account_id, [before], [], 1),
        carriers.list_states(tx),
        statistics.counted_as_of(tx),
    )


@transaction(reader=Reader.SEARCHES)
def _read_grouped(
    tx: Tx, account_id: int, periods: list[Period], columns: list[str], most: int, before: Sequence[Period]
) -> GroupedStatistics:
    rows = statistics.list_groups(tx, account_id, periods, columns, most)
    earlier = statistics.list_groups(tx, account_id, before, columns, most) if before else []
    names = _read_names(tx, account_id, columns, [*rows, *earlier])
    return GroupedStatistics(rows, statistics.counted_as_of(tx), names, earlier)


def _read_names(tx: Tx, account_id: int, columns: list[str], rows: list[PeriodCounts]) -> GroupNames:
    """Return the names of the keys, users and templates that occur."""
    found = {name: {row.group[place] for row in rows} for place, name in enumerate(columns)}
    keys = accounts.list_keys_by_account(tx, account_id) if found.get("key_id") else []
    return GroupNames(
        {each.id: each.name for each in keys},
        users.get_names(tx, sorted(found.get("user_id", ()))),
        templates.get_names(tx, account_id, sorted(found.get("template_code", ()))),
    )


@transaction(reader=Reader.SEARCHES)
def _read_delivery(tx: Tx, slots: Sequence[int], names: list[str], now: Instant) -> DeliveryReport:
    return DeliveryReport(
        carriers.list_states(tx),
        queue_depths(tx, slots, names, now),
        carriers.get_kinds(tx),
        slot_store.list_worker_states(tx),
        carriers.list_latencies(tx, now - RECENT_LATENCY_MS),
    )
