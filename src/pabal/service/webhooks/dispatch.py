"""Runs the delivery to all endpoints that this process is responsible for: those of the slots that it holds."""

import asyncio
import contextlib

from pabal.domain.base.dates import SECOND
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.service.context import Context
from pabal.service.loops import STORE_RETRY_DELAY_S, run_forever, wait_for_event
from pabal.service.webhooks.endpoint import EndpointPoster
from pabal.service.webhooks.retries import PostPace
from pabal.store.engine.base import Reader, StoreUnavailable, Tx, transaction
from pabal.store.events import events, webhook_posts, webhooks

REFRESH_INTERVAL_S = 5.0
"""How often to look for webhooks that were added or changed by other processes."""
MAX_IDLE_S = 30.0
"""Longest pause where no other process serves callers: what commands change then wakes this one."""
MIN_REFRESH_PAUSE_S = 0.2
"""Least time between two looks, however often callers change their webhooks: each reads those of all accounts."""
POLL_INTERVAL_S = 1.0
"""How often to look for events that other processes have numbered."""
MIN_WAIT_S = 0.001
"""A shorter wait is none: the clock may not advance by it."""
MEASURE_INTERVAL_S = 15.0
"""How often the backlogs of endpoints that are behind are counted."""
MEASURE_SHARE = 0.1
"""Most of the time that counting takes, however many endpoints are behind."""
MAX_COUNTED_EVENTS = 10_000
"""Most events of one endpoint that are counted."""


class WebhookDispatcher:
    """Starts and stops the delivery to endpoints; each belongs to a slot."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._pace = PostPace(context)
        self._seen: dict[int, int] | None = None
        """The last number of each slot when this process looked for events that others have numbered."""
        self._looked_at = 0.0
        self._posters: dict[int, EndpointPoster] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Run until cancelled; while the store is unavailable, the endpoints go on with what is known."""
        context = self._context
        while True:
            try:
                await self.refresh()
            except StoreUnavailable:
                await asyncio.sleep(STORE_RETRY_DELAY_S)
                continue
            looked_at, is_shared = context.world.monotonic(), context.slots.are_shared
            while (left_s := looked_at + self._refresh_pause_s - context.world.monotonic()) > MIN_WAIT_S:
                pause_s = min(left_s, POLL_INTERVAL_S) if is_shared else left_s
                await wait_for_event(context.webhooks.numbered, pause_s)
                self._wake(context.webhooks.take_numbered() | await self._find_accounts())

    async def refresh(self) -> None:
        """Take over what is stored: start new endpoints, and stop those that are gone.

        Raises StoreUnavailable.
        """
        context = self._context
        is_changed = context.webhooks.changed.is_set()
        context.webhooks.changed.clear()
        try:
            found = {each.id: each for each in await context.store.read(_list_enabled) if self._is_ours(each)}
            if found and self._seen is None:  # before any endpoint begins: what comes later is found
                self._seen = await context.store.read(_last_positions)
        except StoreUnavailable:
            context.webhooks.changed.set()  # then all look for events that were numbered meanwhile
            raise
        for webhook_id in [each for each in self._posters if each not in found]:
            self._posters.pop(webhook_id)
            self._tasks.pop(webhook_id).cancel()
        for webhook_id, webhook in found.items():
            if webhook_id in self._posters and not self._tasks[webhook_id].done():
                self._posters[webhook_id].update(webhook)
                if is_changed:  # perhaps by a replay
                    self._posters[webhook_id].wake()
            else:
                poster = self._posters[webhook_id] = EndpointPoster(context, webhook, self._pace)
                self._tasks[webhook_id] = asyncio.create_task(run_forever(poster.run, webhook_id=webhook_id))

    async def run_measuring(self) -> None:
        """Show as metrics how much waits for the endpoints of this process, and for how long, until cancelled."""
        context = self._context
        context.metrics.webhook_endpoints_failing.set_function(
            lambda: sum(each.failures.is_failing for each in self._posters.values())
        )
        while True:
            began = context.world.monotonic()
            with contextlib.suppress(StoreUnavailable):  # then these metrics are left out
                await self._measure()
            spent_s = context.world.monotonic() - began
            await asyncio.sleep(max(MEASURE_INTERVAL_S, spent_s / MEASURE_SHARE))

    async def _measure(self) -> None:
        context = self._context
        numbers = dict.fromkeys((WebhookState.ACTIVE, WebhookState.PAUSED), 0)
        waits_s = dict.fromkeys(numbers, 0.0)
        for poster in [each for each in self._posters.values() if each.is_behind]:
            found = await context.store.read(webhook_posts.read_waiting, poster.webhook, MAX_COUNTED_EVENTS)
            state = poster.webhook.state
            if state in numbers and found.since is not None:
                numbers[state] += found.number
                waits_s[state] = max(waits_s[state], (context.world.now() - found.since) / SECOND)
        for state, number in numbers.items():
            context.metrics.webhook_backlog_events.labels(state.code).set(number)
            context.metrics.webhook_oldest_event_seconds.labels(state.code).set(waits_s[state])

    async def stop(self, timeout_s: float) -> None:
        """Wait for posts in flight, and stop all endpoints."""
        await asyncio.gather(*(each.stop(timeout_s) for each in self._posters.values()))
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    @property
    def _refresh_pause_s(self) -> float:
        if self._context.webhooks.changed.is_set():
            return MIN_REFRESH_PAUSE_S
        return REFRESH_INTERVAL_S if self._context.slots.are_shared else MAX_IDLE_S

    def _is_ours(self, webhook: Webhook) -> bool:
        here = self._context.slots
        return here.numbers[webhook.id % here.total] in here.held

    async def _find_accounts(self) -> set[int]:
        """Return the accounts with events that other processes have numbered since the last look."""
        context, now = self._context, self._context.world.monotonic()
        if not context.slots.are_shared or now - self._looked_at < POLL_INTERVAL_S:
            return set()
        self._looked_at = now
        accounts = {each.webhook.account_id for each in self._posters.values()}
        if not accounts:
            self._seen = None  # what is numbered meanwhile concerns no endpoint
            return set()
        try:
            reachable = context.nodes.reachable(context.slots.numbers) if context.nodes.lost else None
            known = self._seen or {}
            found, seen = await context.store.read(events.find_accounts, accounts, known, reachable)
            self._seen = known | seen
        except StoreUnavailable:
            return set()  # they are found by the next look
        return found

    def _wake(self, accounts: set[int]) -> None:
        """Wake the endpoints of accounts with new events."""
        for poster in self._posters.values():
            if poster.webhook.account_id in accounts:
                poster.wake()


@transaction(reader=Reader.BACKGROUND)
def _list_enabled(tx: Tx) -> list[Webhook]:
    return webhooks.list_enabled(tx)


@transaction(reader=Reader.BACKGROUND)
def _last_positions(tx: Tx) -> dict[int, int]:
    return events.last_positions(tx)
