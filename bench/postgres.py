"""An environment whose stores are databases of a PostgreSQL server, durable and with default settings."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg

from bench.environment import Environment
from bench.server import cpu_of, descendants_of
from tests.citus_cluster import running_cluster
from tests.fixtures import citus
from tests.fixtures.postgres import Server, admin

OPTIONS = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "128MB",
    "autovacuum_naptime": "1min",
}
"""PostgreSQL's defaults; the server of the tests overrides them."""
CITUS_OPTIONS = {
    "citus.recover_2pc_interval": "2s",
    "citus.node_conninfo": "sslmode=prefer keepalives_idle=5 keepalives_interval=2 keepalives_count=3",
}
"""As the documents recommend; Citus's own default would turn on TLS, which plain PostgreSQL has not here."""


def pids_of(server: Server) -> list[int]:
    """Return the ids of all processes of a server, the first one's first."""
    parent = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    return [parent, *descendants_of(parent)]


def cpu_of_server(server: Server) -> float:
    """Return the CPU time that all processes of a server have used so far."""
    return sum(cpu_of(pid) for pid in pids_of(server))


class PostgresEnvironment(Environment):
    """Each data directory has a settings file that names its database."""

    server: Server
    settings = ""
    """Further settings of each store, from its making on."""

    def prepare(self) -> None:
        """Create the seed in a database of its own."""
        with admin(self.server) as connection:
            connection.execute("create database seed")
        super().prepare()

    def copy_to(self, data: Path, origin: Path | None = None) -> None:
        """Create the database of a data directory from that of another one."""
        with admin(self.server) as connection:
            template = origin.name if origin else "seed"
            connection.execute(f"create database {data.name} template {template}".encode())

    def remove(self, data: Path) -> None:
        """Drop the database of a data directory, too."""
        super().remove(data)
        with admin(self.server) as connection:
            connection.execute(f"drop database {data.name}".encode())

    def store_setting(self, data: Path) -> str:
        """Return the line that names the database."""
        return f'store = "{self.server.address(data.name)}"\n{self.settings}'

    def store_cpu_s(self) -> float:
        """Return the CPU time that all PostgreSQL processes have used so far."""
        return cpu_of_server(self.server)

    def server_pids(self) -> list[int]:
        """Return the ids of all PostgreSQL processes, the first one's first."""
        return pids_of(self.server)

    def connect(self, data: Path) -> "psycopg.Connection[Any]":
        """Return a connection to the database of a data directory, in autocommit mode."""
        return psycopg.connect(self.server.address(data.name), autocommit=True)


class CitusEnvironment(Environment):
    """Stores on the Citus that PABAL_TEST_CITUS names, where databases cannot be copied: each has its own seed."""

    servers: Sequence[Server] = ()
    """The coordinator and the nodes, where they are those of the benchmark."""
    settings = ""
    """Further settings of each store, from its making on."""
    shards = citus.SHARDS

    def prepare(self) -> None:
        """Distribute the seed."""
        self._distribute(self.root / "seed")
        super().prepare()

    def copy_to(self, data: Path, origin: Path | None = None) -> None:
        """Distribute a new store, and create the accounts in it."""
        self._distribute(data)
        self.key = self._add_account(data, "bench", "02-1234-5678")

    def store_setting(self, data: Path) -> str:
        """Return the line that names the database on the coordinator."""
        return (data / "address").read_text(encoding="utf-8")

    def _distribute(self, data: Path) -> None:
        data.mkdir(parents=True, exist_ok=True)
        address = citus.create_database(f"pabal_bench_{data.name}", self.shards)
        (data / "address").write_text(f'store = "{address}"\n{self.settings}', encoding="utf-8")
        self.run_command(data, "migrate", "--citus")

    def store_cpu_s(self) -> float:
        """Return the CPU time that all nodes have used so far."""
        return sum(map(cpu_of_server, self.servers))


@contextlib.contextmanager
def citus_environment(env: Environment, nodes: int, settings: str, shards: int) -> Iterator[CitusEnvironment]:
    """Run a coordinator and so many nodes until the end of the block, as durable as plain PostgreSQL."""
    with running_cluster(nodes + 1, OPTIONS | CITUS_OPTIONS) as servers:
        root = Path(tempfile.mkdtemp(prefix="citus", dir=env.root))  # that of an earlier round names its cluster
        found = CitusEnvironment(root, env.program, env.processes, env.scale)
        found.servers, found.settings, found.shards, found.peaks = servers, settings, shards, env.peaks
        found.prepare()
        yield found


@contextlib.contextmanager
def postgres_environment(
    env: Environment, options: dict[str, str] = OPTIONS, settings: str = ""
) -> Iterator[PostgresEnvironment]:
    """Run a PostgreSQL server until the end of the block, then remove it; it measures the same command."""
    folder = Path(tempfile.mkdtemp(prefix="pabal-bench-pg-"))
    server = Server(folder, **options)
    try:
        server.init()
        server.start()
        found = PostgresEnvironment(env.root / folder.name, env.program, env.processes, env.scale)
        found.server, found.settings, found.peaks = server, settings, env.peaks
        found.prepare()
        yield found
    finally:
        if server.is_running:
            server.stop()
        shutil.rmtree(folder)
