"""When posts are tried: at which pace, and again after which failures."""

import asyncio
from typing import NamedTuple

from pabal.domain.base.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.events.webhook import WebhookState
from pabal.service.context import Context
from pabal.service.outgoing import LAST_DELAY_MS, choose_delay_ms
from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import DeliveryTry, WebhookPost

MAX_ITEMS = 100
"""Most events in a post."""
MAX_BODY_BYTES = 256 * 1024
"""Longest body of a post, unless a single event is longer."""
MAX_WAIT_MS = 1 * SECOND
"""How long an event waits for others to be posted with it."""
MAX_IN_FLIGHT = 16
"""Most posts to one endpoint at a time."""
MAX_UNFINISHED = 1000
"""Most posts of one endpoint that wait for a retry; further events wait until there are fewer."""
PAUSE_FAILURES = 10
PAUSE_AFTER_MS = 5 * MINUTE
"""An endpoint is paused after this many failures since the last success, if the first was this long ago."""
TRIAL_INTERVAL_MS = 5 * MINUTE
"""How often a paused endpoint gets a trial post."""
GONE = 410
"""The HTTP status by which a server says that the address is not in use any more."""
DISABLE_GONE = 5
DISABLE_AFTER_MS = 10 * MINUTE
"""An endpoint is disabled after this many answers 410 in a row, if the first was this long ago."""

_FIRST_DELAYS_MS = (5 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE)
RETRY_PERIOD_MS = 24 * HOUR
RETRY_SOON_TRIES = PAUSE_FAILURES
"""Posts with fewer tries are due when their endpoint answers again; others were probably refused for content."""
RETRY_SOON_MS = 5 * MINUTE
"""Those with as many tries or more are due within this time."""
RETRY_SOON_INTERVAL_MS = 5 * SECOND
"""How often posts become due that way: an endpoint that refuses some has a first answer after each of them."""
MIN_TRIES = 1 + len(_FIRST_DELAYS_MS) + (RETRY_PERIOD_MS - sum(_FIRST_DELAYS_MS)) // LAST_DELAY_MS
"""Least number of tries before a post is given up."""


def retry_delay_ms(tries: int, age_ms: int, random: float) -> int | None:
    """Return the delay before the next try of a post; None: give the post up.

    That takes both MIN_TRIES tries and an age of RETRY_PERIOD_MS, so early tries do not shorten its time.
    """
    if tries >= MIN_TRIES and age_ms >= RETRY_PERIOD_MS:
        return None
    return choose_delay_ms(_FIRST_DELAYS_MS, tries, random)


def must_pause(failures: int, failing_since: Instant, now: Instant) -> bool:
    """Return whether an endpoint is to be paused after this failure."""
    return failures >= PAUSE_FAILURES and now - failing_since >= PAUSE_AFTER_MS


def must_disable(gone: int, gone_since: Instant | None, now: Instant) -> bool:
    """Return whether an endpoint is to be disabled after this answer."""
    return gone_since is not None and gone >= DISABLE_GONE and now - gone_since >= DISABLE_AFTER_MS


class FailureResult(NamedTuple):
    """What a failure led to."""

    state: WebhookState | None
    """The state that the endpoint has got just now; None: it is as before."""
    dropped: int
    """How many events were given up."""


def record_success(tx: Tx, post: WebhookPost, this_try: DeliveryTry) -> bool:
    """Record that a post was delivered; return whether its endpoint was paused until now."""
    webhook_posts.finish(tx, [post.id])
    webhook_posts.add_tries(tx, [this_try])
    return webhooks.record_success(tx, post.webhook_id, this_try.tried_at)


def retry_soon(tx: Tx, webhook_id: int, now: Instant) -> None:
    """Have the posts that wait for a retry tried now, or soon if they have failed often: their endpoint answers."""
    webhook_posts.retry_all(tx, webhook_id, now, RETRY_SOON_TRIES)
    webhook_posts.retry_all(tx, webhook_id, now + RETRY_SOON_MS)


