"""Removes erased rows from the files of a table: PostgreSQL keeps them there until then."""

from pabal.store.engine.postgres.postgres_tx import Connection
from pabal.store.engine.postgres.session import is_distributed

MAX_REWRITTEN_BYTES = 16 * 1024 * 1024
"""A table of at most this size is rewritten: that takes a fraction of a second, in which it is locked."""
MARGIN_MS = 30_000
"""Longer than the transaction of an erasure can take: what began before its end may still read what it erased."""

# As gentle as autovacuum is, and without a lock that others would wait for.
_SETTINGS = b"set lock_timeout = '1s'; set statement_timeout = '1h'; set vacuum_cost_delay = '2ms'"
_OLDEST_TRANSACTION = (
    b"select coalesce(max(extract(epoch from clock_timestamp() - xact_start)) * 1000, 0)::bigint"
    b" from pg_stat_activity where datname = current_database() and backend_xmin is not null"
    b" and backend_type = 'client backend' and pid <> pg_backend_pid()"
)


def vacuum_table(
    connection: Connection, table: str, erased_ms_ago: int, max_rewritten_bytes: int = MAX_REWRITTEN_BYTES
) -> bool:
    """Vacuum a table; return whether that has removed what was erased so long ago, or the table is gone.

    A transaction that is older may still see it: then nothing is done. A vacuum leaves remnants in the free space
    of pages until others overwrite them; a small table is rewritten, without any.
    """
    assert table.isidentifier()
    row = connection.execute(b"select pg_table_size(to_regclass($1)::oid)", [table]).fetchone()
    if row is None or row[0] is None:
        return True
    oldest = connection.execute(_OLDEST_TRANSACTION).fetchone()
    if oldest is None or oldest[0] + MARGIN_MS > erased_ms_ago:
        return False
    is_small = row[0] <= max_rewritten_bytes and not is_distributed(connection)
    connection.execute(_SETTINGS)
    options = "full" if is_small else "index_cleanup on, truncate off"
    connection.execute(f"vacuum ({options}) {table}".encode())
    return True
