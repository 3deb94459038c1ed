"""Runs the service behind its HTTP server, and greets whoever starts it for the first time."""

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import Iterator

import uvicorn

from pabal import logs
from pabal.app import AlreadyRunning, Service, build_service, only_deliverer
from pabal.config import Settings
from pabal.service import keys
from pabal.store import accounts
from pabal.web.protocol import Protocol
from pabal.world import RealWorld

FIRST_ACCOUNT = "first"
BACKLOG = 2048
GARBAGE_THRESHOLD = 10_000
_STOPPING = (signal.SIGINT, signal.SIGTERM)

_GREETING = """
Pabal is running at {base}

  account   {account}
  apiKey    {key}
            (shown only this once; `pabal key create` makes more)
  docs      {base}/docs

Try it:

  curl -s {base}/api/message/sendSMS.v1.0 -H 'apiKey: {key}' -H 'Content-Type: application/json' -d '{{"content":"#{{name}}님, 파발입니다.","sender":"02-1234-5678","receivers":[{{"phoneNumber":"010-1234-5678","templateData":{{"name":"홍길동"}}}}]}}'

  curl -s {base}/api/message/list.v1.0 -H 'apiKey: {key}' -H 'Content-Type: application/json' -d '{{"receivers":"010-1234-5678"}}'

  curl -s '{base}/api/simulator/phone.v1.0?phoneNumber=010-1234-5678' -H 'apiKey: {key}'

Nothing leaves this machine: the simulator plays every phone. Stop with Ctrl-C.
"""


class CannotServe(Exception):
    """The service cannot run; the message says why and what to do."""


def serve(settings: Settings) -> int:
    """Run until told to stop, and return the exit status."""
    logs.set_up(settings.log_format, settings.zone)
    try:
        with only_deliverer(settings), _listening(settings) as listener:
            return _run(settings, listener)
    except AlreadyRunning as no:
        raise CannotServe(str(no)) from None


def _run(settings: Settings, listener: socket.socket) -> int:
    async def run() -> int:
        service = await build_service(settings)
        key = await _first_key(service, settings)
        server = _Server(
            uvicorn.Config(
                service,
                interface="asgi3",
                http=Protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_graceful_shutdown=settings.stop_seconds,
                backlog=BACKLOG,
            ),
            _greeting(listener, key),
        )
        await service.start()
        _leave_be()
        try:
            await server.serve(sockets=[listener])
        finally:
            await service.stop()
        return 0

    with asyncio.Runner(loop_factory=_loop) as runner:
        return runner.run(run())


class _Server(uvicorn.Server):
    """A server that says so when it is up."""

    def __init__(self, config: uvicorn.Config, greeting: str) -> None:
        super().__init__(config)
        self._greeting = greeting

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, and then end with status 0: being told to stop is no failure."""
        loop = asyncio.get_running_loop()
        for each in _STOPPING:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        yield
        for each in _STOPPING:
            loop.remove_signal_handler(each)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(self._greeting, flush=True)


def _listening(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise CannotServe(
            f"cannot listen on {settings.host} port {settings.port} ({error.strerror}); choose another with --port"
        ) from None
    return listener


async def _first_key(service: Service, settings: Settings) -> str | None:
    """Return the key of a first account, made where there is no account yet."""
    store = service.station.store
    if await store.read(accounts.accounts):
        return None
    return await store.write(
        keys.issue, RealWorld(), FIRST_ACCOUNT, "made at the first start", rate=settings.key_rate
    )


def _greeting(listener: socket.socket, key: str | None) -> str:
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    base = f"http://{shown}:{port}"
    if key is None:
        return f"Pabal is running at {base}, its documentation at {base}/docs. Stop with Ctrl-C."
    return _GREETING.format(base=base, account=FIRST_ACCOUNT, key=key)


def _leave_be() -> None:
    """Let the collector of garbage pass over what was there at the start, and look less often at the rest."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)


def _loop() -> asyncio.AbstractEventLoop:
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()
