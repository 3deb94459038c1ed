"""Settles a carrier's verdicts on a batch: accepted, rejected, or to be retried, there or at the next carrier."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Unmapped, Verdict, code_of
from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE, SECOND, Instant
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.domain.sends.price import strip_friend_mark
from pabal.domain.sends.route import FIRST_DELAY_MS, MAX_TRIES, backoff_ms
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx, transaction
from pabal.store.queue import attempts, deadlines, queue, receipts
from pabal.store.queue.attempts import NO_DOUBT, EndedAttempt, LateAcceptance, UnsettledJob
from pabal.store.queue.queue import REFERENCE_SEPARATOR, Lane

NOT_SENT_RETRY_DELAY_MS = 1 * SECOND
"""Delay before retrying a message that was not transmitted."""
MAX_REQUESTED_DELAY_MS = 15 * MINUTE
"""The longest delay that a carrier may ask for."""
MAX_LOOKUPS = 300
"""How often a message in doubt is looked up: five minutes apart, that is about a day."""
HOME_RETRY_DELAY_MS = 30 * SECOND
"""Delay before a message that no other relay knows is tried at its own, whose circuit is open."""
LATE_ANSWER_WAIT_MS = 30 * SECOND
"""Delay before resending a message that the carrier may still answer for."""


class BatchVerdicts(NamedTuple):
    """A carrier's verdicts on the attempts of a batch."""

    carrier: str
    results: list[tuple[Attempt, Verdict]]
    max_resends: int = 1
    """How often messages in doubt are submitted again."""
    open_circuits: Container[str] = ()
    """The carriers whose circuit is open."""
    can_look_up: bool = False
    """Whether the carrier can look up messages in doubt: they stay with it until it has."""
    ended_first: Sequence[tuple[bytes, Outcome]] | None = None
    """The accepted messages whose receipts came first; None: `expect_receipts` has not stored the references."""


def expect_receipts(tx: Tx, verdicts: BatchVerdicts) -> BatchVerdicts:
    """Store the references of accepted messages ahead of the verdicts, for stores whose nodes commit one by one.

    If only this is stored, a receipt ends its message as well. Without it, no receipt could end a message whose
    verdict is stored.
    """
    accepted = [(one, _references(one, verdict, is_held=False)) for one, verdict in verdicts.results]
    return verdicts._replace(ended_first=receipts.record_references(tx, verdicts.carrier, _list_expected(accepted)))


def stays_in_slot(verdicts: BatchVerdicts, policy: Policy, *_: object) -> bool:
    """Return whether storing verdicts touches nothing but rows of their slot, as far as they say.

    The ends of messages may have costs, fallbacks and references; those in doubt get references.
    """
    if verdicts.ended_first is None or verdicts.ended_first:
        return False
    return not any(
        isinstance(verdict, Unknown | Unmapped)
        or (_ends(verdict) and (policy.prices or not attempt.product.is_text))
        for attempt, verdict in verdicts.results
    )


def _ends(verdict: Verdict) -> bool:
    """Return whether a verdict ends its message, whatever came before."""
    return isinstance(verdict, Rejected) or (isinstance(verdict, Accepted) and verdict.reference is None)


def _list_expected(accepted: Iterable[tuple[Attempt, tuple[str, ...]]]) -> list[receipts.ExpectedReceipt]:
    return [
        receipts.ExpectedReceipt(reference, attempt.message_id, len(references))
        for attempt, references in accepted
        for reference in references
    ]


