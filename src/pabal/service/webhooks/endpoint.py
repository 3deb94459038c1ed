"""Delivers the events of an account to one endpoint: makes posts, posts them, and tries again."""

import asyncio
import logging
from functools import partial
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.service.loops import STORE_RETRY_DELAY_S, until_available, wait_for_event
from pabal.service.webhooks import retries
from pabal.service.webhooks.fan_out import BACKLOG_MS, MAX_BACKLOG, PostBatch, cut_backlog, read_batch, store_batch
from pabal.service.webhooks.retries import (
    MAX_UNFINISHED,
    RETRY_SOON_INTERVAL_MS,
    TRIAL_INTERVAL_MS,
    PostPace,
    PostWindow,
    retry_delay_ms,
)
from pabal.service.webhooks.tries import FailureLog, decode_answer, log_try, post_once
from pabal.store.engine.base import Reader, StoreUnavailable, Tx, transaction
from pabal.store.events import webhook_posts
from pabal.store.events.webhook_posts import MAX_INSTANT, DeliveryTry, WebhookPost
from pabal.webhooks.poster import PostResult
from pabal.world import new_unique_id

MAX_IDLE_S = 30.0
"""Longest pause: whoever finds new events wakes this endpoint."""
POSITIONS_INTERVAL_MS = 60 * SECOND
"""How often to store how far events were looked at that an endpoint does not want."""

log = logging.getLogger("pabal.webhooks")


class DuePosts(NamedTuple):
    """Posts to try now, when the next one is due, and how many there are."""

    posts: list[WebhookPost]
    next_due_at: Instant | None
    total: int


