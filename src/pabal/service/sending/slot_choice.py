"""Chooses the slot of a new request."""

from pabal.domain import identifiers
from pabal.service.context import Context


def choose_slot(context: Context, account_id: int, key: str | None) -> int:
    """Return the slot of its Idempotency-Key, or else a random one whose node can be reached, if any can."""
    numbers = context.slots.numbers
    if len(numbers) == 1:
        return numbers[0]
    if key is not None:
        return numbers[identifiers.slot_of_key(account_id, key, len(numbers))]
    if context.nodes.lost:
        numbers = tuple(context.nodes.reachable(numbers)) or numbers
    return numbers[context.world.random_bits(identifiers.SLOT_BITS) % len(numbers)]
