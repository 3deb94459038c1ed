"""Stands down what may have been sent already: for a queue that comes from a backup."""

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pabal.domain.codes import Text
from pabal.domain.dates import Instant
from pabal.service.delivery.claim import hold_in_doubt
from pabal.service.policy import Policy
from pabal.store import campaigns, messages, queue, queue_admin
from pabal.store.engine.base import Tx, transaction

BATCH = 500
HALT_REASON = Text(
    "백업에서 복구했습니다. 그 뒤에 이미 보냈을 수 있으니, 확인하고 계속하거나 취소하세요.",
    "It comes from a backup, and may have been sent since: look into that, then go on or cancel it.",
)


class CancelAfterRestoreResult(NamedTuple):
    """How many messages were cancelled, and how many wait for a receipt that may come."""

    cancelled: int
    held: int
    halted_campaigns: int = 0
    """How many campaigns are not made into requests any further until someone says so."""


@transaction(slow=True)
def cancel_after_restore(tx: Tx, policy: Policy, now: Instant) -> CancelAfterRestoreResult:
    """Hand over none of what is due or had begun: it may have been, by whoever had the queue since.

    What waited is cancelled. What was being sent cannot be: it waits for its receipt, or for the end of its time.
    Campaigns that were on their way are halted.
    """
    cancelled = held = 0
    last = b""
    while found := queue_admin.find_maybe_sent(tx, now, last, BATCH):
        last = found[-1][0]
        cancelled += messages.cancel(tx, queue.remove_unclaimed(tx, [one for one, _, _ in found]), now)
        begun = sorted((carrier, one) for one, carrier, has_begun in found if has_begun)
        held += len(begun)
        for carrier, ids in groupby(begun, itemgetter(0)):
            hold_in_doubt(tx, carrier, list(messages.get(tx, [one for _, one in ids]).values()), policy, now)
    return CancelAfterRestoreResult(cancelled, held, campaigns.halt_all(tx, HALT_REASON, now))