class EndpointPoster:
    """Keeps one endpoint supplied."""

    def __init__(self, context: Context, webhook: Webhook, pace: PostPace) -> None:
        self._context = context
        self._pace = pace
        self.webhook = webhook
        self._in_flight: dict[bytes, asyncio.Task[None]] = {}
        self._window = PostWindow()
        self._wake_event = asyncio.Event()
        self._known: PostBatch | None = None
        self._unfinished = 1
        """How many posts are stored, as far as known; at the start there may be some."""
        self._lag_ms = 0
        """How far making posts is behind the events."""
        self.failures = FailureLog(is_failing=webhook.failures > 0)
        self._has_failed = webhook.failures > 0
        """Whether a post has failed since the last one that was delivered."""
        self._must_retry_soon = not self._has_failed
        """Whether the endpoint answers again, and posts may still wait; at the start there may be some."""
        self._retried_soon_at = 0
        self._is_stopping = False
        now = context.world.now()
        self._positions_stored_at = now
        self._backlog_checked_at = now

    def update(self, webhook: Webhook) -> None:
        """Take over what has changed in the store."""
        if webhook != self.webhook:
            self.webhook = webhook
            self.wake()

    @property
    def is_behind(self) -> bool:
        """Whether events may wait for the endpoint, as far as known without a look at the store."""
        return self._unfinished > 0 or self._lag_ms > 0 or self.webhook.state is WebhookState.PAUSED

    def wake(self) -> None:
        """Look for events now."""
        self._wake_event.set()

    async def run(self) -> None:
        """Deliver until cancelled, or until the webhook is disabled or deleted."""
        while self.webhook.state is not WebhookState.DISABLED and not self._is_stopping:
            self._wake_event.clear()
            try:
                pause_s = await self._step()
            except StoreUnavailable:
                pause_s = STORE_RETRY_DELAY_S
            if pause_s > 0:
                await wait_for_event(self._wake_event, pause_s)

    async def stop(self, timeout_s: float) -> None:
        """Begin no more posts, and wait for those in flight; what is not recorded by then is posted again."""
        self._is_stopping = True
        self.wake()
        tasks = list(self._in_flight.values())
        if tasks:
            await asyncio.wait(tasks, timeout=timeout_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _step(self) -> float:
        """Do what there is to do, and return how long to wait for more."""
        now = self._context.world.now()
        await self._cut_backlog(now)
        if self.webhook.state is WebhookState.PAUSED:
            return await self._try_paused(now)
        capacity = self._capacity
        if capacity <= 0:
            return MAX_IDLE_S
        has_more = await self._make_posts(now)
        waits = [MAX_IDLE_S, await self._retry_soon(now)]
        if self._known and self._known.held_until is not None and self._known.held_until > now:
            waits.append((self._known.held_until - now) / SECOND)
        if self._unfinished > len(self._in_flight):
            due = await self._read_due(now, capacity)
            for post in due.posts:
                self._start(post)
            if due.next_due_at is not None:
                waits.append((due.next_due_at - now) / SECOND)
        if has_more and self._capacity > 0:
            waits.append(0.0)
        return max(0.0, min(waits))

    async def _try_paused(self, now: Instant) -> float:
        """Post one thing to a paused endpoint, if it is time for that."""
        trial_at = self.webhook.trial_at or now
        if self._in_flight or now < trial_at:
            return max(0.0, min(MAX_IDLE_S, (trial_at - now) / SECOND)) if not self._in_flight else MAX_IDLE_S
        due = await self._read_due(MAX_INSTANT, 1)
        if not due.posts:
            await self._make_posts(now)
            due = await self._read_due(MAX_INSTANT, 1)
        for post in due.posts:
            self._start(post, is_trial=True)
        return MAX_IDLE_S

    async def _retry_soon(self, now: Instant) -> float:
        """Have posts that wait for a retry tried if the endpoint answers again; return how long to wait for that.

        The window paces them: it is narrow after an outage.
        """
        if not self._must_retry_soon or self._unfinished <= len(self._in_flight):
            return MAX_IDLE_S
        elapsed_ms = now - self._retried_soon_at
        if 0 <= elapsed_ms < RETRY_SOON_INTERVAL_MS:
            return (RETRY_SOON_INTERVAL_MS - elapsed_ms) / SECOND
        self._must_retry_soon, self._retried_soon_at = False, now
        try:
            await self._context.store.write(retries.retry_soon, self.webhook.id, now)
        except StoreUnavailable:
            self._must_retry_soon, self._retried_soon_at = True, 0
            raise
        return MAX_IDLE_S

    @property
    def _capacity(self) -> int:
        """How many more posts may be in flight."""
        return self._pace.capacity(self._window.size, len(self._in_flight))

    async def _make_posts(self, now: Instant) -> bool:
        """Make posts of new events; return whether there are more events."""
        if self._unfinished >= MAX_UNFINISHED:
            return False
        context = self._context
        await self._pace.wait(self._lag_ms)
        batch = await context.store.read(read_batch, context, self.webhook, self._known, now)
        if batch is None:  # deleted
            self._is_stopping = True
            return False
        self._lag_ms = batch.lag_ms
        is_due = now - self._positions_stored_at >= POSITIONS_INTERVAL_MS or now < self._positions_stored_at
        if not batch.posts and not (batch.reached != batch.stored.positions and (is_due or batch.has_more)):
            self._known = batch
            return batch.has_more
        posts = [
            WebhookPost(
                new_unique_id(self._context.world),
                self.webhook.id,
                each.event_ids,
                each.body,
                now,
                0,
                now,
                each.format,
            )
            for each in batch.posts
        ]
        self._known = None
        self._pace.count(sum(len(each.event_ids) for each in posts))
        self._unfinished += len(posts)  # also if nobody knows whether they were stored: then it looks
        if await context.store.write(store_batch, self.webhook.id, batch.stored, batch.reached, posts):
            self._positions_stored_at = now
        return batch.has_more

    async def _read_due(self, until: Instant, capacity: int) -> DuePosts:
        due = await self._context.store.read(
            _read_due, self.webhook.id, until, capacity, frozenset(self._in_flight)
        )
        self._unfinished = due.total
        if not due.total:
            self.failures.forget()
        return due

    def _start(self, post: WebhookPost, *, is_trial: bool = False) -> None:
        self._pace.in_flight += 1
        self._in_flight[post.id] = asyncio.create_task(self._deliver(post, is_trial=is_trial))

    async def _deliver(self, post: WebhookPost, *, is_trial: bool) -> None:
        """Post, and record what came of it."""
        try:
            webhook, tried_at = self.webhook, self._context.world.now()
            result = await post_once(self._context, webhook, post.id, post.body, post.format)
            this_try = DeliveryTry(
                webhook.id,
                tried_at,
                post.id,
                post.event_ids,
                post.tries + 1,
                result.status,
                decode_answer(result.answer),
                ": ".join(filter(None, (result.error, result.detail))),
                result.duration_ms,
            )
            await self._record(post, this_try, result, is_trial=is_trial)
        except Exception as error:  # a bug: the post is tried again after a pause
            log.error("webhook post failed", extra={"webhook_id": post.webhook_id, **describe_error(error)})
            await asyncio.sleep(STORE_RETRY_DELAY_S)
        finally:
            self._pace.in_flight -= 1
            self._in_flight.pop(post.id, None)
            self.wake()

    async def _record(
        self, post: WebhookPost, this_try: DeliveryTry, result: PostResult, *, is_trial: bool
    ) -> None:
        """Record what came of a post, which counts as in flight until that is stored."""
        context, store, now = self._context, self._context.store, self._context.world.now()
        if result.is_success:
            self._window.widen()
            self._must_retry_soon, self._has_failed = self._must_retry_soon or self._has_failed, False
            was_paused = await until_available(partial(store.write, retries.record_success, post, this_try))
            context.metrics.webhook_posts.add(1, "delivered")
            context.metrics.webhook_events.add(len(post.event_ids), "delivered")
            if was_paused or is_trial:
                self.webhook = self.webhook._replace(state=WebhookState.ACTIVE, trial_at=None)
                log_try("webhook is active again; posting its backlog", self.webhook, this_try)
            self.failures.remove(self.webhook, this_try)
            return
        self._window.narrow()
        self._must_retry_soon, self._has_failed = False, True
        self.failures.add(self.webhook, this_try)
        context.metrics.webhook_posts.add(1, "failed")
        delay_ms = retry_delay_ms(post.tries + 1, now - post.created_at, context.world.random())
        failed = await until_available(
            partial(store.write, retries.record_failure, post, this_try, delay_ms, now, is_trial=is_trial)
        )
        context.metrics.webhook_events.add(failed.dropped, "dropped")
        if failed.state is WebhookState.DISABLED:
            self.webhook = self.webhook._replace(state=WebhookState.DISABLED)
            text = "webhook keeps answering 410 Gone; it is disabled, and its events wait for 7 days"
            log_try(text, self.webhook, this_try)
        elif failed.state is WebhookState.PAUSED or is_trial:
            self.webhook = self.webhook._replace(state=WebhookState.PAUSED, trial_at=now + TRIAL_INTERVAL_MS)
        if failed.state is WebhookState.PAUSED:
            text = "webhook keeps failing; it is paused, and tried every five minutes"
            log_try(text, self.webhook, this_try)

    async def _cut_backlog(self, now: Instant) -> None:
        """Give up what has waited too long for a paused endpoint, or is too much for any."""
        if 0 <= now - self._backlog_checked_at < TRIAL_INTERVAL_MS:
            return
        self._backlog_checked_at = now
        await cut_backlog(self._context, self.webhook, now - BACKLOG_MS, MAX_BACKLOG)


@transaction(reader=Reader.BACKGROUND)
def _read_due(tx: Tx, webhook_id: int, until: Instant, capacity: int, in_flight: frozenset[bytes]) -> DuePosts:
    return DuePosts(
        webhook_posts.list_due(tx, webhook_id, until, capacity, in_flight),
        webhook_posts.next_due_at(tx, webhook_id, until),
        webhook_posts.count(tx, webhook_id),
    )
