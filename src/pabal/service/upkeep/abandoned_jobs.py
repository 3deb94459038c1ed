"""Moves or cancels messages whose carrier is gone, or that were in a restored backup, when an operator says so."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from pabal.domain.base.codes import Text, TextError
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.service.delivery.claiming.claim_tx import hold_in_doubt
from pabal.service.delivery.outcome.finish import finish
from pabal.service.policy import Policy
from pabal.service.sending.waiting import cancel_messages
from pabal.store.campaigns import campaigns
from pabal.store.engine.base import Priority, Tx, transaction
from pabal.store.messages import messages
from pabal.store.queue import carriers, queue, queue_admin
from pabal.store.queue.queue import Lane

BATCH = 500
"""Most messages that one transaction moves or cancels."""


class KnownCarrier(NamedTuple):
    """A carrier that the store knows, and how many messages it has in the queue."""

    name: str
    kind: str
    unsent: int
    awaiting_receipt: int


class CannotMove(TextError):
    """Messages cannot move to a carrier; the message says why."""


def list_carriers(tx: Tx, slots: Sequence[int], configured: Mapping[str, str], now: Instant) -> list[KnownCarrier]:
    """Return the configured carriers, and all others that were configured once or have messages."""
    unknown = dict.fromkeys(queue_admin.carriers_in_queue(tx, slots), "")
    kinds = {**unknown, **carriers.get_kinds(tx), **configured}
    counts = {(each.carrier, each.lane): each.jobs for each in queue_admin.depths(tx, slots, kinds, now)}
    return [
        KnownCarrier(
            name,
            kind,
            counts[name, Lane.SMALL] + counts[name, Lane.CAMPAIGN],
            counts[name, Lane.AWAITING_RECEIPT],
        )
        for name, kind in sorted(kinds.items())
    ]


def cancel_some(tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant) -> int:
    """Cancel some messages that a carrier has not got; return how many.

    Those that it may have got end as unknown. Leased messages, and those that await a receipt, stay.
    """
    everything = [each.number for each in Product]
    found = queue_admin.find_unsent(tx, slot, carrier, everything, now, BATCH, includes_leased=False)
    stored = messages.get(tx, [one for one, _ in found])
    waiting = [one for one, each in stored.items() if each.status is Status.WAITING]
    queue.remove(tx, sorted(waiting))
    cancel_messages(tx, policy, waiting, now)
    finish(tx, [(one, Outcome.UNKNOWN) for one, _ in sorted(found) if one not in set(waiting)], policy, now)
    return len(found)


def move_some(tx: Tx, slot: int, carrier: str, target: str, products: Iterable[int], now: Instant) -> int:
    """Give some messages of a carrier that it has not got to another one; return how many."""
    found = queue_admin.find_unsent(tx, slot, carrier, products, now, BATCH, includes_leased=False)
    queue_admin.reroute(tx, [queue_admin.ReroutedJob(one, target) for one, _ in found], now)
    return len(found)


def check_move(tx: Tx, carrier: str, target: str, kinds: Mapping[str, str]) -> None:
    """Raise CannotMove unless the target is configured, and both carriers are real or both are simulators."""
    if target not in kinds:
        raise CannotMove(
            f"발송 경로 {target}이(가) 설정에 없습니다. 그 발송 경로가 있는 --config FILE을 쓰세요",
            f"the carrier {target} is not configured; use the --config FILE that has it",
        )
    known = carriers.get_kinds(tx)
    if (known.get(carrier) == SIMULATOR_KIND) != (kinds[target] == SIMULATOR_KIND):
        before = known.get(carrier, "unknown")
        raise CannotMove(
            f"{carrier}은(는) {before}, {target}은(는) {kinds[target]}입니다. 메시지는 실제 발송 경로와 시뮬레이터"
            " 사이를 옮겨 다니지 않습니다",
            f"{carrier} is {before} and {target} is {kinds[target]}: messages do not move between real carriers and"
            " simulators",
        )


def forget(tx: Tx, carrier: str) -> bool:
    """Forget a carrier that has no messages in the queue; return whether that was so."""
    if carrier in queue_admin.carriers_in_queue(tx):
        return False
    carriers.delete(tx, carrier)
    return True


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
