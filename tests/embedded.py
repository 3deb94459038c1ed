"""An embedded store that has every table and no row: made once a process, copied for each test."""

from functools import cache

import apsw

from pabal.store.migrate import migrate
from pabal.store.sqlite import SqliteTx
from tests.postgres import MADE_AT


@cache
def fresh() -> bytes:
    """Return the file of such a store."""
    with_tables = apsw.Connection(":memory:")
    with_tables.execute("begin")
    migrate(SqliteTx(with_tables), MADE_AT)
    with_tables.execute("commit")
    file = with_tables.serialize("main")
    assert file
    return file


def opened() -> apsw.Connection:
    """Return a connection to such a store, in memory."""
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", fresh())
    return connection
