"""Delivers: claims what is due, hands it to a carrier, and settles what the carrier said."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Coroutine, Sequence
from typing import Any

from pabal.carriers.base import Busy, Carrier, Rejected, Unknown, Verdict
from pabal.domain.dates import SECOND, Instant
from pabal.domain.message import Attempt, Outcome, Product
from pabal.service.context import Context
from pabal.service.delivery.backpressure import Backpressure
from pabal.service.delivery.circuit_breaker import CarrierStatus, CircuitBreaker
from pabal.service.delivery.claimer import Claimer
from pabal.service.delivery.finish import FinishResult
from pabal.service.delivery.settle import BatchVerdicts, settle
from pabal.service.errors import describe_error
from pabal.service.sending import compose
from pabal.store import carrier_states, queue, queue_admin
from pabal.store.carrier_states import CarrierState
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.messages import Message
from pabal.store.queue import Lease
from pabal.store.requests import Request

MAX_IDLE_S = 30.0
POLL_INTERVAL_S = 0.2
"""How often the queue is looked at where other processes add to it: their wake-ups do not reach this one."""
OFFLINE_CHECK_INTERVAL_S = 1.0
"""How often a carrier that is not connected is looked at."""
PROBE_INTERVAL_S = 5.0
"""How often a carrier that fails at everything is given a message, and an idle one is looked at."""
MAX_BACKLOG_S = 0.5
"""How much of a carrier's rate is claimed ahead: what comes later must not wait behind more than this."""
GATHER_PAUSE_S = 0.05
"""Pause after a claim that took all there was, so that under load the next one is worth its transaction."""
MIN_PAUSE_S = 0.01
WEIGHT_FADES = 0.9
STORE_RETRY_DELAY_S = 1.0
REROUTE_BATCH = 500

log = logging.getLogger("pabal.deliver")


def reroute_due(
    tx: Tx,
    carrier: str,
    targets: dict[int, str],
    slot: int,
    now: Instant,
    *,
    includes_doubtful: bool,
    is_untried: bool,
) -> int:
    """Give some due messages of a carrier to others, by their products; return how many."""
    found = queue_admin.find_reroutable(
        tx, slot, carrier, targets, now, REROUTE_BATCH, includes_in_doubt=includes_doubtful, only_untried=is_untried
    )
    queue_admin.reroute(tx, [queue_admin.ReroutedJob(one, targets[product]) for one, product in found])
    return len(found)


