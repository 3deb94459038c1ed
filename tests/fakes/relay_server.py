"""What every fake relay shares: a server with faults, on a port or in memory, and its command."""

import argparse
import asyncio
import contextlib
import gc
import json
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import httpx

from pabal.outbound.calls import Failure, HttpAnswer, HttpRequest, NotConnected, Unanswered
from tests.fakes.nhncloud.answers import Reply, Request
from tests.fakes.nhncloud.wire import Listener, listening
from tests.fakes.relay_faults import ConnectionCut, ConnectionRefused, Fault, FaultInjector

GC_THRESHOLD = 200_000
"""A server stores every message, so garbage collection frees little. A high threshold keeps benchmarks fast."""

Handler = Callable[[Any, Request], Any]
Route = tuple[str, str, Handler]
R = TypeVar("R", bound="RelayServer")


def real_clock() -> int:
    """Return the time of this machine in epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Router:
    """Finds the handler of a request by the documented paths."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._by_length: dict[tuple[str, int], list[tuple[str, list[str], Handler]]] = {}
        for method, path, handler in routes:
            self._by_length.setdefault((method, path.count("/")), []).append((path, path.split("/"), handler))

    def find(self, request: Request) -> tuple[str, Handler] | None:
        """Return the documented path and its handler; set the path parameters of the request."""
        given = request.path.rstrip("/").split("/")
        for path, segments, handler in self._by_length.get((request.method, len(given) - 1), ()):
            if all(want == have or want[:1] == "{" for want, have in zip(segments, given, strict=True)):
                pairs = zip(segments, given, strict=True)
                request.path_params = {want[1:-1]: have for want, have in pairs if want[:1] == "{"}
                return path, handler
        return None


class Call(NamedTuple):
    """A call that reached a server, with any result."""

    at: int
    method: str
    path: str
    """As it is documented, with the names of its parameters in braces."""
    recipient_count: int
    """Number of recipients in the body."""
    status: int
    code: int | str | None
    """The error code of the answer; None if it has none."""


class RelayServer(ABC):
    """A fake relay."""

    faults: FaultInjector
    throttled: ClassVar[Reply]
    """The answer to more calls a second than the relay takes."""
    listener: Listener
    webhooks: Any
    behavior: Any
    calls: list[Call]
    changed: asyncio.Event
    clock: Callable[[], int]
    plant: Callable[[str, Any], Any] | None = None
    """Changes answers, by "METHOD path", and posts of webhooks, by "webhook", into others than documented."""

    @abstractmethod
    def process_due(self) -> None:
        """Do what is due by now."""

    @abstractmethod
    def carry_out(self, request: Request) -> tuple[str, int | str | None, Reply]:
        """Return the documented path of a call, the error code of its answer, and the answer."""

    async def answer(self, request: Request) -> Reply:
        """Return the answer to a request. Raises ConnectionCut to break the connection."""
        before = len(self.calls)
        reply = await self.faults.apply(request, self._answer)
        if len(self.calls) == before:
            self._record(request, request.path, None, reply)
        return reply

    async def _answer(self, request: Request) -> Reply:
        if self.faults.is_over_rate(self.clock(), self.behavior.max_calls_per_second):
            return self.throttled
        self.process_due()
        path, code, reply = self.carry_out(request)
        self._record(request, path, code, reply)
        self.changed.set()
        return reply

    def _record(self, request: Request, path: str, code: int | str | None, reply: Reply) -> None:
        self.calls.append(Call(self.clock(), request.method, path, request.recipient_count, reply.status, code))

    def inject_fault(self, kind: str, on: str = "", times: float = 1, **more: Any) -> Fault:
        """Inject a fault; see relay_faults.py and the faults.py of each relay. `on` is part of "METHOD path"."""
        return self.faults.add(Fault(kind, on, times, **more))

    @property
    def address(self) -> str:
        """The base URL of a server that listens on a port."""
        return f"http://127.0.0.1:{self.listener.port}"


@contextlib.asynccontextmanager
async def serving_relay(relay: R, port: int) -> AsyncIterator[R]:
    """Run a server in this event loop until the end of the block."""

    async def answer(request: Request) -> Reply:
        reply = await relay.answer(request)
        if relay.plant is None:
            return reply
        changed = relay.plant(f"{request.method} {request.path}", json.loads(reply.body))
        return reply._replace(body=json.dumps(changed).encode())

    relay.webhooks.change = lambda body: relay.plant("webhook", body) if relay.plant else body
    async with listening(answer, port) as relay.listener:
        posting = asyncio.create_task(relay.webhooks.run())
        try:
            yield relay
        finally:
            posting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await posting


class RelayTransport:
    """Calls a server in this process, with the errors of real connections.

    As over a socket, a call continues after its caller timed out, until the transport is closed.
    """

    def __init__(self, relay: RelayServer) -> None:
        self._relay = relay
        self._running_calls: set[asyncio.Task[Reply]] = set()
        self.is_unreachable = False

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Make a call, as the service's own connections do."""
        if self.is_unreachable:
            raise NotConnected(Failure.CONNECTION, "All connection attempts failed")
        call = asyncio.create_task(self._relay.answer(_parse(request)))
        self._running_calls.add(call)
        call.add_done_callback(self._on_done)
        await asyncio.wait((call,))
        try:
            reply = call.result()
        except asyncio.CancelledError:
            raise Unanswered(Failure.CONNECTION, "the transport was closed") from None
        except ConnectionRefused:
            raise NotConnected(Failure.CONNECTION, "All connection attempts failed") from None
        except ConnectionCut:
            raise Unanswered(Failure.CONNECTION, "Server disconnected without sending a response.") from None
        return HttpAnswer(reply.status, httpx.Headers({"Content-Type": reply.content_type}), reply.body)

    async def close(self) -> None:
        """Cancel the calls whose callers timed out."""
        left = tuple(self._running_calls)
        for call in left:
            call.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _on_done(self, call: "asyncio.Task[Reply]") -> None:
        self._running_calls.discard(call)
        if not call.cancelled() and (error := call.exception()) and not isinstance(error, ConnectionCut):
            context = {"message": "the fake server failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)


def _parse(request: HttpRequest) -> Request:
    url = urlsplit(request.url)
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Request(request.method, unquote(url.path), query, headers, request.body)


def command_parser(name: str, description: str | None, port: int) -> argparse.ArgumentParser:
    """Return the parser of a command that runs a server for people, with the options that all have."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.fakes.{name}", description=description)
    parser.add_argument("--port", type=int, default=port, help="port on 127.0.0.1; 0: any free port")
    parser.add_argument("--number", action="append", default=[], help="additional sender number; may be repeated")
    parser.add_argument("--receipt-after", type=float, default=0.3, help="seconds until a result is known")
    parser.add_argument(
        "--review-after", type=float, default=10, help="seconds that a review takes; negative: reviewed by hand"
    )
    parser.add_argument("--webhook", help="address that results are posted to")
    return parser


async def print_and_wait(greeting: str) -> None:
    """Print a greeting, and return at SIGINT or SIGTERM."""
    print(greeting, flush=True)
    stopped = asyncio.Event()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(signal_number, stopped.set)
    await stopped.wait()


def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run a server's command."""
    gc.set_threshold(GC_THRESHOLD, 20, 100)
    asyncio.run(work)
