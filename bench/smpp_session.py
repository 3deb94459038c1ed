"""How many submits a second a bare SMPP session gets answered: no store, no service."""

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
from pabal.domain.message import Attempt, Product
from pabal.settings.carriers import SmppSettings

AIM = 50_000
ROUNDS = 3
SECONDS = 1.0
WINDOW = 1000
LOT = 500
LOTS_IN_HAND = WINDOW // LOT
ENQUIRE_S = 30.0

Bodies = Callable[[], list[bytes]]


class Pace(NamedTuple):
    """How submits were answered, and what one cost each side."""

    rate: float
    cpu_us: float
    far_cpu_us: float


def measure(sink: Sink) -> list[Figure]:
    """Measure in turn, several times: texts that are written as they go, and bodies made before."""
    writer = SubmitWriter(SmppSettings(name="sink", host="127.0.0.1", system_id="bench", receipts=False))
    attempts = [_attempt(number) for number in range(LOT)]

    def written() -> list[bytes]:
        return [body for attempt in attempts for body in writer.bodies(attempt)]

    prepared = written()
    found: dict[str, list[Pace]] = {"written": [], "prepared": []}
    for _ in range(ROUNDS):
        found["written"].append(_paced(sink, written, "texts"))
        found["prepared"].append(_paced(sink, lambda: prepared, "prepared bodies"))
    texts, bodies = (Pace(*map(median_of, zip(*each, strict=True))) for each in found.values())
    return [
        Figure(
            "smpp",
            "submits answered to a bare session",
            texts.rate,
            "/s",
            AIM,
            details=f"{texts.cpu_us:.1f} µs CPU each, the sink {texts.far_cpu_us:.1f} µs;"
            f" of prepared bodies {bodies.rate:,.0f}/s, {bodies.cpu_us:.1f} µs",
        )
    ]


def _attempt(number: int) -> Attempt:
    text = TEXT.replace("#{name}", "홍길동")
    return Attempt(number.to_bytes(16, "big"), 1, 1, Product.SMS, f"010{number:08}", SENDER, None, text)


def _paced(sink: Sink, bodies: Bodies, what: str) -> Pace:
    before = sink.reset().cpu_s
    began = time.process_time()
    count, seconds = uvloop.run(_run(sink.port, bodies))
    cpu_us = (time.process_time() - began) / count * 1e6
    seen = sink.figures()
    pace = Pace(count / seconds, cpu_us, (seen.cpu_s - before) / seen.submits * 1e6)
    report_progress(
        f"  bare session, {what}: {pace.rate:,.0f}/s, {pace.cpu_us:.1f} µs CPU a submit,"
        f" {pace.far_cpu_us:.1f} µs at the sink"
    )
    return pace


async def _run(port: int, bodies: Bodies) -> tuple[int, float]:
    """Return how many submits were answered, and in how many seconds."""
    bind = BindRequest(protocol.BIND_TRANSCEIVER, pdu.encode_bind("bench", ""))
    loop = asyncio.get_running_loop()
    _, session = await loop.create_connection(
        lambda: SmppSession(bind, WINDOW, ENQUIRE_S, WORLD, _ignore, _ignore, _ignore), "127.0.0.1", port
    )
    await session.bound
    began = time.perf_counter()
    counts = await asyncio.gather(*(_keep_busy(session, bodies, began + SECONDS) for _ in range(LOTS_IN_HAND)))
    seconds = time.perf_counter() - began
    await session.unbind()
    return sum(counts), seconds


async def _keep_busy(session: SmppSession, bodies: Bodies, until: float) -> int:
    """Submit lot after lot, each when the one before has all its answers; return how many were taken."""
    taken = 0
    while time.perf_counter() < until:
        lot = SubmitGroup(LOT)
        session.submit(bodies(), lot, 0)
        await lot.completed
        taken += sum(isinstance(answer, str) for answer in lot.results)
    return taken


def _ignore(*words: object) -> None:
    """A session has nothing to tell here: there are no receipts, and room is made by the answers."""
