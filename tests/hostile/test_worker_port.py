"""The port of a worker, for health checks and metrics, is as hard to occupy as that of the API."""

import contextlib
import socket
from pathlib import Path

import httpx
import pytest

from tests.fixtures.engines import engine, partitioned_only
from tests.fixtures.live import working
from tests.fixtures.processes import free_ports

__all__ = ["engine"]
pytestmark = pytest.mark.slow


@partitioned_only
def test_silent_connections_do_not_occupy_a_workers_port(tmp_path: Path) -> None:
    port = free_ports()
    limits = {"work_port": port, "max_connections": 8, "head_seconds": 1}
    with working(tmp_path / "data", **limits), contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(40)]

        health = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=20)

        assert health.status_code == 200
        for each in silent:
            with contextlib.suppress(ConnectionResetError):
                while each.recv(65_536):
                    pass
