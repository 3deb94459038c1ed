"""Ends messages that are not with a carrier by their deadline, when they are claimed and when they are settled."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from pabal.carriers.base import Unknown, Verdict
from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.service.delivery.outcome.deadline import deadline_of
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.messages.requests import Request
from pabal.store.queue import attempts, deadlines, doubts


class LateMessages(NamedTuple):
    """What became of messages whose deadline has passed: those that ended, and those that a carrier may have."""

    finished: FinishResult
    ended: Collection[bytes] = ()
    in_doubt: Collection[bytes] = ()


def end_expired(
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
    late = {one for one, request in shared.items() if deadline_of(request, policy) <= now}
    if not late:
        return LateMessages(FinishResult([], set()))
    ids = [one for one in due if identifiers.request_id_of(one) in late]
    in_doubt = deadlines.find_maybe_with_carrier(tx, ids) | {
        one for one, _ in doubts.find_leased(tx, ids) if one not in unsubmitted
    }
    ended = [one for one in ids if one not in in_doubt]
    return LateMessages(finish(tx, [(one, Outcome.EXPIRED) for one in ended], policy, now), ended, in_doubt)


def find_expired(tx: Tx, unsettled: Iterable[tuple[Attempt, Verdict]], now: Instant) -> set[bytes]:
    """Return the messages that no carrier has taken, and that are past their deadline."""
    late = [
        attempt.message_id
        for attempt, verdict in unsettled
        if attempt.expires_at is not None and attempt.expires_at <= now and not isinstance(verdict, Unknown)
    ]
    return set(late) - deadlines.find_maybe_with_carrier(tx, late) if late else set()


def find_timed_out(tx: Tx, in_doubt: Mapping[bytes, Product], policy: Policy, now: Instant) -> set[bytes]:
    """Return the messages in doubt about which nothing was heard for as long as a receipt may take."""
    began_at = attempts.doubts_began_at(tx, in_doubt)
    return {one for one, at in began_at.items() if at + policy.receipt_timeout_ms(in_doubt[one]) <= now}
