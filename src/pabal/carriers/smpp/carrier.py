"""The SMPP carrier: submits messages within its window and rate, and receives delivery receipts."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from pabal.carriers.base import (
    Accepted,
    Declined,
    Inbox,
    NotSent,
    OnAnomaly,
    OnReceipts,
    OnVerdicts,
    Rejected,
    Unknown,
    Verdict,
)
from pabal.carriers.pace import TICK_S, PacedCarrier, Pacer
from pabal.carriers.smpp.batch import (
    LateMessage,
    SubmitBatch,
    SubmitGroup,
    SubmitResult,
    SubmitWriter,
    verdict_for_status,
)
from pabal.carriers.smpp.connections import Connect, Connections
from pabal.carriers.smpp.receipt_parser import normalize_message_id
from pabal.carriers.smpp.receipts import ReceiptQueue
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Attempt, Outcome
from pabal.settings.carriers import SmppSettings
from pabal.settings.field import BadSetting
from pabal.world import World

TIMEOUT_S = 30.0
TIMEOUT_MARGIN_S = 2.0
"""A submit without a response counts as unknown this long before the timeout."""
VERDICT_INTERVAL_S = 0.05
"""How often verdicts are reported while other responses are missing."""
LAST_START_S = 10.0
"""In the last seconds before the deadline no further message is begun: all its segments must follow."""
SEGMENT_RETRY_DELAY_S = 1.0
"""Delay before a segment is submitted again, if it was busy or not sent while others were accepted."""


class SmppCarrier(PacedCarrier):
    """An operator or aggregator with an SMPP 3.4 server."""

    timeout_s = TIMEOUT_S

    def __init__(
        self, settings: SmppSettings, world: World, on_anomaly: OnAnomaly, connect: Connect | None = None
    ) -> None:
        """Raises BadSetting for a setting that does not fit its SMPP field, or a CA file that cannot be read."""
        self.name = settings.name
        self.kind = settings.kind
        self.products = frozenset(settings.products)
        self.window = settings.window
        self.max_resends = 0 if settings.on_doubt == "hold" else settings.max_resends
        self.failover_after_s = settings.failover_seconds
        self._settings = settings
        self._world = world
        self._on_anomaly = on_anomaly
        self._receipts = ReceiptQueue(settings, on_anomaly)
        try:
            self._writer = SubmitWriter(settings)
            self._connections = Connections(settings, world, on_anomaly, self._receipts.add, connect)
        except ValueError as error:
            said = f"carriers.{settings.name}: {error}"
            raise BadSetting(said, said) from None
        self._pacer = Pacer(settings.rate, world)
        self._send_lock = asyncio.Lock()
        """Held by the batch that is being sent: first come, first served."""
        self._outgoing: set[SubmitGroup] = set()
        """The groups with submits that wait for the lock or for the window."""

    @property
    def is_connected(self) -> bool:
        return self._connections.is_connected

    @property
    def backlog_s(self) -> float:
        if not self.rate:
            return 0.0
        return self._pacer.backlog_s + sum(group.unsent for group in self._outgoing) / self.rate

    def cost(self, attempts: Sequence[Attempt]) -> int:
        return sum(map(self._writer.count_segments, attempts))

    @property
    def problem(self) -> str:
        return self._connections.problem

    def attach_inbox(self, inbox: Inbox) -> None:
        self._receipts.inbox = inbox

    async def run(self, on_receipts: OnReceipts) -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                self._connections.start(tasks)
                tasks.create_task(self._receipts.run(on_receipts))
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None  # what on_receipts raised, unwrapped

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        deadline = self._world.monotonic() + self.timeout_s - TIMEOUT_MARGIN_S
        now = self._world.now()
        batch = SubmitBatch(attempts, [self._writer.bodies(attempt, now) for attempt in attempts])
        async with asyncio.TaskGroup() as tasks:

            async def submit(positions: Sequence[int]) -> None:
                """Submit these; report messages as they are answered, and retry segments."""
                group = SubmitGroup(len(positions))
                retried: set[int] = set()
                self._outgoing.add(group)  # before the first await: backlog_s has the batch once submit has begun
                sending = tasks.create_task(self._send_and_wait(batch, positions, group, deadline, on_verdicts))
                try:
                    while not sending.done():
                        await asyncio.wait([sending], timeout=VERDICT_INTERVAL_S)
                        retried.update(finish(batch.collect(group, positions)))
                finally:
                    self._outgoing.discard(group)
                finish(batch.close_group(group, positions, retried))

            def finish(indexes: Sequence[int]) -> list[int]:
                """Report messages, but for those that are submitted again; return these."""
                has_time = self._world.monotonic() + SEGMENT_RETRY_DELAY_S < deadline
                again = batch.retryable(indexes) if has_time else []
                if again:
                    tasks.create_task(_retry(submit, batch.reset(again)))
                self._report(batch, [index for index in indexes if index not in again], on_verdicts)
                return again

            await submit(range(len(batch.bodies)))
        self._report(batch, sorted(batch.unreported), on_verdicts)

    def _report(self, batch: SubmitBatch, indexes: Sequence[int], on_verdicts: OnVerdicts) -> None:
        if indexes:
            batch.unreported.difference_update(indexes)
            on_verdicts([(batch.attempts[index], self._verdict(batch, index)) for index in indexes])

    async def _send_and_wait(
        self,
        batch: SubmitBatch,
        positions: Sequence[int],
        group: SubmitGroup,
        deadline: float,
        on_verdicts: OnVerdicts,
    ) -> None:
        """Send submits, and wait for the responses until the deadline."""
        try:
            async with asyncio.timeout(max(0.0, deadline - self._world.monotonic())):
                await self._send(batch, positions, group, deadline)
                group.expect_fewer(len(positions) - group.sent)
                await group.completed
        except TimeoutError:
            self._await_late(batch, positions, group, on_verdicts)
            for _ in range(self._connections.abandon(group)):
                self._on_anomaly("no submit_sm_resp in time")
        except asyncio.CancelledError:
            self._connections.abandon(group)
            raise

    def _await_late(
        self, batch: SubmitBatch, positions: Sequence[int], group: SubmitGroup, on_verdicts: OnVerdicts
    ) -> None:
        """Wait for responses that come after the deadline; they give their messages a second verdict.

        Only if all segments of a message were sent: otherwise its verdict stands.
        """
        index_of = {position: index for index, position in enumerate(positions)}
        late: dict[int, LateMessage | None] = {}
        for position in positions[: group.sent]:
            if group.results[index_of[position]] is not None:
                continue
            message = batch.message_at(position)
            own = batch.positions(message)
            if message not in late:
                is_sent = all(each not in index_of or index_of[each] < group.sent for each in own)
                results = [
                    group.results[index_of[each]] if each in index_of else batch.results[each] for each in own
                ]
                report = partial(self._report_late, batch.attempts[message], on_verdicts)
                late[message] = LateMessage(results, report) if is_sent else None
            if (awaited := late[message]) is not None:
                group.late[index_of[position]] = (awaited, position - own.start)
                batch.late.add(message)

    def _report_late(self, attempt: Attempt, on_verdicts: OnVerdicts, results: Sequence[SubmitResult]) -> None:
        on_verdicts([(attempt, self._judge(attempt, results))])

    async def _send(
        self, batch: SubmitBatch, positions: Sequence[int], group: SubmitGroup, deadline: float
    ) -> None:
        """Send submits as window and rate allow, as long as there is a connection."""
        connections = self._connections
        try:
            async with self._send_lock:
                while group.unsent and self.is_connected:
                    is_late = self._world.monotonic() > deadline - LAST_START_S
                    if is_late and batch.is_first_segment(positions[group.sent]):
                        return
                    count = min(connections.free_window, group.unsent, 1 if is_late else self._max_at_once)
                    if not count:
                        connections.has_free_window.clear()
                        await connections.has_free_window.wait()
                        continue
                    first = self._pacer.reserve(count)
                    await self._pacer.wait(first, count - 1, 1)
                    count = min(count, connections.free_window)  # the connection may have been lost meanwhile
                    if count:
                        bodies = [batch.bodies[each] for each in positions[group.sent : group.sent + count]]
                        connections.freest.submit(bodies, group, group.sent)
        finally:
            self._outgoing.discard(group)

    @property
    def _max_at_once(self) -> int:
        """How many submits may be sent together: at a high rate, those that are due within a tick."""
        return max(1, int(self.rate * TICK_S)) if self.rate else self.window

    def _verdict(self, batch: SubmitBatch, index: int) -> Verdict:
        positions = batch.positions(index)
        if not positions:
            return Declined(Outcome.UNDELIVERABLE)  # the carrier's alphabet does not have all its characters
        results = [batch.results[position] for position in positions]
        return self._judge(
            batch.attempts[index],
            results,
            is_unanswered=None in results
            and any(batch.results[each] is None and batch.is_sent[each] for each in positions),
            may_answer=index in batch.late,
        )

    def _judge(
        self,
        attempt: Attempt,
        results: Sequence[SubmitResult],
        *,
        is_unanswered: bool = False,
        may_answer: bool = False,
    ) -> Verdict:
        """Return the verdict by the responses to a message's submits; `is_unanswered`: some were sent without."""
        message_ids = [result for result in results if isinstance(result, str)]
        if len(message_ids) == len(results):
            return self._accepted(attempt, message_ids)
        is_partly_sent = message_ids or is_unanswered
        refusals = [verdict_for_status(result) for result in results if isinstance(result, int)]
        for refusal in refusals:
            if isinstance(refusal, Rejected | Declined):
                return Rejected(refusal.outcome, refusal.code) if is_partly_sent else refusal
        if is_partly_sent:
            return Unknown(may_answer)
        return refusals[0] if refusals else NotSent()

    def _accepted(self, attempt: Attempt, message_ids: Sequence[str]) -> Accepted:
        if not self._settings.receipts:
            return Accepted(None)
        first, *others = [self._reference(attempt, message_id) for message_id in message_ids]
        return Accepted(first, tuple(others))

    def _reference(self, attempt: Attempt, message_id: str) -> str:
        reference = normalize_message_id(message_id, self._settings.submit_ids)
        if not reference:
            self._on_anomaly("submit_sm_resp without a message_id")
            return identifiers.in_doubt_reference(
                identifiers.user_message_reference(attempt.message_id), attempt.receiver
            )
        return reference


async def _retry(submit: Callable[[Sequence[int]], Awaitable[None]], positions: list[int]) -> None:
    await asyncio.sleep(SEGMENT_RETRY_DELAY_S)
    await submit(positions)
