"""Migrations: applied once and in order, by any one process, and never reversed."""

import asyncio
import contextlib
import os
import threading
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import apsw
import pytest

from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import DueReceipt, Outcome
from pabal.store.engine.base import Store, Tx
from pabal.store.engine.migrate import (
    SchemaTooNew,
    SchemaTooOld,
    all_migrations,
    migrate,
    pending,
    split_statements,
)
from pabal.store.engine.postgres import partitions
from pabal.store.engine.postgres.postgres_store import PostgresStore, connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from pabal.store.engine.sqlite.sqlite_store import SqliteStore, SqliteTx
from pabal.store.queue import carriers, queue, receipts, simulator, slots
from pabal.world import RealWorld
from tests.fixtures import citus, postgres
from tests.fixtures.engines import sqlite_only
from tests.fixtures.rows import CARRIER, message_id, store_request
from tests.fixtures.second_step import LABEL
from tests.fixtures.virtual import NOON

ALL = [f"{step.number:04} {step.name}" for step in all_migrations()]
UPGRADED = [*ALL, LABEL]
USUAL_STEPS = {0, 1, len(ALL)}
KNOWN_STEPS = [
    pytest.param(each, marks=() if each in USUAL_STEPS else pytest.mark.torture) for each in range(len(UPGRADED))
]
"""The versions to upgrade from; `make test` has a new store, the first version and the last one."""


@contextlib.contextmanager
def new_place(engine: str, folder: Path, name: str) -> Iterator[str]:
    """Yield a place for a new store: a file, or the address of an empty database."""
    database = f"{name}_{os.getpid()}"
    if engine == "sqlite":
        yield str(folder / f"{name}.db")
    elif engine == "citus":
        yield citus.create_database(database)
        citus.drop_database(database)
    else:
        yield postgres.create_database(database, "template1")
        postgres.drop_database(database)


@contextlib.contextmanager
def new_tx(place: str) -> Iterator[Tx]:
    """Yield a transaction on a store that was never migrated."""
    connection = connect(place) if is_address(place) else apsw.Connection(":memory:")
    yield SqliteTx(connection) if isinstance(connection, apsw.Connection) else PostgresTx(connection)
    connection.close()


@pytest.fixture
def place(engine: str, tmp_path: Path) -> Iterator[str]:
    """A place for a new store."""
    with new_place(engine, tmp_path, "empty") as place:
        yield place


@pytest.fixture
def empty(place: str) -> Iterator[Tx]:
    """A transaction on a store that was never migrated."""
    with new_tx(place) as tx:
        yield tx


@pytest.fixture
def other_empty(engine: str, tmp_path: Path) -> Iterator[Tx]:
    """A transaction on another store that was never migrated."""
    with new_place(engine, tmp_path, "other_empty") as place, new_tx(place) as tx:
        yield tx


def is_address(place: str) -> bool:
    return place.startswith("postgresql:")


def opened(place: str) -> Store:
    world = RealWorld()
    return PostgresStore(place, world) if is_address(place) else SqliteStore(Path(place), world)


def tables(tx: Tx) -> set[str]:
    return {row[0] for row in tx.fetch_all("select name from {tables} as t")}


def test_new_store_gets_every_migration_in_order_and_once(empty: Tx) -> None:
    assert pending(empty) == ALL
    assert tables(empty) == set(), "listing them changes nothing"

    assert migrate(empty, NOON) == ALL

    found = tables(empty)
    assert {"accounts", "requests", "messages", "jobs", "receipts", "profiles", "templates"} <= found
    assert empty.fetch_all("select number, name, applied_at from migrations order by number") == [
        (step.number, step.name, NOON) for step in all_migrations()
    ]
    assert pending(empty) == []
    assert migrate(empty, NOON + 1) == []
    assert tables(empty) == found


def test_store_of_a_newer_version_is_refused_and_left_unchanged(empty: Tx) -> None:
    migrate(empty, NOON)
    newer = all_migrations()[-1].number + 1
    empty.execute("insert into migrations values (?, 'from the future', ?)", (newer, NOON))

    with pytest.raises(SchemaTooNew, match=str(newer)):
        migrate(empty, NOON)
    with pytest.raises(SchemaTooNew, match=str(newer)):
        pending(empty)
    assert empty.fetch_one("select count(*) from migrations") == (len(all_migrations()) + 1,)


@pytest.mark.parametrize("steps", [1, 10])
def test_store_made_before_the_first_release_is_refused_and_left_unchanged(empty: Tx, steps: int) -> None:
    empty.execute(
        "create table migrations (number integer primary key, name text not null, applied_at {big} not null)"
    )
    for number in range(1, steps + 1):
        name = "start" if number == 1 else f"step_{number}"
        empty.execute("insert into migrations values (?, ?, ?)", (number, name, NOON))
    advice = "made before the first release .* start with an empty data directory or database"

    with pytest.raises(SchemaTooOld, match=advice):
        migrate(empty, NOON)
    with pytest.raises(SchemaTooOld, match=advice):
        pending(empty)

    assert tables(empty) == {"migrations"}


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [step.number for step in all_migrations()] == list(range(1, len(all_migrations()) + 1))
    assert all(step.name and step.sql for step in all_migrations())


def first_steps(tx: Tx, count: int) -> None:
    """Apply only the first migrations, as an older version did."""
    tx.execute(
        "create table migrations (number integer primary key, name text not null, applied_at {big} not null)"
    )
    for step in all_migrations()[:count]:
        for statement in split_statements(step.sql):
            tx.execute(statement)
        tx.execute("insert into migrations values (?, ?, ?)", (step.number, step.name, NOON))
    partitions.create_ahead(tx, NOON)


