"""Claims for one carrier: from which slot next, from where on in the queue, and what claims nobody saw end took."""

from collections.abc import Sequence

from pabal.carriers.base import Carrier
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.service.delivery.claim import ClaimedBatch, SlotChoice, choose_slot, claim, lease_duration_ms
from pabal.service.delivery.finish import FinishResult
from pabal.service.delivery.watermarks import Watermarks
from pabal.store import queue, slots
from pabal.store.engine.base import StoreUnavailable, Tx

LOCKED_SLOT_PAUSE_S = 1.0
"""What is due and cannot be claimed is locked by someone: so much later it is tried again."""


class Claimer:
    """Claims from the slots that this process holds."""

    def __init__(self, context: Context, carrier: Carrier) -> None:
        self._context = context
        self._carrier = carrier
        self._watermarks = Watermarks()
        self._unconfirmed: dict[int, list[Instant]] = {}
        """When claims were made, by slot, of which nobody knows whether they were kept."""
        self._last_confirmed: dict[int, Instant] = {}
        """When the last claim that was seen to be kept was made, by slot."""
        self._skipped_until: dict[int, float] = {}
        """The slots that had something due of which nothing could be claimed: others come first for a while."""

    async def choose_slot(self) -> SlotChoice:
        """Return whose turn it is among the slots; where there is but one, a claim tells all there is to know.

        Raises StoreUnavailable.
        """
        here = self._context.slots
        if not here.are_shared:
            return SlotChoice(here.held[0], False, None)
        if not here.held:
            return SlotChoice(None, False, None)
        if unseen := [slot for slot, times in self._unconfirmed.items() if times and slot in here.held]:
            return SlotChoice(unseen[0], True, None)
        now, clock = self._context.world.now(), self._context.world.monotonic()
        awake = [slot for slot in here.held if self._skipped_until.get(slot, 0.0) <= clock]
        lanes = self._watermarks.lanes(awake, now)
        found = await self._context.store.read(queue.next_due_by_lane, self._carrier.name, lanes)
        self._watermarks.record(lanes, found, now)
        return choose_slot(found, self._context.world.now())

    async def claim(self, choice: SlotChoice, limit: int) -> ClaimedBatch:
        """Claim from a slot, and what claims before took that were perhaps kept, but never seen.

        Raises StoreUnavailable.
        """
        slot = choice.slot
        assert slot is not None
        unseen, noted = self._unconfirmed.get(slot, []), list[Instant]()
        try:
            claimed = await self._context.store.write(self._claim_in_tx, choice, limit, tuple(unseen), noted)
        except StoreUnavailable:
            oldest = self._context.world.now() - lease_duration_ms(
                self._carrier
            )  # older ones come due by themselves
            self._unconfirmed[slot] = [
                at for at in (*unseen, *noted) if at > oldest and at != self._last_confirmed.get(slot)
            ]
            raise
        self._unconfirmed.pop(slot, None)
        self._last_confirmed[slot] = noted[-1] if noted else 0
        if self._context.slots.are_shared and not claimed.leased and not claimed.is_full:
            self._skipped_until[slot] = self._context.world.monotonic() + LOCKED_SLOT_PAUSE_S
        return claimed

    def _claim_in_tx(
        self, tx: Tx, choice: SlotChoice, limit: int, unconfirmed: Sequence[Instant], claim_times: list[Instant]
    ) -> ClaimedBatch:
        """Claim by the clock of the transaction: the lease begins when it is written, not when it was asked for.

        The time is noted, for whoever never gets the answer.
        From a slot that has gone to another worker nothing is claimed.
        """
        carrier, slot = self._carrier, choice.slot
        assert slot is not None
        now, here = self._context.world.now(), self._context.slots
        if here.are_shared and (here.worker_id is None or not slots.is_held(tx, slot, here.worker_id)):
            return ClaimedBatch([], FinishResult([], set()), 0, False, None)
        claim_times.append(now)
        return claim(
            tx,
            slot,
            carrier.name,
            limit,
            lease_duration_ms(carrier),
            self._context.policy,
            now,
            holds_in_doubt=carrier.holds_in_doubt,
            can_look_up=carrier.can_look_up,
            fills_with_campaigns=choice.fills_with_campaigns,
            unconfirmed=unconfirmed,
            watermarks=self._watermarks.for_slot(slot),
        )
