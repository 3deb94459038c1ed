"""Opens sessions on PostgreSQL, with the settings that our statements need."""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from pabal.store.engine.citus.distribution import FIND_DISTRIBUTION
from pabal.store.engine.postgres.postgres_tx import Connection, adapt

CONNECT_TIMEOUT_S = 5
MAX_PREPARED_STATEMENTS = 300

# All our statements are written for nested loops over indexes, as SQLite runs them: no other plan is better when
# the tables are large, and a plan made while they were empty may stay in use for long. One generic plan serves all
# arguments, because planning over two years of partitions takes longer than executing. Citus is an exception: it
# must see the arguments to choose the shard.
# A returned write must be durable, so synchronous_commit = off is overridden.
_SESSION_SETTINGS = (
    b"set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off;"
    b" set enable_bitmapscan = off;"  # it loses the index order, so a claim would sort the whole queue
    b" set lock_timeout = '10s';"
    b" set idle_in_transaction_session_timeout = '10s';"  # a frozen or lost process must release its locks
    b" set tcp_keepalives_idle = 10; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3;"
    b" set tcp_user_timeout = 15000;"
    b" set citus.node_connection_timeout = '4s';"  # of 30 s; has no effect without Citus
    b" select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';"
    b" select set_config('plan_cache_mode', 'force_generic_plan', false)"
    b" where not exists (select 1 from pg_extension where extname = 'citus')"
)
_CONNECTION_OPTIONS: dict[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT_S,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "pabal",
}


def connect(address: str) -> Connection:
    """Return a new connection in autocommit mode."""
    given = conninfo_to_dict(address)
    patience = {name: value for name, value in _CONNECTION_OPTIONS.items() if name not in given}
    connection = psycopg.connect(
        address, autocommit=True, cursor_factory=psycopg.RawCursor, client_encoding="utf8", **patience
    )
    try:
        connection.prepared_max = MAX_PREPARED_STATEMENTS
        adapt(connection)
        connection.execute(_SESSION_SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection


def is_distributed(connection: Connection) -> bool:
    """Return whether Citus distributes the tables of the database."""
    return connection.execute(FIND_DISTRIBUTION).fetchone() is not None


def describe_connect_error(error: psycopg.Error, address: str) -> str:
    """Return why connecting failed, in one line and without the password."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    try:
        password = conninfo_to_dict(address).get("password")
    except psycopg.Error:
        return "the address cannot be read"
    return first.replace(str(password), "…") if password else first
