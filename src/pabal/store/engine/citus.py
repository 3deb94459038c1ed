"""Citus: distributes requests and what belongs to them over its workers, by slot."""

from pabal.store.engine.base import Tx, transaction

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
)
"""Tables that are distributed by slot; all rows of one slot are on one worker."""
_PLANNER_SETTINGS = ("enable_seqscan", "enable_bitmapscan", "enable_hashjoin", "enable_mergejoin", "jit")
"""Turned off in our own sessions (see postgres.py), which Citus does not pass on to its workers."""


class NoCitus(Exception):
    """The database is not on a Citus coordinator with workers; the message says what to do."""


@transaction(exclusive=True, slow=True)
def distribute(tx: Tx) -> list[str]:
    """Distribute the tables that are not distributed yet, with their rows, and return their names.

    Raises NoCitus.
    """
    tx.fetch_all("select {schema_lock}")
    if not tx.fetch_one("select 1 from pg_extension where extname = 'citus'"):
        raise NoCitus("the database has no Citus: run `create extension citus` there as an administrator")
    if not tx.fetch_one("select 1 from pg_dist_node where noderole = 'primary' and shouldhaveshards"):
        raise NoCitus("Citus has no workers yet: run `select citus_add_node('HOST', PORT)` for each")
    _apply_planner_settings(tx)
    done = {row[0] for row in tx.fetch_all("select logicalrelid::text from pg_dist_partition")}
    missing = [table for table in DISTRIBUTED_TABLES if table not in done]
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'")
    for table in missing:
        beside = "none" if table == DISTRIBUTED_TABLES[0] else DISTRIBUTED_TABLES[0]
        tx.fetch_all("select create_distributed_table(?, 'slot', colocate_with => ?)", (table, beside))
    return missing


def _apply_planner_settings(tx: Tx) -> None:
    """Apply our planner settings on the workers: Citus passes on changes of the database."""
    (name,) = tx.fetch_all("select quote_ident(current_database())")[0]
    for setting in _PLANNER_SETTINGS:
        tx.execute(f"alter database {name} set {setting} = off")
