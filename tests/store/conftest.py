"""Fixtures for tests of the store: one open transaction on an empty store, on each engine."""

import os
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from pabal.store.engine.base import Tx
from pabal.store.engine.group_commit import GroupCommitStore
from pabal.store.engine.postgres.postgres_store import PostgresStore, connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from pabal.store.engine.sqlite.sqlite_store import SqliteTx
from tests.fixtures import postgres, sqlite_template
from tests.fixtures.cutting_proxy import SOCKET, CuttingProxy, cutting_proxy
from tests.fixtures.engines import AVAILABLE_ENGINES, empty_database
from tests.fixtures.postgres_store import open_postgres, run_scenario
from tests.fixtures.second_step import second_step
from tests.fixtures.store_modes import MODES, StoreMode, create_words_table

__all__ = ["address", "cutter", "engine", "modes", "second_step", "tx"]


@pytest.fixture(params=AVAILABLE_ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test's store."""
    return str(request.param)


@pytest.fixture
def tx(engine: str) -> Iterator[Tx]:
    """A transaction on an empty store with every table."""
    if engine != "sqlite":
        reached = connect(empty_database(engine))
        reached.execute(b"begin isolation level repeatable read")
        yield PostgresTx(reached, is_distributed=engine == "citus")
        reached.close()
        return
    connection = sqlite_template.open_copy()
    connection.execute("begin")
    yield SqliteTx(connection)
    connection.close()


@pytest.fixture(params=MODES)
def modes(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> StoreMode:
    """A way to open a store, in either mode."""
    if engine != "sqlite":
        (tmp_path / postgres.ADDRESS_FILE).write_text(empty_database(engine), encoding="utf-8")
    return StoreMode(tmp_path / "kept.db", request.param)


@pytest.fixture
def store(modes: StoreMode) -> AbstractAsyncContextManager[GroupCommitStore]:
    """A store with a table of words, in either mode."""
    return modes.opened()


@pytest.fixture
def postgres_store(address: str) -> AbstractAsyncContextManager[PostgresStore]:
    """A store on PostgreSQL with every table and a table of words, in threads."""
    return open_postgres(address)


@pytest.fixture(params=AVAILABLE_ENGINES[1:])
def address(request: pytest.FixtureRequest) -> str:
    """The address of an empty PostgreSQL database with every table and a table of words, for threads."""
    request.node.add_marker("real_time")
    return with_words(empty_database(request.param))


def with_words(found: str) -> str:
    """Create a table of words in a database; return its address."""
    run_scenario(found, lambda store: store.write(create_words_table))
    return found


@pytest.fixture
def cutter(address: str) -> Iterator[CuttingProxy]:
    """A proxy between a store and its server that cuts connections at commits."""
    folder = postgres.server().folder / f"cut_{os.getpid()}"
    folder.mkdir(exist_ok=True)
    with cutting_proxy(postgres.server().folder, folder) as found:
        yield found
    (folder / SOCKET).unlink()
