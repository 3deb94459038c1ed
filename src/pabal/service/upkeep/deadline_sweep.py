"""Ends messages that no carrier has taken by their deadline, also while their carriers are away.

Most messages are with a carrier within a second, so their deadlines are not watched. A lane is walked once, in the
order in which its messages were due: the deadline of a request whose messages wait is stored with it then, and only
those requests are looked at again, when their deadline has passed.
"""

import contextlib
from collections.abc import Collection, Container, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import MINUTE, SECOND, Instant
from pabal.domain.sends.message import Outcome
from pabal.service.context import Context
from pabal.service.delivery.claiming.claim_tx import hold_in_doubt
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.delivery.outcome.settle import find_timed_out
from pabal.service.policy import Policy
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import messages
from pabal.store.queue import attempts, deadlines, queue_admin
from pabal.store.queue.attempts import UNKNOWN, EndedAttempt
from pabal.store.queue.deadlines import LaneKey, LateJob, SweepCursor
from pabal.store.queue.queue import Lane
from pabal.store.queue.slots import SlotNotHeld, run_if_held

PATIENCE_MS = 20 * SECOND
"""A message waits if it has been due for this long; lifetimes are longer."""
OVERLAP_MS = 1 * MINUTE
"""How much of a lane is walked again: a job may be stored later than it is due, or with an earlier position."""
REWALK_MS = 60 * MINUTE
"""How often lanes are walked from their beginning."""
PAGE = 5_000
"""Jobs read at once."""
MAX_PAGES = 20
"""Most pages of a lane that one round walks."""
MARK_BATCH = 500
"""Most deadlines that one transaction stores."""
REQUEST_BATCH = 50
"""Requests looked up at once whose deadline has passed."""
JOB_BATCH = 500
"""Most messages that one transaction ends."""


class LanePage(NamedTuple):
    """Some jobs that wait in a lane."""

    unwatched: list[bytes]
    """Their requests whose deadline is not stored."""
    last: SweepCursor | None
    """The last one of those jobs, if there may be more."""


class DeadlineSweep:
    """Watches the deadlines of messages that wait, in the slots that this process holds."""

    def __init__(self, context: Context, *, page: int = PAGE, max_pages: int = MAX_PAGES) -> None:
        self._context = context
        self._page = page
        self._max_pages = max_pages
        self._cursors: dict[LaneKey, SweepCursor] = {}
        """How far each lane was walked."""
        self._restarted_at: Instant = context.world.now()

    async def run(self, *, is_full: bool = True) -> None:
        """Store the deadlines of messages that wait, and end those whose deadline has passed.

        A full round also looks for carriers that are not configured here. Raises StoreUnavailable.
        """
        context, slots = self._context, self._context.slots.held
        now = context.world.now()
        if not 0 <= now - self._restarted_at < REWALK_MS:
            self._cursors, self._restarted_at = {}, now
        self._cursors = {key: cursor for key, cursor in self._cursors.items() if key[0] in slots}
        for some in context.nodes.by_node(slots):
            lanes: list[LaneKey] = []
            for slot in some:
                names = set(context.carriers)
                if is_full:
                    names.update(await context.store.read(queue_admin.carriers_with_jobs, slot))
                lanes += [(slot, name, lane) for name in sorted(names) for lane in (Lane.SMALL, Lane.CAMPAIGN)]
            await self._run_on_node(lanes)

    async def _run_on_node(self, lanes: Sequence[LaneKey]) -> None:
        """Look at all lanes at once: mostly there is nothing to do."""
        now = self._context.world.now()
        until = now - PATIENCE_MS
        begin = [(key, self._cursors.get(key, SweepCursor())) for key in lanes]
        pages, late = await self._context.store.read(look_at_lanes, begin, until, now, self._page)
        for key, page in zip(lanes, pages, strict=True):
            await self._walk(key, page, until)
        watched = {slot for (slot, *_), page in zip(lanes, pages, strict=True) if page.unwatched}
        for slot in sorted(late | watched):
            with contextlib.suppress(SlotNotHeld):  # another worker has just got it
                await self._end_late_requests(slot)

    async def _walk(self, key: LaneKey, page: LanePage, until: Instant) -> None:
        """Store the deadlines of requests whose messages wait in a lane, from where the last walk ended."""
        context = self._context
        for number in range(1, self._max_pages + 1):
            unwatched, last = page
            for begin in range(0, len(unwatched), MARK_BATCH):
                some = unwatched[begin : begin + MARK_BATCH]
                await context.store.write(deadlines.watch, some, context.policy.lifetime_ms)
            if last is None:
                self._cursors[key] = SweepCursor(max(0, until - OVERLAP_MS))
                return
            self._cursors[key] = last
            if number < self._max_pages:
                pages, _ = await context.store.read(look_at_lanes, [(key, last)], until, until, self._page)
                page = pages[0]

    async def _end_late_requests(self, slot: int) -> None:
        """End what is late. Raises SlotNotHeld: another worker may have it in flight."""
        context = self._context
        can_look_up = frozenset(name for name, each in context.carriers.items() if each.can_look_up)
        while late := await context.store.read(
            deadlines.find_late_requests, slot, context.world.now(), REQUEST_BATCH
        ):
            for request_id in late:
                after: bytes | None = b""
                while after is not None:
                    finished, after = await context.store.write(
                        run_if_held,
                        slot,
                        context.slots.holder,
                        expire_request,
                        request_id,
                        after,
                        can_look_up,
                        context.policy,
                        context.world.now(),
                        in_flight=context.in_flight,
                    )
                    context.count_ended(finished.ended)
                    context.wake(finished.carriers_to_wake)


