"""Claims for one carrier: chooses the slot, and remembers watermarks and unconfirmed claims."""

import contextlib
from collections.abc import Collection, Container, Sequence

from pabal.carriers.base import Carrier
from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.service.delivery.claiming.claim_tx import (
    ClaimedBatch,
    ClaimRequest,
    SlotChoice,
    choose_slot,
    claim,
    lease_duration_ms,
)
from pabal.service.delivery.outcome.finish import FinishResult
from pabal.service.next_due import Watermarks, read_next_due
from pabal.store.engine.base import NodeUnavailable, StoreUnavailable, Tx, transaction
from pabal.store.kakao import profiles
from pabal.store.queue import queue, slots
from pabal.store.queue.queue import Lane, LaneDue
from pabal.store.queue.slots import SlotNotHeld

REMEMBERED_CLAIMS = 20
"""Claims from a slot for which its messages are taken to be of the same kinds as before."""
LOCKED_SLOT_PAUSE_S = 1.0
"""How long to skip a slot whose due jobs are locked by another transaction, or whose node cannot be reached."""


class Claimer:
    """Claims from the slots that this process holds."""

    def __init__(self, context: Context, carrier: Carrier) -> None:
        self._context = context
        self._carrier = carrier
        self._watermarks = Watermarks()
        self._is_one_of_relays = len(context.relays) > 1 and carrier.name in context.relays
        self._unconfirmed: dict[int, list[Instant]] = {}
        """By slot, the times of claims whose commit was not confirmed: they may have been stored or not."""
        self._due_since: dict[tuple[int, int], float] = {}
        """Since when each lane, by slot and number, has had jobs due that no claim took, on the monotonic clock."""
        self._choices = 0
        """How often a slot was chosen: campaigns come first every fourth time, never twice in a row by chance."""
        self._skipped_until: dict[int, float] = {}
        """Slots with due jobs none of which could be claimed: other slots come first for a while."""
        self._with_profiles: dict[int, int] = {}
        """Slots that had messages of sender profiles, and for how many claims more they count as such."""
        self._left: dict[int, int] = {}
        """Slots with messages that are looked up in tables which are not divided into slots, and for how long."""

    async def choose_slot(self, unsettled: Container[int] = ()) -> SlotChoice:
        """Return the slot to claim from; with a single slot nothing has to be read for that.

        From `unsettled` slots nothing may be claimed, nor from those whose node cannot be reached.
        Raises StoreUnavailable.
        """
        here = self._context.slots
        if not here.are_shared:
            return SlotChoice(here.held[0], False, None)
        if not here.held:
            return SlotChoice(None, False, None)
        now, clock = self._context.world.now(), self._context.world.monotonic()
        usable = self._context.nodes.reachable(slot for slot in here.held if slot not in unsettled)
        if unconfirmed := [slot for slot in usable if self._unconfirmed.get(slot)]:
            return SlotChoice(unconfirmed[0], True, None)
        candidates = [slot for slot in usable if self._skipped_until.get(slot, 0.0) <= clock]
        lanes = self._watermarks.lanes(candidates, now)
        found = await read_next_due(self._context, self._carrier.name, lanes)
        self._watermarks.record(lanes, found, now)
        self._context.fair_queue.record_next_due(self._carrier.name, here.held, found, now)
        now = self._context.world.now()
        self._due_since = {
            (slot, lane): self._due_since.get((slot, lane), clock) for slot, lane, at in found if at <= now
        }
        self._choices += 1
        is_campaigns_turn = self._choices % queue.CAMPAIGN_SHARE == 0
        return choose_slot(found, now, self._due_since, is_campaigns_turn=is_campaigns_turn)

    async def claim(self, choice: SlotChoice, limit: int) -> ClaimedBatch:
        """Claim from a slot, including what unconfirmed claims took.

        Raises StoreUnavailable.
        """
        slot = choice.slot
        assert slot is not None
        unconfirmed, claim_times = self._unconfirmed.get(slot, []), list[Instant]()
        next_due: list[LaneDue] = []
        choice = choice._replace(stays_in_slot=self._context.slots.are_noted and slot not in self._left)
        deleted: Collection[int] | None = None
        if choice.stays_in_slot and slot in self._with_profiles:
            deleted = await self._context.store.read(profiles.list_deleted)
        for lane in (Lane.SMALL, Lane.CAMPAIGN):
            self._due_since.pop((slot, lane), None)
        try:
            claimed = await self._context.store.write(
                self._claim_in_tx, choice, limit, tuple(unconfirmed), claim_times, next_due, deleted
            )
        except StoreUnavailable as error:
            if isinstance(error, NodeUnavailable):
                self._skipped_until[slot] = self._context.world.monotonic() + LOCKED_SLOT_PAUSE_S
                if not error.is_uncertain:  # nothing was claimed
                    raise
            # the leases of older claims have expired, so that their messages are due anyway
            oldest = self._context.world.now() - lease_duration_ms(self._carrier)
            self._unconfirmed[slot] = [at for at in (*unconfirmed, *claim_times) if at > oldest]
            raise
        self._unconfirmed.pop(slot, None)
        if not claimed.is_held:
            await self._hold_again(slot)
        _remember(self._with_profiles, slot, is_again=claimed.has_profiles)
        leaves_slot = claimed.has_ads or (self._is_one_of_relays and claimed.has_profiles)
        _remember(self._left, slot, is_again=leaves_slot)
        if claim_times and not self._context.slots.are_shared:  # otherwise choose_slot looks
            self._context.fair_queue.record_next_due(self._carrier.name, [slot], next_due, claim_times[-1])
        if self._context.slots.are_shared and not claimed.leased and not claimed.is_full:
            self._skipped_until[slot] = self._context.world.monotonic() + LOCKED_SLOT_PAUSE_S
        return claimed

    async def _hold_again(self, slot: int) -> None:
        """Note again that this worker holds a slot, if it does: a node may have lost its last transactions."""
        holder = self._context.slots.holder
        if self._context.slots.are_noted and holder is not None:
            with contextlib.suppress(SlotNotHeld):
                await self._context.store.write(slots.hold, slot, holder)

    @transaction(slot_of=lambda choice, *_: choice.slot, stays_in_slot=lambda choice, *_: choice.stays_in_slot)
    def _claim_in_tx(
        self,
        tx: Tx,
        choice: SlotChoice,
        limit: int,
        unconfirmed: Sequence[Instant],
        claim_times: list[Instant],
        next_due: list[LaneDue],
        deleted: Collection[int] | None,
    ) -> ClaimedBatch:
        """Claim; `next_due` gets what comes next in each lane of the only slot."""
        claimed = self._claim_from_slot(tx, choice, limit, unconfirmed, claim_times, deleted)
        if not self._context.slots.are_shared:
            lanes = [(choice.slot or 0, lane, 0) for lane in (Lane.SMALL, Lane.CAMPAIGN)]
            next_due[:] = queue.next_due_by_lane(tx, self._carrier.name, lanes)
        return claimed

    def _claim_from_slot(
        self,
        tx: Tx,
        choice: SlotChoice,
        limit: int,
        unconfirmed: Sequence[Instant],
        claim_times: list[Instant],
        deleted: Collection[int] | None,
    ) -> ClaimedBatch:
        """Claim at the transaction's own time: the lease begins when it is written, not when it was asked for.

        `claim_times` gets that time, also where the answer of the transaction never arrives. Nothing is claimed
        from a slot that another worker has got.
        """
        carrier, slot = self._carrier, choice.slot
        assert slot is not None
        here, now = self._context.slots, self._context.world.now()
        is_held = slots.is_noted if here.are_noted else slots.is_held
        if here.holder is not None and not is_held(tx, slot, here.holder):
            return ClaimedBatch([], FinishResult([], set()), 0, False, None, is_held=False)
        claim_times.append(now)
        request = ClaimRequest(
            slot,
            carrier.name,
            limit,
            lease_duration_ms(carrier),
            carrier.max_resends,
            carrier.can_look_up,
            carrier.campaign_batch_size,
            choice.other_small_slots,
            unconfirmed,
            self._watermarks.for_slot(slot),
            self._context.in_flight,
            self._is_one_of_relays,
            deleted,
        )
        return claim(tx, request, self._context.policy, now)


def _remember(claims_left: dict[int, int], slot: int, *, is_again: bool) -> None:
    """Count a claim from a slot: what is remembered of it is forgotten after some without it."""
    left = REMEMBERED_CLAIMS if is_again else claims_left.get(slot, 0) - 1
    if left > 0:
        claims_left[slot] = left
    else:
        claims_left.pop(slot, None)
