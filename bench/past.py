"""Repeats the messages of a store on earlier days, much faster than they could be sent."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Any

import apsw

from bench.environment import SETTINGS_FILE, Environment
from bench.postgres import PostgresEnvironment
from bench.server import BenchmarkFailed, report_progress
from pabal.build_context import build_context
from pabal.domain.base import identifiers
from pabal.service.metrics import Metrics
from pabal.service.upkeep.statistics import update_statistics
from pabal.settings.settings import load
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import partitions
from pabal.store.open_store import open_store
from pabal.world import RealWorld

DAY_MS = 24 * 60 * 60 * 1000
COUNT_TIMEOUT_S = 3600.0
MOVED = {"requests": ("scheduled_at",), "messages": ("completed_at", "submitted_at")}
"""The tables that are repeated, each with its times; the time in an id moves as well."""
_FORGET_STATISTICS = (
    "delete from statistics",
    "delete from statistics_quarters",
    "delete from cursors where name = 'counted'",
)
_SHIFTED_ID = (
    "decode(lpad(to_hex(('x' || encode(substr(id, 1, 6), 'hex'))::bit(48)::bigint - {ms}), 12, '0'), 'hex')"
    " || substr(id, 7)"
)


def repeat_on_earlier_days(env: Environment, data: Path, days: int) -> None:
    """Copy all messages, which must have ended, to each of the `days` before; statistics are counted anew."""
    report_progress(f"  repeating them on {days} earlier days")
    began = time.perf_counter()
    if isinstance(env, PostgresEnvironment):
        _repeat_on_postgresql(env, data, days)
    else:
        _repeat_on_sqlite(data, days)
    report_progress(f"  repeated in {time.perf_counter() - began:.0f} s")
    began = time.perf_counter()
    asyncio.run(_count_statistics(data))
    report_progress(f"  counted for the statistics in {time.perf_counter() - began:.0f} s")


def _repeat_on_postgresql(env: PostgresEnvironment, data: Path, days: int) -> None:
    asyncio.run(_create_months(data, days))
    with env.connect(data) as connection:
        first = connection.execute("select id from requests order by id limit 1").fetchone()
        assert first
        for table, times in MOVED.items():
            names = [each.name for each in connection.execute(f"select * from {table} limit 0").description or ()]
            for day in range(1, days + 1):
                shifted = _statement(table, names, times, day * DAY_MS, _SHIFTED_ID.format(ms=day * DAY_MS))
                connection.execute(f"{shifted} where id >= %s".encode(), first)
        for statement in (*_FORGET_STATISTICS, "vacuum analyze requests", "vacuum analyze messages"):
            connection.execute(statement.encode())


async def _count_statistics(data: Path) -> None:
    """Count all messages at once; housekeeping does it in short rounds, so that nothing else waits."""
    settings, world = load({}, data / SETTINGS_FILE, data=data), RealWorld()
    store = open_store(settings, world)
    try:
        messages, counted = await store.read(_count, "messages"), -1
        deadline = time.perf_counter() + COUNT_TIMEOUT_S
        while counted != messages:
            if time.perf_counter() > deadline:
                raise BenchmarkFailed(f"only {counted:,} of {messages:,} messages were counted in time")
            await update_statistics(build_context(settings, store, world, Metrics()))
            counted = await store.read(_count, "statistics")
    finally:
        await store.close()


def _count(tx: Tx, table: str) -> int:
    what = "count(*)" if table == "messages" else "coalesce(sum(messages), 0)"
    (found,) = tx.fetch_all(f"select {what} from {table}")[0]
    return int(found)


async def _create_months(data: Path, days: int) -> None:
    """Create the partitions of the earlier days, as a move to PostgreSQL does."""
    world = RealWorld()
    store = open_store(load({}, data / SETTINGS_FILE, data=data), world)
    try:
        now = world.now()
        await store.write(partitions.create_past, now - (days + 1) * DAY_MS, now)
    finally:
        await store.close()


def _repeat_on_sqlite(data: Path, days: int) -> None:
    def shift(*given: Any) -> bytes:
        identity, ms = given
        at = identifiers.requested_at(identity) - ms
        return bytes(at.to_bytes(6, "big") + identity[6:])

    with contextlib.closing(apsw.Connection(str(data / "pabal.db"))) as connection:
        connection.create_scalar_function("shifted", shift, 2, deterministic=True)
        first = connection.execute("select id from requests order by id limit 1").get
        for table, times in MOVED.items():
            names = [row[1] for row in connection.execute(f"pragma table_info({table})")]
            for day in range(1, days + 1):
                with connection:
                    shifted = _statement(table, names, times, day * DAY_MS, f"shifted(id, {day * DAY_MS})")
                    connection.execute(f"{shifted} where id >= ?", (first,))
        for statement in _FORGET_STATISTICS:
            connection.execute(statement)
        connection.execute("pragma wal_checkpoint(truncate)")


def _statement(table: str, names: list[str], times: tuple[str, ...], ms: int, identity: str) -> str:
    """Return what copies the rows of a table to an earlier time."""
    values = [identity if name == "id" else f"{name} - {ms}" if name in times else name for name in names]
    return f"insert into {table} ({', '.join(names)}) select {', '.join(values)} from {table}"
