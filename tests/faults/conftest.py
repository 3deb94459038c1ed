"""Fixtures of the fault tests: one PostgreSQL server for each test module."""

from collections.abc import Iterator

import pytest

from pabal.store.engine.migrate import migrate
from tests.faults.servers import DedicatedServer, dedicated_server
from tests.fixtures.postgres_store import run_scenario
from tests.fixtures.store_modes import create_words_table
from tests.fixtures.virtual import NOON


@pytest.fixture(scope="module")
def running() -> Iterator[DedicatedServer]:
    """A running server whose template has every table, all empty, and an empty table of words."""
    with dedicated_server() as server:
        run_scenario(server.store, lambda store: store.write(migrate, NOON))
        run_scenario(server.store, lambda store: store.write(create_words_table))
        server.keep_as_template()
        yield server


@pytest.fixture
def server(running: DedicatedServer) -> DedicatedServer:
    """A running server whose database is as the template."""
    running.reset_database()
    return running
