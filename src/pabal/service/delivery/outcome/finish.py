"""Ends messages, each only once."""

from collections.abc import Container, Mapping, Sequence
from types import MappingProxyType

from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import PRODUCT_BY_NUMBER, Outcome, Product
from pabal.domain.sends.price import FRIEND_MARK, strip_friend_mark
from pabal.service.delivery.outcome.fallback import FinishResult as FinishResult
from pabal.service.delivery.outcome.fallback import add_fallbacks
from pabal.service.policy import Policy
from pabal.service.sending.budgets import record_ended
from pabal.store.engine.base import Tx
from pabal.store.messages import messages
from pabal.store.queue import queue, receipts

_WITHOUT_FALLBACK = (Outcome.DELIVERED, Outcome.EXPIRED, Outcome.OPTED_OUT)
"""Outcomes without a fallback: one has arrived, for one it is too late, and one is not wanted."""


_NOTHING_DECIDED: Mapping[bytes, str | None] = MappingProxyType({})


def finish(
    tx: Tx,
    ended: Sequence[tuple[bytes, Outcome]],
    policy: Policy,
    now: Instant,
    decided: Mapping[bytes, str | None] = _NOTHING_DECIDED,
    deleted: Container[str] = (),
) -> FinishResult:
    """End messages, each only once, and add the fallbacks of those that failed.

    `decided` has the messages that their carrier's answer or receipt has ended, each with the carrier's own code,
    if any. The codes of other receipts are in the store. References in `deleted` are deleted already.
    """
    if not ended:
        return FinishResult([], set())
    outcomes = dict(ended)
    removed = queue.remove(tx, sorted(outcomes))
    codes = receipts.delete(tx, [each for each in references_of(removed) if each.reference not in deleted])
    by_receipt = {each.message_id: each.code for each in codes if each.outcome == outcomes[each.message_id].number}
    return finish_removed(tx, removed, outcomes, policy, now, {**by_receipt, **decided})


def references_of(removed: Sequence[queue.RemovedJob]) -> list[receipts.EndedReference]:
    """Return the references that carriers gave to messages which have ended."""
    return [
        receipts.EndedReference(carrier, reference, one)
        for one, carrier, references in removed
        if references is not None
        for reference in references.split(queue.REFERENCE_SEPARATOR)
    ]


def finish_removed(
    tx: Tx,
    removed: Sequence[queue.RemovedJob],
    outcomes: Mapping[bytes, Outcome],
    policy: Policy,
    now: Instant,
    decided: Mapping[bytes, str | None],
) -> FinishResult:
    """End the messages of jobs that are removed, whose references others delete; `decided` as in `finish`."""
    jobs = {job.id: job for job in removed}
    finished = messages.finish(
        tx,
        [(one, outcomes[one]) for one in jobs],
        now,
        lambda one: _details_of(jobs[one], outcomes[one], decided, policy),
    )
    final = [
        (one, PRODUCT_BY_NUMBER[product])
        for one, product in finished
        if product in PRODUCT_BY_NUMBER  # else the row is damaged: it has ended, and that is all
    ]
    failed = [one for one, product in final if outcomes[one] not in _WITHOUT_FALLBACK and not product.is_text]
    fallbacks, replaced = add_fallbacks(tx, failed, policy, now)
    if policy.prices:
        friends = {one for one, code in decided.items() if code and code.endswith(FRIEND_MARK)}
        _record_costs(tx, removed, final, outcomes, policy, replaced, friends)
    ends = [(product, outcomes[one]) for one, product in final]
    return FinishResult(ends + fallbacks.ended, fallbacks.carriers_to_wake)


def _details_of(
    job: queue.RemovedJob, outcome: Outcome, decided: Mapping[bytes, str | None], policy: Policy
) -> messages.EndDetails:
    """Return who decided the end of a message, and what it has cost: the price of the carrier that took it."""
    was_taken = job.references is not None or outcome is Outcome.DELIVERED
    code = decided.get(job.id)
    is_friend = code is not None and code.endswith(FRIEND_MARK)
    costs = policy.prices.costs_of(job.carrier if was_taken else None, outcome, is_friend) if policy.prices else ()
    carrier = job.carrier if was_taken or job.id in decided else None
    return messages.EndDetails(carrier, strip_friend_mark(code), costs)


def _record_costs(
    tx: Tx,
    removed: Sequence[queue.RemovedJob],
    final: Sequence[tuple[bytes, Product]],
    outcomes: Mapping[bytes, Outcome],
    policy: Policy,
    replaced: Container[bytes],
    friends: Container[bytes],
) -> None:
    """Record what messages have cost that ended, for the budgets of their accounts."""
    took = {
        one: carrier
        for one, carrier, references in removed
        if references is not None or outcomes[one] is Outcome.DELIVERED
    }
    ended = [
        (one, policy.prices.cost_of(took.get(one), product, outcomes[one], is_friend=one in friends) or 0)
        for one, product in final
    ]
    record_ended(tx, policy, ended, replaced)
