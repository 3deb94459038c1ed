"""The nodes of Citus: which slots each has, and whether it can be reached."""

import logging
from collections.abc import Collection, Mapping
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.world import World

SLOT_NUMBERS = range(1 << identifiers.SLOT_BITS)
"""Every number that a slot can have."""
AVOID_S = 10.0
"""How long a node is not asked itself after that has failed; the coordinator is asked. Each time twice as long."""
MAX_AVOID_S = 300.0
"""At most so long: to a node that does not answer at all, callers wait for a connection in vain."""

log = logging.getLogger("pabal.store")


class SlotPlace(NamedTuple):
    """Where a slot is: the number of its shard, and host and port of the node that has it."""

    shard: int
    node: str


def is_distributed(tx: Tx) -> bool:
    """Return whether Citus distributes the tables of this store."""
    return tx.fetch_one("select 1 where {is_distributed}") is not None


@transaction(reader=Reader.BACKGROUND)
def find_places(tx: Tx, slots: Collection[int] = SLOT_NUMBERS) -> dict[int, SlotPlace]:
    """Return where each slot is; nothing where the store is not distributed. Asks the coordinator alone."""
    if not slots or not is_distributed(tx):
        return {}
    rows = tx.execute_many(
        "select s.slot, s.shardid, n.nodename || ':' || n.nodeport from (select v.slot,"
        " get_shard_id_for_distribution_column('jobs', v.slot::smallint) as shardid"
        " from (values {rows}) as v(slot) offset 0) as s"
        " join pg_dist_placement p on p.shardid = s.shardid"
        " join pg_dist_node n on n.groupid = p.groupid and n.noderole = 'primary'",
        [(slot,) for slot in slots],
    )
    return {slot: SlotPlace(shard, node) for slot, shard, node in rows}


@transaction(reader=Reader.BACKGROUND)
def probe(tx: Tx, slot: int) -> None:
    """Read something of a slot. Raises NodeUnavailable, in the store, where its node cannot be reached."""
    tx.fetch_one("select 1 from jobs where slot = ? and id = ?", (slot, b""))


def spread(count: int, places: Mapping[int, SlotPlace]) -> list[int]:
    """Return the numbers of so many slots, evenly over nodes and over the shards of each; 0 is one of them.

    Citus hashes the numbers: those of neighbours may be in one shard, and other shards would have none.
    """
    numbers: dict[int, list[int]] = {}
    shards_of: dict[str, list[int]] = {}
    for number in sorted(places):
        shard, node = places[number]
        if shard not in numbers:
            shards_of.setdefault(node, []).append(shard)
        numbers.setdefault(shard, []).append(number)
    # slot 0 exists in every store; its node and its shard come first, because they are found first
    rounds = max(len(shards) for shards in shards_of.values())
    order = [shards[number] for number in range(rounds) for shards in shards_of.values() if number < len(shards)]
    chosen: list[int] = []
    while len(chosen) < count and any(numbers.values()):
        for shard in [each for each in order if numbers[each]][: count - len(chosen)]:
            chosen.append(numbers[shard].pop(0))
    return sorted(chosen)


class AskedNodes:
    """Remembers which nodes could not be asked themselves a moment ago."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._avoided: dict[str, tuple[float, float]] = {}
        """Until when, and for how long, by node."""

    def may_ask(self, node: str) -> bool:
        """Return whether to ask a node itself."""
        return node not in self._avoided or self._world.monotonic() >= self._avoided[node][0]

    def note_failure(self, node: str, error: Exception) -> None:
        """Note that it could not be asked; the first time in a row is logged."""
        _, last_s = self._avoided.get(node, (0.0, 0.0))
        if not last_s:
            log.warning(
                "node cannot be asked itself; the coordinator is asked", extra={"node": node, "error": str(error)}
            )
        pause_s = min(2 * last_s, MAX_AVOID_S) if last_s else AVOID_S
        self._avoided[node] = (self._world.monotonic() + pause_s, pause_s)

    def note_answer(self, node: str) -> None:
        """Note that it has answered."""
        if self._avoided.pop(node, None) is not None:
            log.info("node can be asked itself again", extra={"node": node})
