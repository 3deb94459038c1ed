"""Reads when the next jobs of lanes are due, from each node of a distributed store by itself."""

from collections.abc import Sequence

from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.store.engine.base import NodeUnavailable, Tx
from pabal.store.queue import queue
from pabal.store.queue.queue import LaneDue

SlotLane = tuple[int, int, Instant]
"""A slot, a lane, and from when on to look."""


async def read_heads(context: Context, carrier: str, lanes: Sequence[SlotLane]) -> list[LaneDue]:
    """Return when the next job of each lane is due, if any; of nodes that cannot be reached, nothing.

    Raises StoreUnavailable.
    """
    nodes = context.nodes
    if not nodes.is_distributed:
        return await context.store.read(queue.next_due_by_lane, carrier, lanes)
    found: list[LaneDue] = []
    wanted = dict.fromkeys(slot for slot, _, _ in lanes)
    for slots in nodes.by_node(wanted):
        by_shard = [[lane for lane in lanes if lane[0] in some] for some in nodes.by_shard(slots)]
        try:
            found += await context.store.read(_read_shards, carrier, by_shard)
        except NodeUnavailable:
            continue
    return found


def _read_shards(tx: Tx, carrier: str, by_shard: Sequence[Sequence[SlotLane]]) -> list[LaneDue]:
    return [each for lanes in by_shard for each in queue.next_due_by_lane(tx, carrier, lanes)]
