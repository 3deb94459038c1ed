"""What happened to one message, in order, as the API and the console show it."""

from enum import Enum
from typing import NamedTuple

from pabal.carriers.base import Rejected
from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Outcome, Status
from pabal.service.history.timeline import Timeline
from pabal.store.messages.timeline import RecordedAttempt
from pabal.store.queue.attempts import UNKNOWN


class MessageEventKind(Enum):
    """What can happen to a message; the words of the API."""

    ACCEPTED = "accepted"
    SCHEDULED = "scheduled"
    SUBMITTED = "submitted"
    VERDICT = "verdict"
    RECEIPT = "receipt"
    FALLBACK = "fallback"
    ENDED = "ended"


class MessageEvent(NamedTuple):
    """One thing that happened to a message."""

    kind: MessageEventKind
    at: Instant | None
    """None: that was not recorded."""
    carrier: str | None = None
    attempt: int | None = None
    verdict: str | None = None
    """The label of a verdict; ACCEPTED_LABEL for an acceptance."""
    code: str | None = None
    """The carrier's own code."""
    other_id: bytes | None = None
    """The fallback that was made, or the failed message that this one is the fallback of."""


ACCEPTED_LABEL = "accepted"


def list_events(timeline: Timeline) -> list[MessageEvent]:
    """Return what happened to a message, oldest first."""
    message, request = timeline.message, timeline.request
    requested_at = identifiers.requested_at(request.id)
    events = [MessageEvent(MessageEventKind.ACCEPTED, requested_at)]
    if timeline.origin:
        events.append(
            MessageEvent(MessageEventKind.FALLBACK, timeline.origin.completed_at, other_id=timeline.origin.id)
        )
    if request.scheduled_at > requested_at:
        events.append(MessageEvent(MessageEventKind.SCHEDULED, request.scheduled_at))
    events += _delivery_events(timeline)
    if timeline.fallback:
        events.append(MessageEvent(MessageEventKind.FALLBACK, message.completed_at, other_id=timeline.fallback.id))
    if message.completed_at is not None:
        events.append(MessageEvent(MessageEventKind.ENDED, message.completed_at))
    return _sorted(events)


def _delivery_events(timeline: Timeline) -> list[MessageEvent]:
    tries, submitted_at = timeline.tries, timeline.delivery.submitted_at
    carrier = current_carrier(timeline)
    if carrier is None or submitted_at is None:
        return [_refusal(each) for each in tries]
    was_accepted = _was_accepted(timeline)
    is_in_flight = timeline.queue_entry is not None and timeline.queue_entry.claimed_at is not None
    is_last_refused = bool(tries) and tries[-1].ended_at >= submitted_at and not is_in_flight and not was_accepted
    events = [_refusal(each) for each in (tries[:-1] if is_last_refused else tries)]
    if is_last_refused:
        carrier = tries[-1].carrier
    events.append(MessageEvent(MessageEventKind.SUBMITTED, submitted_at, carrier))
    if is_last_refused:
        events.append(_refusal(tries[-1]))
    if was_accepted:
        events.append(MessageEvent(MessageEventKind.VERDICT, None, carrier, verdict=ACCEPTED_LABEL))
    code = timeline.delivery.carrier_code
    if code is not None and was_accepted and timeline.message.completed_at is not None:
        events.append(MessageEvent(MessageEventKind.RECEIPT, timeline.message.completed_at, carrier, code=code))
    return events


def current_carrier(timeline: Timeline) -> str | None:
    """Return the carrier that has decided about the message, or has it now; None if none has."""
    entry = timeline.queue_entry
    if entry is not None and entry.attempt > 0:
        return entry.carrier
    return timeline.delivery.carrier


def _was_accepted(timeline: Timeline) -> bool:
    """Return whether a carrier has taken the message: it waits for a receipt, or no verdict has ended it."""
    entry, message, tries = timeline.queue_entry, timeline.message, timeline.tries
    if entry is not None:
        return timeline.awaits_receipt and not entry.is_in_doubt
    if timeline.delivery.carrier is None or message.status not in (Status.COMPLETED, Status.FAIL):
        return False
    if message.status is Status.COMPLETED or not tries:
        return True
    last = tries[-1]
    is_decided_by_verdict = last.verdict == Rejected.label or last.ended_at == message.completed_at
    is_in_doubt = message.outcome is Outcome.UNKNOWN and last.verdict == UNKNOWN
    return not is_decided_by_verdict and not is_in_doubt


def _refusal(attempt: RecordedAttempt) -> MessageEvent:
    number, carrier, verdict, ended_at, code = attempt
    return MessageEvent(MessageEventKind.VERDICT, ended_at, carrier, number, verdict, code)


def _sorted(events: list[MessageEvent]) -> list[MessageEvent]:
    """Return events by their time; one without a time stays behind the one before it."""
    times: list[Instant] = []
    for each in events:
        times.append(each.at if each.at is not None else times[-1])
    order = sorted(range(len(events)), key=lambda place: times[place])
    return [events[place] for place in order]
