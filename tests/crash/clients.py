"""Clients that do not give up when the service goes away."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

POLL_S = 0.05


@dataclass
class Wishes:
    """What clients asked for and what they were answered: outlives the process."""

    answered: dict[str, str] = field(default_factory=dict)
    open: dict[str, dict[str, Any]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    """The requests that were answered as cancelled."""
    made: int = 0

    def another(self, number: int, *extra: str, **more: Any) -> str:
        """Make up a wish of a client, mostly small, sometimes large; return the Idempotency-Key that names it."""
        self.made += 1
        count = 300 if self.made % 25 == 0 else 1 + self.made % 12
        phones = [*(f"010-2{number:03}-{each:04}" for each in range(count)), *extra]
        receivers = [{"phoneNumber": phone, "templateData": {"n": self.made}} for phone in phones]
        name = f"wish-{self.made}"
        self.open[name] = {"content": "#{n}번째", "sender": "02-123-4567", "receivers": receivers, **more}
        return name

    def grant(self, name: str, request_id: str) -> None:
        """Note what a wish was answered with."""
        self.answered[name] = request_id
        del self.open[name]


async def load(base: str, key: str, wishes: Wishes, clients: int) -> None:
    """Send without pause until the process is gone; what got no answer is asked again first, with its key."""
    limits = httpx.Limits(max_connections=max(clients, 1))
    async with httpx.AsyncClient(base_url=base, headers={"apiKey": key}, limits=limits) as client:
        for name, body in list(wishes.open.items()):
            await _ask(client, wishes, name, body)
        await asyncio.gather(*(_keep_asking(client, wishes, number) for number in range(clients)))


async def _keep_asking(client: httpx.AsyncClient, wishes: Wishes, number: int) -> None:
    while True:
        name = wishes.another(number)
        try:
            await _ask(client, wishes, name, wishes.open[name])
        except httpx.TransportError:
            return


async def _ask(client: httpx.AsyncClient, wishes: Wishes, name: str, body: dict[str, Any]) -> None:
    answer = (
        await client.post("/api/message/sendSMS.v1.0", json=body, headers={"Idempotency-Key": name}, timeout=30)
    ).json()
    assert answer["result"] == "SUCCESS", answer
    wishes.grant(name, answer["item"]["requestId"])


async def until_idle(base: str) -> None:
    """Return once nothing waits, by the service's own figures."""
    async with httpx.AsyncClient(base_url=base) as client:
        while True:
            page = (await client.get("/metrics")).text
            depths = re.findall(r"^pabal_queue_jobs\{.*\} ([0-9.]+)$", page, re.MULTILINE)
            if depths and all(float(depth) == 0 for depth in depths):
                return
            await asyncio.sleep(POLL_S)
