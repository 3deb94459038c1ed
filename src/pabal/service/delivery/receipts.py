"""Receives a carrier's receipts: stores them and ends their messages."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pabal.carriers.base import Carrier, InboundMessage, Inbox, Receipt, RelayOptOut
from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Outcome, tidy_code
from pabal.service.context import Context
from pabal.service.delivery import inbound
from pabal.service.delivery.outcome.finish import FinishResult, finish, finish_removed, references_of
from pabal.service.loops import until_available
from pabal.service.policy import Policy
from pabal.store.engine.base import NodeUnavailable, Tx, transaction
from pabal.store.queue import queue, receipts
from pabal.store.queue.receipts import EndedReference, PostponedReceipt

RECEIPTS_PER_WRITE = 100
"""Single sends can be stored between these."""

log = logging.getLogger("pabal.receive")


class ReceiveResult(NamedTuple):
    """Which messages the receipts ended, and how many receipts matched no message."""

    finished: FinishResult
    unmatched: int


def receive(tx: Tx, carrier: str, incoming: Sequence[Receipt], policy: Policy, now: Instant) -> ReceiveResult:
    """Store receipts and end their messages; a repeated or contradicting receipt changes nothing.

    A receipt with an unknown reference may be for a message in doubt, which never got its reference. If no
    message is held under its in-doubt reference yet, the receipt is stored under that one too: its message may
    still be waiting for the answer to its submission.
    """
    codes = {each.reference: tidy_code(each.code) for each in reversed(incoming)}
    pairs = [(each.reference, each.outcome) for each in incoming]
    ended, unmatched, consumed = receipts.record_receipts(tx, carrier, pairs, now, codes)
    unknown = {each.reference: each for each in reversed(incoming) if each.in_doubt_reference is not None}
    in_doubt = [each for one in unmatched if (each := unknown.get(one))]
    held = receipts.find_by_reference(tx, carrier, [str(each.in_doubt_reference) for each in in_doubt])
    found = [each for each in in_doubt if each.in_doubt_reference in held]
    receipts.delete_unmatched_references(tx, carrier, [each.reference for each in found])
    early = {each.reference for each in in_doubt if each.in_doubt_reference not in held}
    names = [
        (each.in_doubt_reference, each.outcome)
        for each in incoming
        if each.in_doubt_reference is not None and each.reference in early
    ]
    names_codes = {str(each.in_doubt_reference): codes[each.reference] for each in reversed(in_doubt)}
    # one may have been held this very moment
    named = receipts.record_receipts(tx, carrier, names, now, names_codes)
    ended += named.ended
    ended += [(held[str(each.in_doubt_reference)], each.outcome) for each in found]
    decided = {
        **{each.message_id: each.code for each in (*consumed.values(), *named.consumed.values())},
        **{held[str(each.in_doubt_reference)]: codes[each.reference] for each in found},
    }
    finished = finish(tx, ended, policy, now, decided, consumed | named.consumed)
    return ReceiveResult(finished, len(unmatched) - len(found))


async def store_receipts(context: Context, carrier: str, incoming: Sequence[Receipt]) -> None:
    """Return once the receipts are stored: only then may the carrier be told so.

    Raises StoreUnavailable.
    """
    usable = [each for each in incoming if identifiers.is_usable_reference(each.reference)]
    if len(usable) < len(
        incoming
    ):  # they match no message, and one of them would keep the others from being stored
        log.warning("receipts with an unusable reference", extra={"carrier": carrier})
        context.metrics.receipts_unmatched.add(len(incoming) - len(usable), carrier)
    # a repeated one would match no message any more after the write of the first, which counts
    usable = list({each.reference: each for each in reversed(usable)}.values())[::-1]
    try:
        if context.nodes.is_distributed:
            await _store_by_node(context, carrier, usable)
        else:
            parts = [usable[at : at + RECEIPTS_PER_WRITE] for at in range(0, len(usable), RECEIPTS_PER_WRITE)]
            await asyncio.gather(*(_write_received(context, carrier, part) for part in parts))
    except NodeUnavailable:
        log.warning("node cannot be reached; storing its receipts for later", extra={"carrier": carrier})
        await _store_by_node(context, carrier, usable)
    context.metrics.receipts.add(len(incoming), carrier)


@transaction(slot_of=lambda slot, *_: slot)
def receive_near(
    tx: Tx, slot: int, carrier: str, incoming: Sequence[Receipt], policy: Policy, now: Instant
) -> ReceiveResult:
    """Do so for receipts whose messages are on the node of a slot."""
    return receive(tx, carrier, incoming, policy, now)


async def _write_received(
    context: Context, carrier: str, incoming: Sequence[Receipt], slot: int | None = None
) -> None:
    given = (carrier, incoming, context.policy, context.world.now())
    if slot is None:
        received = await context.store.write(receive, *given)
    else:
        received = await context.store.write(receive_near, slot, *given)
    announce_received(context, carrier, received)


def announce_received(context: Context, carrier: str, received: ReceiveResult) -> None:
    """Count the messages that receipts have ended, and wake the carriers of their fallbacks."""
    context.metrics.receipts_unmatched.add(received.unmatched, carrier)
    context.count_ended(received.finished.ended)
    context.wake(received.finished.carriers_to_wake)


async def _store_by_node(context: Context, carrier: str, incoming: Sequence[Receipt]) -> None:
    """Store receipts, those of the messages of each node together; while it cannot be reached, for later.

    The carrier must not be kept waiting for a lost node: it would soon report nothing more at all.
    """
    delivered = [each.reference for each in incoming if each.outcome is Outcome.DELIVERED]
    may_end = bool(delivered) and not context.policy.prices
    single = await context.store.read(receipts.find_single_part, carrier, delivered) if may_end else {}
    rest = [each for each in incoming if each.reference not in single]
    names = [name for each in rest for name in (each.reference, each.in_doubt_reference) if name is not None]
    known = await context.store.read(receipts.find_by_reference, carrier, names) if names else {}
    near: dict[int, list[_DeliveredMessage]] = {}
    for each in incoming:
        if one := single.get(each.reference):
            near.setdefault(identifiers.slot_of(one), []).append(_DeliveredMessage(one, each))
    others: dict[str, list[tuple[int, Receipt]]] = {}
    for each in rest:
        found = known.get(each.reference) or known.get(each.in_doubt_reference or "")
        slot = identifiers.slot_of(found) if found else context.slots.numbers[0]
        others.setdefault(context.nodes.node_of(slot) if found else "", []).append((slot, each))
    ended = await asyncio.gather(
        *(_end_near(context, carrier, slot, some) for slot, some in near.items()),
        *(_store_at(context, carrier, node, some) for node, some in others.items()),
    )
    if references := [one for some in ended for one in some]:
        await context.store.write(receipts.delete, references)


class _DeliveredMessage(NamedTuple):
    """A message that its receipt ends, and that."""

    id: bytes
    receipt: Receipt


@transaction(slot_of=lambda slot, *_: slot, stays_in_slot=lambda *_: True)
def end_near(
    tx: Tx, slot: int, delivered: Mapping[bytes, str | None], policy: Policy, now: Instant
) -> tuple[FinishResult, list[EndedReference]]:
    """End delivered messages of a slot, each with its carrier's own code; return their references.

    Whoever calls this deletes these, which are not in the slot. Failed messages may have fallbacks, and where there
    are prices, budgets are charged: `receive` does that.
    """
    removed = queue.remove(tx, sorted(delivered))
    outcomes = dict.fromkeys(delivered, Outcome.DELIVERED)
    return finish_removed(tx, removed, outcomes, policy, now, delivered), references_of(removed)


async def _end_near(
    context: Context, carrier: str, slot: int, some: Sequence[_DeliveredMessage]
) -> list[EndedReference]:
    """End delivered messages where they are; return the references that nothing more is expected for."""
    try:
        if context.nodes.node_of(slot) in context.nodes.lost:
            raise NodeUnavailable(context.nodes.node_of(slot))
        codes = {one: tidy_code(receipt.code) for one, receipt in reversed(some)}
        finished, references = await context.store.write(end_near, slot, codes, context.policy, context.world.now())
    except NodeUnavailable:
        await _postpone(context, carrier, [(slot, receipt) for _, receipt in some])
        return []
    announce_received(context, carrier, ReceiveResult(finished, 0))
    reported = [EndedReference(carrier, receipt.reference, one) for one, receipt in some]  # also of ended messages
    return list(dict.fromkeys([*references, *reported]))


async def _store_at(
    context: Context, carrier: str, node: str, incoming: Sequence[tuple[int, Receipt]]
) -> list[EndedReference]:
    """Store the receipts of one node's messages, and end these; without one, those that match no message yet."""
    slot = incoming[0][0] if node else None
    try:
        if node in context.nodes.lost:
            raise NodeUnavailable(node)
        for at in range(0, len(incoming), RECEIPTS_PER_WRITE):
            some = [receipt for _, receipt in incoming[at : at + RECEIPTS_PER_WRITE]]
            await _write_received(context, carrier, some, slot)
    except NodeUnavailable:
        await _postpone(context, carrier, incoming)
    return []