@transaction(
    reader=Reader.BACKGROUND,
    slot_of=lambda begin, *_: begin[0][0][0] if begin else -1,
    stays_in_slot=lambda *_: True,
)
def look_at_lanes(
    tx: Tx, begin: Sequence[tuple[LaneKey, SweepCursor]], until: Instant, now: Instant, limit: int
) -> tuple[list[LanePage], set[int]]:
    """Return a page of each lane, and the slots with requests whose deadline has passed.

    A page has the requests without a stored deadline of jobs that were due by `until`. In a distributed store the
    slots are of one node, which is asked.
    """
    found = deadlines.find_waiting(tx, begin, until, limit)
    pages = [LanePage(deadlines.find_unwatched(tx, each.request_ids), each.last) for each in found]
    return pages, deadlines.slots_with_late(tx, dict.fromkeys(key[0] for key, _ in begin), now)


def expire_request(
    tx: Tx,
    request_id: bytes,
    after: bytes,
    can_look_up: Collection[str],
    policy: Policy,
    now: Instant,
    *,
    in_flight: Container[tuple[bytes, int]] = (),
) -> tuple[FinishResult, bytes | None]:
    """End some messages of a request whose deadline has passed; after the last ones, watch it no more.

    Messages that a worker has claimed are left to its verdict. Those in doubt wait for their receipt, unless their
    carrier is one of `can_look_up`: it will know, but if it stays away until a receipt would be overdue, they end.
    Also returns the id after which to go on; None: that was all.
    """
    jobs = deadlines.find_late_jobs(tx, request_id, after, JOB_BATCH, now)
    late = [job for job in jobs if job.lost_attempt is None or (job.id, job.lost_attempt) not in in_flight]
    result = finish(tx, [(job.id, Outcome.EXPIRED) for job in late if not job.is_in_doubt], policy, now)
    for carrier in sorted({job.carrier for job in late if job.is_in_doubt}):
        here = [job for job in late if job.is_in_doubt and job.carrier == carrier]
        result = result.joined(_end_doubts(tx, carrier, here, policy, now, can_look_up=carrier in can_look_up))
    if len(jobs) == JOB_BATCH:
        return result, jobs[-1].id
    deadlines.set_deadline(tx, request_id, None)
    return result, None


def _end_doubts(
    tx: Tx, carrier: str, in_doubt: Sequence[LateJob], policy: Policy, now: Instant, *, can_look_up: bool
) -> FinishResult:
    """Hold messages in doubt for their receipt, or for their carrier's look-up until that is overdue."""
    lost = [EndedAttempt(job.id, job.lost_attempt, UNKNOWN) for job in in_doubt if job.lost_attempt is not None]
    attempts.record(tx, carrier, lost, now)
    stored = messages.get(tx, [job.id for job in in_doubt])
    ended = [job.id for job in in_doubt if job.id not in stored]  # unreadable
    if not can_look_up:
        held = hold_in_doubt(tx, carrier, stored.values(), policy, now)
        return held.joined(finish(tx, [(one, Outcome.UNKNOWN) for one in ended], policy, now))
    ended += find_timed_out(tx, {one: each.product for one, each in stored.items()}, policy, now)
    return finish(tx, [(one, Outcome.UNKNOWN) for one in ended], policy, now)
