"""Servers under test, each a process of its own with its children, on free ports."""

import contextlib
import http.client
import os
import re
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.005
TICKS = os.sysconf("SC_CLK_TCK")
_SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+)$", re.MULTILINE)


class BenchmarkFailed(Exception):
    """A benchmark failed, so its figures would be meaningless."""


class Server(NamedTuple):
    """A running server; what it has used includes its child processes."""

    pid: int
    port: int
    ready_after_s: float = 0.0

    def cpu_s(self) -> float:
        """Return the CPU time it has used so far, with that of children which have ended."""
        return sum(cpu_of(pid) for pid in self.pids())

    def peak_bytes(self) -> int:
        """Return its peak resident memory."""
        return sum(_memory(pid, "VmHWM:") for pid in self.pids())

    def resident_bytes(self) -> int:
        """Return its resident memory."""
        return sum(_memory(pid, "VmRSS:") for pid in self.pids())

    def pids(self) -> list[int]:
        """Return the ids of the process and of all its descendants."""
        return [self.pid, *descendants_of(self.pid)]

    def metric(self, name: str) -> float:
        """Return the sum of a metric over all its labels."""
        return sum(value for _, value in self.samples(name))

    def samples(self, name: str) -> list[tuple[str, float]]:
        """Return labels and value of each sample of a metric."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
            text = answer.read().decode()
        return [(labels, float(value)) for found, labels, value in _SAMPLE.findall(text) if found == name]


def descendants_of(pid: int) -> list[int]:
    """Return the ids of the child processes, and of theirs."""
    try:
        children = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
    return [one for child in children for one in (child, *descendants_of(child))]


def cpu_of(pid: int) -> float:
    """Return the CPU time of a process and of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def _memory(pid: int, field: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def report_progress(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


@contextlib.contextmanager
def running_server(
    command: list[str], port: int, environment: dict[str, str] | None = None, log: Path | None = None
) -> Iterator[Server]:
    """Run a program until the end of the block; yield it when it answers /readyz."""
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(log.open("ab")) if log else subprocess.DEVNULL
        process = subprocess.Popen(command, env=environment, stdout=output, stderr=output)
        began = time.perf_counter()
        try:
            wait_until(lambda: _is_ready(port), process, log)
            yield Server(process.pid, port, time.perf_counter() - began)
        finally:
            stop(process)


def wait_until(is_ready: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path | None) -> None:
    """Wait until a process is ready; raises BenchmarkFailed with the end of its log if it never is."""
    deadline = time.perf_counter() + START_TIMEOUT_S
    while not is_ready():
        if process.poll() is not None or time.perf_counter() > deadline:
            raise BenchmarkFailed(
                f"a server did not start: {log.read_text(errors='replace')[-2000:] if log else ''}"
            )
        time.sleep(POLL_INTERVAL_S)


def stop(process: "subprocess.Popen[bytes]") -> None:
    """Stop a process, if need be by force."""
    process.terminate()
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
