"""The backlog of a webhook: events that wait to become posts, counted, and cut where they are too many or old."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EVENT_ID_BYTES, Positions, lowest_number
from pabal.domain.events.webhook import Webhook
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import webhook_posts


class BacklogCut(NamedTuple):
    """How far a backlog is cut, and how many events are given up by that."""

    positions: dict[int, int]
    dropped: int


@transaction(reader=Reader.BACKGROUND)
def count(tx: Tx, webhook: Webhook, limit: int) -> int:
    """Return how many events wait for an endpoint, in posts or not, counted up to about a limit."""
    row = tx.fetch_one(
        "select coalesce(sum(length(event_ids)), 0) from webhook_posts where webhook_id = ?", (webhook.id,)
    )
    total = int(row[0]) // EVENT_ID_BYTES if row else 0
    progress = webhook_posts.get_progress(tx, webhook.id)
    for slot, begin, last in _slots(tx, progress.positions if progress else {}):
        if total < limit:
            total += _count(tx, webhook, slot, begin, last, limit - total)
    return total


@transaction(reader=Reader.BACKGROUND)
def plan_cut(tx: Tx, webhook: Webhook, positions: Positions, before: Instant, max_events: int) -> BacklogCut | None:
    """Return how to cut a backlog behind these positions to events since an instant, and to a number of events.

    The oldest of each slot go. None: there is nothing to cut.
    """
    oldest = lowest_number(before) - 1
    found = dict(positions)
    counts: dict[int, tuple[int, int]] = {}
    dropped = 0
    for slot, begin, last in _slots(tx, positions):
        if begin < oldest:
            until = min(oldest, last)
            dropped += _count(tx, webhook, slot, begin, until, None)
            begin = found[slot] = until
        counts[slot] = begin, _count(tx, webhook, slot, begin, last, None)
    total = sum(number for _, number in counts.values())
    for slot, (begin, number) in counts.items():
        excess = -(-number * (total - max_events) // total) if total > max_events else 0
        if excess:
            found[slot] = _nth(tx, webhook, slot, begin, excess)
            dropped += excess
    return BacklogCut(found, dropped) if found != dict(positions) else None


def _slots(tx: Tx, positions: Positions) -> list[tuple[int, int, int]]:
    """Return the slots with events behind these positions, from where and to which number."""
    rows = tx.fetch_all("select slot, last, deleted from event_numbers order by slot")
    begins = [(slot, max(positions.get(slot, 0), deleted), last) for slot, last, deleted in rows]
    return [(slot, begin, last) for slot, begin, last in begins if begin < last]


def _wanted(webhook: Webhook) -> str:
    """Return the condition of events that an endpoint wants."""
    types = ", ".join(str(each.number) for each in sorted(webhook.events, key=lambda one: one.number))
    products = ", ".join(str(number) for number in sorted({0, *(each.number for each in webhook.products)}))
    only = f" and product in ({products})" if webhook.products else ""
    return f"account_id = ? and slot = ? and number > ? and number <= ? and type in ({types}){only}"


def _count(tx: Tx, webhook: Webhook, slot: int, begin: int, last: int, limit: int | None) -> int:
    bound = "" if limit is None else f" limit {limit:d}"
    rows = tx.fetch_all(
        f"select count(*) from (select 1 from events where {_wanted(webhook)}{bound}) as wanted",
        (webhook.account_id, slot, begin, last),
    )
    return int(rows[0][0])


def _nth(tx: Tx, webhook: Webhook, slot: int, begin: int, number: int) -> int:
    """Return the number of the nth event behind a position."""
    rows = tx.fetch_all(
        f"select number from events where {_wanted(webhook)} order by number limit 1 offset ?",
        (webhook.account_id, slot, begin, 2**62, number - 1),
    )
    return int(rows[0][0]) if rows else begin
