"""What tests of faults share: a server of a whole file's own, for scenarios on a store."""

from collections.abc import Iterator

import pytest

from pabal.store.engine.migrate import migrate
from tests.faults.servers import OwnServer, own_server
from tests.fixtures.postgres_store import run_scenario
from tests.fixtures.store_modes import make_table
from tests.fixtures.virtual import NOON


@pytest.fixture(scope="module")
def running() -> Iterator[OwnServer]:
    with own_server() as server:
        yield server


@pytest.fixture
def server(running: OwnServer) -> OwnServer:
    """A server that runs, whose database has every table and no row, and an empty table of words."""
    running.empty()
    run_scenario(running.store, lambda store: store.write(migrate, NOON))
    run_scenario(running.store, lambda store: store.write(make_table))
    return running
