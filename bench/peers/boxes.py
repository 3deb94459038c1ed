"""Processes of other gateways: ports for them, and waits for their start and end."""

import contextlib
import socket
import subprocess
import time
from pathlib import Path

from bench.server import STOP_TIMEOUT_S, BenchmarkFailed

START_TIMEOUT_S = 20.0
POLL_INTERVAL_S = 0.05


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def wait_for_port(
    port: int, process: "subprocess.Popen[bytes]", folder: Path, within_s: float = START_TIMEOUT_S
) -> None:
    """Wait until a process listens; raises BenchmarkFailed with the ends of its logs."""
    deadline = time.perf_counter() + within_s
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None or time.perf_counter() > deadline:
            logs = "".join(file.read_text(errors="replace")[-1000:] for file in folder.glob("*.log"))
            raise BenchmarkFailed(f"nobody listens at port {port}: {logs}")
        time.sleep(POLL_INTERVAL_S)


def wait_or_kill(process: "subprocess.Popen[bytes]") -> None:
    """Wait for the end of a process that was told to stop."""
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
