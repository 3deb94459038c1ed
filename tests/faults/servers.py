"""A PostgreSQL of one test's own, as durable as an operator's: it may be stopped, cut off and filled up."""

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
ROLE, DATABASE = "messenger", "messages"
PASSWORD = "not-to-be-seen"
"""No server of the tests asks for it; no log may hold it."""
MAX_CONNECTIONS = 100
OTHER_APPLICATION = "greedy"
POLL_INTERVAL_S = 0.05


class DedicatedServer(Server):
    """A server whose database belongs to a role that may do nothing else, as it should be."""

    def __init__(self, folder: Path, **options: str) -> None:
        super().__init__(folder, **(DURABLE | options))

    @property
    def store(self) -> str:
        """The address that a service is given."""
        return store_at(self.folder)

    def create_database(self) -> None:
        """Make the role and its database; the server runs."""
        self.execute(f"create role {ROLE} login")
        self.execute(f"create database {DATABASE} owner {ROLE}")

    def is_responding(self) -> bool:
        """Say whether it runs: one that crashed by itself leaves its mark behind."""
        try:
            self._run("pg_ctl", "status")
        except AssertionError:
            return False
        return True

    def reset_database(self) -> None:
        """Make the database anew."""
        with contextlib.closing(psycopg.connect(self.address(), autocommit=True)) as connection:
            connection.execute(f"drop database {DATABASE} with (force)".encode())
            connection.execute(f"create database {DATABASE} owner {ROLE}".encode())

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Have the administrator say something, in the service's database if there is one."""
        database = "postgres" if statement.startswith("create") else DATABASE
        with contextlib.closing(psycopg.connect(self.address(database), autocommit=True)) as connection:
            said = connection.execute(statement.encode())
            return said.fetchall() if said.description else []

    def set_option(self, name: str, value: str | None) -> None:
        """Change a setting of the running server; None: as it was."""
        with contextlib.closing(psycopg.connect(self.address(), autocommit=True)) as connection:
            to = sql.SQL("set {} = {}").format(sql.Identifier(name), sql.Literal(value))
            reset = sql.SQL("reset {}").format(sql.Identifier(name))
            connection.execute(sql.SQL("alter system ") + (reset if value is None else to))
            connection.execute("select pg_reload_conf()")

    @contextlib.contextmanager
    def without_replica(self) -> Iterator[None]:
        """Have every commit wait for a replica that is not there."""
        self.set_option("synchronous_standby_names", "nobody")
        try:
            self._wait_until_commits_block()
            yield
        finally:
            self.set_option("synchronous_standby_names", None)

    def _wait_until_commits_block(self) -> None:
        """Return once the server does as it was told: a commit waits."""
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
        """End every connection of the service; return how many there were."""
        ours = f"usename = '{ROLE}' and application_name <> '{OTHER_APPLICATION}'"
        return len(self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where {ours}"))

    @contextlib.contextmanager
    def exhaust_connections(self) -> Iterator[Callable[[], None]]:
        """Hold every connection that the service does not have, as others may; the administrator's stay free.

        Yields what takes those that have become free since.
        """
        with contextlib.ExitStack() as stack:

            def take() -> None:
                with contextlib.suppress(psycopg.OperationalError):
                    for _ in range(MAX_CONNECTIONS):
                        stack.callback(psycopg.connect(self.store, application_name=OTHER_APPLICATION).close)

            take()
            yield take

    def start_without_connections(self) -> None:
        """Start as a replica that nobody may look at: everyone is told that it is starting up."""
        signal = self._data / "standby.signal"
        signal.touch()
        try:
            self.start(hot_standby="off")
        finally:
            signal.unlink()

    def replicate_from(self, primary: "DedicatedServer") -> None:
        """Become a replica of another, which from now on answers no commit before it is here too; both run."""
        shutil.rmtree(self._data, ignore_errors=True)
        self._run("pg_basebackup", "-h", str(primary.folder), "-U", "pabal", "-R", "-X", "stream", "-c", "fast")
        self.start()
        primary.set_option("synchronous_standby_names", "*")
        while primary.execute("select sync_state from pg_stat_replication") != [("sync",)]:
            time.sleep(POLL_INTERVAL_S)

    def promote(self) -> None:
        """Be a replica no longer."""
        self._run("pg_ctl", "promote", "-w", "-t", str(postgres.START_TIMEOUT_S))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_running and self.is_responding():
            self.stop()


def store_at(*folders: Path, **options: str) -> str:
    """Return the address of a service's database whose server has its socket in one of these folders."""
    words = {"host": ",".join(str(folder) for folder in folders)} | options
    return f"postgresql://{ROLE}:{PASSWORD}@/{DATABASE}?" + "&".join(
        f"{name}={each}" for name, each in words.items()
    )


@contextlib.contextmanager
def dedicated_folder() -> Iterator[Path]:
    """Yield an empty folder that a server may use; its path is short, as those of sockets must be."""
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
    """Yield a server that runs, with an empty database for a service."""
    with dedicated_folder() as folder, DedicatedServer(folder, **options) as server:
        server.init()
        server.start()
        server.create_database()
        yield server


def use_store(address: str, folder: Path) -> Path:
    """Have the services of a test keep everything at an address; return their data directory."""
    (folder / postgres.ADDRESS_FILE).write_text(address, encoding="utf-8")
    return folder / "data"
