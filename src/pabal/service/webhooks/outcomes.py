"""Records what came of a try to deliver a post."""

from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.service.webhooks.schedule import TRIAL_INTERVAL_MS, must_pause
from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import Delivery, WebhookPost


class FailureResult(NamedTuple):
    """What a failure led to."""

    is_paused: bool
    """Whether the endpoint was paused just now."""
    dropped: int
    """How many events were given up."""


def record_success(tx: Tx, post: WebhookPost, delivery: Delivery) -> bool:
    """Record that a post was delivered; return whether its endpoint was paused until now."""
    webhook_posts.finish(tx, [post.id])
    webhook_posts.add_deliveries(tx, [delivery])
    was_paused = webhooks.record_success(tx, post.webhook_id, delivery.tried_at)
    if was_paused:
        webhook_posts.retry_all(tx, post.webhook_id, delivery.tried_at)
    return was_paused


def record_failure(
    tx: Tx, post: WebhookPost, delivery: Delivery, delay_ms: int | None, now: Instant, *, is_trial: bool
) -> FailureResult:
    """Record that a post failed: it is tried again after a delay, or given up without one.

    The trial posts of a paused endpoint do not count: nothing is given up because of them.
    """
    found = webhooks.record_failure(tx, post.webhook_id, now)
    if found is None:  # it was deleted, and its posts with it
        return FailureResult(False, 0)
    webhook_posts.add_deliveries(tx, [delivery])
    if is_trial:
        webhook_posts.retry(tx, post.id, post.tries, now + TRIAL_INTERVAL_MS)
        return FailureResult(webhooks.pause(tx, post.webhook_id, now + TRIAL_INTERVAL_MS), 0)
    dropped = 0
    if delay_ms is None:
        webhook_posts.finish(tx, [post.id])
        dropped = len(post.event_ids)
        webhooks.add_dropped(tx, post.webhook_id, dropped)
    else:
        webhook_posts.retry(tx, post.id, post.tries + 1, now + delay_ms)
    is_paused = must_pause(*found, now) and webhooks.pause(tx, post.webhook_id, now + TRIAL_INTERVAL_MS)
    return FailureResult(is_paused, dropped)


def record_gone(tx: Tx, post: WebhookPost, delivery: Delivery, now: Instant) -> None:
    """Record that an endpoint is gone for good: it is disabled, and its posts are given up."""
    webhook_posts.add_deliveries(tx, [delivery])
    webhooks.disable(tx, post.webhook_id, now)
