"""Under three times the load it can take, the service refuses quickly and keeps all that it accepts."""

import asyncio
import json
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from tests.fixtures.engines import engine
from tests.fixtures.live import LiveService, serving, wait_until
from tests.fixtures.raw_http import address_of, count_accepted, get_status, resident_bytes, send_request

__all__ = ["engine"]
pytestmark = pytest.mark.slow

MAX_CONNECTIONS = 8
CALLERS = 3 * MAX_CONNECTIONS
MAX_WAITING_WRITES = 4
TIMEOUT_S = 60.0
USUAL_REFUSAL_S = 2.0
"""Generous: a refusal waits for nothing but the event loop. On a busy machine, some take longer."""
MAX_CLOSED_SHARE = 0.1
"""Connections that are closed before their request is read; on a slow machine a few are."""
MAX_GROWTH_BYTES = 64 * 2**20


class Attempt(NamedTuple):
    """One send and what came of it; without a status the connection was closed unanswered."""

    phone: str
    status: int
    retry_after: str | None
    request_id: str | None
    took_s: float


async def attempt_send(live: LiveService, phone: str) -> Attempt:
    """Send once, on a connection of its own."""
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection(*address_of(live))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            writer.write(send_request(live, phone, b"Connection: close"))
            answer = await reader.read()
    except ConnectionResetError:
        answer = b""
    finally:
        writer.close()
    took_s = time.perf_counter() - began
    if not answer:
        return Attempt(phone, 0, None, None, took_s)
    head, _, body = answer.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:])
    request_id = json.loads(body).get("item", {}).get("requestId")
    return Attempt(phone, int(answer.split(b" ")[1]), fields.get("retry-after"), request_id, took_s)


async def overload(live: LiveService, sends_per_caller: int) -> list[Attempt]:
    """Let three times as many callers as there are connections send as fast as they can."""

    async def call(caller: int) -> list[Attempt]:
        return [await attempt_send(live, f"010-7{caller:03}-{number:04}") for number in range(sends_per_caller)]

    found = await asyncio.gather(*(call(caller) for caller in range(CALLERS)))
    return [attempt for attempts in found for attempt in attempts]


def check_overload(folder: Path, sends_per_caller: int) -> None:
    """Overload a service and reconcile what it answered with what it kept and delivered."""
    limits = {"max_connections": MAX_CONNECTIONS, "max_waiting_writes": MAX_WAITING_WRITES, "key_rate": 0}
    with serving(folder / "data", **limits) as live:
        get_status(live)
        before = resident_bytes(live)

        attempts = asyncio.run(overload(live, sends_per_caller))
        grown = resident_bytes(live) - before

        accepted = [each for each in attempts if each.status == 200]
        refused = [each for each in attempts if each.status == 503]
        closed = [each for each in attempts if each.status == 0]
        assert len(accepted) + len(refused) + len(closed) == len(attempts), {each.status for each in attempts}
        assert len(closed) <= MAX_CLOSED_SHARE * len(attempts)
        assert len(accepted) >= MAX_WAITING_WRITES  # all others may be refused while these are committed
        assert refused
        assert {each.retry_after for each in refused} == {"1"}
        assert median(each.took_s for each in refused) < USUAL_REFUSAL_S
        assert grown < MAX_GROWTH_BYTES
        assert len({each.request_id for each in accepted}) == len(accepted)
        assert {count_accepted(live, each.phone) for each in accepted} == {1}
        assert {count_accepted(live, each.phone) for each in refused + closed} == {0}
        wait_until(lambda: count_delivered(live, accepted), lambda seen: seen == len(accepted))
        assert live.stop() == 0


def count_delivered(live: LiveService, attempts: list[Attempt]) -> int:
    """Return how many of these phones have received exactly one message from the simulator."""
    with live.client() as client:
        found = [
            client.get("/api/simulator/phone.v1.0", params={"phoneNumber": each.phone}).json() for each in attempts
        ]
    return sum(each["totalCount"] == 1 for each in found)


@pytest.mark.first_case
def test_overloaded_service_refuses_quickly_and_keeps_what_it_accepts(tmp_path: Path) -> None:
    check_overload(tmp_path, 6)


@pytest.mark.torture
def test_long_overload_neither_loses_nor_invents_a_send(tmp_path: Path) -> None:
    check_overload(tmp_path, 100)
