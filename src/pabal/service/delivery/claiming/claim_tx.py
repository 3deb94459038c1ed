"""Claims due messages for a carrier: the attempt is stored before the carrier is called."""

import logging
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pabal.carriers.base import Carrier
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery.claiming.ad_rules import hold_back_ads, is_ad
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.service.sending.waiting import cancel_messages
from pabal.store.engine.base import Tx
from pabal.store.kakao import profile_mappings, profiles
from pabal.store.messages import messages, requests
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.queue import attempts, deadlines, queue, receipts
from pabal.store.queue.attempts import NO_DOUBT, DoubtCount, EndedAttempt
from pabal.store.queue.queue import Lane, Lease

LEASE_MARGIN_MS = 10 * SECOND
"""How much longer a lease is than the carrier's timeout: time to settle."""
NO_TIMES: Mapping[tuple[int, int], float] = MappingProxyType({})
LeasedMessage = tuple[Lease, Message, Request]

log = logging.getLogger("pabal.deliver")


class LateMessages(NamedTuple):
    """Messages whose deadline has passed: those that ended, and those that a carrier may have."""

    finished: FinishResult
    ended: Collection[bytes] = ()
    in_doubt: Collection[bytes] = ()


class SlotChoice(NamedTuple):
    """The slot to claim from next; if none is due, when the first will be."""

    slot: int | None
    has_other_due_slots: bool
    next_due_at: Instant | None
    other_small_slots: int = 0
    """In how many other slots small sends are due, which would wait for the campaigns of this one."""
    stays_in_slot: bool = False
    """Whether to claim on the node of the slot itself; what needs other tables is claimed elsewhere."""


class ClaimRequest(NamedTuple):
    """What to claim: from which slot, for which carrier, and how many messages at most."""

    slot: int
    carrier: str
    limit: int
    lease_ms: int
    max_resends: int = 1
    """How often a message in doubt is submitted again; after that it waits for a receipt."""
    can_look_up: bool = False
    """Whether the carrier can find out about messages in doubt."""
    max_of_campaigns: int | None = None
    """How many of the messages may be of campaigns; None: all."""
    other_small_slots: int = 0
    unconfirmed: Sequence[Instant] = ()
    """When own claims were made whose commit was never confirmed: their messages were never submitted."""
    watermarks: tuple[Instant, Instant] = (0, 0)
    """From when on to look in each lane."""
    in_flight: Container[tuple[bytes, int]] = ()
    """The attempts, by message and number, that are not settled yet: their messages are not claimed again."""
    is_one_of_relays: bool = False
    """Whether the carrier's relay has profiles, and others do: those of others need a mapping."""
    deleted_profiles: Collection[int] | None = None
    """The profiles that are deleted, if they were read before; None: they are looked up."""


class ClaimedBatch(NamedTuple):
    """The messages to submit, those that ended instead, and if there are none, when more are due."""

    leased: list[LeasedMessage]
    finished: FinishResult
    cancelled: int
    is_full: bool
    next_due_at: Instant | None
    unmapped: Mapping[bytes, str | None] = MappingProxyType({})
    """Leased messages that the carrier's relay does not know: by id, the carrier whose relay does."""
    is_held: bool = True
    """Whether this worker holds the slot; else nothing was claimed."""

    @property
    def has_profiles(self) -> bool:
        """Whether any of the messages belongs to a sender profile."""
        return any(request.profile_id is not None for _, _, request in self.leased)

    @property
    def has_ads(self) -> bool:
        """Whether any of the messages is advertising."""
        return any(is_ad(message, request) for _, message, request in self.leased)


def lease_duration_ms(carrier: Carrier) -> int:
    """Return how long a claim keeps a carrier's messages from other workers."""
    return round(carrier.timeout_s * SECOND) + LEASE_MARGIN_MS


def choose_slot(
    found: Sequence[tuple[int, int, Instant]],
    now: Instant,
    due_since: Mapping[tuple[int, int], float] = NO_TIMES,
    *,
    is_campaigns_turn: bool = False,
) -> SlotChoice:
    """Return the slot to claim from, by slot, lane and time of the next job in each lane.

    Small sends come first in whichever slot they are, except when it is the campaigns' turn. Of slots whose jobs
    have the same time, the one comes first that has waited longest for a claim.
    """
    due = sorted((lane, at, due_since.get((slot, lane), 0.0), slot) for slot, lane, at in found if at <= now)
    if not due:
        return SlotChoice(None, False, min((at for _, _, at in found), default=None))
    campaigns = [entry for entry in due if entry[0] == Lane.CAMPAIGN]
    chosen = campaigns[0] if campaigns and is_campaigns_turn else due[0]
    other_lanes = [lane for lane, _, _, slot in due if slot != chosen[-1]]
    return SlotChoice(chosen[-1], bool(other_lanes), None, other_lanes.count(Lane.SMALL))


