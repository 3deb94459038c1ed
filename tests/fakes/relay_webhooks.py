"""Webhooks of a fake relay: what is due is posted, and posted again until it is accepted."""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

MAX_HOOKS_PER_POST = 1000
RETRY_AFTER_MS = 1000
MIN_PAUSE_MS = 20
TIMEOUT_S = 10.0


@dataclass(slots=True)
class Post:
    """A webhook call, repeated until it is accepted."""

    body: Any
    next_at: int = 0
    attempts: int = 0
    is_accepted: bool = False


class RelayWebhooks(ABC):
    """Posts to the configured address; nothing is posted before `set`."""

    max_attempts: int
    change: Callable[[Any], Any] = staticmethod(lambda body: body)
    """Changes what is posted into something else than documented."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self._address = self._secret = ""
        self._pending: list[Post] = []
        self.posts: list[Post] = []
        """Every post, accepted or not."""

    def set(self, address: str, secret: str) -> None:
        """Post to an address from now on."""
        self._address, self._secret = address, secret
        self._state.changed.set()

    @abstractmethod
    def collect(self) -> None:
        """Add a post for everything that happened meanwhile."""

    @abstractmethod
    def headers(self) -> Mapping[str, str]:
        """Return the headers of a post."""

    @abstractmethod
    def next_change_at(self) -> int | None:
        """Return when something to post happens next."""

    def accepts(self, status: int) -> bool:
        """Say whether a post that is answered with this status was accepted."""
        return 200 <= status < 300

    def add(self, body: Any) -> None:
        self._pending.append(Post(self.change(body)))
        self.posts.append(self._pending[-1])

    async def run(self) -> None:
        """Post everything that is due, until cancelled."""
        state = self._state
        while not self._address:  # creating a client takes time, and most tests use no webhooks
            state.changed.clear()
            await state.changed.wait()
        async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as client:
            while True:
                state.changed.clear()
                state.process_due()
                self.collect()
                for post in [each for each in self._pending if each.next_at <= state.clock()]:
                    await self._send(client, post)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._pause_s()):
                        await state.changed.wait()

    def _pause_s(self) -> float | None:
        """Return the time until the next post is due; None if nothing is scheduled."""
        due = [each for each in (*(post.next_at for post in self._pending), self.next_change_at()) if each]
        return max(min(due) - self._state.clock(), MIN_PAUSE_MS) / 1000 if due else None

    async def _send(self, client: httpx.AsyncClient, post: Post) -> None:
        post.attempts += 1
        with contextlib.suppress(httpx.HTTPError):
            answer = await client.post(self._address, json=post.body, headers=self.headers())
            post.is_accepted = self.accepts(answer.status_code)
        post.next_at = self._state.clock() + RETRY_AFTER_MS
        if post.is_accepted or post.attempts >= self.max_attempts:
            self._pending.remove(post)
