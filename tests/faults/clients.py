"""Clients that ask until they are answered, at any number of doors, whatever happens to the store meanwhile."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx

from tests.crash.clients import Wishes
from tests.faults.servers import PASSWORD

CLIENTS = 8
AGAIN_AFTER_S = 0.1
"""Sooner than Retry-After says: these are not polite."""
ANSWER_WITHIN_S = 60
POLL_S = 0.02
BUSY_AT_FIRST, SECOND_THOUGHTS, NOT_ASSIGNED = "010-0000-0005", "010-0000-0008", "010-0000-0001"
PHONE = re.compile(r"\b01[016789]-?[0-9]{3,4}-?[0-9]{4}\b")


@dataclass
class Load:
    """What clients do at the doors of services on one store, and what they were told."""

    doors: Sequence[str]
    key: str
    wishes: Wishes = field(default_factory=Wishes)
    told: Counter[str] = field(default_factory=Counter)
    """How often which answer was given; `lost` is a connection that broke."""
    slowest_s: float = 0.0
    _is_over: bool = False

    async def while_(self, trouble: Callable[[], Awaitable[None]], clients: int = CLIENTS) -> None:
        """Send without pause until the trouble is over, and then until every wish is granted."""
        self._is_over = False
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._keep_asking(number))
            await trouble()
            self._is_over = True

    async def until(self, more: int) -> None:
        """Return once so many more wishes are granted."""
        enough = len(self.wishes.answered) + more
        await until(lambda: len(self.wishes.answered) >= enough)

    async def until_told(self, result: str, more: int = 1) -> None:
        """Return once an answer was given so many times more."""
        enough = self.told[result] + more
        await until(lambda: self.told[result] >= enough)

    async def _keep_asking(self, number: int) -> None:
        door = self.doors[number % len(self.doors)]
        async with httpx.AsyncClient(
            base_url=door, headers={"apiKey": self.key}, timeout=ANSWER_WITHIN_S
        ) as client:
            while not self._is_over:
                is_for_later = self.wishes.made % 10 == 9
                name = self._another(number, is_for_later)
                sent = await self._ask(client, "sendSMS", self.wishes.open[name], name)
                request_id = sent["item"]["requestId"]
                self.wishes.grant(name, request_id)
                if is_for_later:
                    await self._ask(client, "cancel", {"requestId": request_id})
                    self.wishes.cancelled.add(request_id)

    def _another(self, number: int, is_for_later: bool) -> str:
        if is_for_later:
            tomorrow = datetime.now(ZoneInfo("Asia/Seoul")) + timedelta(days=1)
            return self.wishes.another(number, sendDate=f"{tomorrow:%Y-%m-%d %H:%M}")
        odd = {3: BUSY_AT_FIRST, 5: SECOND_THOUGHTS, 7: NOT_ASSIGNED}.get(self.wishes.made % 20)
        return self.wishes.another(number, *([odd] if odd else []))

    async def _ask(
        self, client: httpx.AsyncClient, what: str, body: dict[str, Any], key: str | None = None
    ) -> dict[str, Any]:
        """Ask until it is granted; a no that does not say to try again is none of the store's troubles."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            began = asyncio.get_running_loop().time()
            try:
                response = await client.post(f"/api/message/{what}.v1.0", json=body, headers=headers)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                self.told["lost"] += 1
            else:
                answer: dict[str, Any] = response.json()
                self.told[answer["result"]] += 1
                if answer["result"] == "SUCCESS":
                    return answer
                assert (response.status_code, answer["result"]) == (503, "SERVICE_UNAVAILABLE"), answer
                assert int(response.headers["Retry-After"]) >= 1
            finally:
                self.slowest_s = max(self.slowest_s, asyncio.get_running_loop().time() - began)
            await asyncio.sleep(AGAIN_AFTER_S)


async def until(is_so: Callable[[], bool], within_s: float = ANSWER_WITHIN_S) -> None:
    """Return once something is so."""
    async with asyncio.timeout(within_s):
        while True:
            if is_so():
                return
            await asyncio.sleep(POLL_S)


async def until_ready(door: str, is_ready: bool = True, within_s: float = ANSWER_WITHIN_S) -> None:
    """Return once a service says that it is ready, or that it is not."""
    async with asyncio.timeout(within_s), httpx.AsyncClient(base_url=door, timeout=within_s) as client:
        while True:
            if (await client.get("/readyz")).status_code == (200 if is_ready else 503):
                return
            await asyncio.sleep(POLL_S)


def check_log(log: Path) -> None:
    """See that a service noted no fault, no phone number and no password."""
    text = log.read_text(encoding="utf-8")
    assert "fault" not in text
    assert "failed" not in text
    assert "Traceback" not in text
    assert PASSWORD not in text
    assert not PHONE.search(text)