def claim(tx: Tx, request: ClaimRequest, policy: Policy, now: Instant) -> ClaimedBatch:
    """Lease the due messages of a slot: the claim is the attempt, stored before the carrier is called.

    Messages of deleted profiles, those past their deadline and advertisements to receivers who have opted out end
    here; advertisements that come due at night wait for the morning. What is past its deadline and may be with the
    carrier waits for its receipt.
    Messages that were leased before are in doubt, unless they are in flight: the carrier gets them again as often
    as it may, and if it can look them up it is told. Messages of unconfirmed claims are claimed again and are not
    in doubt.
    """
    slot, carrier = request.slot, request.carrier
    unsubmitted = _find_unsubmitted(tx, request)
    due = unsubmitted + queue.find_due(
        tx,
        slot,
        carrier,
        now,
        max(0, request.limit - len(unsubmitted)),
        request.watermarks,
        other_slots=request.other_small_slots,
        max_of_campaigns=request.max_of_campaigns,
    )
    stored = messages.get(tx, due)
    shared = requests.get(tx, {identifiers.request_id_of(message_id) for message_id in due})
    due, unreadable = _end_unreadable(tx, due, stored, shared, policy, now)
    finished, cancelled, excluded = _end_messages_of_deleted_profiles(
        tx, [stored[message_id] for message_id in due], request.deleted_profiles, shared, policy, now
    )
    tried = [each for each in due if stored[each].status is Status.SENDING and each not in excluded]
    leased_before = [each for each in tried if each not in unsubmitted]
    excluded |= check_leases(tx, carrier, leased_before, request.in_flight, now + request.lease_ms, now)
    late = _end_expired(tx, [each for each in due if each not in excluded], unsubmitted, shared, policy, now)
    late_in_doubt = () if request.can_look_up else late.in_doubt
    held = hold_in_doubt(tx, carrier, [stored[each] for each in late_in_doubt], policy, now)
    finished = finished.joined(unreadable).joined(late.finished).joined(held)
    excluded.update(late.ended, late_in_doubt)
    counts = attempts.count_doubts(tx, carrier, tried)
    if not request.can_look_up:
        in_doubt = [
            each
            for each in tried
            if each not in excluded and _is_to_be_held(counts.get(each, NO_DOUBT), request.max_resends)
        ]
        held = hold_in_doubt(tx, carrier, [stored[message_id] for message_id in in_doubt], policy, now)
        finished = finished.joined(held)
        excluded.update(in_doubt)
    chosen = sorted(message_id for message_id in due if message_id not in excluded)
    unwanted, held_back = hold_back_ads(tx, chosen, counts, stored, shared, policy, now)
    finished = finished.joined(unwanted)
    chosen = [message_id for message_id in chosen if message_id not in held_back]
    leases = queue.claim(tx, chosen, now, now + request.lease_ms)
    leases = [one if one.id not in counts else one._replace(is_in_doubt=counts[one.id].here > 0) for one in leases]
    messages.mark_submitted(tx, [lease.id for lease in leases], now)
    next_due_at = None if leases else queue.next_due_at(tx, slot, carrier, (Lane.SMALL, Lane.CAMPAIGN))
    dated = {one: each._replace(expires_at=policy.deadline_of(each)) for one, each in shared.items()}
    leased = [(lease, stored[lease.id], dated[identifiers.request_id_of(lease.id)]) for lease in leases]
    unmapped: Mapping[bytes, str | None] = {}
    if request.is_one_of_relays:
        leased, unmapped = _apply_mappings(tx, carrier, leased)
    return ClaimedBatch(leased, finished, cancelled, _is_full(request, due, leases), next_due_at, unmapped)


def _is_full(request: ClaimRequest, due: Sequence[bytes], leases: Sequence[Lease]) -> bool:
    """Return whether a claim has reached a limit, so that there may be more."""
    of_campaigns = sum(lease.lane == Lane.CAMPAIGN for lease in leases)
    return len(due) == request.limit or of_campaigns == request.max_of_campaigns


def _find_unsubmitted(tx: Tx, request: ClaimRequest) -> list[bytes]:
    """Return the messages that unconfirmed claims took; others of the same millisecond are in flight."""
    leased = {
        message_id
        for at in request.unconfirmed
        for message_id in queue.find_leased(tx, request.slot, request.carrier, at, at + request.lease_ms)
    }
    return [lease.id for lease in attempts.find_leased(tx, sorted(leased)) if lease not in request.in_flight]


def hold_in_doubt(tx: Tx, carrier: str, in_doubt: Iterable[Message], policy: Policy, now: Instant) -> FinishResult:
    """Hold messages that a carrier may have until a receipt or their timeout."""
    named = [
        (message, identifiers.in_doubt_reference(identifiers.user_message_reference(message.id), message.receiver))
        for message in sorted(in_doubt, key=lambda message: message.id)
    ]
    attempts.hold_for_receipt(
        tx,
        [
            attempts.HeldJob(message.id, reference, now + policy.receipt_timeout_ms(message.product))
            for message, reference in named
        ],
    )
    ended = receipts.record_references(
        tx, carrier, [receipts.ExpectedReceipt(reference, message.id, 1) for message, reference in named]
    )
    return finish(tx, ended, policy, now)


