"""Settles what a carrier said to a batch: taken, refused, or to be tried again, there or elsewhere."""

from collections.abc import Container
from typing import NamedTuple

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain import identifiers, retry
from pabal.domain.dates import SECOND, Instant
from pabal.domain.message import Attempt, Outcome
from pabal.service.delivery.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store import queue, receipts
from pabal.store.engine.base import Tx

NOT_SENT_RETRY_DELAY_MS = 1 * SECOND
"""What never left our hands is given out again so much later."""
MAX_LOOKUPS = 300
"""How often a carrier is asked about a message in doubt: five minutes apart, that is about a day."""


class BatchVerdicts(NamedTuple):
    """A carrier's word on a batch: each attempt, and what the carrier said."""

    carrier: str
    results: list[tuple[Attempt, Verdict]]
    holds_in_doubt: bool = False
    open_circuits: Container[str] = ()
    """The carriers that are set aside."""
    can_look_up: bool = False
    """Whether the carrier can find out about what is in doubt; until then that stays with it."""


def settle(tx: Tx, verdicts: BatchVerdicts, policy: Policy, chance: float, now: Instant) -> FinishResult:
    """Write down what a carrier said; a word on an attempt that is no longer the current one changes nothing."""
    carrier = verdicts.carrier
    held = queue.still_leased(tx, [(attempt.message_id, attempt.number) for attempt, _ in verdicts.results])
    said = [pair for pair in verdicts.results if pair[0].message_id in held]
    said.sort(key=lambda pair: pair[0].message_id)
    ended = [
        (attempt.message_id, end)
        for attempt, verdict in said
        if (end := _final_outcome(attempt, verdict, verdicts, policy))
    ]
    over = {one for one, _ in ended}
    taken = [
        (attempt, references)
        for attempt, verdict in said
        if (references := _references(attempt, verdict, verdicts.holds_in_doubt))
    ]
    queue.await_receipts(
        tx,
        [
            queue.AcceptedJob(
                one.message_id,
                one.number,
                queue.REFERENCE_SEPARATOR.join(references),
                now + policy.receipt_timeout_ms(one.product),
            )
            for one, references in taken
        ],
    )
    ended += receipts.expect(
        tx,
        carrier,
        [(reference, one.message_id, len(references)) for one, references in taken for reference in references],
    )
    unsettled = [
        (one, verdict) for one, verdict in said if isinstance(verdict, Declined | Busy | NotSent | Unknown)
    ]
    queue.record_attempts(
        tx,
        carrier,
        [
            queue.EndedAttempt(one.message_id, one.number, _word(verdict))
            for one, verdict in unsettled
            if not isinstance(verdict, NotSent)
        ],
        now,
    )
    gone = over | {one.message_id for one, _ in taken}
    again = [
        _schedule_retry(one, verdict, verdicts, policy, chance, now)
        for one, verdict in unsettled
        if one.message_id not in gone
    ]
    queue.retry_later(tx, again)
    finished = finish(tx, ended, policy, now)
    finished.carriers_to_wake.update(job.carrier for job in again)
    return finished


def _references(attempt: Attempt, verdict: Verdict, holds_in_doubt: bool) -> tuple[str, ...]:
    """Return the references under which a receipt is awaited, each once; none where there is nothing to wait for.

    A carrier may answer several parts with one id: then one receipt is all that can be told from others.
    """
    if isinstance(verdict, Accepted) and verdict.reference is not None:
        return tuple(dict.fromkeys((verdict.reference, *verdict.other_references)))
    if isinstance(verdict, Unknown) and holds_in_doubt:
        return (
            identifiers.in_doubt_reference(
                identifiers.user_message_reference(attempt.message_id), attempt.receiver
            ),
        )
    return ()


def _final_outcome(attempt: Attempt, verdict: Verdict, verdicts: BatchVerdicts, policy: Policy) -> Outcome | None:
    """Return how an attempt's message ends by this verdict, None where it goes on."""
    if isinstance(verdict, Rejected):
        return verdict.outcome
    if isinstance(verdict, Accepted):
        return Outcome.DELIVERED if verdict.reference is None else None
    if isinstance(verdict, NotSent) or (isinstance(verdict, Unknown) and verdicts.holds_in_doubt):
        return None
    if isinstance(verdict, Unknown) and verdicts.can_look_up:
        return None if attempt.tries + 1 < MAX_LOOKUPS else Outcome.UNKNOWN
    if policy.routes.next_after(attempt.product, verdicts.carrier) is not None:
        return None
    if isinstance(verdict, Declined):
        return verdict.outcome
    if attempt.tries + 1 < (MAX_LOOKUPS if verdicts.can_look_up and attempt.is_in_doubt else retry.MAX_TRIES):
        return None  # questions have used up tries, too
    return Outcome.CARRIER_ERROR if isinstance(verdict, Busy) else Outcome.UNKNOWN


def _schedule_retry(
    attempt: Attempt, verdict: Verdict, verdicts: BatchVerdicts, policy: Policy, chance: float, now: Instant
) -> queue.RetriedJob:
    """Return when, at which carrier and after how many tries there a message goes on; at the next one at once.

    What a carrier was given to see how it does, and did not take, goes on as all the others of it did.
    """
    here, aside = verdicts.carrier, verdicts.open_circuits
    tries = attempt.tries if isinstance(verdict, NotSent) else attempt.tries + 1
    is_unsure = isinstance(verdict, Unknown) or (isinstance(verdict, NotSent) and attempt.is_in_doubt)
    stays = verdicts.can_look_up and is_unsure  # that it has not left our hands now says nothing of the time before
    following = None if stays else policy.routes.next_after(attempt.product, here, avoid=aside)
    is_done_here = isinstance(verdict, Declined) or tries >= retry.MAX_TRIES
    if following and (is_done_here or (here in aside and following not in aside)):
        return queue.RetriedJob(attempt.message_id, attempt.number, now, following, 0)
    pause = NOT_SENT_RETRY_DELAY_MS if isinstance(verdict, NotSent) else retry.backoff_ms(tries, chance)
    return queue.RetriedJob(attempt.message_id, attempt.number, now + pause, here, tries)


def _word(verdict: Verdict) -> str:
    return verdict.label
