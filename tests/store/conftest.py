"""What tests of the store share: one open transaction on a fresh store, and stores in real files."""

from collections.abc import Iterator

import apsw
import pytest

from pabal.store.migrate import migrate
from pabal.store.sqlite import SqliteTx
from tests.virtual import NOON


@pytest.fixture
def tx() -> Iterator[SqliteTx]:
    """A transaction on a fresh store that has every table and no row."""
    connection = apsw.Connection(":memory:")
    connection.execute("begin")
    fresh = SqliteTx(connection)
    migrate(fresh, NOON)
    yield fresh
    connection.close()
