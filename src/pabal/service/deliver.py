"""Delivers: claims what is due, hands it to a carrier, and settles what the carrier said."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import NamedTuple

from pabal.carriers.base import Busy, Carrier, Rejected, Taken, Unknown, Verdict
from pabal.domain import identity, retry, when
from pabal.domain.message import Attempt, Outcome, Status
from pabal.domain.when import SECOND, Instant
from pabal.service import compose
from pabal.service.fault import fault
from pabal.service.finish import Finished, finish
from pabal.service.policy import Policy
from pabal.service.station import Station
from pabal.store import jobs, messages, profiles, receipts, requests
from pabal.store.base import StoreAway, Tx
from pabal.store.jobs import Lease
from pabal.store.messages import Message
from pabal.store.requests import Request

MAX_CLAIM = 500
LEASE_MARGIN = 10 * SECOND
"""A lease outlasts its carrier's time to answer by so much: time to settle."""
LONGEST_IDLE_S = 30.0
OFFLINE_S = 5.0
GATHER_S = 0.05
"""Pause after a claim that took all there was, so that under load the next one is worth its transaction."""
PAUSE_AFTER_TROUBLE_S = 1.0

log = logging.getLogger("pabal.deliver")


class Claim(NamedTuple):
    """What a deliverer has in hand, what ended at the door, and when there is more to do."""

    leased: list[tuple[Lease, Message, Request]]
    finished: Finished
    cancelled: int
    is_full: bool
    next_due_at: Instant | None


class Verdicts(NamedTuple):
    """A carrier's word on a batch: each attempt, what it was about, and what the carrier said."""

    carrier: str
    said: list[tuple[Attempt, Verdict]]


def lease_of(carrier: Carrier) -> int:
    """Return how long a carrier's messages stay in one worker's hands, in milliseconds."""
    return round(carrier.answer_s * SECOND) + LEASE_MARGIN


def claim(tx: Tx, carrier: str, most: int, lease: int, policy: Policy, now: Instant) -> Claim:
    """Take what is due in hand, up to `most`: the claim is the attempt, written before the carrier is called.

    What may not be sent any more is not: a deleted profile's messages end here, and advertisements that
    come due at night wait for the morning.
    """
    due = jobs.due(tx, policy.slot, carrier, now, most)
    kept = messages.get(tx, due)
    shared = requests.get(tx, {identity.request_of(one) for one in due})
    gone = profiles.deleted(tx, {each.profile_id for each in shared.values() if each.profile_id is not None})
    orphans = [one for one in due if shared[identity.request_of(one)].profile_id in gone]
    finished, cancelled = _end_orphans(tx, [kept[one] for one in orphans], policy, now)
    too_late: list[bytes] = []
    if when.is_night(now, policy.zone):
        too_late = [one for one in due if shared[identity.request_of(one)].is_ad]
        jobs.postpone(tx, too_late, when.next_morning(now, policy.zone))
    left_out = {*orphans, *too_late}
    leases = jobs.claim(tx, sorted(one for one in due if one not in left_out), now, now + lease)
    messages.begin_sending(tx, [lease.id for lease in leases])
    next_due_at = jobs.next_due_at(tx, policy.slot, carrier, (jobs.SMALL, jobs.CAMPAIGN))
    leased = [(lease, kept[lease.id], shared[identity.request_of(lease.id)]) for lease in leases]
    return Claim(leased, finished, cancelled, len(due) == most, next_due_at)


