"""The background work of a process: delivery, receipts, events, webhooks, mails, housekeeping and campaigns."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

from pabal.service.context import Context
from pabal.service.delivery.carrier.clock import watch_clock
from pabal.service.delivery.deliver import Deliverer
from pabal.service.delivery.receipts import run_carrier
from pabal.service.delivery.workers import SlotHolder, prepare_slot
from pabal.service.errors import describe_error
from pabal.service.events import run_numbering
from pabal.service.notices.alerts import run_alerts
from pabal.service.notices.dispatch import MailDispatcher
from pabal.service.relay.sync import run_opt_out_sync, run_sync
from pabal.service.sending.campaigns.campaigns import run_campaigns
from pabal.service.upkeep.housekeeping import run_housekeeping
from pabal.service.upkeep.privacy import run_vacuum
from pabal.service.webhooks.backlog import run_backlog_cuts
from pabal.service.webhooks.dispatch import WebhookDispatcher
from pabal.store.engine.base import StoreUnavailable

RESTART_DELAY_S = 1.0
"""Pause before a loop that failed starts again."""

log = logging.getLogger("pabal")


class BackgroundWork:
    """All loops that run behind the HTTP API."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._deliverers: list[Deliverer] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._webhooks = WebhookDispatcher(context)
        self._mails = MailDispatcher(context)
        self._slot_holder: SlotHolder | None = None
        self._slot_holder_task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start all loops."""
        context = self._context
        if context.slots.are_shared:
            self._slot_holder = SlotHolder(context)
            self._slot_holder_task = asyncio.create_task(run_forever(self._slot_holder.run))
        for slot in context.slots.held:
            await prepare_slot(context, slot, is_orphaned=True)
        for carrier in context.carriers.values():
            deliverer = Deliverer(context, carrier)
            self._deliverers.append(deliverer)
            self._spawn(deliverer.run)
            self._spawn(lambda carrier=carrier: run_carrier(context, carrier))  # type: ignore[misc]
        self._spawn(lambda: watch_clock(context))
        self._spawn(lambda: run_numbering(context))
        self._spawn(lambda: watch_other_processes(context))
        self._spawn(self._webhooks.run)
        self._spawn(self._webhooks.run_measuring)
        self._spawn(lambda: run_backlog_cuts(context))
        self._spawn(lambda: run_alerts(context))
        self._spawn(self._mails.run)
        self._spawn(lambda: run_housekeeping(context))
        self._spawn(lambda: run_vacuum(context))
        self._spawn(lambda: run_campaigns(context))
        if context.relays:
            self._spawn(lambda: run_sync(context))
        self._spawn(lambda: run_opt_out_sync(context))

    async def stop(self, timeout_s: float) -> None:
        """Give up the slots, finish what is in flight, and stop all loops."""
        if self._slot_holder and self._slot_holder_task:
            self._slot_holder_task.cancel()
            await asyncio.gather(self._slot_holder_task, return_exceptions=True)
            await self._slot_holder.leave()
        stopping = [*(each.stop(timeout_s) for each in self._deliverers), self._webhooks.stop(timeout_s)]
        await asyncio.gather(*stopping, self._mails.stop(timeout_s))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, loop: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(asyncio.create_task(run_forever(loop)))


async def run_forever(loop: Callable[[], Awaitable[None]]) -> None:
    """Run a loop until it ends; after an error, which is a bug, log it and start the loop again."""
    while True:
        try:
            await loop()
            return
        except Exception as error:
            log.error("background loop failed; restarting it", extra=describe_error(error))
            await asyncio.sleep(RESTART_DELAY_S)


CHECK_INTERVAL_S = 4.0
"""How often to ask the store, which reads no table for it."""


async def watch_other_processes(context: Context) -> None:
    """Have everything looked at that a command may have changed: events, webhooks and the queue."""
    while not context.slots.are_shared:
        with contextlib.suppress(StoreUnavailable):
            if await context.store.was_written_elsewhere():
                context.new_events.set()
                context.webhooks.announce_change()
                context.wake(context.carriers)
        await asyncio.sleep(CHECK_INTERVAL_S)
