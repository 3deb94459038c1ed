"""How fast waiting messages are delivered, to the simulator and over SMPP, compared with the bare transactions."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench import sink
from bench.figures import Figure
from bench.fill import CARRIER, POLICY, REQUEST_RECEIVERS, WORLD, fill, with_store
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import open_reader, wait_until_queue_is_empty
from pabal.carriers.base import DEFAULT_BATCH_SIZE, Accepted, Receipt
from pabal.domain.base.dates import MINUTE, SECOND, Instant
from pabal.domain.sends.message import Outcome
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.delivery.outcome.settle import BatchVerdicts, settle
from pabal.service.delivery.receiving.receive import receive
from pabal.service.sending.compose import build_attempt
from pabal.store.engine.base import Store
from pabal.store.queue import slots

TARGET = 0.3
MESSAGES = 100_000


class BareTimes(NamedTuple):
    """The duration of the transactions of a delivery."""

    claimed_s: float
    settled_s: float
    received_s: float


def measure(env: BenchEnvironment, *, is_settled_enough: bool = False) -> list[Figure]:
    """Deliver the same messages twice: bare, and by the service through the simulator.

    With `is_settled_enough`, the ratio to claim and settle alone has a target, too.
    """
    waiting = env.copy_store()
    fill(waiting, MESSAGES // REQUEST_RECEIVERS)
    bare = _bare(env.copy_store(waiting))
    claim_and_settle = MESSAGES / (bare.claimed_s + bare.settled_s)
    to_the_end = MESSAGES / sum(bare)
    report_progress(
        f"  bare: claim {bare.claimed_s:.2f} s, settle {bare.settled_s:.2f} s, receive {bare.received_s:.2f} s:"
        f" {to_the_end:,.0f} messages/s"
    )
    rate, cpu_us = measure_delivery(env, env.copy_store(waiting), MESSAGES)
    report_progress(f"  delivered: {rate:,.0f} messages/s, {cpu_us:.0f} µs CPU per message")
    smpp_rate, smpp_cpu_us = _measure_smpp(env)
    report_progress(f"  delivered over SMPP: {smpp_rate:,.0f} messages/s, {smpp_cpu_us:.0f} µs CPU per message")
    return [
        Figure(
            "deliver",
            "delivered through the simulator / bare claim, settle, receive",
            rate / to_the_end,
            target=TARGET,
            details=f"{rate:,.0f}/s of {to_the_end:,.0f}/s, {cpu_us:.0f} µs CPU per message",
        ),
        Figure(
            "deliver",
            "delivered through the simulator / bare claim, settle",
            rate / claim_and_settle,
            target=TARGET if is_settled_enough else None,
            details=f"{rate:,.0f}/s of {claim_and_settle:,.0f}/s",
        ),
        Figure(
            "deliver",
            "delivered over SMPP with receipts / bare claim, settle, receive",
            smpp_rate / to_the_end,
            target=TARGET,
            details=f"{smpp_rate:,.0f}/s of {to_the_end:,.0f}/s, {smpp_cpu_us:.0f} µs CPU per message",
        ),
    ]


def _measure_smpp(env: BenchEnvironment) -> tuple[float, float]:
    """Return messages per second and CPU time per message of a delivery over SMPP."""
    data = env.copy_store()
    fill(data, MESSAGES // REQUEST_RECEIVERS, carrier=sink.CARRIER)
    with sink.running() as smsc:
        smsc.write_settings(data)
        return measure_delivery(env, data, MESSAGES)


async def deliver_bare(store: Store, slot: int) -> tuple[int, BareTimes]:
    """Claim, settle and receive a batch by the bare transactions; return how many completed, and the times."""
    began = time.perf_counter()
    claimed = await store.write(claim, ClaimRequest(slot, CARRIER, DEFAULT_BATCH_SIZE, MINUTE), POLICY, WORLD.now())
    claimed_s = time.perf_counter() - began
    attempts = [build_attempt(message, request, lease) for lease, message, request in claimed.leased]
    taken = BatchVerdicts(CARRIER, [(each, Accepted(each.message_id.hex())) for each in attempts])
    receipts = [Receipt(each.message_id.hex(), Outcome.DELIVERED) for each in attempts]
    began = time.perf_counter()
    await store.write(settle, taken, POLICY, 0.5, WORLD.now())
    settled_s = time.perf_counter() - began
    began = time.perf_counter()
    received = await store.write(receive, CARRIER, receipts, POLICY, WORLD.now())
    return len(received.finished.ended), BareTimes(claimed_s, settled_s, time.perf_counter() - began)


async def deliver_all_bare(store: Store, messages: int) -> list[BareTimes]:
    """Deliver messages by the bare transactions, slot after slot; return the times of each batch."""
    numbers = await store.read(slots.list_numbers)
    found: list[BareTimes] = []
    ended = empty = 0
    while ended < messages:
        count, times = await deliver_bare(store, numbers[len(found) % len(numbers)])
        found.append(times)
        ended += count
        empty = 0 if count else empty + 1
        if empty > len(numbers):
            raise BenchmarkFailed(f"{messages - ended} messages were not claimed")
    return found


def _bare(data: Path) -> BareTimes:
    batches = with_store(data, lambda store: deliver_all_bare(store, MESSAGES))
    return BareTimes(*map(sum, zip(*batches, strict=True)))


def wait_until_ended(data: Path, messages: int) -> Instant:
    """Wait until the queue is empty, and return when the last message completed.

    Raises BenchmarkFailed if fewer than `messages` completed.
    """
    reader = open_reader(data)
    wait_until_queue_is_empty(reader)
    done, ended_at = reader.fetch_all("select count(*), max(completed_at) from messages where status = 2")[0]
    reader.close()
    if done != messages:
        raise BenchmarkFailed(f"{messages - done} messages were not completed")
    return int(ended_at)


def measure_delivery(
    env: BenchEnvironment, data: Path, messages: int, after: Callable[[], object] = lambda: None
) -> tuple[float, float]:
    """Return messages per second and the server's CPU time per message in microseconds.

    `after` is called when all messages have ended, before the server stops.
    """
    with env.run_pabal(data, "deliver") as server:
        reader = open_reader(data)
        began_at, before = WORLD.now(), server.cpu_s()
        left: int = reader.fetch_value("select count(*) from jobs")
        reader.close()
        ended_at = wait_until_ended(data, messages)
        cpu_us = (server.cpu_s() - before) / left * 1e6
        after()
        return left / (ended_at - began_at) * SECOND, cpu_us
