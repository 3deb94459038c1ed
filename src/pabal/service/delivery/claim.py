"""Claims what is due for a carrier: the attempt is written before the carrier is called."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.carriers.base import Carrier
from pabal.domain import dates, identifiers
from pabal.domain.dates import SECOND, Instant
from pabal.domain.message import Outcome, Status
from pabal.service.delivery.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store import messages, profiles, queue, receipts, requests
from pabal.store.engine.base import Tx
from pabal.store.messages import Message
from pabal.store.queue import Lease
from pabal.store.requests import Request

LEASE_MARGIN_MS = 10 * SECOND
"""A lease outlasts its carrier's time to answer by so much: time to settle."""


class SlotChoice(NamedTuple):
    """The slot to claim from next, whether others are due as well, and if none is, when the first will be."""

    slot: int | None
    has_other_due_slots: bool
    next_due_at: Instant | None
    fills_with_campaigns: bool = True
    """Whether campaigns get more than their share; not while small sends of other slots would wait behind them."""


class ClaimedBatch(NamedTuple):
    """What a deliverer has in hand, what ended at the door, and if nothing is in hand, when there is more to do."""

    leased: list[tuple[Lease, Message, Request]]
    finished: FinishResult
    cancelled: int
    is_full: bool
    next_due_at: Instant | None


def lease_duration_ms(carrier: Carrier) -> int:
    """Return how long a carrier's messages stay in one worker's hands, in milliseconds."""
    return round(carrier.timeout_s * SECOND) + LEASE_MARGIN_MS


def choose_slot(found: Sequence[tuple[int, int, Instant]], now: Instant) -> SlotChoice:
    """Return whose turn it is among slots, by slot, lane and time of what comes next in them.

    Small sends come first, whichever slot they are in, but every so often a campaign does.
    """
    due = sorted((lane, at, slot) for slot, lane, at in found if at <= now)
    if not due:
        return SlotChoice(None, False, min((at for _, _, at in found), default=None))
    campaigns = [each for each in due if each[0] == queue.Lane.CAMPAIGN]
    chosen = campaigns[0] if campaigns and queue.is_campaigns_turn(now) else due[0]
    others = [lane for lane, _, slot in due if slot != chosen[2]]
    return SlotChoice(chosen[2], bool(others), None, queue.Lane.SMALL not in others)


def claim(
    tx: Tx,
    slot: int,
    carrier: str,
    limit: int,
    lease_ms: int,
    policy: Policy,
    now: Instant,
    *,
    holds_in_doubt: bool = False,
    can_look_up: bool = False,
    fills_with_campaigns: bool = True,
    unconfirmed: Sequence[Instant] = (),
    watermarks: tuple[Instant, Instant] = (0, 0),
) -> ClaimedBatch:
    """Take what is due in a slot in hand: the claim is the attempt, written before the carrier is called.

    What may not be sent any more is not: a deleted profile's messages end here, and advertisements that
    come due at night wait for the morning. What was in hand before is in doubt: a carrier that holds
    doubt is not given it again, and one that can find out is told of it. What is due before `since`, by
    lane, is left for another time.

    `unseen` are the times of own claims whose commit nobody saw end: what they took was never handed over, so
    it is taken again and is in no doubt.
    """
    untouched = [one for at in unconfirmed for one in queue.find_leased(tx, slot, carrier, at, at + lease_ms)]
    due = untouched + queue.find_due(
        tx, slot, carrier, now, max(0, limit - len(untouched)), watermarks, fills_up=fills_with_campaigns
    )
    kept = messages.get(tx, due)
    shared = requests.get(tx, {identifiers.request_id_of(one) for one in due})
    gone = profiles.find_deleted(tx, {each.profile_id for each in shared.values() if each.profile_id is not None})
    orphans = [one for one in due if shared[identifiers.request_id_of(one)].profile_id in gone]
    finished, cancelled = _end_messages_of_deleted_profiles(tx, [kept[one] for one in orphans], policy, now)
    left_out = set(orphans)
    if holds_in_doubt:
        doubtful = [one for one in queue.find_in_doubt(tx, due) if one not in left_out and one not in untouched]
        held = hold_in_doubt(tx, carrier, [kept[one] for one in doubtful], policy, now)
        finished.ended.extend(held.ended)
        finished.carriers_to_wake.update(held.carriers_to_wake)
        left_out.update(doubtful)
    if dates.is_night(now, policy.zone):
        too_late = [one for one in due if one not in left_out and shared[identifiers.request_id_of(one)].is_ad]
        if can_look_up:  # what was in hand when the night began may be with the carrier
            _log_unknown_attempts(tx, carrier, [one for one in too_late if one not in untouched], now)
        queue.postpone(tx, too_late, dates.next_night_end(now, policy.zone))
        left_out.update(too_late)
    chosen = sorted(one for one in due if one not in left_out)
    if can_look_up:
        _log_unknown_attempts(tx, carrier, [one for one in chosen if one not in untouched], now)
    leases = queue.claim(tx, chosen, now, now + lease_ms)
    if can_look_up:
        leases = _mark_doubtful(tx, carrier, leases)
    messages.mark_sending(tx, [lease.id for lease in leases])
    next_due_at = None if leases else queue.next_due_at(tx, slot, carrier, (queue.Lane.SMALL, queue.Lane.CAMPAIGN))
    leased = [(lease, kept[lease.id], shared[identifiers.request_id_of(lease.id)]) for lease in leases]
    return ClaimedBatch(leased, finished, cancelled, len(due) == limit, next_due_at)


def hold_in_doubt(tx: Tx, carrier: str, doubtful: Sequence[Message], policy: Policy, now: Instant) -> FinishResult:
    """Let messages that a carrier may have wait for its receipt, or for the end of their time."""
    named = [
        (each, identifiers.in_doubt_reference(identifiers.user_message_reference(each.id), each.receiver))
        for each in sorted(doubtful, key=lambda each: each.id)
    ]
    queue.hold_for_receipt(
        tx, [queue.HeldJob(each.id, name, now + policy.receipt_timeout_ms(each.product)) for each, name in named]
    )
    ended = receipts.expect(tx, carrier, [(name, each.id, 1) for each, name in named])
    return finish(tx, ended, policy, now)


def _log_unknown_attempts(tx: Tx, carrier: str, due: list[bytes], now: Instant) -> None:
    """Note of jobs that were in hand and came due again that nobody knows how those attempts ended."""
    lost = [queue.EndedAttempt(one, number, queue.UNKNOWN) for one, number in queue.find_lost(tx, due)]
    queue.record_attempts(tx, carrier, lost, now)


def _mark_doubtful(tx: Tx, carrier: str, leases: list[Lease]) -> list[Lease]:
    """Return the leases, each saying whether its carrier may have the message."""
    doubted = queue.find_unknown(tx, carrier, [each.id for each in leases if each.attempt > 1])
    return [each._replace(is_in_doubt=each.id in doubted) for each in leases]


def _end_messages_of_deleted_profiles(
    tx: Tx, orphans: list[Message], policy: Policy, now: Instant
) -> tuple[FinishResult, int]:
    """End the messages of deleted profiles: cancelled if they still wait (returns how many), else failed."""
    waiting = [each.id for each in orphans if each.status is Status.WAITING]
    queue.remove(tx, waiting)
    cancelled = messages.cancel(tx, waiting, now)
    begun = [(each.id, Outcome.UNDELIVERABLE) for each in orphans if each.status is Status.SENDING]
    return finish(tx, begun, policy, now), cancelled
