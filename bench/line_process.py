"""Servers of the benchmarks that run as processes of their own and answer lines of JSON."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator

import msgspec

from bench.server import BenchmarkFailed


class LineProcess:
    """A process that answers each line it reads with a line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def ask(self, line: bytes) -> bytes:
        """Return the answer to a line."""
        assert self._process.stdin
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()
        return self.read()

    def read(self) -> bytes:
        """Return its next line; raises BenchmarkFailed if it has exited."""
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise BenchmarkFailed(f"a process has exited: {self._process.args!r}")
        return line


@contextlib.contextmanager
def running_lines(module: str, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a module as a process until the end of the block, which closes its input and so ends it."""
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield process


async def answer_lines(first: object, answer: Callable[[bytes], bytes]) -> None:
    """Write a first value as JSON, then answer lines from standard input until it ends."""
    _write(msgspec.json.encode(first))
    commands = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    async for line in commands:
        _write(answer(line))


def _write(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()
