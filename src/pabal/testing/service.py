"""The whole service in a thread of this process, with the simulator and a clock that can be moved forward."""

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from zoneinfo import ZoneInfo

from pabal.app import Service, build_service
from pabal.cli.serving.serve import build_table, new_event_loop
from pabal.domain.base.dates import SECOND, Instant, parse_minute
from pabal.service.access.accounts import keys
from pabal.service.access.accounts.keys import NewKey
from pabal.settings.settings import load
from pabal.web.http.server import serving
from pabal.world import RealWorld

T = TypeVar("T")

START_TIMEOUT_S = 30.0
STOP_SECONDS = 5
"""How long it may finish what is in flight when it is stopped."""


class LocalService:
    """A running service on a free port; what it stores is in a folder of its own.

    `settings` are those of `pabal settings`; the environment is not read.
    """

    def __init__(self, folder: Path, **settings: Any) -> None:
        self._settings = load({}, **{"data": folder, "port": 0, "stop_seconds": STOP_SECONDS, **settings})
        self._accounts = 0
        self._world = MovableWorld()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pabal", daemon=True)
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service: Service | None = None
        self._stop_event: asyncio.Event | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        """The base URL of its API."""
        self.clock = Clock(self._world, self._settings.zone, self._wake)
        """Its clock, which can be moved forward."""

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._started.wait(START_TIMEOUT_S) or self._failure:
            self._stop()
            raise RuntimeError("the service has not started") from self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def create_account(self, name: str = "", scopes: Sequence[str] = keys.SCOPES) -> str:
        """Create an account, or find the one of this name, and return a new key of it with these scopes."""
        self._accounts += 1
        assert self._service
        store = self._service.context.store
        issued = store.write(
            keys.issue, self._world, name or f"account-{self._accounts}", NewKey("Test key", scopes)
        )
        return self._await(issued)

    def _stop(self) -> None:
        if self._loop and self._stop_event and not self._failure:
            self._loop.call_soon_threadsafe(self._stop_event.set)
        self._thread.join()
        self._listener.close()

    def _wake(self) -> None:
        assert self._service
        assert self._loop
        context = self._service.context
        self._loop.call_soon_threadsafe(context.wake, context.carriers)

    def _await(self, work: Coroutine[Any, Any, T]) -> T:
        assert self._loop
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _run(self) -> None:
        interval_s = sys.getswitchinterval()  # the service shortens it for the whole process
        try:
            with asyncio.Runner(loop_factory=new_event_loop) as runner:
                runner.run(self._serve())
        except BaseException as failure:  # to be raised in the thread that waits for the start
            self._failure = failure
        finally:
            sys.setswitchinterval(interval_s)
            self._started.set()

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        service = await build_service(self._settings, self._world)
        self._service = service
        self._stop_event = asyncio.Event()
        await service.start()
        try:
            async with serving(
                {self._listener: service.http_app},
                build_table(service.context.metrics, self._settings),
                STOP_SECONDS,
            ):
                self._started.set()
                await self._stop_event.wait()
        finally:
            await service.stop()


class MovableWorld(RealWorld):
    """The system's clock and randomness, with a time that lies ahead by as much as a test says.

    Durations, such as timeouts, are still those of the system.
    """

    ahead_ms = 0

    def now(self) -> Instant:
        return super().now() + self.ahead_ms


class Clock:
    """Moves the time of a service; it goes on from there as any clock does."""

    def __init__(self, world: MovableWorld, zone: ZoneInfo, on_move: Callable[[], object]) -> None:
        """`on_move` is called after each move: what is now due has to be looked for."""
        self._world = world
        self._zone = zone
        self._on_move = on_move

    def now(self) -> datetime:
        """Return the time of the service, in its time zone."""
        return datetime.fromtimestamp(self._world.now() / SECOND, self._zone)

    def move_to(self, moment: datetime | str) -> None:
        """Move to a moment: a datetime, or the text of a `sendDate`. Without a zone it is in that of the service.

        Raises ValueError for a moment that has passed; Refused for a text that is no time.
        """
        if isinstance(moment, str):
            at = parse_minute(moment, self._zone)
        else:
            at = round((moment if moment.tzinfo else moment.replace(tzinfo=self._zone)).timestamp() * SECOND)
        ahead_ms = at - self._world.now()
        if ahead_ms < 0:
            raise ValueError(f"{moment} has passed, and the clock only moves forward: it is {self.now():%F %T}")
        self._move(self._world.ahead_ms + ahead_ms)

    def move_by(self, duration: timedelta) -> None:
        """Move forward by a duration.

        Raises ValueError for a negative one.
        """
        self.move_to(self.now() + duration)

    def reset(self) -> None:
        """Return to the time of the system."""
        self._move(0)

    def _move(self, ahead_ms: int) -> None:
        if ahead_ms != self._world.ahead_ms:
            self._world.ahead_ms = ahead_ms
            self._on_move()
