"""Tables of which personal data was erased, until their files have lost it too."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import partitions

TABLES = (
    "campaign_blocks",
    "campaign_invalid_rows",
    "compat_group_messages",
    "compat_names",
    "compat_requests",
    "contact_members",
    "contacts",
    "drafts",
    "event_data",
    "inbound_messages",
    "inbound_parts",
    "opt_out_changes",
    "opt_outs",
    "profiles",
    "simulated_messages",
    "tokens",
    "users",
    "webhook_deliveries",
    "webhook_posts",
)
"""The tables without partitions from which a number is erased."""


class ErasedTable(NamedTuple):
    """A table or partition, and when the last erasure changed it."""

    name: str
    erased_at: Instant


def record(tx: Tx, ids: Iterable[bytes], now: Instant) -> None:
    """Record that messages or requests of these ids were erased, and what else names their number."""
    if not partitions.is_partitioned(tx):
        return
    months = sorted({str(partitions.month_at(identifiers.requested_at(one))) for one in ids})
    parts = [f"{table}_{month}" for table in partitions.PARTITION_KEYS for month in [*months, "default"] if months]
    tx.execute_many(
        "insert into erased_tables (erased_at, name) select ?, v.name from (values {rows}) as v(name) where true"
        " on conflict (name) do update set erased_at = excluded.erased_at",
        [(name,) for name in sorted([*TABLES, *parts])],
        (now,),
    )


def list_all(tx: Tx) -> list[ErasedTable]:
    """Return the tables that are to be vacuumed, those that wait for longest first."""
    return [ErasedTable(*row) for row in tx.fetch_all("select name, erased_at from erased_tables order by 2, 1")]


def delete(tx: Tx, table: ErasedTable) -> None:
    """Forget a table that was vacuumed, unless more was erased meanwhile."""
    tx.execute("delete from erased_tables where name = ? and erased_at = ?", table)
