"""Keeps the simulator's memory in the store."""

from collections.abc import Sequence

from pabal.domain.arrival import Arrival
from pabal.domain.message import Outcome
from pabal.domain.when import Instant
from pabal.service.slots import Slots
from pabal.store import simulated
from pabal.store.base import Store


class StoredMemory:
    """What the simulator has taken and owes, kept where everything is kept."""

    def __init__(self, store: Store, carrier: str, slots: Slots) -> None:
        self._store = store
        self._carrier = carrier
        self._slots = slots

    async def take(self, arrivals: Sequence[Arrival]) -> None:
        await self._store.write(simulated.take, self._carrier, arrivals)

    async def count_busy(self, message_ids: Sequence[bytes]) -> dict[bytes, int]:
        return await self._store.write(simulated.count_busy, self._carrier, message_ids)

    async def owed(self, now: Instant, most: int) -> list[tuple[Instant, bytes, Outcome]]:
        return await self._store.read(simulated.owed, self._carrier, self._slots.held, now, most)

    async def next_owed_at(self) -> Instant | None:
        return await self._store.read(simulated.next_owed_at, self._carrier, self._slots.held)

    async def settle_owed(self, handed_over: Sequence[tuple[Instant, bytes, Outcome]]) -> None:
        await self._store.write(simulated.settle_owed, self._carrier, handed_over)
