"""Webhooks of the fake Solapi: reports of messages, called up to five times until 200 is returned."""

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from tests.fakes.solapi.messages import row
from tests.fakes.solapi.state import Json, State

MAX_REPORTS_PER_POST = 1000
MAX_ATTEMPTS = 5
"""Client example webhooks/index.js: it is called five times in all if 200 is not returned."""
MIN_PAUSE_MS = 20
TIMEOUT_S = 10.0


@dataclass(slots=True)
class ReportPost:
    """A webhook call, repeated until it is accepted."""

    body: list[Json]
    next_at: int = 0
    statuses: list[int | str] = field(default_factory=list)
    """The result of each attempt: a status, or the name of an error."""

    @property
    def is_accepted(self) -> bool:
        """Whether it was answered with 200."""
        return self.statuses[-1:] == [200]


class ReportWebhooks:
    """Posts to the configured address; nothing is posted before `set`."""

    def __init__(self, state: State, process_due: Callable[[], None]) -> None:
        self._state = state
        self._process_due = process_due
        self._address = self._secret = ""
        self.transport: httpx.AsyncBaseTransport | None = None
        self.retry_after_s = 1.0
        self.pending: list[ReportPost] = []
        self.posts: list[ReportPost] = []

    def set(self, address: str, secret: str) -> None:
        """Post to an address from now on."""
        self._address, self._secret = address, secret
        self._state.has_hooks = True
        self._state.changed.set()

    async def run(self) -> None:
        """Post everything that is due, until cancelled."""
        while not self._address:
            self._state.changed.clear()
            await self._state.changed.wait()
        async with httpx.AsyncClient(transport=self.transport, timeout=TIMEOUT_S, trust_env=False) as client:
            while True:
                self._state.changed.clear()
                await self.post_due(client)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause_s()):
                        await self._state.changed.wait()

    async def post_due(self, client: httpx.AsyncClient) -> None:
        """Post once everything that is due."""
        self._process_due()
        state = self._state
        messages, state.pending_hooks = state.pending_hooks * state.behavior.result_copies, []
        for first in range(0, len(messages), MAX_REPORTS_PER_POST):
            some = [row(state, one) for one in messages[first : first + MAX_REPORTS_PER_POST]]
            self.pending.append(ReportPost(some))
            self.posts.append(self.pending[-1])
        for post in [one for one in self.pending if one.next_at <= state.clock()]:
            post.statuses.append(await self._post(client, post))
            post.next_at = state.clock() + round(self.retry_after_s * 1000)
            if post.is_accepted or len(post.statuses) >= MAX_ATTEMPTS:
                self.pending.remove(post)

    def headers(self) -> dict[str, str]:
        """Return the headers of a report: the event, and the SHA-1 of the secret in hex."""
        digest = hashlib.sha1(self._secret.encode(), usedforsecurity=False).hexdigest()
        return {"X-Solapi-Event-Name": "SINGLE-REPORT", "X-Solapi-Secret": digest}

    def _pause_s(self) -> float | None:
        due = [one.next_at for one in self.pending]
        if (at := self._state.next_result_at()) is not None:
            due.append(at)
        return max(min(due) - self._state.clock(), MIN_PAUSE_MS) / 1000 if due else None

    async def _post(self, client: httpx.AsyncClient, post: ReportPost) -> int | str:
        try:
            answer = await client.post(self._address, json=post.body, headers=self.headers())
        except httpx.HTTPError as error:
            return type(error).__name__
        return answer.status_code
