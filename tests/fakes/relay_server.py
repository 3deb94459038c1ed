"""What every fake relay shares: an ASGI application with faults, on a port or in memory, and its command."""

import argparse
import asyncio
import contextlib
import gc
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import httpx

from tests.fakes.nhncloud.answers import Reply, Request
from tests.fakes.nhncloud.faults import ConnectionCut, ConnectionRefused, Fault, FaultInjector
from tests.fakes.nhncloud.wire import Listener, listening

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


class RelayServer(ABC):
    """A fake relay as an ASGI application."""

    faults: FaultInjector
    listener: Listener
    webhooks: Any

    @abstractmethod
    async def answer(self, request: Request) -> Reply:
        """Return the answer to a request. Raises ConnectionCut to break the connection."""

    def inject_fault(self, kind: str, on: str = "", times: float = 1, **more: Any) -> Fault:
        """Inject a fault; see faults.py for the kinds. `on` is part of "METHOD path"."""
        return self.faults.add(Fault(kind, on, times, **more))

    @property
    def address(self) -> str:
        """The base URL of a server that listens on a port."""
        return f"http://127.0.0.1:{self.listener.port}"

    async def __call__(self, scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        """Answer as an ASGI application. Raises ConnectionCut to break the connection."""
        body = b""
        while True:
            event = await receive()
            body += event.get("body", b"")
            if not event.get("more_body"):
                break
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        reply = await self.answer(Request(scope["method"], scope["path"], query, headers, body))
        sent = [(b"content-type", reply.content_type.encode()), (b"content-length", b"%d" % len(reply.body))]
        await send({"type": "http.response.start", "status": reply.status, "headers": sent})
        await send({"type": "http.response.body", "body": reply.body})


@contextlib.asynccontextmanager
async def serving_relay(relay: R, port: int) -> AsyncIterator[R]:
    """Run a server in this event loop until the end of the block."""
    async with listening(relay.answer, port) as relay.listener:
        posting = asyncio.create_task(relay.webhooks.run())
        try:
            yield relay
        finally:
            posting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await posting


class RelayTransport(httpx.AsyncBaseTransport):
    """Calls a server in this process, with the caller's timeout and the errors of real connections.

    As over a socket, a call continues after its caller timed out, until the transport is closed.
    """

    def __init__(self, relay: RelayServer) -> None:
        self._inner = httpx.ASGITransport(relay)
        self._running_calls: set[asyncio.Task[httpx.Response]] = set()
        self.is_unreachable = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self.is_unreachable:
            raise httpx.ConnectError("All connection attempts failed", request=request)
        timeout_s = request.extensions.get("timeout", {}).get("read")
        call = asyncio.create_task(self._inner.handle_async_request(request))
        self._running_calls.add(call)
        call.add_done_callback(self._on_done)
        await asyncio.wait((call,), timeout=timeout_s)
        if not call.done():
            raise httpx.ReadTimeout("no answer in time", request=request)
        try:
            return call.result()
        except asyncio.CancelledError:
            raise httpx.ReadError("the transport was closed", request=request) from None
        except ConnectionRefused:
            raise httpx.ConnectError("All connection attempts failed", request=request) from None
        except ConnectionCut:
            why = "Server disconnected without sending a response."
            raise httpx.RemoteProtocolError(why, request=request) from None

    async def aclose(self) -> None:
        """Cancel the calls whose callers timed out."""
        left = tuple(self._running_calls)
        for call in left:
            call.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _on_done(self, call: "asyncio.Task[httpx.Response]") -> None:
        self._running_calls.discard(call)
        if not call.cancelled() and (error := call.exception()) and not isinstance(error, ConnectionCut):
            context = {"message": "the fake server failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)


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
