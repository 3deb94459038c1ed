"""Counts how messages stand, for the overview, without a word from those who deliver.

A quarter of an hour is counted again while its jobs change, and never again when it has none left: what is read
does not grow with the history. A crash costs nothing: figures are never added up from what happened.
"""

from collections import Counter

from pabal.domain.dates import DAY, MINUTE, Instant
from pabal.service.context import Context
from pabal.store import cursors, statistics
from pabal.store.engine.base import Tx
from pabal.store.statistics import OPEN, QUARTER, Counted, quarter_of

SLICE = 1 * MINUTE
"""So much is read at a time, to let others read in between."""
GRACE = 5 * MINUTE
"""So long after a quarter a request of it may still be on its way into the store, or another's clock behind."""
REACH = 35 * DAY
"""How far back a store is counted that never was."""
KEPT_FOR = 100 * DAY
MOST_A_ROUND = 200
LONGEST_S = 2.0
"""No new quarter is begun so long after counting began: what else housekeeping has to do must not wait."""
PAUSE = 50
"""A quarter rests so many times longer than counting it took."""
QUICK_MS = 50
"""What took no longer may be counted while someone waits."""
_MARK = "counted"


async def count(context: Context, longest_ms: int | None = None) -> None:
    """Count what has changed, and go on from where counting has come to."""
    store, world = context.store, context.world
    begun = world.stopwatch()
    known, since = await store.read(_known, world.now())
    for each in reversed(known):
        if world.stopwatch() - begun > LONGEST_S:
            return
        rests_until = each.counted_at + PAUSE * each.took_ms
        is_rested = not each.counted_at <= world.now() < rests_until  # or the clock was set back
        if is_rested and (longest_ms is None or each.took_ms <= longest_ms):
            await _look_again(context, each)
    if longest_ms is None:
        await _go_on(context, {each.quarter for each in known}, since, begun + LONGEST_S)
    elif (newest := quarter_of(world.now())) not in {each.quarter for each in known}:
        await _count(context, newest)


async def _go_on(context: Context, known: set[Instant], since: Instant, until_s: float) -> None:
    """Count quarters that were not counted yet; those that may still grow will be found again."""
    store, begun_at = context.store, since
    now = context.world.now()
    for _ in range(MOST_A_ROUND):
        if context.world.stopwatch() > until_s:
            break
        first = await store.read(statistics.first_since, since, quarter_of(now) + QUARTER)
        if first is None:
            since = quarter_of(now) + QUARTER
            break
        quarter = quarter_of(first)
        if quarter not in known:
            await _count(context, quarter)
        since = quarter + QUARTER
    mark = min(since, quarter_of(now - GRACE))
    if mark > begun_at:
        await store.write(cursors.put, _MARK, mark.to_bytes(8, "big"))


async def _look_again(context: Context, known: Counted) -> None:
    """Count a quarter again if messages may have come in or moved on since."""
    if known.waiting.startswith(OPEN) or await _waiting(context, known.quarter) != known.waiting:
        await _count(context, known.quarter)


async def _count(context: Context, quarter: Instant) -> None:
    """Count a quarter; how its jobs stand is looked at first, so that what changes meanwhile is seen next time."""
    store, world = context.store, context.world
    begun, now = world.stopwatch(), world.now()
    waiting = await _waiting(context, quarter)
    found: Counter[tuple[int, int, int, int]] = Counter()
    for since in range(quarter, quarter + QUARTER, SLICE):
        for account_id, product, status, outcome, messages in await store.read(
            statistics.count, since, since + SLICE
        ):
            found[account_id, product, status, outcome] += messages
    took_ms = round((world.stopwatch() - begun) * 1000)
    if found:
        await store.write(statistics.put, Counted(quarter, waiting, now, took_ms), found)


async def _waiting(context: Context, quarter: Instant) -> str:
    is_over = context.world.now() >= quarter + QUARTER + GRACE
    found = await context.store.read(statistics.waiting, quarter, quarter + QUARTER)
    return found if is_over else OPEN + found


def _known(tx: Tx, now: Instant) -> tuple[list[Counted], Instant]:
    """Return what is to be counted again, and from where on nothing is known."""
    mark = cursors.get(tx, _MARK)
    return statistics.unfinished(tx), max(int.from_bytes(mark or b"", "big"), quarter_of(now - REACH))
