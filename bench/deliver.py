"""How fast waiting messages reach their end, beside the bare transactions that this takes."""

import time
from pathlib import Path
from typing import NamedTuple

from bench.figures import Figure
from bench.fill import CARRIER, POLICY, REQUEST_RECEIVERS, WORLD, fill, reading, with_store
from bench.server import DoesNotWork, Place, say
from pabal.carriers.base import Receipt, Taken
from pabal.domain.message import Outcome
from pabal.domain.when import MINUTE
from pabal.service.claim import MAX_CLAIM, claim
from pabal.service.compose import attempt_of
from pabal.service.receive import receive
from pabal.service.settle import Verdicts, settle
from pabal.store.sqlite import SqliteStore

AIM = 0.3
MESSAGES = 100_000
ENDED_WITHIN_S = 180.0
LOOK_EVERY_S = 0.02


class Bare(NamedTuple):
    """How long the transactions of a delivery took, in seconds."""

    claimed_s: float
    settled_s: float
    received_s: float


def measure(place: Place) -> list[Figure]:
    """Deliver the same messages twice: bare, and by the service through the simulator."""
    waiting = place.fresh()
    fill(waiting, MESSAGES // REQUEST_RECEIVERS)
    bare = _bare(place.fresh(waiting))
    claim_and_settle = MESSAGES / (bare.claimed_s + bare.settled_s)
    to_the_end = MESSAGES / sum(bare)
    say(
        f"  bare: claim {bare.claimed_s:.2f} s, settle {bare.settled_s:.2f} s, receive {bare.received_s:.2f} s:"
        f" {to_the_end:,.0f} messages/s"
    )
    rate, cpu_us = _delivered(place, waiting)
    say(f"  delivered: {rate:,.0f} messages/s, {cpu_us:.0f} µs CPU a message")
    return [
        Figure(
            "deliver",
            "to the end through the simulator / bare claim, settle, receive",
            rate / to_the_end,
            aim=AIM,
            made_of=f"{rate:,.0f}/s of {to_the_end:,.0f}/s, {cpu_us:.0f} µs CPU a message",
        ),
        Figure(
            "deliver",
            "to the end through the simulator / bare claim, settle",
            rate / claim_and_settle,
            made_of=f"{rate:,.0f}/s of {claim_and_settle:,.0f}/s",
        ),
    ]


def _bare(data: Path) -> Bare:
    async def work(store: SqliteStore) -> Bare:
        claimed_s = settled_s = received_s = 0.0
        ended = 0
        while ended < MESSAGES:
            began = time.perf_counter()
            claimed = await store.write(claim, 0, CARRIER, MAX_CLAIM, MINUTE, POLICY, WORLD.now())
            if not claimed.leased:
                raise DoesNotWork(f"{MESSAGES - ended} messages were not claimed")
            claimed_s += time.perf_counter() - began
            attempts = [attempt_of(message, request, *lease[1:]) for lease, message, request in claimed.leased]
            began = time.perf_counter()
            taken = Verdicts(CARRIER, [(each, Taken(each.message_id.hex())) for each in attempts])
            await store.write(settle, taken, POLICY, 0.5, WORLD.now())
            settled_s += time.perf_counter() - began
            began = time.perf_counter()
            receipts = [Receipt(each.message_id.hex(), Outcome.DELIVERED) for each in attempts]
            received = await store.write(receive, CARRIER, receipts, POLICY, WORLD.now())
            received_s += time.perf_counter() - began
            ended += len(received.finished.ended)
        return Bare(claimed_s, settled_s, received_s)

    return with_store(data, work)


def _delivered(place: Place, waiting: Path) -> tuple[float, float]:
    """Return messages a second and the server's CPU for each, in microseconds, until no job is left."""
    data = place.fresh(waiting)
    with place.pabal(data, "deliver") as server:
        began, before = time.perf_counter(), server.cpu_s()
        looking = reading(data)
        left = looking.execute("select count(*) from jobs").get
        while looking.execute("select 1 from jobs limit 1").get:
            if time.perf_counter() - began > ENDED_WITHIN_S:
                raise DoesNotWork(f"after {ENDED_WITHIN_S} s there are messages that have not ended")
            time.sleep(LOOK_EVERY_S)
        took_s, cpu_s = time.perf_counter() - began, server.cpu_s() - before
        done = looking.execute("select count(*) from messages where status = 2").get
        looking.close()
    if done != MESSAGES:
        raise DoesNotWork(f"{MESSAGES - done} messages were not completed")
    return left / took_s, cpu_s / left * 1e6
