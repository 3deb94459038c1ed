"""A PostgreSQL of the tests' own: started once for all workers of a test run, as a user that is not root."""

import contextlib
import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

from pabal.store.migrate import migrate
from pabal.store.months import make_ahead
from pabal.store.postgres import connected
from pabal.store.postgres_tx import PostgresTx

PLACE = "TESTS_POSTGRES"
"""The variable that tells the workers of a test run where their server is to be."""
ADDRESS_FILE = "postgresql.txt"
"""In the folder of a test whose store is in PostgreSQL: its address."""
START_WITHIN_S = 60
USERS = ("postgres", "nobody")
OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",  # a test that cuts the power has a server of its own
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "max_connections": "100",
    "autovacuum_naptime": "10s",
}
TEMPLATE = "pabal_template"
MADE_AT = 1_794_711_600_000
"""When the template is made, and so the first of its months: the noon at which virtual time begins."""


def binaries() -> Path:
    """Return where PostgreSQL's programs are, the newest there are."""
    found = [*Path("/usr/lib/postgresql").glob("*/bin/postgres"), *Path("/usr/local").glob("pgsql*/bin/postgres")]
    newest = max(found, key=lambda each: [int(word) for word in each.parts if word.isdigit()], default=None)
    on_path = shutil.which("postgres")
    place = newest or (Path(on_path) if on_path else None)
    assert place, "PostgreSQL is not installed. On Debian or Ubuntu: apt-get install postgresql"
    return place.parent


def as_someone() -> dict[str, Any]:
    """Return as whom to run a server: PostgreSQL refuses root."""
    if os.geteuid() != 0:
        return {}
    known = {each.pw_name: each for each in pwd.getpwall()}
    user = next(known[name] for name in USERS if name in known)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


class Server:
    """A server in a folder, reached by a socket there."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.folder = folder
        self._data = folder / "data"
        self._options = OPTIONS | options

    def address(self, database: str = "postgres") -> str:
        return f"postgresql://pabal@/{database}?host={self.folder}"

    @property
    def is_running(self) -> bool:
        return (self._data / "postmaster.pid").exists()

    def make(self) -> None:
        """Make its files."""
        self.folder.mkdir(exist_ok=True, mode=0o700)
        owner = as_someone()
        if owner:
            os.chown(self.folder, owner["user"], owner["group"])
        self._run("initdb", "-U", "pabal", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def start(self, **further: str) -> None:
        """Start it, with further options for this time."""
        options = " ".join(f"-c {name}='{value}'" for name, value in (self._options | further).items())
        log = self.folder / "log"
        self._run(
            "pg_ctl", "start", "-w", "-t", str(START_WITHIN_S), "-l", str(log), "-o", f"{options} -k {self.folder}"
        )

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "stop", "-w", "-m", mode)

    def _run(self, program: str, *words: str) -> None:
        said = subprocess.run(
            [binaries() / program, "-D", self._data, *words],
            **as_someone(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode == 0, said.stdout + said.stderr


def begin() -> None:
    """Choose where the server of this test run is to be, should a test need it."""
    os.environ[PLACE] = tempfile.mkdtemp(prefix="pabal-pg-")


def end() -> None:
    """Stop the server of this test run, and remove it."""
    folder = Path(os.environ.pop(PLACE))
    server = Server(folder)
    if server.is_running:
        server.stop()
    shutil.rmtree(folder)


@cache
def server() -> Server:
    """Return the server of this test run, started if this is the first test that needs it."""
    shared = Server(Path(os.environ[PLACE]))
    with (shared.folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if not shared.is_running:
            shared.make()
            shared.start()
            with admin(shared) as connection:
                connection.execute(f"create database {TEMPLATE}")
            with contextlib.closing(connected(shared.address(TEMPLATE))) as connection:
                migrate(PostgresTx(connection), MADE_AT)
    return shared


@contextlib.contextmanager
def admin(of: Server | None = None) -> Iterator["psycopg.Connection[Any]"]:
    """Yield a connection that may make and drop databases."""
    with contextlib.closing(psycopg.connect((of or server()).address(), autocommit=True)) as connection:
        yield connection


class Database:
    """A database of one worker's own that has every table, emptied before each test."""

    TABLES = (
        "select relname, relispartition from pg_class"
        " where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace"
    )

    def __init__(self, address: str) -> None:
        self.address = address
        self._connection = psycopg.connect(self.address, autocommit=True)
        made: dict[str, bool] = dict(self._connection.execute(self.TABLES).fetchall())
        self._tables = [name for name, is_part in made.items() if not is_part and name != "migrations"]
        self._parts = {name for name, is_part in made.items() if is_part}
        sequences = "select sequencename from pg_sequences where schemaname = 'public'"
        self._sequences = [row[0] for row in self._connection.execute(sequences)]

    def close(self) -> None:
        self._connection.close()

    def empty(self) -> None:
        """Leave nothing behind, neither rows nor whoever may still hold them."""
        others = "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
        self._connection.execute(f"{others} and pid <> pg_backend_pid()")
        found = {row[0] for row in self._connection.execute(self.TABLES)}
        with self._connection.transaction():
            for name in found - {*self._tables, *self._parts, "migrations"}:
                self._connection.execute(f"drop table {name} cascade".encode())
            self._connection.execute("set local session_replication_role = replica")  # in any order
            self._connection.execute(";".join(f"delete from {name}" for name in self._tables))
            self._connection.execute(
                "select " + ", ".join(f"setval('{name}', 1, false)" for name in self._sequences)
            )
        if self._parts - found:
            with contextlib.closing(connected(self.address)) as connection:
                make_ahead(PostgresTx(connection), MADE_AT)


@cache
def _database() -> Database:
    return Database(fresh(f"worker_{os.getpid()}"))


def let_go() -> None:
    """Let go of this worker's database, if it has one."""
    if _database.cache_info().currsize:
        _database().close()


def emptied() -> str:
    """Return the address of this worker's database, which has every table and no row."""
    database = _database()
    database.empty()
    return database.address


def fresh(name: str, template: str = TEMPLATE) -> str:
    """Make a database of its own, with every table; of `template1` without any; return its address."""
    with admin() as connection:
        connection.execute(f"drop database if exists {name} with (force)")
        connection.execute(f"create database {name} template {template}")
    return server().address(name)


def drop(name: str) -> None:
    """Drop a database."""
    with admin() as connection:
        connection.execute(f"drop database if exists {name} with (force)")


def address_in(folder: Path) -> str:
    """Return the address of the database that a test in this folder keeps everything in; none: it is SQLite."""
    file = folder / ADDRESS_FILE
    return file.read_text(encoding="utf-8") if file.exists() else ""
