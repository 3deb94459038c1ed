"""What tests of the store share: one open transaction on a fresh store, on each engine."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import connected
from pabal.store.engine.postgres_tx import PostgresTx
from pabal.store.engine.sqlite import SqliteTx
from tests.fixtures import postgres, sqlite_template
from tests.fixtures.cutting_proxy import SOCKET, Cutter, cutting
from tests.fixtures.engines import EVERY, emptied
from tests.fixtures.postgres_store import run_scenario
from tests.fixtures.store_modes import INLINE, THREADS, Modes, make_table


@pytest.fixture(params=EVERY)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test's store."""
    return str(request.param)


@pytest.fixture
def tx(engine: str) -> Iterator[Tx]:
    """A transaction on a fresh store that has every table and no row."""
    if engine != "sqlite":
        reached = connected(emptied(engine))
        reached.execute(b"begin isolation level repeatable read")
        yield PostgresTx(reached)
        reached.close()
        return
    connection = sqlite_template.opened()
    connection.execute("begin")
    yield SqliteTx(connection)
    connection.close()


@pytest.fixture(params=[THREADS, INLINE])
def modes(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> Modes:
    """A store to be opened, in either mode."""
    if engine != "sqlite":
        (tmp_path / postgres.ADDRESS_FILE).write_text(emptied(engine), encoding="utf-8")
    return Modes(tmp_path / "kept.db", request.param)


@pytest.fixture(params=EVERY[1:])
def address(request: pytest.FixtureRequest) -> str:
    """A database of PostgreSQL with every table and no row, and an empty table of words."""
    return with_words(emptied(request.param))


def with_words(found: str) -> str:
    """Return the address of a database in which a table of words has been made."""
    run_scenario(found, lambda store: store.write(make_table))
    return found


@pytest.fixture
def cutter(address: str) -> Iterator[Cutter]:
    """What stands between a store and its server, and cuts commits off."""
    folder = postgres.server().folder / f"cut_{os.getpid()}"
    folder.mkdir(exist_ok=True)
    with cutting(postgres.server().folder, folder) as found:
        yield found
    (folder / SOCKET).unlink()