def record_failure(
    tx: Tx, post: WebhookPost, this_try: DeliveryTry, delay_ms: int | None, now: Instant, *, is_trial: bool
) -> FailureResult:
    """Record that a post failed: it is tried again after a delay, or given up without one.

    The trial posts of a paused endpoint do not count: nothing is given up because of them.
    """
    found = webhooks.record_failure(tx, post.webhook_id, now, is_gone=this_try.status == GONE)
    if found is None:  # it was deleted, and its posts with it, or disabled: then they wait
        return FailureResult(None, 0)
    webhook_posts.add_tries(tx, [this_try])
    dropped = 0
    if is_trial:
        webhook_posts.retry(tx, post.id, post.tries, now + TRIAL_INTERVAL_MS)
    elif delay_ms is None:
        webhook_posts.finish(tx, [post.id])
        dropped = len(post.event_ids)
        webhooks.add_dropped(tx, post.webhook_id, dropped)
    else:
        webhook_posts.retry(tx, post.id, post.tries + 1, now + delay_ms)
    if must_disable(found.gone, found.gone_since, now):
        webhooks.disable(tx, post.webhook_id, now, is_gone=True)
        return FailureResult(WebhookState.DISABLED, dropped)
    must_wait = is_trial or must_pause(found.failures, found.failing_since, now)
    is_paused = must_wait and webhooks.pause(tx, post.webhook_id, now + TRIAL_INTERVAL_MS)
    return FailureResult(WebhookState.PAUSED if is_paused else None, dropped)


BUSY_IN_FLIGHT = 50
"""A process with this many messages in flight is busy delivering messages."""
EVENTS_PER_SMALL = 1.25
"""Events that become posts then for each message of a small send that is submitted: more than it has."""
EVENTS_PER_CAMPAIGN = 0.15
"""Events that become posts then for each message of a campaign: posting more would slow it down."""
MIN_EVENTS_PER_S = 100
"""Events that become posts then in any case, for example while a carrier does not answer."""
MAX_LAG_MS = 1 * MINUTE
"""Events that have waited this long become posts at once, however busy the process is."""
STEP_S = 0.05
"""How often to look whether delivery of messages is still busy."""
IDLE_AFTER_S = 0.2
"""A process that was not busy for this long is idle: webhooks need not wait for it."""
MAX_POSTS = 256
"""Most posts of a process that are in flight, besides the first one of each endpoint: each has a connection."""


class PostPace:
    """The pace at which all endpoints of a process make posts, and how many of these are in flight."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._wait_lock = asyncio.Lock()
        self._excess_events = 0.0
        """Events that became posts too early, while delivery of messages was busy."""
        self._reduced_at = 0.0
        self._allowed_events = 0.0
        """Events that the messages so far allow to become posts."""
        self._busy_at = 0.0
        """When delivery of messages was last seen to be busy."""
        self.in_flight = 0
        """Posts of all endpoints."""

    def capacity(self, window: int, own: int) -> int:
        """Return how many more posts an endpoint may have in flight that has `own` already.

        Whatever others do, each may have one, so slow endpoints cannot keep others from posting.
        """
        return max(min(window - own, MAX_POSTS - self.in_flight), 0 if own else 1)

    async def wait(self, lag_ms: int) -> None:
        """Wait until the excess is used up or delivery of messages has been idle for IDLE_AFTER_S.

        An endpoint that lags by MAX_LAG_MS does not wait.
        """
        if lag_ms >= MAX_LAG_MS:
            return
        async with self._wait_lock:
            while self._reduce_excess() > 0:
                if not self._is_busy() and self._reduced_at - self._busy_at >= IDLE_AFTER_S:
                    self._excess_events = 0.0
                    return
                await asyncio.sleep(STEP_S)

    def count(self, events: int) -> None:
        """Count events that became posts: if delivery of messages is busy, they are in excess."""
        self._reduce_excess()
        if self._is_busy():
            self._excess_events += events

    def _reduce_excess(self) -> float:
        """Return the events still in excess after what messages and time have allowed since the last call."""
        now, sent = self._context.world.monotonic(), self._context.in_flight
        allowed = sent.begun_small * EVENTS_PER_SMALL + (sent.begun - sent.begun_small) * EVENTS_PER_CAMPAIGN
        fewer = allowed - self._allowed_events + (now - self._reduced_at) * MIN_EVENTS_PER_S
        self._excess_events = max(0.0, self._excess_events - fewer)
        self._reduced_at, self._allowed_events = now, allowed
        return self._excess_events

    def _is_busy(self) -> bool:
        if len(self._context.in_flight) < BUSY_IN_FLIGHT:
            return False
        self._busy_at = self._context.world.monotonic()
        return True


class PostWindow:
    """How many posts an endpoint may have in flight: fewer while it fails, so that it holds few connections.

    It recovers as fast as it shrinks, so that single posts that an endpoint refuses do not matter.
    """

    def __init__(self) -> None:
        self.size = MAX_IN_FLIGHT

    def widen(self) -> None:
        """Count a post that was delivered."""
        self.size = min(2 * self.size, MAX_IN_FLIGHT)

    def narrow(self) -> None:
        """Count a post that failed."""
        self.size = max(self.size // 2, 1)
