"""PostgreSQL base the service: a server of the bench's own, with the settings it comes with, durable."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from bench.server import SETTINGS_FILE, BenchEnvironment
from tests.fixtures.postgres import Server, admin

OPTIONS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "autovacuum_naptime": "1min",
}
"""PostgreSQL's own defaults: the tests' server has others."""
_TICKS = os.sysconf("SC_CLK_TCK")


class PostgresEnvironment(BenchEnvironment):
    """A env whose stores are databases of one server."""

    def __init__(self, root: Path, server: Server) -> None:
        super().__init__(root)
        self._server = server

    def prepare(self) -> None:
        with admin(self._server) as connection:
            connection.execute("create database seed")
        self._point(self.root / "seed")
        super().prepare()

    def connect(self, data: Path) -> "psycopg.Connection[Any]":
        """Return a connection to the database of a data directory, each statement a transaction of its own."""
        return psycopg.connect(self._server.address(data.name), autocommit=True)

    def store_cpu_s(self) -> float:
        """Return the processor time that PostgreSQL has used so far, all its processes together."""
        parent = int((self._server.folder / "data" / "postmaster.pid").read_text().split()[0])
        used = 0.0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # a process that has just ended: its parent has its time
                fields = stat.read_text().rpartition(")")[2].split()
                if int(stat.parent.name) == parent:
                    used += sum(map(int, fields[11:15]))
                elif int(fields[1]) == parent:
                    used += sum(map(int, fields[11:13]))
        return used / _TICKS

    def _copy(self, origin: Path, data: Path) -> None:
        with admin(self._server) as connection:
            connection.execute(f"create database {data.name} template {origin.name}".encode())
        self._point(data)

    def _point(self, data: Path) -> None:
        """Have whoever works on a data directory use the database of its name."""
        data.mkdir(parents=True, exist_ok=True)
        (data / SETTINGS_FILE).write_text(f'store = "{self._server.address(data.name)}"\n', encoding="utf-8")


@contextlib.contextmanager
def postgres_environment(base: BenchEnvironment) -> Iterator[PostgresEnvironment]:
    """Start a PostgreSQL for one part of the bench, and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="pabal-bench-pg-"))
    server = Server(folder, **OPTIONS)
    try:
        server.init()
        server.start()
        env = PostgresEnvironment(base.root / folder.name, server)
        env.peaks = base.peaks
        env.prepare()
        yield env
    finally:
        if server.is_running:
            server.stop()
        shutil.rmtree(folder)
