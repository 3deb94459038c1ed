"""Clients that do not give up when the service goes away."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

POLL_S = 0.05


@dataclass
class RequestLog:
    """What clients asked for and what they were answered: outlives the process."""

    answered: dict[str, str] = field(default_factory=dict)
    pending: dict[str, dict[str, Any]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    """The requests that were answered as cancelled."""
    created: int = 0

    def add(self, number: int, *extra: str, **more: Any) -> str:
        """Make up a wish of a client, mostly small, sometimes large; return the Idempotency-Key that names it."""
        self.created += 1
        count = 300 if self.created % 25 == 0 else 1 + self.created % 12
        phones = [*(f"010-2{number:03}-{each:04}" for each in range(count)), *extra]
        receivers = [{"phoneNumber": phone, "templateData": {"n": self.created}} for phone in phones]
        name = f"wish-{self.created}"
        self.pending[name] = {"content": "#{n}번째", "sender": "02-123-4567", "receivers": receivers, **more}
        return name

    def mark_answered(self, name: str, request_id: str) -> None:
        """Note what a wish was answered with."""
        self.answered[name] = request_id
        del self.pending[name]


async def run_clients(base_url: str, key: str, log: RequestLog, clients: int) -> None:
    """Send without pause until the process is gone; what got no answer is asked again first, with its key."""
    limits = httpx.Limits(max_connections=max(clients, 1))
    async with httpx.AsyncClient(base_url=base_url, headers={"apiKey": key}, limits=limits) as client:
        for name, body in list(log.pending.items()):
            await _send(client, log, name, body)
        await asyncio.gather(*(_keep_sending(client, log, number) for number in range(clients)))


async def _keep_sending(client: httpx.AsyncClient, wishes: RequestLog, number: int) -> None:
    while True:
        name = wishes.add(number)
        try:
            await _send(client, wishes, name, wishes.pending[name])
        except httpx.TransportError:
            return


async def _send(client: httpx.AsyncClient, wishes: RequestLog, name: str, body: dict[str, Any]) -> None:
    answer = (
        await client.post("/api/message/sendSMS.v1.0", json=body, headers={"Idempotency-Key": name}, timeout=30)
    ).json()
    assert answer["result"] == "SUCCESS", answer
    wishes.mark_answered(name, answer["item"]["requestId"])


async def wait_until_idle(base_url: str) -> None:
    """Return once nothing waits, by the service's own figures."""
    async with httpx.AsyncClient(base_url=base_url) as client:
        while True:
            page = (await client.get("/metrics")).text
            depths = re.findall(r"^pabal_queue_jobs\{.*\} ([0-9.]+)$", page, re.MULTILINE)
            if depths and all(float(depth) == 0 for depth in depths):
                return
            await asyncio.sleep(POLL_S)
