"""What a gateway under comparison does, and Pabal as one of them."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from bench import bodies
from bench.environment import SETTINGS_FILE, Environment
from bench.figures import count_processes
from bench.load import LoadPlan
from bench.server import START_TIMEOUT_S, STOP_TIMEOUT_S, BenchmarkFailed
from bench.smsc import Smsc
from bench.through import Running
from bench.webhook_sink import WebhookSink, add_webhooks, webhook_settings

DIFFERENT_MESSAGES = 60_000
"""How many requests differ: no run sends more, so that the SMSC can recognise what comes twice."""
POLL_INTERVAL_S = 0.05


class Gateway(Protocol):
    """A gateway that takes one message a request."""

    name: str
    """With its version and set-up."""

    def start(
        self, folder: Path, smsc: Smsc, callback_port: int | None, *, has_receipts: bool
    ) -> AbstractContextManager[tuple[LoadPlan, Running]]:
        """Start it on a folder, which may hold what an earlier start has left; end it with the context.

        The plan says what to send, to be completed with connections and an end.
        """
        ...


class Pabal:
    """The service on one store, in one process or several, with registered sender numbers and limits."""

    def __init__(self, name: str, env: Environment, sink: WebhookSink, processes: int) -> None:
        self.name = f"Pabal, {name}, {count_processes(processes)}"
        self._env = env
        self._ports = sink.live[:1]
        self._processes = processes

    @contextlib.contextmanager
    def start(
        self, folder: Path, smsc: Smsc, callback_port: int | None, *, has_receipts: bool
    ) -> Iterator[tuple[LoadPlan, Running]]:
        """Start it on a copy of the seed, or on what an earlier start left; it always asks for receipts."""
        env = self._env
        is_new = not (folder / SETTINGS_FILE).exists()
        if is_new:
            env.copy_to(folder)
            env.configure(folder, webhook_settings(self._ports) + smsc.settings())
        with env.run(folder, "peers", processes=self._processes) as server:
            if is_new and callback_port:
                add_webhooks(env, server, self._ports)
            plan = env.plan(server, bodies.singles(DIFFERENT_MESSAGES))
            yield plan, Running([server], env.store_cpu_s)


@contextlib.contextmanager
def run_program(
    command: list[str], folder: Path, port: int, environment: dict[str, str] | None = None
) -> Iterator[int]:
    """Run a program in a folder that has its logs until the end of the block; yield its id when it listens."""
    with (folder / "output.log").open("ab") as output:
        process = subprocess.Popen(
            command,
            env=os.environ | (environment or {}),
            cwd=folder,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        wait_for_port(port, process, folder)
        yield process.pid
    finally:
        _end_group(process)


def wait_for_port(port: int, process: "subprocess.Popen[bytes] | None" = None, folder: Path | None = None) -> None:
    """Wait until somebody listens; raises BenchmarkFailed with the ends of the logs in the folder."""
    deadline = time.perf_counter() + START_TIMEOUT_S
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if (process and process.poll() is not None) or time.perf_counter() > deadline:
            files = folder.glob("*.log") if folder else ()
            logs = "".join(file.read_text(errors="replace")[-1000:] for file in files)
            raise BenchmarkFailed(f"nobody listens at port {port}: {logs}")
        time.sleep(POLL_INTERVAL_S)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a program and what it has started, if need be by force."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
