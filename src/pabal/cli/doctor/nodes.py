"""Checks the nodes of a store that Citus distributes."""

from pabal.cli.doctor.finding import Finding
from pabal.store.engine.base import Store, Tx
from pabal.store.engine.citus import citus_nodes
from pabal.store.queue import slots


async def check_nodes(store: Store) -> list[Finding]:
    """Check the nodes of Citus: that they can be reached and have our settings."""
    known = await store.read(slots.list_numbers)
    if not (places := await store.read(citus_nodes.find_places, known)):
        return await store.read(_check_undistributed)
    names = sorted({place.node for place in places.values()})
    problems = await store.read(citus_nodes.find_problems)
    found = [Finding(False, each.message, each.remedy) for each in problems]
    unreachable = {each.node for each in problems}
    for node in (each for each in names if each not in unreachable):
        held = sum(place.node == node for place in places.values())
        found.append(Finding(True, f"the node {node} can be reached ({held} slots)"))
    shards = len({place.shard for place in places.values()})
    found.append(Finding(True, f"Citus distributes {len(known)} slots over {shards} shards"))
    return found


def _check_undistributed(tx: Tx) -> list[Finding]:
    """Say so where the database has Citus, but its tables are not distributed, and which node may be the reason."""
    if not citus_nodes.has_citus(tx):
        return []
    problems = [Finding(False, each.message, each.remedy) for each in citus_nodes.find_unreachable(tx)]
    return [
        *problems,
        Finding(True, "the database has Citus, but distributes nothing", "Run `pabal migrate --citus`."),
    ]
