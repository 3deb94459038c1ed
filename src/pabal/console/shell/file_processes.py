"""Reads files of users in processes of their own, each with limits of memory and CPU time.

Python runs one thread of a process at a time and cannot stop it, so one file in a thread could keep all others
waiting.
"""

import asyncio
import contextlib
import logging
import pickle
import socket
import subprocess
import sys
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator
from typing import BinaryIO, NamedTuple, TypeVar, cast

from pabal.console.sheets.file_server import LENGTH_BYTES, Answer, End, FileJob, Part, ReadFailure, Refusal
from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.errors import describe_error
from pabal.settings.settings import Settings
from pabal.world import World

T = TypeVar("T")

MAX_PREVIEW_CPU_S = 5
"""For the first rows alone; the texts of an Excel file come before them, and 800,000 texts take 3 s."""
IDLE_S = 300.0
"""Without a file for this long, the file server ends: it takes 40 MB."""
RETRY_AFTER_S = 10.0
FILE_INTERRUPTED = Text(
    "파일을 확인하다가 중단되었습니다. 다시 올리세요. 또 중단되면 CSV로 저장하거나 나누어 올리세요.",
    "The check of the file was interrupted. Upload it again; if that happens twice, save it as CSV or split it.",
)
FILE_ABANDONED = Text(
    "확인이 끝나기 전에 연결이 끊겨 확인을 멈췄습니다. 파일을 다시 올리세요.",
    "The connection was closed before the check ended, so it was stopped. Upload the file again.",
)
NO_PROCESS = Text(
    "지금은 파일을 읽을 수 없습니다. 잠시 뒤 다시 올리고, 계속되면 운영자에게 알리세요.",
    "Files cannot be read at the moment. Upload the file again later; if it goes on, tell the operator.",
)
_COMMAND = "from pabal.console.sheets.file_server import main; main()"

log = logging.getLogger("pabal.console")


class _Channel(NamedTuple):
    """A job that runs."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    hang_up: socket.socket

    def end(self) -> None:
        """End the process of the job, whatever it does."""
        self.hang_up.close()
        self.writer.transport.abort()


class FileProcesses:
    """Reads files in processes that a file server forks; without threads, as in a simulation, reads them here."""

    def __init__(self, world: World, settings: Settings) -> None:
        self._has_processes = world.has_threads
        self._cpu_s = settings.file_cpu_seconds
        self._memory_bytes = settings.file_memory_mb * 1024 * 1024
        self._server: _Server | None = None
        self._running = 0
        self._idle: asyncio.TimerHandle | None = None

    async def read(
        self,
        content: BinaryIO,
        read: Callable[[BinaryIO], Iterator[T]],
        wait_until_gone: Callable[[], Awaitable[None]],
        *,
        is_preview: bool,
    ) -> AsyncGenerator[T, None]:
        """Yield what `read`, which can be pickled, yields; its process ends with this generator or with its client.

        Raises Refused: what `read` raises, INVALID_PARAMETER where the file costs too much, INVALID_STATE where the
        process or the client has gone, SERVICE_UNAVAILABLE where no process can be started.
        """
        cpu_s = min(MAX_PREVIEW_CPU_S, self._cpu_s) if is_preview else self._cpu_s
        leaving = asyncio.ensure_future(wait_until_gone())
        try:
            if not self._has_processes:
                for found in read(content):
                    await asyncio.sleep(0)
                    if leaving.done():
                        raise Refused(Code.INVALID_STATE, "", FILE_ABANDONED)
                    yield found
                return
            async with self._open(content, FileJob(read, cpu_s, self._memory_bytes)) as channel:
                leaving.add_done_callback(lambda _: channel.end())
                while isinstance(answer := await _read_answer(channel.reader), Part):
                    yield cast("T", answer.found)
                _check_end(answer, has_left=leaving.done())
        finally:
            leaving.cancel()

    @contextlib.asynccontextmanager
    async def _open(self, content: BinaryIO, job: FileJob) -> AsyncIterator[_Channel]:
        """Run a job while the block runs."""
        if self._idle:
            self._idle.cancel()
        self._running += 1
        try:
            channel = await self._start(content, job)
            try:
                yield channel
            finally:
                channel.end()
        finally:
            self._running -= 1
            if not self._running:
                self._idle = asyncio.get_running_loop().call_later(IDLE_S, self.stop)

    async def _start(self, content: BinaryIO, job: FileJob) -> _Channel:
        with contextlib.ExitStack() as opened:
            try:
                ours, theirs = (opened.enter_context(each) for each in socket.socketpair())
                hang_up, their_hang_up = (opened.enter_context(each) for each in socket.socketpair())
                self._hand_over([theirs.fileno(), their_hang_up.fileno(), content.fileno()])
                reader, writer = await asyncio.open_connection(sock=ours.dup())
            except OSError as error:
                log.error("no process for a file", extra=describe_error(error))
                raise Refused(Code.SERVICE_UNAVAILABLE, "", NO_PROCESS, retry_after_s=RETRY_AFTER_S) from None
            writer.write(pickle.dumps(job))
            return _Channel(reader, writer, hang_up.dup())

    def _hand_over(self, descriptors: list[int]) -> None:
        """Hand the descriptors of a job to the file server, which is started where there is none any more."""
        if self._server:
            try:
                socket.send_fds(self._server.control, [b"j"], descriptors)
            except ConnectionError:
                self.stop()
            else:
                return
        self._server = self._start_server()
        socket.send_fds(self._server.control, [b"j"], descriptors)

    def _start_server(self) -> "_Server":
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _COMMAND, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C is for the service, with which it ends
            )
        return _Server(ours, weakref.finalize(self, _end_server, ours, process))

    def stop(self) -> None:
        """End the file server, and all that it reads; the next file starts another one."""
        if self._server:
            self._server.stop()
            self._server = None


class _Server(NamedTuple):
    control: socket.socket
    stop: Callable[[], object]


def _end_server(control: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    control.close()
    process.wait()  # it ends at once, and its jobs with it


async def _read_answer(reader: asyncio.StreamReader) -> Answer | None:
    """Return the next answer; None: the process has ended without one."""
    try:
        size = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
        return cast("Answer", pickle.loads(await reader.readexactly(size)))  # noqa: S301  our own process
    except (asyncio.IncompleteReadError, ConnectionError):
        return None


def _check_end(answer: Answer | None, *, has_left: bool) -> None:
    """Raise Refused unless the file was read to its end."""
    if isinstance(answer, End):
        return
    if isinstance(answer, Refusal):
        raise Refused.from_problems(answer.problems)
    if has_left:
        raise Refused(Code.INVALID_STATE, "", FILE_ABANDONED)
    log.error(
        "file could not be read", extra=answer.error if isinstance(answer, ReadFailure) else {"error": "killed"}
    )
    raise Refused(Code.INVALID_STATE, "", FILE_INTERRUPTED)
