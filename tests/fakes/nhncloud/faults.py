"""Faults that tests inject between a caller and the server, by path and count."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.fakes.nhncloud.answers import Reply, Request, header, json_reply


def gateway_reply(status: int, code: int, message: str) -> Reply:
    """Return an answer of the gateway: it has the same header as those of the services."""
    return json_reply(header(code, message), status)


KINDS = (
    "slow",  # answers `seconds` late
    "slow to accept",  # waits `seconds`, then accepts the call and answers
    "lose request",  # the connection breaks before the call is accepted
    "lose answer",  # the call is accepted, and the connection breaks before the answer
    "refuse",  # the connection is refused (over sockets: it breaks at once; see stop_listening)
    "twice",  # the body contains the answer twice
    "garbage",  # the call is accepted, and the answer is truncated JSON
    "gateway 502",  # the gateway could not reach the service; the call is not accepted
    "gateway 502 accepted",  # the same, but the call is accepted
    "gateway 503",  # the gateway's circuit breaker is open; the call is not accepted
    "gateway 504",  # the gateway gives up after 60 s, and the call is accepted
    "gateway 401",  # the gateway wants other credentials
    "gateway 403",  # the gateway does not allow our address
    "gateway 404",  # the gateway does not know the path
    "gateway 400",  # the gateway finds the request invalid
    "html 502",  # something in front of the gateway answers with a page; the call is not accepted
    "html 502 accepted",  # the same, but the call is accepted
    "throttle",  # HTTP 429: too many calls a second
    "call quota",  # HTTP 429: the usage quota is exceeded
    "system error",  # -9999; the call is not accepted
    "system error accepted",  # -9999, but the call is accepted
)
SYSTEM_ERROR = json_reply(header(-9999, "System error. Please inquire at support@toast.com."))
THROTTLED = gateway_reply(429, 4291000, "Too Many Requests")
TOO_LARGE = gateway_reply(
    413, 4131000, "Request size is larger than permissible limit. the permissible limit is 10mb."
)
GATEWAY = {
    "gateway 400": gateway_reply(400, 4000007, "Bad Request (body)"),
    "gateway 401": gateway_reply(401, 4011001, "Authorization is empty."),
    "gateway 403": gateway_reply(403, 4031007, "Request IP not allowed"),
    "gateway 404": gateway_reply(404, 4041007, "URL Not Found"),
    "gateway 502": gateway_reply(502, 5020001, "Upstream Bad Gateway (Connection reset by peer)"),
    "gateway 503": gateway_reply(503, 5030001, "Upstream Service Unavailable (CircuitBreaker is open)"),
    "gateway 504": gateway_reply(504, 5040001, "Gateway Timeout (Upstream ReadTimeout. limit: 60000ms)"),
    "call quota": gateway_reply(429, 4291001, "Usage quota exceeded."),
}
"""What the gateway in front of the services answers: API-Gateway ko/error-code.md, each code under its own heading.

That the services are behind this gateway is not written anywhere. Their names end in `.api.nhncloudservice.com`, as
those of the gateway's stages do (API-Gateway ko/console-guide.md).
"""
ACCEPTED_THEN = {"gateway 502 accepted": "gateway 502", "gateway 504": "gateway 504"}
GATEWAY_PAGE = Reply(502, "text/html", b"<html><body><h1>502 Bad Gateway</h1></body></html>")
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

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._recent: deque[int] = deque()

    def add(self, fault: Fault) -> Fault:
        """Inject a fault from now on."""
        assert fault.kind in KINDS, f"unknown kind {fault.kind!r}; known: {', '.join(KINDS)}"
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
                return await apply_fault(fault, request, answer)
        return await answer(request)


async def apply_fault(fault: Fault, request: Request, answer: Handler) -> Reply:
    match fault.kind:
        case "refuse":
            raise ConnectionRefused
        case "lose request":
            raise ConnectionCut
        case "throttle":
            return THROTTLED
        case "html 502":
            return GATEWAY_PAGE
        case kind if kind in GATEWAY and kind not in ACCEPTED_THEN:
            return GATEWAY[kind]
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
        case kind if kind in ACCEPTED_THEN:
            return GATEWAY[ACCEPTED_THEN[kind]]
        case "system error accepted":
            return SYSTEM_ERROR
    return reply
