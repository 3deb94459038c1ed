"""Keeps processes running: starts them, starts those that die again, and stops all together."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from typing import NamedTuple

from pabal.world import RealWorld

FIRST_DELAY_S = 1.0
"""Pause before a process that has died is started again; it doubles each time."""
MAX_DELAY_S = 30.0
STABLE_S = 60.0
"""A process that has run this long is started again after the first delay."""
START_TIMEOUT_S = 60.0
"""A process that is not ready by then is killed."""
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
READY = b"r"
"""What a process sends to its parent when it is ready."""

log = logging.getLogger("pabal.processes")


class ChildCommand(NamedTuple):
    """How to start one of the processes; it gets the number of its link's descriptor as one more word."""

    words: Sequence[str]
    descriptors: tuple[int, ...]
    """Open sockets that it inherits."""


async def supervise(
    commands: Sequence[ChildCommand],
    *,
    stop_timeout_s: float,
    on_ready: Callable[[], None] = lambda: None,
    on_stop: Callable[[], None] = lambda: None,
) -> int:
    """Run processes until a stop signal; return the exit status.

    `on_ready` is called once all are ready. Until then, the first one that ends ends all, with its status: it has
    said why on standard error. Later ones are started again. `on_stop` is called before they are asked to stop.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop.set)
    children = [_Child(number, command) for number, command in enumerate(commands)]
    if status := await _start_all(children, stop):
        return status
    if not stop.is_set():
        on_ready()
        await _keep_all_running(children, stop)
    on_stop()
    return await _stop_all(children, stop_timeout_s)


async def _start_all(children: Sequence["_Child"], stop: asyncio.Event) -> int:
    """Start all processes and wait until they are ready, or asked to stop; return the status of one that ended."""
    starts = [asyncio.create_task(child.start()) for child in children]
    stopped = asyncio.create_task(stop.wait())
    waiting = set(starts)
    status = 0
    while waiting and not stop.is_set() and not status:
        done, _ = await asyncio.wait({*waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
        waiting -= done
        ended = [result for task in starts if task in done and (result := task.result()) is not None]
        status = next((each if each > 0 else 1 for each in ended), 0)
    for task in (stopped, *starts):
        task.cancel()
    await asyncio.gather(stopped, *starts, return_exceptions=True)
    if status:
        await _stop_all(children, START_TIMEOUT_S)
    return status


async def _keep_all_running(children: Sequence["_Child"], stop: asyncio.Event) -> None:
    """Start processes that end again, until asked to stop."""
    tasks = [asyncio.create_task(child.keep_running()) for child in children]
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({stopped, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    for task in (stopped, *tasks):
        task.cancel()
    results = await asyncio.gather(stopped, *tasks, return_exceptions=True)
    if bug := next((each for each in results if isinstance(each, Exception)), None):
        raise bug  # the children end, because their links are closed with this process


async def _stop_all(children: Sequence["_Child"], timeout_s: float) -> int:
    """Ask all processes to stop and wait for them; return 0 if all have stopped by themselves in time."""
    for child in children:
        child.ask_to_stop()
    results = await asyncio.gather(*(child.finish(timeout_s) for child in children))
    return 0 if all(results) else 1


class _Child:
    """One of the processes, and those that replace it when it dies."""

    def __init__(self, number: int, command: ChildCommand) -> None:
        self._number = number
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._link: socket.socket | None = None
        self._is_stopping = False

    async def start(self) -> int | None:
        """Start the process and wait until it is ready; return its status if it ends before."""
        self._close_link()
        self._link, theirs = socket.socketpair()
        self._link.setblocking(False)
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *self._command.words,
                str(theirs.fileno()),
                pass_fds=(*self._command.descriptors, theirs.fileno()),
                start_new_session=True,  # Ctrl-C is for the parent, which stops all
            )
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                is_ready = await self._wait_until_ready(self._link)
        except TimeoutError:
            log.error("process is not ready in time; killing it", extra=self._fields)
            self._process.kill()
            is_ready = False
        return None if is_ready else await self._process.wait()

    async def _wait_until_ready(self, link: socket.socket) -> bool:
        """Wait for the word of the process; say no if it ends before, which closes the link."""
        with contextlib.suppress(ConnectionError):
            return await asyncio.get_running_loop().sock_recv(link, 1) == READY
        return False

    async def keep_running(self) -> None:
        """Start the process again whenever it ends, until cancelled."""
        delay_s, started_at = FIRST_DELAY_S, _monotonic()
        while self._process is not None:
            status = await self._process.wait()
            if _monotonic() - started_at >= STABLE_S:
                delay_s = FIRST_DELAY_S
            log.error(
                "process ended; starting it again", extra={**self._fields, "status": status, "in_seconds": delay_s}
            )
            await asyncio.sleep(delay_s)
            delay_s, started_at = min(2 * delay_s, MAX_DELAY_S), _monotonic()
            try:
                if await self.start() is None:
                    log.info("process is running again", extra=self._fields)
            except OSError as error:  # no memory, or too many processes: perhaps not for long
                log.error(
                    "process cannot be started; trying again", extra={"error": error.strerror, **self._fields}
                )

    def ask_to_stop(self) -> None:
        """Ask the process to stop, if it runs."""
        if self._process is not None and self._process.returncode is None:
            self._is_stopping = True
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()

    async def finish(self, timeout_s: float) -> bool:
        """Wait until the process that was asked to stop has ended; say whether it did so by itself and in time."""
        if self._process is None or not self._is_stopping:  # it had died before, and was not started again yet
            self._close_link()
            return True
        try:
            async with asyncio.timeout(timeout_s):
                status = await self._process.wait()
        except TimeoutError:
            log.error("process does not stop; killing it", extra=self._fields)
            self._process.kill()
            status = await self._process.wait()
        finally:
            self._close_link()
        return status in (0, -signal.SIGTERM)  # while it starts, it has no handler of the signal yet

    @property
    def _fields(self) -> dict[str, int | None]:
        return {"number": self._number, "pid": self._process.pid if self._process else None}

    def _close_link(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


def _monotonic() -> float:
    return RealWorld().monotonic()


class ParentLink:
    """A child's end of the connection to its parent, by which each learns that the other is ready or gone."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(False)

    def tell_ready(self) -> None:
        """Tell the parent that this process is ready."""
        with contextlib.suppress(OSError):  # the parent has died, which the other method notices
            self._socket.send(READY)

    async def stop_with_parent(self) -> None:
        """Have this process stop as at SIGTERM when its parent dies, however it dies."""
        with contextlib.suppress(ConnectionError):
            await asyncio.get_running_loop().sock_recv(self._socket, 1)
        log.warning("the parent process has died; stopping")
        signal.raise_signal(signal.SIGTERM)
