"""Receives: keeps a carrier's receipts, and ends the messages they speak of."""

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple

from pabal.carriers.base import Carrier, Receipt
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.service.delivery.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store import receipts
from pabal.store.engine.base import StoreUnavailable, Tx

STORE_RETRY_DELAY_S = 1.0

log = logging.getLogger("pabal.receive")


class ReceiveResult(NamedTuple):
    """What receipts brought to an end, and how many spoke of nothing we know."""

    finished: FinishResult
    unmatched: int


def receive(tx: Tx, carrier: str, incoming: Sequence[Receipt], policy: Policy, now: Instant) -> ReceiveResult:
    """Keep receipts and end their messages; a repeated or contradicting one changes nothing.

    One whose reference nobody knows may be about a message in doubt, whose answer never came. If none is in
    doubt under its name yet, it is kept under that name too, for one that still waits for its answer.
    """
    ended, unmatched = receipts.record(tx, carrier, [(each.reference, each.outcome) for each in incoming], now)
    strays = {each.reference: each for each in reversed(incoming) if each.in_doubt_reference is not None}
    doubted = [each for one in unmatched if (each := strays.get(one))]
    held = receipts.find_held(tx, carrier, [str(each.in_doubt_reference) for each in doubted])
    found = [each for each in doubted if each.in_doubt_reference in held]
    receipts.delete_unmatched_references(tx, carrier, [each.reference for each in found])
    early = {each.reference for each in doubted if each.in_doubt_reference not in held}
    names = [
        (each.in_doubt_reference, each.outcome)
        for each in incoming
        if each.in_doubt_reference is not None and each.reference in early
    ]
    receipts.record(tx, carrier, names, now)
    ended += [(held[str(each.in_doubt_reference)], each.outcome) for each in found]
    return ReceiveResult(finish(tx, ended, policy, now), len(unmatched) - len(found))


async def store_receipts(context: Context, carrier: str, incoming: Sequence[Receipt]) -> None:
    """Return once the receipts are kept, so that the carrier may be told so.

    Raises StoreUnavailable.
    """
    received = await context.store.write(receive, carrier, incoming, context.policy, context.world.now())
    context.metrics.receipts.add(len(incoming), carrier)
    context.metrics.receipts_unmatched.add(received.unmatched, carrier)
    context.metrics.count_ended(received.finished.ended)
    context.wake(received.finished.carriers_to_wake)


async def run_carrier(context: Context, carrier: Carrier) -> None:
    """Hold a carrier's session for good; the store being away only delays its receipts."""

    async def keep(arrived: Sequence[Receipt]) -> None:
        while True:
            try:
                return await store_receipts(context, carrier.name, arrived)
            except StoreUnavailable:
                log.warning("receipts wait for the store", extra={"carrier": carrier.name})
                await asyncio.sleep(STORE_RETRY_DELAY_S)

    while True:
        try:
            await carrier.run(keep)
        except StoreUnavailable:  # a carrier that keeps its own memory in our store, as the simulator does
            log.warning("a carrier waits for the store", extra={"carrier": carrier.name})
            await asyncio.sleep(STORE_RETRY_DELAY_S)
