"""Receives: keeps a carrier's receipts, and ends the messages they speak of."""

import asyncio
import logging
from collections.abc import Sequence
from typing import NamedTuple

from pabal.carriers.base import Carrier, Receipt
from pabal.domain.when import Instant
from pabal.service.finish import Finished, finish
from pabal.service.policy import Policy
from pabal.service.station import Station
from pabal.store import receipts
from pabal.store.base import StoreAway, Tx

PAUSE_AFTER_TROUBLE_S = 1.0

log = logging.getLogger("pabal.receive")


class Received(NamedTuple):
    """What receipts brought to an end, and how many spoke of nothing we know."""

    finished: Finished
    unmatched: int


def receive(tx: Tx, carrier: str, arrived: Sequence[Receipt], policy: Policy, now: Instant) -> Received:
    """Keep receipts and end their messages; a repeated or contradicting one changes nothing."""
    matched, unmatched = receipts.arrive(tx, carrier, arrived, now)
    return Received(finish(tx, matched, policy, now), unmatched)


async def hand_on(station: Station, carrier: str, arrived: Sequence[Receipt]) -> None:
    """Return once the receipts are kept, so that the carrier may be told so.

    Raises StoreAway.
    """
    received = await station.store.write(receive, carrier, arrived, station.policy, station.world.now())
    station.watch.receipts.add(len(arrived), carrier)
    station.watch.unmatched.add(received.unmatched, carrier)
    station.watch.count_ended(received.finished.ended)
    station.ring(received.finished.carriers)


async def listen(station: Station, carrier: Carrier) -> None:
    """Hold a carrier's session for good; the store being away only delays its receipts."""
    while True:
        try:
            await carrier.run(lambda arrived: hand_on(station, carrier.name, arrived))
        except StoreAway:
            log.warning("receipts wait for the store", extra={"carrier": carrier.name})
            await asyncio.sleep(PAUSE_AFTER_TROUBLE_S)
