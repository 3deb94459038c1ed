"""Moves the waiting messages of a carrier to another one, when an operator says so."""

from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.sends.route import SIMULATOR_KIND
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.queue import carriers, queue_admin
from pabal.store.queue.queue import Lane

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