def check_leases(
    tx: Tx,
    carrier: str,
    due: Iterable[bytes],
    in_flight: Container[tuple[bytes, int]],
    renewed_until: Instant,
    now: Instant,
) -> set[bytes]:
    """Return those due messages that are in flight, and renew their leases: the clock was set forward.

    Other leases have run out: their attempts ended in an unknown way, and are recorded so.
    """
    leased = attempts.find_leased(tx, due)
    kept = {lease.id for lease in leased if lease in in_flight}
    attempts.renew_leases(tx, sorted(kept), renewed_until)
    lost = [EndedAttempt(*lease, attempts.UNKNOWN) for lease in leased if lease.id not in kept]
    attempts.record(tx, carrier, lost, now)
    return kept


def _is_to_be_held(count: DoubtCount, max_resends: int) -> bool:
    """Return whether a message waits for its receipt: this carrier may have it, and it was resent often enough."""
    return count.here > 0 and count.total > max_resends


def _end_unreadable(
    tx: Tx, due: Sequence[bytes], stored: Container[bytes], shared: Container[bytes], policy: Policy, now: Instant
) -> tuple[list[bytes], FinishResult]:
    """End messages as undeliverable that cannot be read: one of them must not keep all others from being sent.

    They are not in `stored`, or their request is not in `shared`. Returns the others, and what ended. The job of a
    message that does not exist any more is removed.
    """
    readable = [one for one in due if one in stored and identifiers.request_id_of(one) in shared]
    if len(readable) == len(due):
        return readable, FinishResult([], set())
    known = set(readable)
    unreadable = [one for one in due if one not in known]
    for one in unreadable:
        log.error("message cannot be read; it ends as undeliverable", extra={"message_id": one.hex()})
    return readable, finish(tx, [(one, Outcome.UNDELIVERABLE) for one in unreadable], policy, now)


def _end_expired(
    tx: Tx,
    due: Sequence[bytes],
    unsubmitted: Collection[bytes],
    shared: Mapping[bytes, Request],
    policy: Policy,
    now: Instant,
) -> LateMessages:
    """End due messages whose deadline has passed, unless a carrier may have them.

    `unsubmitted` are claimed, but certainly not submitted by that claim.
    """
    late = {one for one, request in shared.items() if policy.deadline_of(request) <= now}
    if not late:
        return LateMessages(FinishResult([], set()))
    ids = [one for one in due if identifiers.request_id_of(one) in late]
    in_doubt = deadlines.find_maybe_with_carrier(tx, ids) | {
        one for one, _ in attempts.find_leased(tx, ids) if one not in unsubmitted
    }
    ended = [one for one in ids if one not in in_doubt]
    return LateMessages(finish(tx, [(one, Outcome.EXPIRED) for one in ended], policy, now), ended, in_doubt)


def _end_messages_of_deleted_profiles(
    tx: Tx,
    due: Iterable[Message],
    deleted: Collection[int] | None,
    shared: Mapping[bytes, Request],
    policy: Policy,
    now: Instant,
) -> tuple[FinishResult, int, set[bytes]]:
    """End messages of deleted profiles, looked up if not given: cancel those that wait, fail the others.

    Returns also how many were cancelled, and the ids of all of them.
    """
    if deleted is None:
        used = {each.profile_id for each in shared.values() if each.profile_id is not None}
        deleted = profiles.find_deleted(tx, used)
    orphans = [message for message in due if shared[identifiers.request_id_of(message.id)].profile_id in deleted]
    waiting = [message.id for message in orphans if message.status is Status.WAITING]
    queue.remove(tx, waiting)
    cancelled = cancel_messages(tx, policy, waiting, now)
    sending = [(message.id, Outcome.UNDELIVERABLE) for message in orphans if message.status is Status.SENDING]
    return finish(tx, sending, policy, now), cancelled, {message.id for message in orphans}


def _apply_mappings(
    tx: Tx, carrier: str, leased: Sequence[LeasedMessage]
) -> tuple[list[LeasedMessage], dict[bytes, str | None]]:
    """Return the messages as a carrier's relay names their profile and template.

    Returns also those that it does not know, by id, each with the carrier whose relay owns its profile. A message
    in doubt is not among them: the carrier is asked about it by its id.
    """
    wanted = {_place_of(request) for _, message, request in leased if not message.product.is_text}
    places = profile_mappings.find_places(tx, carrier, [one for one in wanted if one is not None])
    if not places:
        return list(leased), {}
    found: list[LeasedMessage] = []
    unmapped: dict[bytes, str | None] = {}
    for lease, message, request in leased:
        place = None if message.product.is_text else places.get(_place_of(request) or (0, ""))
        if place is not None and not place.is_usable and not lease.is_in_doubt:
            unmapped[message.id] = place.home
        elif place is not None and place.sender_key is not None:
            request = request._replace(sender_key=place.sender_key, template_code=place.template_code)
        found.append((lease, message, request))
    return found, unmapped


def _place_of(request: Request) -> tuple[int, str] | None:
    return None if request.profile_id is None else (request.profile_id, request.template_code or "")
