"""Moves due messages to other carriers: those of a carrier whose circuit is open, or that an operator moves."""

import logging
from collections.abc import Container
from typing import NamedTuple

from pabal.carriers.base import Carrier
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Product
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.service.context import Context
from pabal.service.delivery.claiming.claim_tx import check_leases, lease_duration_ms
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers, queue_admin
from pabal.store.queue.queue import Lane
from pabal.store.queue.slots import SlotNotHeld, run_if_held

REROUTE_BATCH = 500
"""Most messages that one transaction reroutes."""

log = logging.getLogger("pabal.deliver")


class DoubtRules(NamedTuple):
    """What reroutes must know about messages that a carrier may have."""

    max_doubts: int
    """How many attempts of unknown result a message may have had there."""
    in_flight: Container[tuple[bytes, int]]
    lease_ms: int


def reroute_due(
    tx: Tx,
    carrier: str,
    targets: dict[int, str],
    slot: int,
    rules: DoubtRules,
    now: Instant,
    *,
    only_untried: bool,
) -> int:
    """Give some due messages of a carrier to the target of their product; return how many were found."""
    found = queue_admin.find_reroutable(
        tx,
        slot,
        carrier,
        targets,
        now,
        REROUTE_BATCH,
        max_doubts=rules.max_doubts,
        only_untried=only_untried,
    )
    ids = [message_id for message_id, _ in found]
    in_flight = check_leases(tx, carrier, ids, rules.in_flight, now + rules.lease_ms, now)
    queue_admin.reroute(
        tx,
        [
            queue_admin.ReroutedJob(message_id, targets[product])
            for message_id, product in found
            if message_id not in in_flight
        ],
        now,
    )
    return len(found)


class Rerouter:
    """Finds other carriers for the messages of one carrier."""

    def __init__(self, context: Context, carrier: Carrier) -> None:
        self._context = context
        self._carrier = carrier

    async def reroute(self) -> None:
        """Give due messages to the next carriers of their routes.

        Where none follows, messages that were never tried go back to an earlier carrier.
        """
        routes, name, open_circuits = self._context.policy.routes, self._carrier.name, self._context.open_circuits
        following = {product: routes.next_after(product, name, avoid=open_circuits) for product in Product}
        forward = {
            product.number: target
            for product, target in following.items()
            if target and target not in open_circuits and self._may_move_to(target)
        }
        back = {
            product.number: target
            for product in Product
            if product.number not in forward
            and (target := routes.alternative_to(product, name, open_circuits))
            and self._may_move_to(target)
        }
        reachable = self._context.nodes.reachable(self._context.slots.held)
        for slot in reachable:
            await self._reroute_slot(slot, forward, only_untried=False)
        for slot in reachable:
            await self._reroute_slot(slot, back, only_untried=True)

    def _may_move_to(self, target: str) -> bool:
        """Whether both carriers are real, or both simulators: a product's route may have changed meanwhile."""
        return (self._context.carriers[target].kind == SIMULATOR_KIND) == (self._carrier.kind == SIMULATOR_KIND)

    async def _reroute_slot(self, slot: int, targets: dict[int, str], *, only_untried: bool) -> None:
        context, carrier = self._context, self._carrier
        rerouted = REROUTE_BATCH if targets else 0
        max_doubts = 0 if carrier.can_look_up else carrier.max_resends
        rules = DoubtRules(max_doubts, context.in_flight, lease_duration_ms(carrier))
        while rerouted == REROUTE_BATCH:
            try:
                rerouted = await context.store.write(
                    run_if_held,
                    slot,
                    context.slots.holder,
                    reroute_due,
                    carrier.name,
                    targets,
                    slot,
                    rules,
                    context.world.now(),
                    only_untried=only_untried,
                )
            except SlotNotHeld:  # its worker may have them in flight
                return
            if rerouted:
                log.warning(
                    "carrier circuit is open; messages rerouted to other carriers",
                    extra={"carrier": carrier.name, "messages": rerouted},
                )
                context.wake(targets.values())


BATCH = 500
"""Most messages that one transaction moves."""
MAX_MOVED = 20_000
"""Most messages that one call moves, so that its page answers in time; the page says how many are left."""
NO_TARGET = Text("옮겨 갈 발송 경로를 고르세요.", "Choose the carrier to move them to.")
OTHER_KIND = Text(
    "실제 발송 경로와 시뮬레이터 사이에는 옮기지 않습니다. 다른 발송 경로를 고르세요.",
    "Messages do not move between real carriers and simulators. Choose another carrier.",
)


class Moved(NamedTuple):
    """What moved: how many waited at a carrier before and after, and how many went to the other."""

    carrier: str
    target: str
    before: int
    moved: int
    left: int


async def move_queue(context: Context, carrier: str, target: str, audit_entry: AuditEntry) -> Moved:
    """Move the messages that a carrier has not got and the other one can send.

    Those in flight, and those that it may have got, stay. Raises Refused(INVALID_PARAMETER).
    """
    if target not in context.carriers or target == carrier:
        raise Refused(Code.INVALID_PARAMETER, "to", NO_TARGET)
    kinds = {**await context.store.read(carriers.get_kinds), **context.kinds}
    if (kinds.get(carrier) == SIMULATOR_KIND) != (kinds.get(target) == SIMULATOR_KIND):
        raise Refused(Code.INVALID_PARAMETER, "to", OTHER_KIND)
    products = [each.number for each in context.carriers[target].products]
    slots = context.nodes.reachable(context.slots.numbers)
    before = await context.store.read(_count_waiting, slots, carrier)
    await context.store.write(audit_log.add, audit_entry)
    moved = 0
    for slot in slots:
        while moved < MAX_MOVED:
            some = await context.store.write(
                queue_admin.move_waiting, slot, carrier, target, products, context.world.now(), BATCH
            )
            if not some:
                break
            moved += some
    return Moved(carrier, target, before, moved, await context.store.read(_count_waiting, slots, carrier))


def _count_waiting(tx: Tx, slots: list[int], carrier: str) -> int:
    return sum(
        each.jobs for each in queue_admin.depths(tx, slots, [carrier], 0) if each.lane != Lane.AWAITING_RECEIPT
    )
