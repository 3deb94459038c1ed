"""Ends messages that cannot be read: one of them must not keep all others of its queue from being sent."""

import logging
from collections.abc import Container, Sequence

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Outcome
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx

log = logging.getLogger("pabal.deliver")


def end_incomplete(
    tx: Tx, due: Sequence[bytes], stored: Container[bytes], shared: Container[bytes], policy: Policy, now: Instant
) -> tuple[list[bytes], FinishResult]:
    """End those messages as undeliverable that are not in `stored`, or whose request is not in `shared`.

    Returns the others, and what ended. The job of a message that does not exist any more is removed.
    """
    complete = [one for one in due if one in stored and identifiers.request_id_of(one) in shared]
    if len(complete) == len(due):
        return complete, FinishResult([], set())
    known = set(complete)
    incomplete = [one for one in due if one not in known]
    for one in incomplete:
        log.error("message cannot be read; it ends as undeliverable", extra={"message_id": one.hex()})
    return complete, finish(tx, [(one, Outcome.UNDELIVERABLE) for one in incomplete], policy, now)