@transaction(
    slot_of=lambda verdicts, *_: identifiers.slot_of(verdicts.results[0][0].message_id),
    stays_in_slot=stays_in_slot,
)
def settle(tx: Tx, verdicts: BatchVerdicts, policy: Policy, chance: float, now: Instant) -> FinishResult:
    """Store verdicts; one on an attempt that is no longer the current one changes nothing."""
    carrier = verdicts.carrier
    leased = queue.still_leased(tx, [(attempt.message_id, attempt.number) for attempt, _ in verdicts.results])
    results = [pair for pair in verdicts.results if pair[0].message_id in leased]
    results.sort(key=lambda pair: pair[0].message_id)
    held = _find_held(tx, verdicts, results)
    homeward = _find_homeward(tx, verdicts, results, policy)
    ended = [
        (attempt.message_id, end)
        for attempt, verdict in results
        if not leased[attempt.message_id]
        and attempt.message_id not in held
        and attempt.message_id not in homeward
        and (end := _final_outcome(attempt, verdict, verdicts, policy))
    ]
    ended += [(one, Outcome.UNKNOWN) for one in _find_unreachable(tx, verdicts, results, policy, now)]
    ended_ids = {one for one, _ in ended}
    accepted = [
        (attempt, references)
        for attempt, verdict in results
        if (references := _references(attempt, verdict, attempt.message_id in held))
    ]
    waiting = _wait_for_receipts(tx, results, accepted, leased, policy, now)
    expected = [pair for pair in accepted if pair[0].message_id not in held]
    if verdicts.ended_first is None:
        ended += receipts.record_references(tx, carrier, _list_expected(expected))
    else:
        still = {attempt.message_id for attempt, _ in expected}
        ended += [pair for pair in verdicts.ended_first if pair[0] in still]
    in_doubt = _list_expected([pair for pair in accepted if pair[0].message_id in held])
    ended += receipts.record_references(tx, carrier, in_doubt)
    unsettled = [
        (one, verdict)
        for one, verdict in results
        if isinstance(verdict, Declined | Busy | NotSent | Unknown | Unmapped)
    ]
    refused = [
        attempts.EndedAttempt(one.message_id, one.number, verdict.label, strip_friend_mark(code_of(verdict)))
        for one, verdict in results
        if not isinstance(verdict, Accepted | NotSent) and one.message_id not in homeward
    ]
    attempts.record(tx, carrier, refused, now)
    done = ended_ids | waiting
    expired = _find_expired(tx, [pair for pair in unsettled if pair[0].message_id not in done], now)
    done |= expired
    retries = [
        _schedule_retry(one, verdict, verdicts, policy, chance, now)
        for one, verdict in unsettled
        if one.message_id not in done
    ]
    queue.retry_later(tx, retries)
    decided = {
        one.message_id: code_of(verdict)
        for one, verdict in results
        if one.message_id in ended_ids and not isinstance(verdict, Unmapped)
    }
    finished = finish(tx, ended + [(one, Outcome.EXPIRED) for one in expired], policy, now, decided)
    finished.carriers_to_wake.update(job.carrier for job in retries)
    return finished


def find_timed_out(tx: Tx, in_doubt: Mapping[bytes, Product], policy: Policy, now: Instant) -> set[bytes]:
    """Return the messages in doubt about which nothing was heard for as long as a receipt may take."""
    began_at = attempts.doubts_began_at(tx, in_doubt)
    return {one for one, at in began_at.items() if at + policy.receipt_timeout_ms(in_doubt[one]) <= now}


def _find_expired(tx: Tx, unsettled: Iterable[tuple[Attempt, Verdict]], now: Instant) -> set[bytes]:
    """Return the messages that no carrier has taken, and that are past their deadline."""
    late = [
        attempt.message_id
        for attempt, verdict in unsettled
        if attempt.expires_at is not None and attempt.expires_at <= now and not isinstance(verdict, Unknown)
    ]
    return set(late) - deadlines.find_maybe_with_carrier(tx, late) if late else set()


def _find_held(tx: Tx, verdicts: BatchVerdicts, results: list[tuple[Attempt, Verdict]]) -> set[bytes]:
    """Return the messages in doubt that were resent often enough: they wait for a receipt."""
    if verdicts.can_look_up:
        return set()
    in_doubt = [attempt.message_id for attempt, verdict in results if isinstance(verdict, Unknown)]
    earlier = attempts.count_doubts(tx, verdicts.carrier, in_doubt)
    return {one for one in in_doubt if earlier.get(one, NO_DOUBT).total + 1 > verdicts.max_resends}


