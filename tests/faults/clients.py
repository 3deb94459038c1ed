"""Clients that retry each request until it succeeds, whatever happens to the store in the meantime."""

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx

from tests.crash.clients import RequestLog
from tests.faults.servers import PASSWORD

CLIENTS = 8
RETRY_DELAY_S = 0.1
"""Sooner than Retry-After asks for, as impatient clients do."""
ANSWER_TIMEOUT_S = 60
POLL_INTERVAL_S = 0.02
BUSY_AT_FIRST, FAILS_AFTER_ACCEPTANCE, NOT_ASSIGNED = "010-0000-0005", "010-0000-0008", "010-0000-0001"
PHONE = re.compile(r"\b01[016789]-?[0-9]{3,4}-?[0-9]{4}\b")


@dataclass
class Load:
    """Clients of several services that share one store, and the answers they received."""

    base_urls: Sequence[str]
    key: str
    log: RequestLog = field(default_factory=RequestLog)
    results: Counter[str] = field(default_factory=Counter)
    """How often each result was received; `lost` counts broken connections."""
    slowest_s: float = 0.0
    _is_over: bool = False

    async def run_during(self, fault: Callable[[], Awaitable[None]], clients: int = CLIENTS) -> None:
        """Send without pause while `fault` runs, then until every request has succeeded."""
        self._is_over = False
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(self._keep_sending(number))
            await fault()
            self._is_over = True

    async def wait_for_answers(self, count: int) -> None:
        """Return once `count` more requests have succeeded; on a busy machine, each may take long."""
        known = len(self.log.answered)
        for number in range(known + 1, known + count + 1):
            await wait_until(partial(self._has_answers, number))

    def _has_answers(self, count: int) -> bool:
        return len(self.log.answered) >= count

    async def wait_for_result(self, result: str, count: int = 1) -> None:
        """Return once `result` was received `count` more times."""
        target = self.results[result] + count
        await wait_until(lambda: self.results[result] >= target)

    async def _keep_sending(self, number: int) -> None:
        base_url = self.base_urls[number % len(self.base_urls)]
        async with httpx.AsyncClient(
            base_url=base_url, headers={"apiKey": self.key}, timeout=ANSWER_TIMEOUT_S
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
        special = {3: BUSY_AT_FIRST, 5: FAILS_AFTER_ACCEPTANCE, 7: NOT_ASSIGNED}.get(self.log.created % 20)
        return self.log.add(number, *([special] if special else []))

    async def _post_until_success(
        self, client: httpx.AsyncClient, operation: str, body: dict[str, Any], key: str | None = None
    ) -> dict[str, Any]:
        """Retry until SUCCESS; any other answer than SERVICE_UNAVAILABLE fails the test."""
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            began = asyncio.get_running_loop().time()
            try:
                response = await client.post(f"/api/message/{operation}.v1.0", json=body, headers=headers)
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
    """Return once `is_done` returns true."""
    async with asyncio.timeout(timeout_s):
        while True:
            if is_done():
                return
            await asyncio.sleep(POLL_INTERVAL_S)


async def wait_until_ready(base_url: str, is_ready: bool = True, timeout_s: float = ANSWER_TIMEOUT_S) -> None:
    """Return once a service reports that it is ready, or with `is_ready=False` that it is not."""
    async with asyncio.timeout(timeout_s), httpx.AsyncClient(base_url=base_url, timeout=timeout_s) as client:
        while True:
            if (await client.get("/readyz")).status_code == (200 if is_ready else 503):
                return
            await asyncio.sleep(POLL_INTERVAL_S)


def check_log(log: Path) -> None:
    """Check that a service logged no error, no phone number and no password."""
    text = log.read_text(encoding="utf-8")
    assert "fault" not in text
    assert "failed" not in text
    assert "Traceback" not in text
    assert PASSWORD not in text
    assert not PHONE.search(text)
