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

from tests.crash.clients import RequestLog
from tests.faults.servers import PASSWORD

CLIENTS = 8
RETRY_DELAY_S = 0.1
"""Sooner than Retry-After says: these are not polite."""
ANSWER_TIMEOUT_S = 60
POLL_INTERVAL_S = 0.02
BUSY_AT_FIRST, SECOND_THOUGHTS, NOT_ASSIGNED = "010-0000-0005", "010-0000-0008", "010-0000-0001"
PHONE = re.compile(r"\b01[016789]-?[0-9]{3,4}-?[0-9]{4}\b")


@dataclass
class Load:
    """What clients do at the doors of services on one store, and what they were told."""

    base_urls: Sequence[str]
    key: str
    log: RequestLog = field(default_factory=RequestLog)
    results: Counter[str] = field(default_factory=Counter)
    """How often which answer was given; `lost` is a connection that broke."""
    slowest_s: float = 0.0
    _is_over: bool = False

    async def run_during(self, fault: Callable[[], Awaitable[None]], clients: int = CLIENTS) -> None:
        """Send without pause until the trouble is over, and then until every wish is granted."""
        self._is_over = False
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._keep_sending(number))
            await fault()
            self._is_over = True

    async def wait_for_answers(self, count: int) -> None:
        """Return once so many more wishes are granted."""
        enough = len(self.log.answered) + count
        await wait_until(lambda: len(self.log.answered) >= enough)

    async def wait_for_result(self, result: str, count: int = 1) -> None:
        """Return once an answer was given so many times more."""
        enough = self.results[result] + count
        await wait_until(lambda: self.results[result] >= enough)

    async def _keep_sending(self, number: int) -> None:
        door = self.base_urls[number % len(self.base_urls)]
        async with httpx.AsyncClient(
            base_url=door, headers={"apiKey": self.key}, timeout=ANSWER_TIMEOUT_S
        ) as client:
            while not self._is_over:
                is_for_later = self.log.created % 10 == 9
                name = self._add_request(number, is_for_later)
                sent = await self._post_until_success(client, "sendSMS", self.log.pending[name], name)
                request_id = sent["item"]["requestId"]
                self.log.mark_answered(name, request_id)
                if is_for_later:
                    await self._post_until_success(client, "cancel", {"requestId": request_id})
                    self.log.cancelled.add(request_id)

    def _add_request(self, number: int, is_for_later: bool) -> str:
        if is_for_later:
            tomorrow = datetime.now(ZoneInfo("Asia/Seoul")) + timedelta(days=1)
            return self.log.add(number, sendDate=f"{tomorrow:%Y-%m-%d %H:%M}")
        odd = {3: BUSY_AT_FIRST, 5: SECOND_THOUGHTS, 7: NOT_ASSIGNED}.get(self.log.created % 20)
        return self.log.add(number, *([odd] if odd else []))

    async def _post_until_success(
        self, client: httpx.AsyncClient, what: str, body: dict[str, Any], key: str | None = None
    ) -> dict[str, Any]:
        """Ask until it is granted; a no that does not say to try again is none of the store's troubles."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            began = asyncio.get_running_loop().time()
            try:
                response = await client.post(f"/api/message/{what}.v1.0", json=body, headers=headers)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                self.results["lost"] += 1
            else:
                answer: dict[str, Any] = response.json()
                self.results[answer["result"]] += 1
                if answer["result"] == "SUCCESS":
                    return answer
                assert (response.status_code, answer["result"]) == (503, "SERVICE_UNAVAILABLE"), answer
                assert int(response.headers["Retry-After"]) >= 1
            finally:
                self.slowest_s = max(self.slowest_s, asyncio.get_running_loop().time() - began)
            await asyncio.sleep(RETRY_DELAY_S)


async def wait_until(is_done: Callable[[], bool], timeout_s: float = ANSWER_TIMEOUT_S) -> None:
    """Return once something is so."""
    async with asyncio.timeout(timeout_s):
        while True:
            if is_done():
                return
            await asyncio.sleep(POLL_INTERVAL_S)


async def wait_until_ready(base_url: str, is_ready: bool = True, timeout_s: float = ANSWER_TIMEOUT_S) -> None:
    """Return once a service says that it is ready, or that it is not."""
    async with asyncio.timeout(timeout_s), httpx.AsyncClient(base_url=base_url, timeout=timeout_s) as client:
        while True:
            if (await client.get("/readyz")).status_code == (200 if is_ready else 503):
                return
            await asyncio.sleep(POLL_INTERVAL_S)


def check_log(log: Path) -> None:
    """See that a service noted no fault, no phone number and no password."""
    text = log.read_text(encoding="utf-8")
    assert "fault" not in text
    assert "failed" not in text
    assert "Traceback" not in text
    assert PASSWORD not in text
    assert not PHONE.search(text)
