"""Faults that tests inject between a caller and the server, by path and count."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.fakes.nhncloud.answers import Reply, Request, header, json_reply

KINDS = (
    "slow",  # answers `seconds` late
    "slow to accept",  # does nothing for `seconds`, then takes the call and answers
    "lose request",  # the connection breaks before anything is taken
    "lose answer",  # the call is taken, and the connection breaks instead of an answer
    "refuse",  # nobody listens (over sockets: the connection breaks at once; see Served.gone for more)
    "twice",  # the answer comes twice, as one body
    "garbage",  # the call is taken, and the answer is none
    "html 502",  # a gateway answers with a page; the call is not taken
    "html 502 accepted",  # the same, but the call is taken
    "throttle",  # HTTP 429
    "system error",  # -9999; the call is not taken
    "system error accepted",  # -9999, but the call is taken
)
SYSTEM_ERROR = json_reply(header(-9999, "System error. Please inquire at support@toast.com."))
THROTTLED = Reply(429, "text/plain", b"Too Many Requests")
GATEWAY_PAGE = Reply(502, "text/html", b"<html><body><h1>502 Bad Gateway</h1></body></html>")
GARBAGE = Reply(200, "application/json;charset=UTF-8", b'{"header": {"isSuccessful": tr')
SECOND_MS = 1000

Handler = Callable[[Request], Awaitable[Reply]]


class ConnectionCut(Exception):
    """The connection is to be broken without an answer."""


class ConnectionRefused(ConnectionCut):
    """The connection is not to be accepted."""


@dataclass(slots=True)
class Fault:
    """One thing that goes wrong, so many times, with calls of which `on` is a part of "METHOD path"."""

    kind: str
    on: str = ""
    times: float = 1
    seconds: float = 0.0
    passed: int = 0
    """How many calls are to be left alone before it begins."""
    done: int = 0

    def applies_to(self, request: Request) -> bool:
        """Whether it happens to this call; counts it if so."""
        if self.done >= self.times or self.on not in f"{request.method} {request.path}":
            return False
        if self.passed > 0:
            self.passed -= 1
            return False
        self.done += 1
        return True


class FaultInjector:
    """Everything that is to go wrong."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._recent: deque[int] = deque()

    def add(self, fault: Fault) -> Fault:
        """Let something go wrong from now on."""
        assert fault.kind in KINDS, f"there is no {fault.kind!r}, only {', '.join(KINDS)}"
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
        """Return the answer to a call, or what has become of it."""
        for meddle in self.faults:
            if meddle.applies_to(request):
                return await _apply(meddle, request, answer)
        return await answer(request)


async def _apply(fault: Fault, request: Request, answer: Handler) -> Reply:
    match fault.kind:
        case "refuse":
            raise ConnectionRefused
        case "lose request":
            raise ConnectionCut
        case "throttle":
            return THROTTLED
        case "html 502":
            return GATEWAY_PAGE
        case "system error":
            return SYSTEM_ERROR
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
        case "garbage":
            return GARBAGE
        case "html 502 accepted":
            return GATEWAY_PAGE
        case "system error accepted":
            return SYSTEM_ERROR
    return reply
