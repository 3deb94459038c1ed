"""Updates the statistics of the overview by counting messages, apart from delivery.

A quarter of an hour is counted again while its jobs change, and never again once it has none: so the work does
not grow with the history. A crash does no harm, for counts are never added up from events.
"""

from collections.abc import Mapping
from itertools import groupby

from pabal.domain.base.dates import DAY, MINUTE, Instant
from pabal.service.context import Context
from pabal.store.engine.base import Tx
from pabal.store.messages import statistics
from pabal.store.messages.statistics import (
    OPEN_PREFIX,
    OTHER_KEYS,
    OTHERS,
    QUARTER,
    CountedGroups,
    CountedQuarter,
    GroupCounts,
    StatisticsGroup,
    quarter_start,
)
from pabal.store.queue import cursors

SLICE_MS = 1 * MINUTE
"""How much is read at a time, so that others can read in between."""
GRACE_MS = 5 * MINUTE
"""How long after a quarter its requests may still be stored: a commit may be late, or a clock slow."""
MAX_LOOKBACK_MS = 35 * DAY
"""How far back a store is counted for the first time."""
STATISTICS_RETENTION_MS = 100 * DAY
"""How long quarters are kept; older ones are merged into months."""
MAX_GROUPS_PER_QUARTER = 1000
"""Most templates, senders, keys and users, and combinations of them, that an account's quarter is counted by."""
MAX_QUARTERS_PER_ROUND = 200
MAX_ROUND_S = 2.0
"""After this long no further quarter is counted: other housekeeping must not wait."""
RECOUNT_PAUSE_FACTOR = 50
"""A quarter is counted again after this many times as long as counting it took."""
MAX_RECOUNT_PAUSE_MS = 10 * MINUTE
"""The longest such pause: statistics are at most a quarter of an hour old."""
QUICK_MS = 50
"""A quarter that takes no longer may be counted while a page waits."""
_CURSOR = "counted"


async def update_statistics(context: Context, max_ms: int | None = None) -> None:
    """Count the quarters that have changed, and the new ones; nothing while a node is lost."""
    if context.nodes.lost:
        return
    store, world = context.store, context.world
    begun = world.monotonic()
    known, since = await store.read(_read_progress, world.now())
    for each in reversed(known):
        if world.monotonic() - begun > MAX_ROUND_S:
            return
        recount_at = each.counted_at + min(RECOUNT_PAUSE_FACTOR * each.duration_ms, MAX_RECOUNT_PAUSE_MS)
        is_due = not each.counted_at <= world.now() < recount_at  # or the clock was set back
        if is_due and (max_ms is None or each.duration_ms <= max_ms):
            await _recount_if_changed(context, each)
    if max_ms is None:
        await _count_new_quarters(context, {each.quarter for each in known}, since, begun + MAX_ROUND_S)
    elif (newest := quarter_start(world.now())) not in {each.quarter for each in known}:
        await _count_quarter(context, newest)


async def _count_new_quarters(context: Context, known: set[Instant], since: Instant, until_s: float) -> None:
    """Count quarters that were not counted yet; those that may still grow are counted again later."""
    store, begun_at = context.store, since
    now = context.world.now()
    for _ in range(MAX_QUARTERS_PER_ROUND):
        if context.world.monotonic() > until_s:
            break
        first = await store.read(statistics.first_request_at, since, quarter_start(now) + QUARTER)
        if first is None:
            since = quarter_start(now) + QUARTER
            break
        quarter = quarter_start(first)
        if quarter not in known:
            await _count_quarter(context, quarter)
        since = quarter + QUARTER
    mark = min(since, quarter_start(now - GRACE_MS))
    if mark > begun_at:
        await store.write(cursors.put, _CURSOR, mark.to_bytes(8, "big"))


async def _recount_if_changed(context: Context, known: CountedQuarter) -> None:
    """Count a quarter again if messages were added or have changed since."""
    if known.queue_digest.startswith(OPEN_PREFIX) or await _waiting(context, known.quarter) != known.queue_digest:
        await _count_quarter(context, known.quarter)


async def _count_quarter(context: Context, quarter: Instant) -> None:
    """Count a quarter; its jobs are read first, so that the next round sees what changes meanwhile."""
    store, world = context.store, context.world
    begun, now = world.monotonic(), world.now()
    waiting = await _waiting(context, quarter)
    found: CountedGroups = {}
    step = QUARTER if context.nodes.is_distributed else SLICE_MS  # the nodes count it at the same time
    for since in range(quarter, quarter + QUARTER, step):
        for group, counts in (await store.read(statistics.count_messages, since, since + step)).items():
            found[group] = found[group].plus(counts) if group in found else counts
    took_ms = round((world.monotonic() - begun) * 1000)
    if found:
        bounded = bound_groups(found)
        await store.write(statistics.save, CountedQuarter(quarter, waiting, now, took_ms), bounded)


def bound_groups(found: Mapping[StatisticsGroup, GroupCounts]) -> CountedGroups:
    """Return the groups of a quarter; of an account with too many, the smallest ones are merged as others."""
    bounded: CountedGroups = {}
    for _, some in groupby(sorted(found), key=lambda group: group.account_id):
        groups = sorted(some, key=lambda group: found[group].messages, reverse=True)
        for place, group in enumerate(groups):
            if place >= MAX_GROUPS_PER_QUARTER:
                group = group._replace(template_code=OTHERS, sender=OTHERS, key_id=OTHER_KEYS, user_id=OTHER_KEYS)
            counts = found[groups[place]]
            bounded[group] = bounded[group].plus(counts) if group in bounded else counts
    return bounded


async def _waiting(context: Context, quarter: Instant) -> str:
    is_over = context.world.now() >= quarter + QUARTER + GRACE_MS
    found = await context.store.read(statistics.queue_digest, quarter, quarter + QUARTER)
    return found if is_over else OPEN_PREFIX + found


def _read_progress(tx: Tx, now: Instant) -> tuple[list[CountedQuarter], Instant]:
    """Return the unfinished quarters, and from when on nothing was counted."""
    mark = cursors.get(tx, _CURSOR)
    return statistics.list_unfinished(tx), max(
        int.from_bytes(mark or b"", "big"), quarter_start(now - MAX_LOOKBACK_MS)
    )
