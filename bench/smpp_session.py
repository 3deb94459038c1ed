"""How many submits per second a bare SMPP session completes, without store and service."""

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

import uvloop

from bench.figures import Figure, median_of
from bench.fill import SENDER, TEXT, WORLD
from bench.server import report_progress
from bench.sink import Sink
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.session import BindRequest, SmppSession
from pabal.carriers.smpp.submit_group import SubmitGroup
from pabal.carriers.smpp.submits import SubmitWriter
from pabal.domain.sends.message import Attempt, Product
from pabal.settings.carriers import SmppSettings

TARGET = 50_000
ROUNDS = 3
SECONDS = 1.0
WINDOW = 1000
BATCH_SIZE = 500
BATCHES_IN_FLIGHT = WINDOW // BATCH_SIZE
ENQUIRE_S = 30.0

Bodies = Callable[[], list[bytes]]


class SubmitRate(NamedTuple):
    """Submits per second, and the CPU time per submit on both sides."""

    rate: float
    cpu_us: float
    sink_cpu_us: float


def measure(sink: Sink) -> list[Figure]:
    """Measure in several rounds: texts that are encoded during the run, and prepared bodies."""
    writer = SubmitWriter(SmppSettings(name="sink", host="127.0.0.1", system_id="bench", receipts=False))
    attempts = [_attempt(number) for number in range(BATCH_SIZE)]

    def written() -> list[bytes]:
        return [body for attempt in attempts for body in writer.bodies(attempt, 0)]

    prepared = written()
    found: dict[str, list[SubmitRate]] = {"written": [], "prepared": []}
    for _ in range(ROUNDS):
        found["written"].append(_measure_rate(sink, written, "texts"))
        found["prepared"].append(_measure_rate(sink, lambda: prepared, "prepared bodies"))
    texts, bodies = (SubmitRate(*map(median_of, zip(*each, strict=True))) for each in found.values())
    return [
        Figure(
            "smpp",
            "submits of a bare session",
            texts.rate,
            "/s",
            TARGET,
            details=f"{texts.cpu_us:.1f} µs CPU each, the sink {texts.sink_cpu_us:.1f} µs;"
            f" with prepared bodies {bodies.rate:,.0f}/s, {bodies.cpu_us:.1f} µs",
        )
    ]


def _attempt(number: int) -> Attempt:
    text = TEXT.replace("#{name}", "홍길동")
    return Attempt(number.to_bytes(16, "big"), 1, 1, Product.SMS, f"010{number:08}", SENDER, None, text)


def _measure_rate(sink: Sink, bodies: Bodies, what: str) -> SubmitRate:
    before = sink.reset().cpu_s
    began = time.process_time()
    count, seconds = uvloop.run(_run(sink.port, bodies))
    cpu_us = (time.process_time() - began) / count * 1e6
    seen = sink.figures()
    rate = SubmitRate(count / seconds, cpu_us, (seen.cpu_s - before) / seen.submits * 1e6)
    report_progress(
        f"  bare session, {what}: {rate.rate:,.0f}/s, {rate.cpu_us:.1f} µs CPU per submit,"
        f" {rate.sink_cpu_us:.1f} µs at the sink"
    )
    return rate


async def _run(port: int, bodies: Bodies) -> tuple[int, float]:
    """Return how many submits had a response, and the seconds it took."""
    bind = BindRequest(protocol.BIND_TRANSCEIVER, pdu.encode_bind("bench", ""))
    loop = asyncio.get_running_loop()
    _, session = await loop.create_connection(
        lambda: SmppSession(bind, WINDOW, ENQUIRE_S, WORLD, _ignore, _ignore, _ignore), "127.0.0.1", port
    )
    await session.bound
    began = time.perf_counter()
    counts = await asyncio.gather(*(_keep_busy(session, bodies, began + SECONDS) for _ in range(BATCHES_IN_FLIGHT)))
    seconds = time.perf_counter() - began
    await session.unbind()
    return sum(counts), seconds


async def _keep_busy(session: SmppSession, bodies: Bodies, until: float) -> int:
    """Submit batch after batch, each after all responses to the last; return how many were accepted."""
    accepted = 0
    while time.perf_counter() < until:
        batch = SubmitGroup(BATCH_SIZE)
        session.submit(bodies(), batch, 0)
        await batch.completed
        accepted += sum(isinstance(answer, str) for answer in batch.results)
    return accepted


def _ignore(*words: object) -> None:
    """Ignore the callbacks of a session: the benchmark has no receipts."""
