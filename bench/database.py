"""A PostgreSQL server for the benchmarks, durable and with default settings."""

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
"""PostgreSQL's defaults; the server of the tests overrides them."""
_TICKS = os.sysconf("SC_CLK_TCK")


class PostgresEnvironment(BenchEnvironment):
    """An environment whose stores are databases of one server."""

    def __init__(self, root: Path, server: Server) -> None:
        super().__init__(root)
        self._server = server

    def prepare(self) -> None:
        with admin(self._server) as connection:
            connection.execute("create database seed")
        self._point(self.root / "seed")
        super().prepare()

    def connect(self, data: Path) -> "psycopg.Connection[Any]":
        """Return a connection to the database of a data directory, in autocommit mode."""
        return psycopg.connect(self._server.address(data.name), autocommit=True)

    def store_cpu_s(self) -> float:
        """Return the CPU time that all PostgreSQL processes have used so far."""
        parent = int((self._server.folder / "data" / "postmaster.pid").read_text().split()[0])
        used = 0.0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):  # the process has just ended; its time counts for its parent
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
        """Make services on a data directory use the database of the same name."""
        data.mkdir(parents=True, exist_ok=True)
        (data / SETTINGS_FILE).write_text(f'store = "{self._server.address(data.name)}"\n', encoding="utf-8")


@contextlib.contextmanager
def postgres_environment(
    base: BenchEnvironment, options: dict[str, str] = OPTIONS
) -> Iterator[PostgresEnvironment]:
    """Run a PostgreSQL server until the end of the block, then remove it."""
    folder = Path(tempfile.mkdtemp(prefix="pabal-bench-pg-"))
    server = Server(folder, **options)
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