def settle(tx: Tx, verdicts: Verdicts, policy: Policy, chance: float, now: Instant) -> Finished:
    """Write down what a carrier said; a word on an attempt that is no longer the current one changes nothing."""
    carrier, said = verdicts
    held = jobs.still_held(tx, [(attempt.message_id, attempt.number) for attempt, _ in said])
    said = sorted(pair for pair in said if pair[0].message_id in held)
    ended = [
        (attempt.message_id, end) for attempt, verdict in said if (end := _end(attempt, verdict, carrier, policy))
    ]
    over = {one for one, _ in ended}
    taken = [
        (attempt, verdict.reference)
        for attempt, verdict in said
        if isinstance(verdict, Taken) and verdict.reference is not None
    ]
    jobs.await_receipts(
        tx,
        [(one.message_id, one.number, reference, now + policy.timeout(one.product)) for one, reference in taken],
    )
    ended += receipts.expect(tx, carrier, [(reference, one.message_id) for one, reference in taken])
    unsettled = [(one, verdict) for one, verdict in said if isinstance(verdict, Busy | Unknown)]
    jobs.log_attempts(
        tx, carrier, [(one.message_id, one.number, _word(verdict)) for one, verdict in unsettled], now
    )
    again = [_again(one, carrier, policy, chance, now) for one, _ in unsettled if one.message_id not in over]
    jobs.try_later(tx, again)
    finished = finish(tx, ended, policy, now)
    finished.carriers.update(name for *_, name in again)
    return finished