def _find_unreachable(
    tx: Tx, verdicts: BatchVerdicts, results: list[tuple[Attempt, Verdict]], policy: Policy, now: Instant
) -> set[bytes]:
    """Return the messages in doubt that could not be looked up for as long as a receipt may take."""
    if not verdicts.can_look_up:
        return set()
    in_doubt = {
        attempt.message_id: attempt.product
        for attempt, verdict in results
        if isinstance(verdict, NotSent) and attempt.is_in_doubt
    }
    return find_timed_out(tx, in_doubt, policy, now) if in_doubt else set()


def _find_homeward(
    tx: Tx, verdicts: BatchVerdicts, results: list[tuple[Attempt, Verdict]], policy: Policy
) -> set[bytes]:
    """Return the messages that go back to the carrier whose relay owns their profile: no other one knows them.

    Not those that it has been given and did not take, unless its circuit is open: they end.
    """
    homes = {
        attempt.message_id: verdict.home
        for attempt, verdict in results
        if isinstance(verdict, Unmapped)
        and verdict.home in policy.routes.carriers_for(attempt.product)
        and policy.routes.next_after(attempt.product, verdicts.carrier) is None
    }
    tried = attempts.find_carriers(tx, sorted(homes)) if homes else set()
    return {one for one, home in homes.items() if home in verdicts.open_circuits or (one, home) not in tried}


def _wait_for_receipts(
    tx: Tx,
    results: list[tuple[Attempt, Verdict]],
    accepted: list[tuple[Attempt, tuple[str, ...]]],
    leased: dict[bytes, str | None],
    policy: Policy,
    now: Instant,
) -> set[bytes]:
    """Store accepted messages as waiting for their receipts; return their ids.

    Also those not accepted now of which the carrier has said meanwhile that it has an earlier attempt.
    """
    new = {one.message_id: references for one, references in accepted}
    waiting = [one for one, _ in results if one.message_id in new or leased[one.message_id]]
    jobs = [
        queue.AcceptedJob(
            one.message_id,
            one.number,
            queue.REFERENCE_SEPARATOR.join(filter(None, (leased[one.message_id], *new.get(one.message_id, ())))),
            now + policy.receipt_timeout_ms(one.product),
        )
        for one in waiting
    ]
    queue.await_receipts(tx, jobs)
    return {one.message_id for one in waiting}


def _references(attempt: Attempt, verdict: Verdict, is_held: bool) -> tuple[str, ...]:
    """Return the references to await receipts for, each once; none if there is nothing to wait for.

    A carrier may give several parts the same reference: then their receipts cannot be told apart, and one counts.
    References that cannot be stored are left out; a message that has no other waits as one in doubt does.
    """
    is_accepted = isinstance(verdict, Accepted) and verdict.reference is not None
    if isinstance(verdict, Accepted) and verdict.reference is not None:
        given = dict.fromkeys((verdict.reference, *verdict.other_references))
        if usable := tuple([each for each in given if identifiers.is_usable_reference(each)]):
            return usable
    if is_accepted or is_held:
        return (
            identifiers.in_doubt_reference(
                identifiers.user_message_reference(attempt.message_id), attempt.receiver
            ),
        )
    return ()


def _final_outcome(attempt: Attempt, verdict: Verdict, verdicts: BatchVerdicts, policy: Policy) -> Outcome | None:
    """Return the outcome that the verdict gives the message; None if it has not ended."""
    if isinstance(verdict, Rejected):
        return verdict.outcome
    if isinstance(verdict, Accepted):
        return Outcome.DELIVERED if verdict.reference is None else None
    if isinstance(verdict, NotSent):
        return None
    if isinstance(verdict, Unknown) and verdicts.can_look_up:
        return None if attempt.tries + 1 < MAX_LOOKUPS else Outcome.UNKNOWN
    if policy.routes.next_after(attempt.product, verdicts.carrier) is not None:
        return None
    if isinstance(verdict, Declined):
        return verdict.outcome
    if isinstance(verdict, Unmapped):
        return Outcome.UNDELIVERABLE
    if attempt.tries + 1 < (MAX_LOOKUPS if verdicts.can_look_up and attempt.is_in_doubt else MAX_TRIES):
        return None  # looking it up has used up tries, too
    return Outcome.CARRIER_ERROR if isinstance(verdict, Busy) else Outcome.UNKNOWN


