"""Delivers for one carrier: claims due messages and submits them, within its window and its rate."""

import asyncio
import logging

from pabal.carriers.base import Carrier
from pabal.domain.base.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.service.delivery.carrier.circuit_breaker import CarrierStatus, CircuitBreaker, StatusReporter
from pabal.service.delivery.carrier.flow_control import Backpressure, Window
from pabal.service.delivery.claiming.claim import Claimer
from pabal.service.delivery.claiming.requeue_due import DueRequeuer
from pabal.service.delivery.claiming.reroute import Rerouter
from pabal.service.delivery.submit import Submitter
from pabal.service.loops import STORE_RETRY_DELAY_S, wait_for_event
from pabal.store.engine.base import NodeUnavailable, StoreUnavailable

MAX_IDLE_S = 30.0
"""Longest pause when nothing is due and no other process adds to the queue."""
POLL_INTERVAL_S = 0.2
"""How often to look at a queue that other processes add to: their wake-ups do not reach this process."""
OFFLINE_CHECK_INTERVAL_S = 1.0
"""How often to check whether a disconnected carrier is back."""
PROBE_INTERVAL_S = 5.0
"""How often to probe a failing carrier, and to check the status of an idle one."""
GATHER_PAUSE_S = 0.05
"""Pause after a claim that emptied the queue, so that under load the next claim is worth its transaction."""
MIN_PAUSE_S = 0.01
"""Shortest pause while the carrier works off its backlog."""

log = logging.getLogger("pabal.deliver")


class Deliverer:
    """Keeps one carrier supplied until stopped."""

    def __init__(self, context: Context, carrier: Carrier) -> None:
        self._context = context
        self._carrier = carrier
        self._breaker = CircuitBreaker(carrier, context.world)
        self._status = StatusReporter(context, carrier.name, self._breaker)
        self._backpressure = Backpressure(context.world, carrier.batch_size)
        self._window = Window(carrier)
        self._claimer = Claimer(context, carrier)
        self._requeuer = DueRequeuer(context, carrier.name)
        self._submitter = Submitter(context, carrier, self._breaker, self._backpressure, self._window)
        self._rerouter = Rerouter(context, carrier)
        self._wake_event = context.wake_events.setdefault(carrier.name, asyncio.Event())
        self._is_stopping = asyncio.Event()
        self._has_ended = asyncio.Event()

    async def run(self) -> None:
        """Deliver until stopped; while the store is unavailable, wait and try again."""
        while not self._is_stopping.is_set():
            try:
                await self._step()
            except NodeUnavailable:  # others go on, and the next step leaves it out
                await asyncio.sleep(GATHER_PAUSE_S)
            except StoreUnavailable:
                log.debug("store unavailable; retrying the claim", extra={"carrier": self._carrier.name})
                await asyncio.sleep(STORE_RETRY_DELAY_S)
        self._has_ended.set()

    async def stop(self, timeout_s: float) -> None:
        """Claim nothing more, and wait for what is in flight."""
        self._is_stopping.set()
        self._wake_event.set()
        self._window.wake()
        give_up_at = self._context.world.monotonic() + timeout_s
        await wait_for_event(self._has_ended, timeout_s)  # a claim under way may still add messages
        await self._submitter.drain(give_up_at)

    async def _step(self) -> None:
        """Claim and submit one batch, or wait for the reason that there is none."""
        if not await self._is_ready():
            return
        self._wake_event.clear()
        if not self._breaker.is_failing:  # a carrier that takes nothing gets new messages first, not doubts again
            await self._requeuer.requeue()
        choice = await self._claimer.choose_slot(self._submitter.unsettled_slots)
        if choice.slot is None:
            await self._idle(choice.next_due_at)
            return
        claimed = await self._claimer.claim(choice, self._claim_limit())
        self._submitter.announce(claimed.finished)
        self._context.count_cancelled(claimed.cancelled)
        if claimed.leased:
            task = self._submitter.start(claimed.leased, claimed.unmapped)
            if not claimed.is_full and not choice.has_other_due_slots:
                await asyncio.sleep(GATHER_PAUSE_S)
            if self._breaker.allows_only_probes:
                await self._wait_for_probe(task)
        elif self._context.slots.are_shared:
            await asyncio.sleep(GATHER_PAUSE_S)
        elif not claimed.is_full:
            await self._idle(claimed.next_due_at)

    async def _is_ready(self) -> bool:
        """Return whether the carrier may be given messages now; if not, wait a moment first."""
        await self._status.update()
        if self._breaker.status is CarrierStatus.CIRCUIT_OPEN:
            await self._rerouter.reroute()
        if not self._carrier.is_connected:
            await wait_for_event(self._is_stopping, OFFLINE_CHECK_INTERVAL_S)
            return False
        if self._breaker.status is CarrierStatus.CIRCUIT_OPEN:
            await wait_for_event(self._is_stopping, PROBE_INTERVAL_S)
        if self._window.is_full:
            await self._window.wait_for_capacity()
            return False
        if (excess_s := self._window.excess_backlog_s) > 0:
            self._context.rate_use.mark_limited(self._carrier.name)
        pause_s = max(excess_s, self._backpressure.pause_s)
        if pause_s > 0:
            await asyncio.sleep(max(pause_s, MIN_PAUSE_S))
            return False
        held, unsettled = self._context.slots.held, self._submitter.unsettled_slots
        if held and all(slot in unsettled for slot in held):
            await wait_for_event(self._is_stopping, STORE_RETRY_DELAY_S)
            return False
        return True

    def _claim_limit(self) -> int:
        """Return how many messages to claim: a single probe while the carrier fails at everything."""
        return 1 if self._breaker.allows_only_probes else self._window.claim_limit(self._backpressure.limit)

    async def _wait_for_probe(self, task: asyncio.Task[None]) -> None:
        """Wait for the verdict on the probe; other carriers get all other messages meanwhile."""
        self._breaker.is_probing = True
        try:
            await self._status.update()
            await self._rerouter.reroute()
            await asyncio.wait([task])
        finally:
            self._breaker.is_probing = False

    async def _idle(self, next_due_at: Instant | None) -> None:
        """Wait until a message is due, until woken, or until the carrier is no longer up."""
        world = self._context.world
        pause_s = POLL_INTERVAL_S if self._context.slots.are_shared else MAX_IDLE_S
        if next_due_at is not None:
            pause_s = min(pause_s, (next_due_at - world.now()) / SECOND)
        until = world.monotonic() + pause_s
        while (left_s := until - world.monotonic()) > 0 and not self._is_stopping.is_set():
            await wait_for_event(self._wake_event, min(left_s, PROBE_INTERVAL_S))
            await self._status.update()
            if self._wake_event.is_set() or self._breaker.status is not CarrierStatus.UP:
                return