class Deliverer:
    """Keeps one carrier supplied, within its window and its rate, until stopped."""

    def __init__(self, context: Context, carrier: Carrier) -> None:
        self._context = context
        self._carrier = carrier
        self._breaker = CircuitBreaker(carrier, context.world)
        self._wake_event = context.wake_events.setdefault(carrier.name, asyncio.Event())
        self._has_room = asyncio.Event()
        self._in_flight = 0
        self._unsettled = 0
        """How many times verdicts wait for a store that was away."""
        self._backpressure = Backpressure(context.world, carrier.batch_size)
        self._weight = 1.0
        """How many places in its carrier's rate a message took of late: one that goes in parts takes several."""
        self._claimer = Claimer(context, carrier)
        self._tasks: set[asyncio.Task[None]] = set()
        self._told: tuple[CarrierStatus, str] | None = None
        self._since: Instant = 0
        self._is_stopping = asyncio.Event()
        self._has_ended = asyncio.Event()

    async def run(self) -> None:
        """Deliver until stopped; the store being away only delays it."""
        while not self._is_stopping.is_set():
            try:
                await self._step()
            except StoreUnavailable:
                log.warning("the store is away; trying again", extra={"carrier": self._carrier.name})
                await asyncio.sleep(STORE_RETRY_DELAY_S)
        self._has_ended.set()

    async def stop(self, timeout_s: float) -> None:
        """Claim nothing more, and finish what is in hand."""
        self._is_stopping.set()
        self._wake_event.set()
        self._has_room.set()
        give_up_at = self._context.world.monotonic() + timeout_s
        await _wait_for(timeout_s, self._has_ended)  # a claim under way may still bring something
        while self._tasks and (left_s := give_up_at - self._context.world.monotonic()) > 0:
            await asyncio.wait(self._tasks, timeout=left_s)
        for task in self._tasks:
            task.cancel()

    async def _step(self) -> None:
        await self._report_status()
        if self._breaker.status is CarrierStatus.CIRCUIT_OPEN:
            await self._reroute()
        if not self._carrier.is_connected:
            await _wait_for(OFFLINE_CHECK_INTERVAL_S, self._is_stopping)
            return
        if self._breaker.status is CarrierStatus.CIRCUIT_OPEN:
            await _wait_for(PROBE_INTERVAL_S, self._is_stopping)
        room = self._carrier.window - self._in_flight
        if room < min(self._carrier.window, queue.CAMPAIGN_SHARE):  # or campaigns would get none of it
            self._has_room.clear()
            await self._has_room.wait()
            return
        pause_s = max(self._carrier.backlog_s - MAX_BACKLOG_S, self._backpressure.pause_s)
        if pause_s > 0:
            await asyncio.sleep(max(pause_s, MIN_PAUSE_S))
            return
        if self._unsettled:
            await _wait_for(STORE_RETRY_DELAY_S, self._is_stopping)
            return
        self._wake_event.clear()
        context = self._context
        next_turn = await self._claimer.choose_slot()
        if next_turn.slot is None:
            await self._idle(next_turn.next_due_at)
            return
        claimed = await self._claimer.claim(next_turn, self._claim_limit(room))
        self._announce(claimed.finished)
        context.metrics.messages_cancelled.add(claimed.cancelled)
        if claimed.leased:
            self._in_flight += len(claimed.leased)
            ahead_s = self._carrier.backlog_s
            task = self._spawn(self._submit(claimed.leased))
            await asyncio.sleep(0)
            weight = (self._carrier.backlog_s - ahead_s) * self._carrier.rate / len(claimed.leased)
            self._weight = max(1.0, weight, WEIGHT_FADES * self._weight)
            if not claimed.is_full and not next_turn.has_other_due_slots:
                await asyncio.sleep(GATHER_PAUSE_S)
            if self._breaker.allows_only_probes:
                await self._wait_for_probe(task)
        elif context.slots.are_shared:
            await asyncio.sleep(GATHER_PAUSE_S)
        elif not claimed.is_full:
            await self._idle(claimed.next_due_at)

    async def _wait_for_probe(self, task: asyncio.Task[None]) -> None:
        """Wait for the word on the one message that shows how a carrier does; meanwhile others get all the rest."""
        self._breaker.is_probing = True
        try:
            await self._report_status()
            await self._reroute()
            await asyncio.wait([task])
        finally:
            self._breaker.is_probing = False

    def _claim_limit(self, room: int) -> int:
        """Return how much to claim at once: what the window has room for, no more than the rate lets out soon."""
        if self._breaker.allows_only_probes:
            return 1
        most = min(room, self._backpressure.limit)
        rate = self._carrier.rate
        return min(most, max(1, round(rate * MAX_BACKLOG_S / self._weight))) if rate else most

    async def _report_status(self) -> None:
        """See how the carrier does, and tell whoever should know of a change."""
        health, name, context = self._breaker, self._carrier.name, self._context
        health.update()
        found, told = (health.status, health.reason), self._told
        if found == told:
            return
        is_aside = health.status is CarrierStatus.CIRCUIT_OPEN
        (context.open_circuits.add if is_aside else context.open_circuits.discard)(name)
        context.metrics.set_carrier_status(name, is_up=health.status is CarrierStatus.UP, is_circuit_open=is_aside)
        if told or health.status is CarrierStatus.CIRCUIT_OPEN:  # at the start, a carrier needs a moment to connect
            level = logging.WARNING if health.reason or health.status is not CarrierStatus.UP else logging.INFO
            log.log(level, f"a carrier is {health.status.value}", extra={"carrier": name, "reason": health.reason})
        if told is None or told[0] is not health.status:
            self._since = context.world.now()
        state = CarrierState(name, health.status.value, self._since, health.reason, context.slots.worker)
        await context.store.write(carrier_states.save, state)
        self._told = found

    async def _reroute(self) -> None:
        """Give what is due to the next carriers; where none follows, what was never tried to one before."""
        routes, name, aside = self._context.policy.routes, self._carrier.name, self._context.open_circuits
        ways = {product: routes.next_after(product, name, avoid=aside) for product in Product}
        on = {product.number: way for product, way in ways.items() if way and way not in aside}
        back = {
            product.number: way
            for product in Product
            if product.number not in on and (way := routes.alternative_to(product, name, aside))
        }
        await self._move(on, is_untried=False)
        await self._move(back, is_untried=True)

    async def _move(self, ways: dict[int, str], *, is_untried: bool) -> None:
        for slot in self._context.slots.held:
            await self._move_from(slot, ways, is_untried=is_untried)

    async def _move_from(self, slot: int, ways: dict[int, str], *, is_untried: bool) -> None:
        context, name = self._context, self._carrier.name
        moved = REROUTE_BATCH if ways else 0
        while moved == REROUTE_BATCH:
            moved = await context.store.write(
                reroute_due,
                name,
                ways,
                slot,
                context.world.now(),
                includes_doubtful=not (self._carrier.holds_in_doubt or self._carrier.can_look_up),
                is_untried=is_untried,
            )
            if moved:
                log.warning("messages move on to the next carrier", extra={"carrier": name, "messages": moved})
                context.wake(ways.values())

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error(
                "a batch was left to its lease", extra={"carrier": self._carrier.name, **describe_error(error)}
            )

    async def _idle(self, next_due_at: Instant | None) -> None:
        pause_s = POLL_INTERVAL_S if self._context.slots.are_shared else MAX_IDLE_S
        if next_due_at is not None:
            pause_s = min(pause_s, (next_due_at - self._context.world.now()) / SECOND)
        until = self._context.world.monotonic() + pause_s
        while (left_s := until - self._context.world.monotonic()) > 0 and not self._is_stopping.is_set():
            await _wait_for(min(left_s, PROBE_INTERVAL_S), self._wake_event)
            await self._report_status()
            if self._wake_event.is_set() or self._breaker.status is not CarrierStatus.UP:
                return

    async def _submit(self, leased: list[tuple[Lease, Message, Request]]) -> None:
        """Hand a batch over, and have each verdict settled when it is told."""
        carrier, world = self._carrier, self._context.world
        attempts, unfit = _compose_attempts(leased)
        untold = {id(attempt): attempt for attempt in attempts}

        def tell(said: Sequence[tuple[Attempt, Verdict]]) -> None:
            for attempt, _ in said:
                untold.pop(id(attempt), None)
            self._record_verdicts(said)

        if unfit:
            self._record_verdicts(unfit)
        began = world.monotonic()
        try:
            async with asyncio.timeout(carrier.timeout_s):
                await carrier.submit(attempts, tell)
        except Exception as error:
            log.warning(
                "a carrier gave no answer",
                extra={"carrier": carrier.name, "error": type(error).__name__, "messages": len(untold)},
            )
            if untold:
                self._record_verdicts([(attempt, Unknown()) for attempt in untold.values()])
        except asyncio.CancelledError:
            self._in_flight -= len(untold)
            raise
        finally:
            self._context.metrics.carrier_response_seconds.labels(carrier.name).observe(world.monotonic() - began)

    def _record_verdicts(self, said: Sequence[tuple[Attempt, Verdict]]) -> None:
        """Take in what the carrier said to some of what it was given, and have it settled."""
        name, aside = self._carrier.name, self._context.open_circuits
        labels = Counter(verdict.label for _, verdict in said)
        for label, count in labels.items():
            self._context.metrics.carrier_verdicts.add(count, name, label)
        self._breaker.record([verdict for _, verdict in said])
        self._backpressure.record(labels[Busy.label], len(said))
        if self._breaker.allows_only_probes:  # what it has not taken even now goes on
            aside = aside | {name}
        self._spawn(
            self._settle(
                BatchVerdicts(name, list(said), self._carrier.holds_in_doubt, aside, self._carrier.can_look_up)
            )
        )

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def _settle(self, verdicts: BatchVerdicts) -> None:
        """Have the verdicts kept; until then their messages count as in the carrier's window, being in doubt."""
        try:
            await self._settle_until_stored(verdicts)
        finally:
            self._in_flight -= len(verdicts.results)
            self._has_room.set()

    async def _settle_until_stored(self, verdicts: BatchVerdicts) -> None:
        """Write the verdicts down, however long the store is away: until then nothing more is claimed.

        The lease may be over by then. But while nobody could claim, nobody has: it is the claim after that would
        hand over again what the carrier has taken.
        """
        context, is_late = self._context, False
        try:
            while True:
                try:
                    now = context.world.now()
                    finished = await context.store.write(
                        settle, verdicts, context.policy, context.world.random(), now
                    )
                    return self._announce(finished)
                except StoreUnavailable:
                    self._unsettled += not is_late
                    is_late = True
                    await asyncio.sleep(STORE_RETRY_DELAY_S)
        finally:
            self._unsettled -= is_late

    def _announce(self, finished: FinishResult) -> None:
        self._context.metrics.count_ended(finished.ended)
        self._context.wake(finished.carriers_to_wake)


async def _wait_for(seconds: float, event: asyncio.Event) -> None:
    """Return when something happens, or when so much time has passed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _compose_attempts(
    leased: list[tuple[Lease, Message, Request]],
) -> tuple[list[Attempt], list[tuple[Attempt, Verdict]]]:
    """Return what can be handed over, and apart from it, refused, what cannot even be put together."""
    attempts: list[Attempt] = []
    unfit: list[tuple[Attempt, Verdict]] = []
    for lease, message, request in leased:
        try:
            attempts.append(compose.build_attempt(message, request, lease))
        except Exception as error:
            log.error(
                "a message could not be composed", extra={"message_id": message.id.hex(), **describe_error(error)}
            )
            bare = Attempt(message.id, lease.attempt, message.account_id, message.product, "", "", None, "")
            unfit.append((bare, Rejected(Outcome.UNDELIVERABLE)))
    return attempts, unfit
