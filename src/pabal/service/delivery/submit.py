"""Submits claimed batches to a carrier, and settles the verdicts as they come."""

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any

from pabal.carriers.base import Busy, Carrier, Rejected, Unknown, Unmapped, Verdict
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Attempt, Outcome
from pabal.domain.sends.sending import SMALL_RECEIVERS
from pabal.service.context import Context
from pabal.service.delivery.carrier.circuit_breaker import CircuitBreaker
from pabal.service.delivery.carrier.flow_control import Backpressure, Window
from pabal.service.delivery.outcome.finish import FinishResult
from pabal.service.delivery.outcome.settle import BatchVerdicts, expect_receipts, settle, settle_late
from pabal.service.errors import describe_error
from pabal.service.loops import STORE_RETRY_DELAY_S, until_available
from pabal.service.sending import compose
from pabal.store.engine.base import StoreUnavailable
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.queue.queue import Lease

log = logging.getLogger("pabal.deliver")

AttemptVerdict = tuple[Attempt, Verdict]


class Submitter:
    """Carries one carrier's batches from the claim to the stored verdicts."""

    def __init__(
        self,
        context: Context,
        carrier: Carrier,
        breaker: CircuitBreaker,
        backpressure: Backpressure,
        window: Window,
    ) -> None:
        self._context = context
        self._carrier = carrier
        self._breaker = breaker
        self._backpressure = backpressure
        self._window = window
        self._tasks: set[asyncio.Task[None]] = set()
        self._unsettled: Counter[int] = Counter()
        """By slot, how many batches of verdicts wait for a store that was unavailable."""

    @property
    def unsettled_slots(self) -> Collection[int]:
        """Slots whose verdicts wait for the store: nothing more may be claimed there until they are settled."""
        return self._unsettled

    def start(
        self, leased: list[tuple[Lease, Message, Request]], unmapped: Mapping[bytes, str | None]
    ) -> asyncio.Task[None]:
        """Submit a claimed batch in a task of its own; the window has its messages and their cost at once.

        Messages that the carrier's relay does not know (`unmapped`) are not submitted.
        """
        attempts, unsendable = _compose_attempts(leased)
        if unmapped:
            log.warning(
                "messages skip a carrier that has no mapping for their profile or template; see `pabal mapping`",
                extra={"carrier": self._carrier.name, "messages": len(unmapped)},
            )
            unsendable += [
                (one, Unmapped(unmapped[one.message_id])) for one in attempts if one.message_id in unmapped
            ]
            attempts = [one for one in attempts if one.message_id not in unmapped]
        cost = self._carrier.cost(attempts) if self._carrier.rate else 0
        self._window.add(len(leased), cost)
        self._context.rate_use.add(self._carrier.name, cost)
        small = sum(request.total <= SMALL_RECEIVERS for _, _, request in leased)
        self._context.in_flight.add(((lease.id, lease.attempt) for lease, _, _ in leased), small)
        return self._spawn(self._submit(attempts, unsendable, cost))

    async def drain(self, give_up_at: float) -> None:
        """Wait for everything in flight until this time of the monotonic clock, then cancel the rest."""
        while self._tasks and (left_s := give_up_at - self._context.world.monotonic()) > 0:
            await asyncio.wait(self._tasks, timeout=left_s)
        for task in self._tasks:
            task.cancel()

    def announce(self, finished: FinishResult) -> None:
        """Count messages that ended, and wake the carriers that got new ones."""
        self._context.count_ended(finished.ended)
        self._context.wake(finished.carriers_to_wake)

    async def _submit(self, attempts: Sequence[Attempt], unsendable: Sequence[AttemptVerdict], cost: int) -> None:
        """Submit a batch; settle each verdict when it comes, and Unknown where none comes in time.

        A verdict that follows an Unknown settles what that left in doubt.
        """
        carrier, world = self._carrier, self._context.world
        unanswered = {id(attempt): attempt for attempt in attempts}

        def on_verdicts(results: Sequence[AttemptVerdict]) -> None:
            in_time = [pair for pair in results if unanswered.pop(id(pair[0]), None)]
            if in_time:
                self._record(in_time)
            if len(in_time) < len(results):
                self._record_late([pair for pair in results if pair not in in_time])

        if unsendable:
            self._record(unsendable)
        started = world.monotonic()
        self._window.submit(cost)
        try:
            async with asyncio.timeout(carrier.timeout_s):
                await carrier.submit(attempts, on_verdicts)
        except Exception as error:
            log.warning(
                "carrier did not answer; its messages are in doubt",
                extra={"carrier": carrier.name, "error": type(error).__name__, "messages": len(unanswered)},
            )
        except asyncio.CancelledError:
            self._window.remove(len(unanswered))
            self._context.in_flight.remove(map(_key, unanswered.values()))
            raise
        finally:
            self._context.metrics.carrier_response_seconds.labels(carrier.name).observe(world.monotonic() - started)
        if unanswered:
            left, unanswered = list(unanswered.values()), {}
            self._record([(attempt, Unknown()) for attempt in left])

    def _record_late(self, answers: Sequence[AttemptVerdict]) -> None:
        """Count answers that follow an Unknown, tell the circuit breaker, and start settling."""
        for label, count in Counter(verdict.label for _, verdict in answers).items():
            self._context.metrics.late_answers.add(count, self._carrier.name, label)
        self._breaker.record([verdict for _, verdict in answers])
        self._spawn(self._settle_late(list(answers)))

    async def _settle_late(self, answers: Sequence[AttemptVerdict]) -> None:
        """Store late answers, however long the store is unavailable."""
        context = self._context
        slot = identifiers.slot_of(answers[0][0].message_id)

        async def store_answers() -> FinishResult:
            context.nodes.check(slot)
            now = context.world.now()
            return await context.store.write(settle_late, self._carrier.name, answers, context.policy, now)

        self.announce(await until_available(store_answers))

    def _record(self, results: Sequence[AttemptVerdict]) -> None:
        """Count verdicts, tell the circuit breaker and the backpressure, and start settling."""
        name, open_circuits = self._carrier.name, self._context.open_circuits
        labels = Counter(verdict.label for _, verdict in results)
        for label, count in labels.items():
            self._context.metrics.carrier_verdicts.add(count, name, label)
        self._breaker.record([verdict for _, verdict in results if not isinstance(verdict, Unmapped)])
        self._backpressure.record(labels[Busy.label], len(results))
        if self._breaker.allows_only_probes:  # a probe that it does not accept goes to the next carrier
            open_circuits = open_circuits | {name}
        self._spawn(
            self._settle(
                BatchVerdicts(
                    name,
                    list(results),
                    self._carrier.max_resends,
                    open_circuits,
                    self._carrier.can_look_up,
                )
            )
        )

    async def _settle(self, verdicts: BatchVerdicts) -> None:
        """Store verdicts; until then their messages stay in flight, for they are in doubt."""
        try:
            await self._settle_until_stored(verdicts)
        finally:
            self._window.remove(len(verdicts.results))
            self._context.in_flight.remove(_key(attempt) for attempt, _ in verdicts.results)

    async def _settle_until_stored(self, verdicts: BatchVerdicts) -> None:
        """Store verdicts, however long the store is unavailable; nothing more is claimed from their slot meanwhile.

        The lease may have ended by then. As long as nobody claims, that does no harm: only a later claim
        would submit again what the carrier has accepted.
        """
        context, is_late = self._context, False
        slot = identifiers.slot_of(verdicts.results[0][0].message_id)  # a batch is claimed from one slot
        try:
            while True:
                try:
                    context.nodes.check(slot)
                    if context.nodes.is_distributed and verdicts.ended_first is None:
                        verdicts = await context.store.write(expect_receipts, verdicts)
                    now = context.world.now()
                    finished = await context.store.write(
                        settle, verdicts, context.policy, context.world.random(), now
                    )
                    return self.announce(finished)
                except StoreUnavailable:
                    self._unsettled[slot] += not is_late
                    is_late = True
                    await asyncio.sleep(STORE_RETRY_DELAY_S)
        finally:
            if is_late:
                self._unsettled -= Counter([slot])  # keeps no slot without such batches

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish_task)
        return task

    def _finish_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error(
                "batch failed; retrying when its lease expires",
                extra={"carrier": self._carrier.name, **describe_error(error)},
            )


def _key(attempt: Attempt) -> tuple[bytes, int]:
    return attempt.message_id, attempt.number


def _compose_attempts(
    leased: list[tuple[Lease, Message, Request]],
) -> tuple[list[Attempt], list[AttemptVerdict]]:
    """Return the attempts to submit, and the rejections of those that cannot be composed."""
    attempts: list[Attempt] = []
    unsendable: list[AttemptVerdict] = []
    for lease, message, request in leased:
        try:
            attempts.append(compose.build_attempt(message, request, lease))
        except Exception as error:
            log.error(
                "message could not be composed; it ends as undeliverable",
                extra={"message_id": message.id.hex(), **describe_error(error)},
            )
            bare = Attempt(message.id, lease.attempt, message.account_id, message.product, "", "", None, "")
            unsendable.append((bare, Rejected(Outcome.UNDELIVERABLE)))
    return attempts, unsendable
