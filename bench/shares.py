"""How long one account's sends wait while another account fills the queue of a carrier with a limited rate."""

import asyncio
import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path

from bench.figures import Figure, percentile
from bench.server import BenchEnvironment, report_progress
from bench.store_reader import settings_of
from pabal.app import Service, build_service
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.sending.accept import accept
from pabal.settings.carriers import SimulatorSettings
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx

RATE = 500
"""Messages per second of the carrier."""
FLOOD_REQUESTS = 10_000
CAMPAIGN_REQUESTS, CAMPAIGN_RECEIVERS = 10, 1000
SINGLES, SINGLE_PAUSE_S = 20, 0.1
OTHER_REQUESTS = 3
TARGET_SMALL_S = 2.0
TARGET_CAMPAIGN = 2.5
"""A campaign that shares the carrier with one other takes twice as long as alone, and a bit."""
TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.02


def measure(env: BenchEnvironment) -> list[Figure]:
    """Measure single sends during a flood of single sends and during a campaign, and a campaign during another."""
    flood = asyncio.run(_measure_singles(env.copy_store(), [_sms(1)] * FLOOD_REQUESTS))
    campaign = asyncio.run(_measure_singles(env.copy_store(), [_sms(CAMPAIGN_RECEIVERS)] * CAMPAIGN_REQUESTS))
    alone_s = OTHER_REQUESTS * CAMPAIGN_RECEIVERS / RATE
    took_s = asyncio.run(_measure_campaign(env.copy_store()))
    return [
        _figure(f"after {FLOOD_REQUESTS:,} single sends of another", flood),
        _figure(f"after a campaign of {CAMPAIGN_REQUESTS * CAMPAIGN_RECEIVERS:,} of another", campaign),
        Figure(
            "shares",
            f"a campaign of {OTHER_REQUESTS * CAMPAIGN_RECEIVERS:,} after one of"
            f" {CAMPAIGN_REQUESTS * CAMPAIGN_RECEIVERS:,} of another account / alone",
            took_s / alone_s,
            target=TARGET_CAMPAIGN,
            bound="at most",
            details=f"{took_s:.1f} s and {alone_s:.1f} s at {RATE} messages/s",
        ),
    ]


def _figure(what: str, waits_s: Sequence[float]) -> Figure:
    p50, p99 = percentile(waits_s, 0.5), percentile(waits_s, 0.99)
    report_progress(f"  single sends {what}: p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms")
    details = f"p50 {p50 * 1000:.0f} ms of {len(waits_s)} at {RATE} messages/s"
    return Figure("shares", f"wait of a single send {what}, p99", p99, " s", TARGET_SMALL_S, "at most", details)


def _sms(receivers: int) -> Sending:
    numbers = [Receiver(f"010{20_000_000 + number}") for number in range(receivers)]
    return Sending(Product.SMS, "안녕하세요", numbers, sender="0212345678")


async def _start(data: Path) -> tuple[Service, int, int]:
    """Start a service whose only carrier is a simulator with a rate; return it and the ids of two accounts."""
    carrier = SimulatorSettings(name="simulator", rate=RATE)
    settings = dataclasses.replace(settings_of(data), carriers={"simulator": carrier})
    service = await build_service(settings)
    await service.start()
    store, now = service.context.store, service.context.world.now()
    ids = [await store.write(accounts.ensure_account, name, now) for name in ("much", "little")]
    return service, ids[0], ids[1]


async def _flood(service: Service, account_id: int, sends: Sequence[Sending]) -> None:
    for begin in range(0, len(sends), 200):
        await asyncio.gather(*(accept(service.context, account_id, each) for each in sends[begin : begin + 200]))


async def _measure_singles(data: Path, others: Sequence[Sending]) -> list[float]:
    """Return how long single sends wait, one after the other, while another account's sends are delivered."""
    service, much, little = await _start(data)
    try:
        await _flood(service, much, others)
        began_at = {}
        for _ in range(SINGLES):
            began_at[await accept(service.context, little, _sms(1))] = time.monotonic()
            await asyncio.sleep(SINGLE_PAUSE_S)
        accepted_at = await _accepted_at(service, list(began_at), SINGLES)
        return [at / 1000 for at in accepted_at]
    finally:
        await service.stop()


async def _measure_campaign(data: Path) -> float:
    """Return how long a campaign takes that begins while another account's is delivered."""
    service, much, little = await _start(data)
    try:
        await _flood(service, much, [_sms(CAMPAIGN_RECEIVERS)] * CAMPAIGN_REQUESTS)
        ids = [await accept(service.context, little, _sms(CAMPAIGN_RECEIVERS)) for _ in range(OTHER_REQUESTS)]
        waits_ms = await _accepted_at(service, ids, OTHER_REQUESTS * CAMPAIGN_RECEIVERS)
        return max(waits_ms) / 1000
    finally:
        await service.stop()


async def _accepted_at(service: Service, request_ids: Sequence[bytes], messages: int) -> list[int]:
    """Wait until the simulator has all messages of these requests; return how long after its request each came."""
    until = time.monotonic() + TIMEOUT_S
    while True:
        waits_ms = await service.context.store.read(_waits_ms, request_ids)
        if len(waits_ms) >= messages or time.monotonic() > until:
            return waits_ms or [round(TIMEOUT_S * 1000)]
        await asyncio.sleep(POLL_INTERVAL_S)


def _waits_ms(tx: Tx, request_ids: Sequence[bytes]) -> list[int]:
    found: list[int] = []
    for request_id in request_ids:
        rows = tx.fetch_all(
            "select accepted_at from simulated_messages where message_id between ? and ?",
            (request_id + b"\x00" * 3, request_id + b"\xff" * 3),
        )
        at = int.from_bytes(request_id[:6], "big")
        found += [row[0] - at for row in rows]
    return found
