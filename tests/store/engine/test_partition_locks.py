"""Drops of months on PostgreSQL: the locks they need are tried before counting, and not kept meanwhile."""

from collections.abc import Callable, Sequence
from typing import Any

import psycopg
import pytest

from pabal.store.engine import partitions
from pabal.store.engine.base import Row, StoreUnavailable, Tx, Value, transaction
from pabal.store.engine.postgres import PostgresStore
from tests.fixtures.postgres_store import query_outside, run_scenario
from tests.fixtures.rows import store_request

NOVEMBER = 202611
COUNTING = "group by account_id"


class WatchedTx:
    """A transaction that tells of each query before it runs."""

    def __init__(self, tx: Tx, on_query: Callable[[str], None]) -> None:
        self._tx = tx
        self._on_query = on_query

    def fetch_all(self, sql: str, args: Sequence[Value] = ()) -> list[Row]:
        self._on_query(sql)
        return self._tx.fetch_all(sql, args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


def drop_watched(address: str, on_query: Callable[[str], None]) -> bool:
    """Drop a month that has one message, which has ended; return whether it was dropped."""
    dropped = []

    @transaction(exclusive=True, slow=True)
    def drop(tx: Tx) -> bool:
        return partitions.drop_month(WatchedTx(tx, on_query), NOVEMBER)

    async def scenario(store: PostgresStore) -> None:
        await store.write(store_request, 1)
        await store.write(lambda tx: tx.execute("delete from jobs"))
        dropped.append(await store.write(drop))

    run_scenario(address, scenario)
    return dropped[0]


def test_drop_of_a_month_that_a_backup_reads_fails_before_it_counts(address: str) -> None:
    queries: list[str] = []
    with psycopg.connect(address) as backup:
        backup.execute(f"lock table messages_{NOVEMBER} in access share mode")

        with pytest.raises(StoreUnavailable):
            drop_watched(address, queries.append)

    assert queries
    assert not any(COUNTING in sql for sql in queries)
    assert query_outside(address, f"select count(*) from messages_{NOVEMBER}") == [(1,)]
    assert query_outside(address, "select * from month_statistics") == []


def test_month_that_is_counted_for_its_drop_can_still_be_read(address: str) -> None:
    read: list[tuple[int]] = []

    def read_outside(sql: str) -> None:
        nonlocal read
        if COUNTING in sql:
            with psycopg.connect(address) as reader:
                reader.execute("set lock_timeout = '2s'")
                read += reader.execute("select count(*) from messages").fetchall()

    assert drop_watched(address, read_outside)
    assert read == [(1,)]
    assert query_outside(address, "select messages from month_statistics") == [(1,)]
