"""Distributes tables over the nodes of Citus, and says which statements write where."""

import re
from functools import lru_cache

from pabal.domain.base.codes import TextError
from pabal.store.engine.base import Priority, Tx, transaction

DISTRIBUTED_TABLES = (
    "requests",
    "images",
    "messages",
    "attempts",
    "jobs",
    "idempotency_keys",
    "new_events",
    "events",
    "event_numbers",
    "event_days",
    "event_data",
    "slot_holders",
)
"""Tables that are distributed by slot; all rows of one slot are on one node."""
MARKER_TABLE = "two_phase_commits"
"""An empty table that Citus knows of, on the coordinator: writing to it makes the commit two-phase."""
USE_TWO_PHASES = f"delete from {MARKER_TABLE} where id = 0".encode()
"""Makes the transaction commit in two phases. Without it, Citus commits the node, then the coordinator: what is
written to tables of the coordinator, which Citus does not know of, may be lost in between."""
FIND_DISTRIBUTION = f"select 1 where to_regclass('{MARKER_TABLE}') is not null".encode()
_PLANNER_SETTINGS = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit")
"""Turned off in our own sessions (see session.py), which Citus does not pass on to its nodes."""
_OTHER_SETTINGS = {
    "lock_timeout": "10s",
    "tcp_keepalives_idle": "10s",
    "tcp_keepalives_interval": "5s",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "15s",
}
"""As in our own sessions: a node must not wait for a lock, nor for a coordinator that is gone, for longer."""
_TARGET = re.compile(r"\s*(?:insert (?:\{or_fail\} )?into|update|delete from) (\w+?)(?:_default|_[0-9]{6})?\b")


class NoCitus(TextError):
    """The database is not on a Citus coordinator with nodes; the message says what to do."""


@lru_cache(maxsize=512)
def writes_to_nodes(sql: str) -> bool | None:
    """Return whether a statement writes to a distributed table, or to one of the coordinator.

    None: to neither, or the loss of what it writes does no harm, as it says by `{may_be_lost}`.
    """
    target = _TARGET.match(sql)
    return target[1] in DISTRIBUTED_TABLES if target else None


@transaction(exclusive=True, priority=Priority.PATIENT)
def distribute(tx: Tx) -> list[str]:
    """Distribute the tables that are not distributed yet, with their rows, and return their names.

    Raises NoCitus.
    """
    tx.fetch_all("select {schema_lock}")
    if not tx.fetch_one("select 1 from pg_extension where extname = 'citus'"):
        raise NoCitus(
            "데이터베이스에 Citus가 없습니다. 거기서 관리자로 `create extension citus`를 실행하세요",
            "the database has no Citus: run `create extension citus` there as an administrator",
        )
    if not tx.fetch_one("select 1 from pg_dist_node where noderole = 'primary' and shouldhaveshards"):
        raise NoCitus(
            "Citus에 노드가 없습니다. 노드마다 `select citus_add_node('HOST', PORT)`를 실행하세요",
            "Citus has no nodes yet: run `select citus_add_node('HOST', PORT)` for each",
        )
    if not tx.fetch_one("select 1 from pg_dist_node where groupid = 0"):
        raise NoCitus(
            "Citus가 코디네이터를 모릅니다. `select citus_set_coordinator_host('HOST', PORT)`를 실행하세요",
            "Citus does not know its coordinator: run `select citus_set_coordinator_host('HOST', PORT)`",
        )
    _apply_settings(tx)
    return distribute_missing(tx)


def distribute_missing(tx: Tx) -> list[str]:
    """Distribute what is not distributed yet, and return the names of these tables."""
    done = {row[0] for row in tx.fetch_all("select logicalrelid::text from pg_dist_partition")}
    missing = [table for table in DISTRIBUTED_TABLES if table not in done]
    use_one_connection(tx)
    for table in missing:
        beside = "none" if table == DISTRIBUTED_TABLES[0] else DISTRIBUTED_TABLES[0]
        tx.fetch_all("select create_distributed_table(?, 'slot', colocate_with => ?)", (table, beside))
    if MARKER_TABLE not in done:
        tx.execute(f"create table if not exists {MARKER_TABLE} (id bigint primary key)")
        tx.fetch_all("select citus_add_local_table_to_metadata(?)", (MARKER_TABLE,))
    return missing


def use_one_connection(tx: Tx) -> None:
    """Change the shards of each node one after the other: else Citus refuses later changes of the transaction."""
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'")


def _apply_settings(tx: Tx) -> None:
    """Apply our settings on the nodes: Citus passes on changes of the database."""
    (name,) = tx.fetch_all("select quote_ident(current_database())")[0]
    for setting in _PLANNER_SETTINGS:
        tx.execute(f"alter database {name} set {setting} = off")
    for setting, value in _OTHER_SETTINGS.items():
        tx.execute(f"alter database {name} set {setting} = '{value}'")