class Deliverer:
    """Keeps one carrier supplied, within its window, until stopped."""

    def __init__(self, station: Station, carrier: Carrier) -> None:
        self._station = station
        self._carrier = carrier
        self._bell = station.bells.setdefault(carrier.name, asyncio.Event())
        self._has_room = asyncio.Event()
        self._in_hand = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self._has_ended = asyncio.Event()

    async def run(self) -> None:
        """Deliver until stopped; the store being away only delays it."""
        while not self._is_stopping:
            try:
                await self._step()
            except StoreAway:
                log.warning("the store is away; trying again", extra={"carrier": self._carrier.name})
                await asyncio.sleep(PAUSE_AFTER_TROUBLE_S)
        self._has_ended.set()

    async def stop(self, within_s: float) -> None:
        """Claim nothing more, and finish what is in hand."""
        self._is_stopping = True
        self._bell.set()
        self._has_room.set()
        give_up_at = self._station.world.stopwatch() + within_s
        await _within(within_s, self._has_ended)  # a claim under way may still bring something
        while self._tasks and (left_s := give_up_at - self._station.world.stopwatch()) > 0:
            await asyncio.wait(self._tasks, timeout=left_s)
        for task in self._tasks:
            task.cancel()

    async def _step(self) -> None:
        room = self._carrier.window - self._in_hand
        if not self._carrier.is_connected:
            self._bell.clear()
            await _within(OFFLINE_S, self._bell)
            return
        if room < min(self._carrier.window, jobs.CAMPAIGN_SHARE):  # or campaigns would get none of it
            self._has_room.clear()
            await self._has_room.wait()
            return
        self._bell.clear()
        station = self._station
        most = min(room, MAX_CLAIM)
        claimed = await station.store.write(_claim_now, station, self._carrier, most)
        self._announce(claimed.finished)
        station.watch.cancelled.add(claimed.cancelled)
        if claimed.leased:
            self._in_hand += len(claimed.leased)
            task = asyncio.create_task(self._hand_over(claimed.leased))
            self._tasks.add(task)
            task.add_done_callback(self._done)
            if not claimed.is_full:
                await asyncio.sleep(GATHER_S)
        elif not claimed.is_full:
            await self._rest(claimed.next_due_at)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a batch was left to its lease", extra={"carrier": self._carrier.name, **fault(error)})

    async def _rest(self, next_due_at: Instant | None) -> None:
        pause_s = LONGEST_IDLE_S
        if next_due_at is not None:
            pause_s = min(pause_s, (next_due_at - self._station.world.now()) / SECOND)
        if pause_s <= 0 or self._is_stopping:
            return
        await _within(pause_s, self._bell)

    async def _hand_over(self, leased: list[tuple[Lease, Message, Request]]) -> None:
        try:
            attempts, unfit = _composed(leased)
            said = [*zip(attempts, await self._ask(attempts), strict=True), *unfit]
            await self._settle(Verdicts(self._carrier.name, said))
        finally:
            self._in_hand -= len(leased)
            self._has_room.set()

    async def _ask(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        world, watch, name = self._station.world, self._station.watch, self._carrier.name
        began = world.stopwatch()
        try:
            async with asyncio.timeout(self._carrier.answer_s):
                verdicts = await self._carrier.send(attempts)
        except Exception as error:
            log.warning(
                "a carrier gave no answer",
                extra={"carrier": name, "error": type(error).__name__, "messages": len(attempts)},
            )
            verdicts = [Unknown()] * len(attempts)
        watch.carrier_seconds.labels(name).observe(world.stopwatch() - began)
        for kind in (Taken, Rejected, Busy, Unknown):
            count = sum(isinstance(verdict, kind) for verdict in verdicts)
            if count:
                watch.verdicts.add(count, name, kind.__name__.lower())
        return verdicts

    async def _settle(self, verdicts: Verdicts) -> None:
        """Write the verdicts down; past the lease it would change nothing, so then it is given up."""
        station = self._station
        give_up_at = station.world.now() + LEASE_MARGIN
        while True:
            try:
                now = station.world.now()
                finished = await station.store.write(settle, verdicts, station.policy, station.world.chance(), now)
            except StoreAway:
                if station.world.now() >= give_up_at:
                    log.warning("verdicts could not be kept", extra={"carrier": self._carrier.name})
                    return
                await asyncio.sleep(PAUSE_AFTER_TROUBLE_S)
            else:
                self._announce(finished)
                return

    def _announce(self, finished: Finished) -> None:
        self._station.watch.count_ended(finished.ended)
        self._station.ring(finished.carriers)


async def _within(seconds: float, event: asyncio.Event) -> None:
    """Return when something happens, or when so much time has passed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _claim_now(tx: Tx, station: Station, carrier: Carrier, most: int) -> Claim:
    """Claim by the clock of the transaction: the lease begins when it is written, not when it was asked for."""
    return claim(tx, carrier.name, most, lease_of(carrier), station.policy, station.world.now())


def _composed(
    leased: list[tuple[Lease, Message, Request]],
) -> tuple[list[Attempt], list[tuple[Attempt, Verdict]]]:
    """Return what can be handed over, and apart from it, refused, what cannot even be put together."""
    attempts: list[Attempt] = []
    unfit: list[tuple[Attempt, Verdict]] = []
    for lease, message, request in leased:
        try:
            attempts.append(compose.attempt_of(message, request, lease.attempt, lease.tries))
        except Exception as error:
            log.error("a message could not be composed", extra={"message_id": message.id.hex(), **fault(error)})
            bare = Attempt(message.id, lease.attempt, message.account_id, message.product, "", "", None, "")
            unfit.append((bare, Rejected(Outcome.UNDELIVERABLE)))
    return attempts, unfit


def _end_orphans(tx: Tx, orphans: list[Message], policy: Policy, now: Instant) -> tuple[Finished, int]:
    """End the messages of deleted profiles: cancelled if they still wait (returns how many), else failed."""
    waiting = [each.id for each in orphans if each.status is Status.WAITING]
    jobs.drop(tx, waiting)
    cancelled = messages.cancel(tx, waiting, now)
    begun = [(each.id, Outcome.UNDELIVERABLE) for each in orphans if each.status is Status.SENDING]
    return finish(tx, begun, policy, now), cancelled


def _end(attempt: Attempt, verdict: Verdict, carrier: str, policy: Policy) -> Outcome | None:
    """Return how an attempt's message ends by this verdict, None where it goes on."""
    if isinstance(verdict, Rejected):
        return verdict.outcome
    if isinstance(verdict, Taken):
        return Outcome.DELIVERED if verdict.reference is None else None
    is_last = attempt.tries + 1 >= retry.MAX_TRIES
    if not is_last or policy.routes.after(attempt.product, carrier) is not None:
        return None
    return Outcome.CARRIER_ERROR if isinstance(verdict, Busy) else Outcome.UNKNOWN


def _again(
    attempt: Attempt, carrier: str, policy: Policy, chance: float, now: Instant
) -> tuple[bytes, int, Instant, str]:
    """Return when and at which carrier a message is tried again; at the next one of its route at once."""
    tries = attempt.tries + 1
    following = policy.routes.after(attempt.product, carrier) if tries >= retry.MAX_TRIES else None
    ready_at = now if following else now + retry.pause(tries, chance)
    return attempt.message_id, attempt.number, ready_at, following or carrier


def _word(verdict: Verdict) -> str:
    return type(verdict).__name__.lower()
