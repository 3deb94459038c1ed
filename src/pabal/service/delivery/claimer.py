"""Claims for one carrier: from which slot next, from where on in the queue, and what claims nobody saw end took."""

from collections.abc import Sequence

from pabal.carriers.base import Carrier
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.service.delivery.claim import Claim, Turn, claim, lease_of, turn
from pabal.service.delivery.finish import Finished
from pabal.service.delivery.watermarks import Floors
from pabal.store import queue, slots
from pabal.store.engine.base import StoreAway, Tx

REST_S = 1.0
"""What is due and cannot be claimed is locked by someone: so much later it is tried again."""


class Claimer:
    """Claims from the slots that this process holds."""

    def __init__(self, context: Context, carrier: Carrier) -> None:
        self._context = context
        self._carrier = carrier
        self._floors = Floors()
        self._unseen: dict[int, list[Instant]] = {}
        """When claims were made, by slot, of which nobody knows whether they were kept."""
        self._seen: dict[int, Instant] = {}
        """When the last claim that was seen to be kept was made, by slot."""
        self._rests_until: dict[int, float] = {}
        """The slots that had something due of which nothing could be claimed: others come first for a while."""

    async def turn(self) -> Turn:
        """Return whose turn it is among the slots; where there is but one, a claim tells all there is to know.

        Raises StoreAway.
        """
        here = self._context.slots
        if not here.are_shared:
            return Turn(here.held[0], False, None)
        if not here.held:
            return Turn(None, False, None)
        if unseen := [slot for slot, times in self._unseen.items() if times and slot in here.held]:
            return Turn(unseen[0], True, None)
        now, clock = self._context.world.now(), self._context.world.stopwatch()
        awake = [slot for slot in here.held if self._rests_until.get(slot, 0.0) <= clock]
        lanes = self._floors.lanes(awake, now)
        found = await self._context.store.read(queue.next_due, self._carrier.name, lanes)
        self._floors.note(lanes, found, now)
        return turn(found, self._context.world.now())

    async def claim(self, next_turn: Turn, most: int) -> Claim:
        """Claim from a slot, and what claims before took that were perhaps kept, but never seen.

        Raises StoreAway.
        """
        slot = next_turn.slot
        assert slot is not None
        unseen, noted = self._unseen.get(slot, []), list[Instant]()
        try:
            claimed = await self._context.store.write(self._claim_now, next_turn, most, tuple(unseen), noted)
        except StoreAway:
            oldest = self._context.world.now() - lease_of(self._carrier)  # older ones come due by themselves
            self._unseen[slot] = [at for at in (*unseen, *noted) if at > oldest and at != self._seen.get(slot)]
            raise
        self._unseen.pop(slot, None)
        self._seen[slot] = noted[-1] if noted else 0
        if self._context.slots.are_shared and not claimed.leased and not claimed.is_full:
            self._rests_until[slot] = self._context.world.stopwatch() + REST_S
        return claimed

    def _claim_now(
        self, tx: Tx, next_turn: Turn, most: int, unseen: Sequence[Instant], noted: list[Instant]
    ) -> Claim:
        """Claim by the clock of the transaction: the lease begins when it is written, not when it was asked for.

        The time is noted, for whoever never gets the answer.
        From a slot that has gone to another worker nothing is claimed.
        """
        carrier, slot = self._carrier, next_turn.slot
        assert slot is not None
        now, here = self._context.world.now(), self._context.slots
        if here.are_shared and (here.worker_id is None or not slots.is_held(tx, slot, here.worker_id)):
            return Claim([], Finished([], set()), 0, False, None)
        noted.append(now)
        return claim(
            tx,
            slot,
            carrier.name,
            most,
            lease_of(carrier),
            self._context.policy,
            now,
            holds_doubt=carrier.holds_in_doubt,
            asks=carrier.can_look_up,
            fills_up=next_turn.fills_up,
            unseen=unseen,
            since=self._floors.of(slot),
        )