async def _postpone(context: Context, carrier: str, incoming: Sequence[tuple[int, Receipt]]) -> None:
    postponed = [
        PostponedReceipt(slot, each.reference, each.outcome, each.in_doubt_reference, tidy_code(each.code))
        for slot, each in incoming
    ]
    await context.store.write(receipts.postpone, carrier, postponed, context.world.now())


def build_inbox(context: Context, carrier: str) -> Inbox:
    """Return an inbox that stores inbound messages and opt-outs of a carrier.

    Messages wait while the store is unavailable; of opt-outs the relay is told so, and reports them again.
    """

    async def keep_messages(arrived: Sequence[InboundMessage]) -> None:
        await until_available(lambda: inbound.store_messages(context, carrier, arrived))

    async def keep_opt_outs(arrived: Sequence[RelayOptOut]) -> None:
        await inbound.store_opt_outs(context, arrived)

    return Inbox(keep_messages, keep_opt_outs)


async def run_carrier(context: Context, carrier: Carrier) -> None:
    """Run a carrier's session forever; while the store is unavailable, its receipts wait."""

    async def keep(arrived: Sequence[Receipt]) -> None:
        await until_available(lambda: store_receipts(context, carrier.name, arrived))

    carrier.attach_inbox(build_inbox(context, carrier.name))
    await until_available(lambda: carrier.run(keep))  # the simulator has its own state in our store
