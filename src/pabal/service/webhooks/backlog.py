"""Gives up events that have waited too long for an endpoint, or are too many, and counts them."""

import asyncio
import logging

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.webhook import Webhook
from pabal.service.context import Context
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.engine.base import Reader, StoreUnavailable, Tx, transaction
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import MAX_INSTANT, WebhookProgress

BACKLOG_MS = 7 * DAY
"""How long the events of an endpoint that gets nothing are kept for it."""
MAX_BACKLOG = 1_000_000
"""Most events that are kept for an endpoint; then the oldest are given up."""
CUT_INTERVAL_S = 15 * 60.0
"""How often the backlogs of webhooks are cut that nothing is posted to."""
MAX_SKIP_TRIES = 10
"""How often to try to skip a backlog that changes at the same time."""

log = logging.getLogger("pabal.webhooks")


async def run_backlog_cuts(context: Context) -> None:
    """Cut the backlogs of disabled webhooks, forever; those of others are cut by who posts to them.

    Only what has become too old since the last time is counted: how much is newer does not matter.
    """
    while True:
        await asyncio.sleep(CUT_INTERVAL_S)
        if HOUSEKEEPING_SLOT not in context.slots.held:
            continue
        try:
            for webhook in await context.store.read(_list_disabled):
                await cut_backlog(context, webhook, context.world.now() - BACKLOG_MS)
        except StoreUnavailable:
            log.debug("store unavailable; cutting backlogs later")


async def cut_backlog(context: Context, webhook: Webhook, before: Instant, max_events: int | None = None) -> bool:
    """Give up the events of an endpoint from before an instant, and the oldest beyond a number.

    Returns False if its progress has changed meanwhile: then nothing was done. Raises StoreUnavailable.
    """
    stored = await context.store.read(webhook_posts.get_progress, webhook.id)
    if stored is None:
        return True
    cut = await context.store.read(webhook_posts.plan_cut, webhook, stored.positions, before, max_events)
    reached, planned = cut or (stored.positions, 0)
    dropped = await context.store.write(_cut, webhook.id, stored, reached, before, planned)
    if dropped:
        context.metrics.webhook_events.add(dropped, "dropped")
        log.warning("events of a webhook given up", extra={"webhook_id": webhook.id, "events": dropped})
    return dropped is not None


async def skip_backlog(context: Context, webhook: Webhook) -> None:
    """Give up everything that an endpoint has missed so far.

    Raises Refused(SERVICE_UNAVAILABLE) if its progress changes all the time.
    """
    for _ in range(MAX_SKIP_TRIES):
        if await cut_backlog(context, webhook, MAX_INSTANT):
            return
    raise Refused(Code.SERVICE_UNAVAILABLE)


@transaction(reader=Reader.BACKGROUND)
def _list_disabled(tx: Tx) -> list[Webhook]:
    return webhooks.list_disabled(tx)


def _cut(
    tx: Tx, webhook_id: int, stored: WebhookProgress, reached: dict[int, int], before: Instant, dropped: int
) -> int | None:
    """Cut a backlog as planned, and give up old posts; return how many events that were, None if it has changed."""
    if stored.positions != reached and not webhook_posts.move_positions(tx, webhook_id, stored, reached):
        return None
    dropped += webhook_posts.give_up_old(tx, webhook_id, before)
    webhooks.add_dropped(tx, webhook_id, dropped)
    return dropped
