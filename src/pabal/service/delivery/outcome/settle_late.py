"""Settles answers that a carrier gives after their attempts were settled as unknown."""

from collections.abc import Sequence

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Verdict, code_of
from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Attempt, Outcome
from pabal.domain.sends.route import FIRST_DELAY_MS
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.queue import attempts, doubts, receipts
from pabal.store.queue.attempts import EndedAttempt
from pabal.store.queue.doubts import LateAcceptance, UnsettledJob
from pabal.store.queue.queue import REFERENCE_SEPARATOR, Lane


def settle_late(
    tx: Tx, carrier: str, answers: Sequence[tuple[Attempt, Verdict]], policy: Policy, now: Instant
) -> FinishResult:
    """Store late answers; one for a message that has ended changes nothing.

    A message that was accepted is not submitted again. If it already was, receipts for either attempt end it. One
    that was rejected ends. One that the carrier does not have is no longer in doubt because of that attempt.
    """
    jobs = doubts.find_unsettled(tx, [attempt.message_id for attempt, _ in answers])
    ended: list[tuple[bytes, Outcome]] = []
    decided: dict[bytes, str | None] = {}
    carriers_to_wake: set[str] = set()
    for attempt, verdict in sorted(answers, key=lambda pair: pair[0].message_id):
        job = jobs.get(attempt.message_id)
        if job is None:
            continue
        is_current = job.attempt == attempt.number
        if isinstance(verdict, Accepted):
            ended += _accept(tx, carrier, job, attempt, verdict, policy, now)
            decided |= {job.id: code_of(verdict)} if verdict.reference is None else {}
        elif isinstance(verdict, Rejected | Busy | Declined | NotSent):
            code = code_of(verdict)
            attempts.correct(tx, [EndedAttempt(attempt.message_id, attempt.number, verdict.label, code)])
            if isinstance(verdict, Rejected):
                ended += [(attempt.message_id, verdict.outcome)] if is_current else []
                decided[attempt.message_id] = code
            elif is_current and job.lane == Lane.AWAITING_RECEIPT and _requeue(tx, carrier, job, now):
                carriers_to_wake.add(carrier)
    finished = finish(tx, ended, policy, now, decided)
    finished.carriers_to_wake.update(carriers_to_wake)
    return finished


def _accept(
    tx: Tx, carrier: str, job: UnsettledJob, attempt: Attempt, verdict: Accepted, policy: Policy, now: Instant
) -> list[tuple[bytes, Outcome]]:
    """Store a late acceptance; return the outcome if its receipts came first."""
    if verdict.reference is None:
        return [(job.id, Outcome.DELIVERED)]
    given = dict.fromkeys((verdict.reference, *verdict.other_references))
    new = tuple(each for each in given if identifiers.is_usable_reference(each))
    if not new:
        return []  # no receipt could name it
    is_current = job.attempt == attempt.number
    is_resent = not is_current and (job.is_leased or job.lane == Lane.AWAITING_RECEIPT)
    if is_resent and (job.carrier != carrier or len(new) > 1):
        return []  # the receipts of two carriers, or of two sets of parts, cannot be counted together
    known = job.references.split(REFERENCE_SEPARATOR) if job.references and job.carrier == carrier else []
    references = REFERENCE_SEPARATOR.join(dict.fromkeys((*new, *known)))
    if is_resent:
        doubts.set_references(tx, job.id, references)
    else:
        until = now + policy.receipt_timeout_ms(attempt.product)
        doubts.await_late_receipts(tx, [LateAcceptance(job.id, job.attempt, carrier, references, until)])
    return receipts.expect(tx, carrier, [receipts.ExpectedReceipt(each, job.id, len(new)) for each in new])


def _requeue(tx: Tx, carrier: str, job: UnsettledJob, now: Instant) -> bool:
    """Send a held message again if no attempt at it is in doubt any more; return whether."""
    is_held = (job.references or "").startswith(identifiers.IN_DOUBT_PREFIX)
    if not is_held or attempts.count_doubts(tx, carrier, [job.id]):
        return False
    receipts.delete(tx, [receipts.EndedReference(job.carrier, str(job.references), job.id)])
    doubts.requeue(tx, job.id, now + FIRST_DELAY_MS)
    return True
