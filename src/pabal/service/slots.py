"""Slots, the parts of the queue that this process delivers, and the nodes of a distributed store that hold them."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from pabal.domain.base import identifiers
from pabal.store.engine.base import NodeUnavailable, Store, StoreUnavailable
from pabal.store.engine.citus.places import SlotPlace, find_places, probe
from pabal.world import World

PROBE_INTERVAL_S = 1.0
"""How often to probe a node that cannot be reached."""
REFRESH_INTERVAL_S = 10.0
"""How often to read where the slots are: an operator may move shards to another node."""

log = logging.getLogger("pabal.nodes")


class Nodes:
    """Knows the node of each slot; without nodes, in a store that is not distributed, all are reachable."""

    def __init__(self, store: Store, slots: Sequence[int]) -> None:
        self._store = store
        self._slots = slots
        self.places: Mapping[int, SlotPlace] = MappingProxyType({})
        """Where each slot is; empty where the store is not distributed."""
        self._known_lost: set[str] = set()

    @property
    def is_distributed(self) -> bool:
        """Whether the store has nodes."""
        return bool(self.places)

    @property
    def lost(self) -> list[str]:
        """The nodes that cannot be reached, by host and port."""
        return sorted(self._store.lost_nodes) if self.places else []

    def is_reachable(self, slot: int) -> bool:
        """Return whether the node of a slot can be reached, as far as is known."""
        place = self.places.get(slot)
        return place is None or place.node not in self._store.lost_nodes

    def reachable(self, slots: Iterable[int]) -> list[int]:
        """Return those slots whose node can be reached, in order."""
        return [slot for slot in slots if self.is_reachable(slot)]

    def check(self, slot: int) -> None:
        """Raise NodeUnavailable where the node of a slot cannot be reached: nobody has to wait for that again."""
        if not self.is_reachable(slot):
            raise NodeUnavailable(self.places[slot].node)

    def node_of(self, slot: int) -> str:
        """Return the node of a slot; empty where the store has no nodes."""
        place = self.places.get(slot)
        return place.node if place else ""

    def by_node(self, slots: Iterable[int]) -> list[list[int]]:
        """Return the slots that can be reached, those of each node together."""
        found: dict[str, list[int]] = {}
        for slot in self.reachable(slots):
            found.setdefault(self.node_of(slot), []).append(slot)
        return list(found.values())

    async def refresh(self) -> None:
        """Read where the slots are.

        Raises StoreUnavailable.
        """
        self.places = MappingProxyType(await self._store.read(find_places, self._slots))
        self._store.slot_nodes.clear()
        self._store.slot_nodes.update({slot: place.node for slot, place in self.places.items()})

    async def probe(self) -> list[str]:
        """Try the nodes that cannot be reached; return those that are back."""
        lost = set(self._store.lost_nodes)
        for node in sorted(lost - self._known_lost):
            log.warning("node cannot be reached; its slots wait, all others go on", extra={"node": node})
        back = [node for node in sorted(lost) if await self._answers(node)]
        for node in back:
            self._store.lost_nodes.discard(node)
            log.warning("node can be reached again", extra={"node": node})
        self._known_lost = lost - set(back)
        return back

    async def _answers(self, node: str) -> bool:
        """Return whether a node answers, or has no slot any more."""
        slot = next((slot for slot, place in self.places.items() if place.node == node), None)
        if slot is None:
            return True
        try:
            await self._store.read(probe, slot)
        except StoreUnavailable:
            return False
        return True


HOUSEKEEPING_SLOT = 0
"""Its holder does what one process does for all workers."""
RESULT_POLLING_SLOT = 0
"""Its holder polls carriers' results for all workers."""
TURN_S = 0.1
"""How long sends without an Idempotency-Key go to one slot of a distributed store, before they go to another."""
NOBODY = b""
"""The id of no worker."""


class Slots:
    """The slots that this process holds: all of them, unless it shares them with other workers."""

    def __init__(self, total: int = 1, *, worker: str = "", numbers: Sequence[int] = ()) -> None:
        self.numbers = tuple(numbers or range(total))
        """The numbers of all slots of the store, in order."""
        self.held: tuple[int, ...] = () if worker else self.numbers
        self.worker = worker
        """The name of this process among the workers; empty if it is the only one."""
        self.worker_id: bytes | None = None
        self.are_noted = False
        """Whether each worker notes, beside the jobs of a slot, that it holds it: then claims look there."""
        self._chosen = -1
        """The slot that was chosen last for a send."""
        self._chosen_until = 0.0
        self.may_share_images = False
        """Whether all workers are known to find images that requests share; then none starts that does not."""

    def choose(self, world: World, usable: Sequence[int], *, stays: bool) -> int:
        """Return a random slot for a send; where it `stays`, the same for a moment: sends share statements."""
        now = world.monotonic()
        if not stays or now >= self._chosen_until or self._chosen not in usable:
            self._chosen = usable[world.random_bits(identifiers.SLOT_BITS) % len(usable)]
            self._chosen_until = now + TURN_S
        return self._chosen

    @property
    def total(self) -> int:
        """How many slots the store has."""
        return len(self.numbers)

    @property
    def are_shared(self) -> bool:
        """Whether other processes may deliver as well."""
        return bool(self.worker)

    @property
    def holder(self) -> bytes | None:
        """Who must hold a slot when a transaction changes its jobs; None: the only process, which has all slots.

        A worker that was evicted, or paused until others took its slots, changes nothing that way.
        """
        return (self.worker_id or NOBODY) if self.are_shared else None