def _schedule_retry(
    attempt: Attempt, verdict: Verdict, verdicts: BatchVerdicts, policy: Policy, chance: float, now: Instant
) -> queue.RetriedJob:
    """Return when and at which carrier a message is tried again: at the next carrier at once.

    A probe that the carrier did not accept goes to the next carrier like all its other messages.
    """
    here, open_circuits = verdicts.carrier, verdicts.open_circuits
    tries = attempt.tries if isinstance(verdict, NotSent) else attempt.tries + 1
    is_in_doubt = isinstance(verdict, Unknown) or (isinstance(verdict, NotSent) and attempt.is_in_doubt)
    stays = verdicts.can_look_up and is_in_doubt  # not sent now, but perhaps by an earlier attempt
    following = None if stays else policy.routes.next_after(attempt.product, here, avoid=open_circuits)
    if isinstance(verdict, Unmapped) and following is None:
        assert verdict.home is not None  # else it has ended
        delay_ms = HOME_RETRY_DELAY_MS if verdict.home in open_circuits else 0
        return queue.RetriedJob(attempt.message_id, attempt.number, now + delay_ms, verdict.home, attempt.tries)
    is_done_here = isinstance(verdict, Declined | Unmapped) or tries >= MAX_TRIES
    if isinstance(verdict, Unknown) and verdict.may_answer and not is_done_here:
        return queue.RetriedJob(attempt.message_id, attempt.number, now + LATE_ANSWER_WAIT_MS, here, tries)
    if isinstance(verdict, NotSent) and verdict.retry_after_s is not None and following not in open_circuits:
        is_done_here = True
    if following and (is_done_here or (here in open_circuits and following not in open_circuits)):
        return queue.RetriedJob(attempt.message_id, attempt.number, now, following, 0)
    delay_ms = _retry_delay_ms(verdict, tries, chance)
    return queue.RetriedJob(attempt.message_id, attempt.number, now + delay_ms, here, tries)


def _retry_delay_ms(verdict: Verdict, tries: int, chance: float) -> int:
    """Return how long a message waits for its next try: as long as the carrier says, if it does."""
    if isinstance(verdict, Unknown | NotSent) and verdict.retry_after_s is not None:
        return min(round(verdict.retry_after_s * SECOND), MAX_REQUESTED_DELAY_MS)
    return NOT_SENT_RETRY_DELAY_MS if isinstance(verdict, NotSent) else backoff_ms(tries, chance)


def settle_late(
    tx: Tx, carrier: str, answers: Sequence[tuple[Attempt, Verdict]], policy: Policy, now: Instant
) -> FinishResult:
    """Store late answers; one for a message that has ended changes nothing.

    A message that was accepted is not submitted again. If it already was, receipts for either attempt end it. One
    that was rejected ends. One that the carrier does not have is no longer in doubt because of that attempt.
    """
    jobs = attempts.find_unsettled(tx, [attempt.message_id for attempt, _ in answers])
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
            shown = strip_friend_mark(code)
            attempts.correct(tx, [EndedAttempt(attempt.message_id, attempt.number, verdict.label, shown)])
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
        attempts.set_references(tx, job.id, references)
    else:
        until = now + policy.receipt_timeout_ms(attempt.product)
        attempts.await_late_receipts(tx, [LateAcceptance(job.id, job.attempt, carrier, references, until)])
    expected = [receipts.ExpectedReceipt(each, job.id, len(new)) for each in new]
    return receipts.record_references(tx, carrier, expected)


def _requeue(tx: Tx, carrier: str, job: UnsettledJob, now: Instant) -> bool:
    """Send a held message again if no attempt at it is in doubt any more; return whether."""
    is_held = (job.references or "").startswith(identifiers.IN_DOUBT_PREFIX)
    if not is_held or attempts.count_doubts(tx, carrier, [job.id]):
        return False
    receipts.delete(tx, [receipts.EndedReference(job.carrier, str(job.references), job.id)])
    attempts.requeue(tx, job.id, now + FIRST_DELAY_MS)
    return True
