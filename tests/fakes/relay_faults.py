"""Faults that tests inject between a caller and a fake relay, by path and count."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from tests.fakes.nhncloud.answers import Reply, Request

KINDS = (
    "slow",  # answers `seconds` late
    "slow to accept",  # waits `seconds`, then accepts the call and answers
    "lose request",  # the connection breaks before the call is accepted
    "lose answer",  # the call is accepted, and the connection breaks before the answer
    "refuse",  # the connection is refused (over sockets: it breaks at once; see stop_listening)
    "twice",  # the body contains the answer twice
    "garbage",  # the call is accepted, and the answer is truncated JSON
)
"""The faults of connections, which any relay may have."""
GARBAGE = Reply(200, "application/json;charset=UTF-8", b'{"header": {"isSuccessful": tr')
SECOND_MS = 1000

Handler = Callable[[Request], Awaitable[Reply]]


class ConnectionCut(Exception):
    """Break the connection without an answer."""


class ConnectionRefused(ConnectionCut):
    """Do not accept the connection."""


@dataclass(slots=True)
class Fault:
    """A fault in the next `times` calls whose "METHOD path" contains `on`."""

    kind: str
    on: str = ""
    times: float = 1
    seconds: float = 0.0
    passed: int = 0
    """Number of matching calls that are not affected first."""
    done: int = 0

    def applies_to(self, request: Request) -> bool:
        """Return whether the fault applies to this call; count it if so."""
        if self.done >= self.times or self.on not in f"{request.method} {request.path}":
            return False
        if self.passed > 0:
            self.passed -= 1
            return False
        self.done += 1
        return True


class FaultInjector:
    """The injected faults, and the rate limit."""

    def __init__(self, instead: Mapping[str, Reply], after: Mapping[str, Reply]) -> None:
        """The relay's own faults: what it answers to a call that it does not accept, or that it accepts."""
        self.faults: list[Fault] = []
        self._instead = instead
        self._after = {"garbage": GARBAGE, **after}
        self._recent: deque[int] = deque()

    def add(self, fault: Fault) -> Fault:
        """Inject a fault from now on."""
        assert fault.kind in (*KINDS, *self._instead, *self._after), f"unknown kind {fault.kind!r}"
        self.faults.append(fault)
        return fault

    def is_over_rate(self, now: int, limit: float | None) -> bool:
        """Count a call, and return whether there were more than `most` in the last second."""
        if limit is None:
            return False
        while self._recent and self._recent[0] <= now - SECOND_MS:
            self._recent.popleft()
        if len(self._recent) >= limit:
            return True
        self._recent.append(now)
        return False

    async def apply(self, request: Request, answer: Handler) -> Reply:
        """Return the answer to a call, changed by the first fault that applies."""
        for fault in self.faults:
            if fault.applies_to(request):
                return await self._apply(fault, request, answer)
        return await answer(request)

    async def _apply(self, fault: Fault, request: Request, answer: Handler) -> Reply:
        match fault.kind:
            case "refuse":
                raise ConnectionRefused
            case "lose request":
                raise ConnectionCut
            case kind if kind in self._instead:
                return self._instead[kind]
            case "slow to accept":
                await asyncio.sleep(fault.seconds)
        reply = await answer(request)
        match fault.kind:
            case "slow":
                await asyncio.sleep(fault.seconds)
            case "lose answer":
                raise ConnectionCut
            case "twice":
                return reply._replace(body=reply.body * 2)
        return self._after.get(fault.kind, reply)
