"""Stores the state of carriers: the simulator's messages, and cursors of results."""

from collections.abc import Sequence

from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import DueReceipt, SimulatedMessage
from pabal.service.slots import RESULT_POLLING_SLOT, Slots
from pabal.store.engine.base import Store
from pabal.store.queue import cursors, simulator


class StoredSimulatorState:
    """The messages that the simulator has accepted, and the receipts that it will send."""

    def __init__(self, store: Store, carrier: str, slots: Slots) -> None:
        self._store = store
        self._carrier = carrier
        self._slots = slots

    async def store_messages(self, messages: Sequence[SimulatedMessage]) -> None:
        await self._store.write(simulator.add_messages, self._carrier, messages)

    async def count_busy_attempts(self, message_ids: Sequence[bytes]) -> dict[bytes, int]:
        return await self._store.write(simulator.count_busy, self._carrier, message_ids)

    async def due_receipts(self, now: Instant, limit: int) -> list[DueReceipt]:
        return await self._store.read(simulator.find_due_receipts, self._carrier, self._slots.held, now, limit)

    async def next_receipt_at(self) -> Instant | None:
        return await self._store.read(simulator.next_receipt_at, self._carrier, self._slots.held)

    async def delete_receipts(self, receipts: Sequence[DueReceipt]) -> None:
        await self._store.write(simulator.delete_receipts, self._carrier, receipts)


class PersistentCursor:
    """A cursor: how far the results of a carrier have been read."""

    def __init__(self, store: Store, carrier: str, slots: Slots) -> None:
        self._store = store
        self._carrier = carrier
        self._slots = slots

    @property
    def is_ours(self) -> bool:
        return RESULT_POLLING_SLOT in self._slots.held

    async def get(self, source: str) -> Instant | None:
        stored = await self._store.read(cursors.get, self._name(source))
        return None if stored is None else int.from_bytes(stored, "big")

    async def put(self, source: str, at: Instant) -> None:
        await self._store.write(cursors.put, self._name(source), at.to_bytes(8, "big"))

    def _name(self, source: str) -> str:
        return f"results {self._carrier} {source}"
