"""Drops of months on PostgreSQL wait only a moment for the locks they need."""

import psycopg
import pytest

from pabal.store.engine.base import StoreUnavailable
from pabal.store.engine.postgres import partitions
from pabal.store.engine.postgres.partitions import Partition
from pabal.store.engine.postgres.postgres_store import PostgresStore
from tests.fixtures.postgres_store import query_outside, run_scenario
from tests.fixtures.rows import store_request

NOVEMBER = 202611


def drop_month(address: str) -> bool:
    """Drop a month that has one message, which has ended; return whether it was dropped."""
    dropped = []

    async def scenario(store: PostgresStore) -> None:
        await store.write(store_request, 1)
        await store.write(lambda tx: tx.execute("delete from jobs"))
        dropped.append(await store.write(partitions.drop_part, Partition("messages", NOVEMBER)))

    run_scenario(address, scenario)
    return dropped[0]


def test_month_that_a_backup_reads_is_not_dropped(address: str) -> None:
    with psycopg.connect(address) as backup:
        backup.execute(f"lock table messages_{NOVEMBER} in access share mode")

        with pytest.raises(StoreUnavailable):
            drop_month(address)

    assert query_outside(address, f"select count(*) from messages_{NOVEMBER}") == [(1,)]


def test_month_that_nobody_reads_is_dropped(address: str) -> None:
    assert drop_month(address)
    assert query_outside(address, f"select to_regclass('messages_{NOVEMBER}') is null") == [(True,)]
