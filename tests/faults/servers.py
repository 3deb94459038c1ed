"""A dedicated, durable PostgreSQL server that a test can stop, disconnect and fill up."""

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql

from tests.fixtures import postgres
from tests.fixtures.postgres import Server

DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
ROLE, DATABASE, TEMPLATE = "messenger", "messages", "empty"
PASSWORD = "not-to-be-seen"
"""The servers of the tests do not check it; no log may contain it."""
MAX_CONNECTIONS = 100
OTHER_APPLICATION = "greedy"
POLL_INTERVAL_S = 0.05
CONNECT_TIMEOUT_S = 60.0


class DedicatedServer(Server):
    """A server whose database belongs to a role without further privileges, as in production."""

    def __init__(self, folder: Path, **options: str) -> None:
        super().__init__(folder, **(DURABLE | options))

    @property
    def store(self) -> str:
        """The store setting of a service that uses this server."""
        return store_at(self.folder)

    def create_database(self) -> None:
        """Create the role and its database; the server must be running."""
        self.execute(f"create role {ROLE} login")
        self.execute(f"create database {DATABASE} owner {ROLE}")

    def is_responding(self) -> bool:
        """Tell whether the server runs; a crashed one leaves its pid file behind."""
        try:
            self._run("pg_ctl", "status")
        except AssertionError:
            return False
        return True

    def keep_as_template(self) -> None:
        """Keep the database as what `reset_database` copies."""
        with contextlib.closing(psycopg.connect(self.address(), autocommit=True)) as connection:
            connection.execute(f"alter database {DATABASE} rename to {TEMPLATE}".encode())

    def reset_database(self) -> None:
        """Make the database what the template is."""
        with contextlib.closing(psycopg.connect(self.address(), autocommit=True)) as connection:
            connection.execute(f"drop database if exists {DATABASE} with (force)".encode())
            connection.execute(f"create database {DATABASE} owner {ROLE} template {TEMPLATE}".encode())

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute a statement as the administrator, in the service's database unless it creates one."""
        database = "postgres" if statement.startswith("create") else DATABASE
        with contextlib.closing(self._connect(database)) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def _connect(self, database: str) -> "psycopg.Connection[tuple[Any, ...]]":
        """Connect as the administrator, also while earlier connections of his are about to end."""
        deadline = time.monotonic() + CONNECT_TIMEOUT_S
        while True:
            try:
                return psycopg.connect(self.address(database), autocommit=True)
            except psycopg.OperationalError as error:
                if "too many clients" not in str(error) or time.monotonic() > deadline:
                    raise

    def set_option(self, name: str, value: str | None) -> None:
        """Change a setting of the running server; None resets it."""
        with contextlib.closing(psycopg.connect(self.address(), autocommit=True)) as connection:
            change = sql.SQL("set {} = {}").format(sql.Identifier(name), sql.Literal(value))
            reset = sql.SQL("reset {}").format(sql.Identifier(name))
            connection.execute(sql.SQL("alter system ") + (reset if value is None else change))
            connection.execute("select pg_reload_conf()")

    @contextlib.contextmanager
    def without_replica(self) -> Iterator[None]:
        """Make every commit wait for a replica that does not exist."""
        self.set_option("synchronous_standby_names", "nobody")
        try:
            self._wait_until_commits_block()
            yield
        finally:
            self.set_option("synchronous_standby_names", None)

    def _wait_until_commits_block(self) -> None:
        """Return once the setting is in effect: a commit waits."""
        canary = psycopg.connect(self.address(), autocommit=True)
        pid = canary.info.backend_pid

        def commit() -> None:
            with contextlib.suppress(psycopg.OperationalError), canary:
                while True:
                    canary.execute("select pg_logical_emit_message(true, 'canary', '')")

        thread = threading.Thread(target=commit)
        thread.start()
        while not self.execute(f"select 1 from pg_stat_activity where pid = {pid} and wait_event = 'SyncRep'"):
            pass
        self.execute(f"select pg_terminate_backend({pid})")
        thread.join()

    def drop_connections(self) -> int:
        """Terminate every connection of the service; return how many there were."""
        ours = f"usename = '{ROLE}' and application_name <> '{OTHER_APPLICATION}'"
        return len(self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where {ours}"))

    @contextlib.contextmanager
    def exhaust_connections(self) -> Iterator[Callable[[], None]]:
        """Use up the server's free connections; those reserved for the administrator stay free.

        Yields a function that also takes the connections that became free since.
        """
        with contextlib.ExitStack() as stack:

            def take() -> None:
                with contextlib.suppress(psycopg.OperationalError):
                    for _ in range(MAX_CONNECTIONS):
                        stack.callback(psycopg.connect(self.store, application_name=OTHER_APPLICATION).close)

            take()
            yield take

    def start_without_connections(self) -> None:
        """Start as a replica without hot standby, which rejects connections because it is starting up."""
        signal = self._data / "standby.signal"
        signal.touch()
        try:
            self.start(hot_standby="off")
        finally:
            signal.unlink()

    def replicate_from(self, primary: "DedicatedServer") -> None:
        """Become a synchronous replica of `primary`; both servers run afterwards."""
        shutil.rmtree(self._data, ignore_errors=True)
        self._run("pg_basebackup", "-h", str(primary.folder), "-U", "pabal", "-R", "-X", "stream", "-c", "fast")
        self.start()
        primary.set_option("synchronous_standby_names", "*")
        while primary.execute("select sync_state from pg_stat_replication") != [("sync",)]:
            time.sleep(POLL_INTERVAL_S)

    def promote(self) -> None:
        """Promote this replica to primary."""
        self._run("pg_ctl", "promote", "-w", "-t", str(postgres.START_TIMEOUT_S))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_running and self.is_responding():
            self.stop()


def store_at(*folders: Path, **options: str) -> str:
    """Return the address of a service's database whose server has its socket in one of these folders."""
    parameters = {"host": ",".join(str(folder) for folder in folders)} | options
    return f"postgresql://{ROLE}:{PASSWORD}@/{DATABASE}?" + "&".join(
        f"{name}={each}" for name, each in parameters.items()
    )


@contextlib.contextmanager
def dedicated_folder() -> Iterator[Path]:
    """Yield an empty folder for a server; its path is short because socket paths must be."""
    folder = Path(tempfile.mkdtemp(prefix="pabal-pg-"))
    owner = postgres.unprivileged_user()
    if owner:
        os.chown(folder, owner["user"], owner["group"])
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def dedicated_server(**options: str) -> Iterator[DedicatedServer]:
    """Yield a running server with an empty database for a service."""
    with dedicated_folder() as folder, DedicatedServer(folder, **options) as server:
        server.init()
        server.start()
        server.create_database()
        yield server


def use_store(address: str, folder: Path) -> Path:
    """Make the services of a test use the store at an address; return their data directory."""
    (folder / postgres.ADDRESS_FILE).write_text(address, encoding="utf-8")
    return folder / "data"
