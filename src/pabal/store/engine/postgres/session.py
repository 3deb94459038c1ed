"""Opens sessions on PostgreSQL, with the settings that our statements need, and reads their errors."""

import re
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pabal.store.engine.base import NodeUnavailable, StoreUnavailable
from pabal.store.engine.citus.distribution import FIND_DISTRIBUTION
from pabal.store.engine.postgres.arrays import adapt
from pabal.store.engine.postgres.postgres_tx import Connection

CONNECT_TIMEOUT_S = 5
NODE_CONNECT_TIMEOUT_S = 2
"""To a node itself: the coordinator reaches it as well."""

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
_CONNECTION_STATES = ("08", "57P01", "57P02", "57P03", "XX000")
"""SQLSTATEs, or how they begin: a connection failed, a server is being shut down or started, or Citus gave none."""
_BROKEN = re.compile(r"connection|could not (receive|send) data|failed to prepare transaction|database system")
"""What such an error says when a node has gone away; other internal errors are bugs."""
_NODE = re.compile(
    r"(?:remote node (?:[^@\s]+@)?|marked as essential: |on host |while executing command on )(\S+:[0-9]+)"
)
_NOT_COMMITTED = "could not commit transaction for shard"
"""What an error says when the commit of the only node had no answer; it does not name the node."""


def connect(address: str) -> Connection:
    """Return a new connection in autocommit mode."""
    given = conninfo_to_dict(address)
    patience = {name: value for name, value in _CONNECTION_OPTIONS.items() if name not in given}
    connection = psycopg.connect(
        address, autocommit=True, cursor_factory=psycopg.RawCursor, client_encoding="utf8", **patience
    )
    try:
        adapt(connection)
        connection.execute(_SESSION_SETTINGS)
    except BaseException:
        connection.close()
        raise
    return connection


def node_address(address: str, node: str) -> str:
    """Return the address of the same database on another server, given by host and port."""
    host, _, port = node.rpartition(":")
    given = conninfo_to_dict(address)
    given.pop("hostaddr", None)
    return make_conninfo("", **{"connect_timeout": NODE_CONNECT_TIMEOUT_S, **given, "host": host, "port": port})


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


def find_lost_node(error: BaseException) -> str | None:
    """Return host and port of the node that an error says cannot be reached; empty: one that is not named.

    None: it says nothing of that kind.
    """
    if not isinstance(error, psycopg.Error) or not (error.sqlstate or "").startswith(_CONNECTION_STATES):
        return None
    primary = error.diag.message_primary or ""
    if primary.startswith(_NOT_COMMITTED):
        return ""
    named = _NODE.search(f"{primary}\n{error.diag.context or ''}")
    return named[1] if named and _BROKEN.search(primary) else None


def unavailable(error: BaseException, *, is_uncertain: bool = False) -> StoreUnavailable:
    """Return what the callers of a transaction are told that failed with this error."""
    node = find_lost_node(error)
    if node is None:
        return StoreUnavailable(type(error).__name__)
    return NodeUnavailable(node, _reason(error), is_uncertain=is_uncertain)


def _reason(error: BaseException) -> str:
    """Return why the node cannot be reached, in one line."""
    said, *_ = str(error).splitlines() or [type(error).__name__]
    return said.partition("failed with the following error: ")[2] or said
