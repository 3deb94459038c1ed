"""Says why messages that were requested have not been sent yet."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.service.context import Context
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.messages import campaign_requests, history
from pabal.store.messages.history import QueuePosition
from pabal.store.queue import carriers
from pabal.store.queue.carriers import UP, CarrierState
from pabal.store.queue.queue import Lane

UNREMARKABLE_MS = 10 * SECOND
"""Whoever waits for less waits for nothing but the next batch."""


class WaitReason(Enum):
    """Why a message waits; the values are those of texts."""

    GONE = "gone"
    """Its carrier is not configured any more."""
    DOWN = "down"
    """Its carrier is not connected."""
    ASIDE = "aside"
    """Its carrier is paused after errors."""
    LATER = "later"
    """It is tried again, or may be sent, at a later time."""
    QUEUED = "queued"
    """Others are before it."""


class Wait(NamedTuple):
    """Why a message waits, at which carrier, and since or until when."""

    reason: WaitReason
    carrier: str
    at: Instant


def find_outage(name: str, states: Iterable[CarrierState]) -> CarrierState | None:
    """Return the state of a carrier that no worker sees up, None for others."""
    found = [each for each in states if each.name == name]
    if not found or any(each.state == UP for each in found):
        return None
    return max(found, key=lambda each: each.since)


def explain(
    position: QueuePosition, states: Sequence[CarrierState], configured: Iterable[str], now: Instant
) -> Wait | None:
    """Return why the message at a place in the queue waits, None where a carrier has it, or it is its turn."""
    carrier = position.carrier
    if position.lane == Lane.AWAITING_RECEIPT:
        return None
    if carrier not in configured:
        return Wait(WaitReason.GONE, carrier, position.ready_at)
    if outage := find_outage(carrier, states):
        word = WaitReason.DOWN if outage.state == WaitReason.DOWN.value else WaitReason.ASIDE
        return Wait(word, carrier, outage.since)
    if position.claimed_at is not None:
        return None
    if position.ready_at > now + UNREMARKABLE_MS:
        return Wait(WaitReason.LATER, carrier, position.ready_at)
    is_late = position.ready_at < now - UNREMARKABLE_MS
    return Wait(WaitReason.QUEUED, carrier, position.ready_at) if is_late else None


async def find_waits(context: Context, sent_ids: Sequence[bytes]) -> dict[bytes, Wait]:
    """Return why the first waiting message of each request or campaign waits, of those that have a reason."""
    if not sent_ids:
        return {}
    found, states = await context.store.read(_read_waiting, sent_ids)
    now = context.world.now()
    waits = {one: explain(position, states, context.carriers, now) for one, position in found.items()}
    return {one: wait for one, wait in waits.items() if wait}


async def find_wait_of_message(context: Context, position: QueuePosition | None) -> Wait | None:
    """Return why a message waits, by its place in the queue."""
    if position is None:
        return None
    states = await context.store.read(_read_states)
    return explain(position, states, context.carriers, context.world.now())


@transaction(reader=Reader.SEARCHES)
def _read_waiting(tx: Tx, sent_ids: Sequence[bytes]) -> tuple[Mapping[bytes, QueuePosition], list[CarrierState]]:
    found = {one: history.first_waiting(tx, campaign_requests.first_waiting(tx, one) or one) for one in sent_ids}
    return {one: each for one, each in found.items() if each}, carriers.list_states(tx)


@transaction(reader=Reader.SEARCHES)
def _read_states(tx: Tx) -> list[CarrierState]:
    return carriers.list_states(tx)