@pytest.mark.usefixtures("second_step")
def test_store_of_an_older_version_keeps_its_rows(empty: Tx) -> None:
    first_steps(empty, len(ALL))
    store_request(empty, 1)
    one = message_id(1)
    queue.claim(empty, [one], NOON, NOON + HOUR)
    queue.await_receipts(empty, [queue.AcceptedJob(one, 1, "r1", NOON + HOUR)])
    empty.execute("insert into receipts (carrier, reference, message_id) values (?, 'r1', ?)", (CARRIER, one))
    empty.execute(
        "insert into receipts (carrier, reference, outcome, arrived_at) values (?, 'r2', 1000, 0)", (CARRIER,)
    )
    assert pending(empty) == [LABEL]

    assert migrate(empty, NOON + 1) == [LABEL]

    assert empty.fetch_all("select reference, message_id, outcome, origin from receipts order by reference") == [
        ("r1", one, None, None),
        ("r2", None, 1000, None),
    ]
    assert empty.fetch_all("select weight from jobs") == [(1,)]
    matched = receipts.record_receipts(empty, CARRIER, [("r1", Outcome.DELIVERED)], NOON)
    assert matched.ended == [(one, Outcome.DELIVERED)]
    assert queue.find_overdue(empty, 0, CARRIER, NOON + HOUR, 10) == [(one, "r1")]
    assert carriers.list_states(empty) == []


@pytest.mark.usefixtures("second_step")
def test_migrated_store_keeps_its_pending_simulated_receipts(empty: Tx) -> None:
    first_steps(empty, 1)
    owed = [DueReceipt(NOON + number, message_id(number), Outcome.DELIVERED) for number in range(3)]
    for due_at, one, outcome in owed:
        empty.execute(
            "insert into simulated_receipts (carrier, slot, due_at, message_id, outcome) values (?, 0, ?, ?, ?)",
            (CARRIER, due_at, one, outcome.number),
        )

    assert migrate(empty, NOON) == UPGRADED[1:]

    assert simulator.find_due_receipts(empty, CARRIER, [0], NOON + HOUR, 10) == owed
    simulator.delete_receipts(empty, CARRIER, owed[:2])
    assert simulator.find_due_receipts(empty, CARRIER, [0], NOON + HOUR, 10) == owed[2:]
    assert carriers.list_states(empty) == []
    assert slots.ensure_slots(empty, 1) == 1


@pytest.mark.usefixtures("second_step")
@pytest.mark.parametrize("known_steps", KNOWN_STEPS)
def test_migrated_store_has_the_same_schema_as_a_new_one(empty: Tx, other_empty: Tx, known_steps: int) -> None:
    if known_steps:
        first_steps(empty, known_steps)
    migrate(other_empty, NOON)

    assert migrate(empty, NOON) == UPGRADED[known_steps:]

    assert described(empty) == described(other_empty)


def described(tx: Tx) -> list[list[tuple[object, ...]]]:
    """Return every column and every index."""
    if isinstance(tx, PostgresTx):
        columns = "select table_name, column_name, data_type, is_nullable, column_default"
        return [
            tx.fetch_all(f"{columns} from information_schema.columns where table_schema = 'public' order by 1, 2"),
            tx.fetch_all("select indexdef from pg_indexes where schemaname = 'public' order by 1"),
        ]
    column = 'select name, type, "notnull", dflt_value, pk from pragma_table_info'
    return [
        *(tx.fetch_all(f"{column}('{name}')") for name in sorted(tables(tx))),
        tx.fetch_all("select name, tbl_name from sqlite_master where type = 'index' order by name"),
    ]


def test_failed_migration_leaves_nothing(place: str) -> None:
    def migrate_and_fail(tx: Tx) -> None:
        migrate(tx, NOON)
        raise LookupError

    async def scenario() -> None:
        store = opened(place)
        try:
            with pytest.raises(LookupError):
                await store.write(migrate_and_fail)

            assert await store.read(tables) == set()
            assert await store.write(migrate, NOON) == ALL
        finally:
            await store.close()

    asyncio.run(scenario())


def test_comments_and_blank_lines_are_not_statements() -> None:
    sql = """
    -- Before it all; with a semicolon.
    create table a (      -- why; indeed
        b integer
    );

    create index c on a (b);
    -- The end.
    """

    assert [" ".join(each.split()) for each in split_statements(sql)] == [
        "create table a ( b integer )",
        "create index c on a (b)",
    ]


def migrated_by_one_of_many(place: str) -> list[str]:
    async def run() -> list[str]:
        store = opened(place)
        try:
            return await store.write(migrate, NOON)
        finally:
            await store.close()

    return asyncio.run(run())


def test_concurrent_threads_migrate_once(place: str) -> None:
    applied: list[list[str]] = []
    start = threading.Barrier(2)

    def race() -> None:
        start.wait()
        applied.append(migrated_by_one_of_many(place))

    threads = [threading.Thread(target=race) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(applied) == [[], ALL]


@sqlite_only
@pytest.mark.slow
def test_concurrent_processes_migrate_once(place: str) -> None:
    """On PostgreSQL, connections of threads are as separate as those of processes."""
    with get_context("spawn").Pool(2) as pool:
        applied = pool.map(migrated_by_one_of_many, [place] * 2, chunksize=1)

    assert sorted(applied) == [[], ALL]
