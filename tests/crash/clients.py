"""Clients that retry their requests after the service was killed."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

POLL_INTERVAL_S = 0.05


@dataclass
class RequestLog:
    """The requests of all clients and their answers; it outlives the process under test."""

    answered: dict[str, str] = field(default_factory=dict)
    """The request id by Idempotency-Key."""
    pending: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The body of each request without an answer, by Idempotency-Key."""
    cancelled: set[str] = field(default_factory=set)
    """The ids of requests whose cancellation succeeded."""
    created: int = 0

    def add(self, number: int, *extra: str, **more: Any) -> str:
        """Add a request of a client, mostly small, sometimes large; return its Idempotency-Key."""
        self.created += 1
        count = 300 if self.created % 25 == 0 else 1 + self.created % 12
        phones = [*(f"010-2{number:03}-{each:04}" for each in range(count)), *extra]
        receivers = [{"phoneNumber": phone, "templateData": {"n": self.created}} for phone in phones]
        name = f"request-{self.created}"
        self.pending[name] = {"content": "#{n}번째", "sender": "02-123-4567", "receivers": receivers, **more}
        return name

    def mark_answered(self, name: str, request_id: str) -> None:
        """Record the answer to a request."""
        self.answered[name] = request_id
        del self.pending[name]


async def run_clients(base_url: str, key: str, log: RequestLog, clients: int) -> None:
    """Send without pause until the process is gone; first retry each pending request with its own key."""
    limits = httpx.Limits(max_connections=max(clients, 1))
    async with httpx.AsyncClient(base_url=base_url, headers={"apiKey": key}, limits=limits) as client:
        for name, body in list(log.pending.items()):
            await _send(client, log, name, body)
        await asyncio.gather(*(_keep_sending(client, log, number) for number in range(clients)))


async def _keep_sending(client: httpx.AsyncClient, log: RequestLog, number: int) -> None:
    while True:
        name = log.add(number)
        try:
            await _send(client, log, name, log.pending[name])
        except httpx.TransportError:
            return


async def _send(client: httpx.AsyncClient, log: RequestLog, name: str, body: dict[str, Any]) -> None:
    answer = (
        await client.post("/api/message/sendSMS.v1.0", json=body, headers={"Idempotency-Key": name}, timeout=30)
    ).json()
    assert answer["result"] == "SUCCESS", answer
    log.mark_answered(name, answer["item"]["requestId"])


async def wait_until_idle(base_url: str) -> None:
    """Return once the service's metrics show an empty queue."""
    async with httpx.AsyncClient(base_url=base_url) as client:
        while True:
            page = (await client.get("/metrics")).text
            depths = re.findall(r"^pabal_queue_jobs\{.*\} ([0-9.]+)$", page, re.MULTILINE)
            if depths and all(float(depth) == 0 for depth in depths):
                return
            await asyncio.sleep(POLL_INTERVAL_S)
