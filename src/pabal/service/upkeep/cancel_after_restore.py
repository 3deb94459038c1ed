"""Cancels messages after a restore: the queue of a backup may hold messages that were sent since."""

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pabal.domain.base.codes import Text
from pabal.domain.base.dates import Instant
from pabal.service.delivery.claiming.claim_tx import hold_in_doubt
from pabal.service.policy import Policy
from pabal.service.sending.cancel import cancel_messages
from pabal.store.campaigns import campaigns
from pabal.store.engine.base import Priority, Tx, transaction
from pabal.store.messages import messages
from pabal.store.queue import queue, queue_admin

BATCH = 500
"""How many jobs are read at a time."""
HALT_REASON = Text(
    "백업에서 복구했습니다. 그 뒤에 이미 보냈을 수 있으니, 확인하고 계속하거나 취소하세요.",
    "Restored from a backup: it may have been sent since. Check that, then resume or cancel it.",
)


class CancelAfterRestoreResult(NamedTuple):
    """How many messages were cancelled, and how many wait for a receipt."""

    cancelled: int
    held: int
    halted_campaigns: int = 0
    """How many campaigns were halted until someone resumes them."""


@transaction(priority=Priority.PATIENT)
def cancel_after_restore(tx: Tx, policy: Policy, now: Instant) -> CancelAfterRestoreResult:
    """Cancel due messages, which may have been sent since the backup was made.

    Messages whose sending had begun cannot be cancelled: they wait for a receipt until their timeout. Campaigns
    in progress are halted.
    """
    cancelled = held = 0
    last = b""
    while found := queue_admin.find_maybe_sent(tx, now, last, BATCH):
        last = found[-1][0]
        cancelled += cancel_messages(tx, policy, queue.remove_unclaimed(tx, [one for one, _, _ in found]), now)
        begun = sorted((carrier, one) for one, carrier, has_begun in found if has_begun)
        held += len(begun)
        for carrier, ids in groupby(begun, itemgetter(0)):
            hold_in_doubt(tx, carrier, list(messages.get(tx, [one for _, one in ids]).values()), policy, now)
    return CancelAfterRestoreResult(cancelled, held, campaigns.halt_all(tx, HALT_REASON, now))
