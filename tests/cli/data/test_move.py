"""`pabal move`: every row of a SQLite store comes to PostgreSQL once, however often the move is broken off."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import apsw
import psycopg
import pytest

from pabal.cli.shared.command import current_actor
from pabal.domain.base import identifiers
from pabal.settings.data_directory import process_lock
from pabal.settings.settings import load
from pabal.store.engine import move
from pabal.store.engine.migrate import MOVED_TABLE, moved_to
from pabal.store.engine.move import LEFT_OUT, MovedTable, open_source
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.engine.sqlite.sqlite_backup import query_file
from pabal.store.queue import slots
from pabal.world import RealWorld
from tests.fixtures import postgres
from tests.fixtures.cli import CommandLine
from tests.fixtures.every_table import ROWS, fill_every_table
from tests.fixtures.live import command, run, serving, wait_until, working
from tests.fixtures.postgres_store import query_outside, run_scenario

SLOTS = 8
END_SESSIONS = (
    "select pg_terminate_backend(pid) from pg_stat_activity"
    " where datname = current_database() and application_name = 'pabal'"
)
BODY = {"content": "안녕하세요", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}


@pytest.fixture
def target() -> str:
    """The address of a database with all tables and no rows."""
    return postgres.empty_database()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A SQLite store with rows in every table."""
    path = tmp_path / "sqlite" / "pabal.db"
    fill_every_table(path, has_nulls=False)
    return path


@pytest.fixture
def on_target(tmp_path: Path, target: str, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """A command line whose settings name the database."""
    line = CommandLine(tmp_path / "unused", capsys)
    line.configure(f'store = "{target}"\n')
    return line


def tables_of(source: Path) -> list[MovedTable]:
    with open_source(source) as found:
        return found.tables()


def count_rows(address: str, tables: list[MovedTable]) -> dict[str, int]:
    return {each.name: query_outside(address, f"select count(*) from {each.name}")[0][0] for each in tables}


def expected_rows(tables: list[MovedTable]) -> dict[str, int]:
    """Return how many rows each table has after a move, which adds an entry to the audit log."""
    return dict.fromkeys((each.name for each in tables), ROWS) | {"audit_log": ROWS + 1}


def moved_tables(address: str) -> set[str]:
    """Return the tables that an unfinished move has come to."""
    if not query_outside(address, "select 1 from pg_tables where tablename = 'unfinished_move'"):
        return set()
    return {name for (name,) in query_outside(address, "select name from unfinished_move")}


def copy_first_rows(address: str, source: Path) -> None:
    """Move one row of the first table, as a move does that is broken off then."""

    async def scenario(store: PostgresStore) -> None:
        await store.write(slots.ensure_slots, SLOTS)
        with open_source(source) as found:
            table = found.tables()[0]
            await store.write(move.begin, found.identity, found.tables(), None, RealWorld().now())
            await store.write(move.copy, table, next(found.batches(table))[:1], None)

    run_scenario(address, scenario)


@pytest.mark.parametrize("has_nulls", [False, True])
def test_every_row_of_every_table_is_moved_and_compared(
    tmp_path: Path, target: str, on_target: CommandLine, has_nulls: bool
) -> None:
    source = tmp_path / "sqlite" / "pabal.db"
    fill_every_table(source, has_nulls=has_nulls)
    tables = tables_of(source)

    moved = on_target("move", source)

    assert (moved.status, moved.err) == (0, "")
    assert count_rows(target, tables) == expected_rows(tables)
    assert re.search(rf"^messages: {ROWS} rows, checksum [0-9a-f]{{16}}$", moved.out, re.M)
    assert f"moved {ROWS * len(tables)} rows of {len(tables)} tables to postgresql://" in moved.out
    assert f"no service starts on {source} any more" in moved.out
    assert query_outside(target, "select reltuples from pg_class where relname = 'accounts'") == [(ROWS,)]


def test_no_service_starts_on_a_moved_store(source: Path, on_target: CommandLine) -> None:
    assert on_target("move", source).status == 0

    again = on_target("move", source)
    refused = run("serve", "--port", "0", data=source.parent)
    examined = run("doctor", data=source.parent)

    assert (again.status, again.out) == (2, "")
    assert f"{source} was moved to postgresql://" in again.err
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "this SQLite store was moved to postgresql://" in refused.stderr
    assert examined.returncode == 1
    assert "this SQLite store was moved to postgresql://" in examined.stdout


def test_move_whose_file_cannot_be_marked_is_not_finished(
    source: Path, target: str, on_target: CommandLine
) -> None:
    tables = tables_of(source)
    with contextlib.closing(apsw.Connection(str(source))) as other:
        other.execute("begin immediate")  # of a program that is not Pabal
        refused = on_target("move", source)
        other.execute("rollback")
    started = on_target("account", "list")
    moved = on_target("move", source)

    assert (refused.status, refused.out) == (2, "")
    assert f"{source} cannot be marked as moved (BusyError" in refused.err
    assert "a move from SQLite into this database is not finished" in started.err
    assert moved.status == 0
    assert count_rows(target, tables) == expected_rows(tables)


def test_moved_store_goes_on_where_the_other_has_stopped(source: Path, target: str, on_target: CommandLine) -> None:
    with apsw.Connection(str(source)) as connection:
        connection.execute("delete from contacts where id = 3")

    assert on_target("move", source).status == 0

    made = query_outside(
        target,
        "insert into contacts (account_id, phone, name, name_key, created_at, changed_at)"
        " values (1, 99, '', '', 0, 0) returning id",
    )
    assert made == [(4,)], "numbers of deleted rows are not used again"
    keys = query_outside(target, "select slot, account_id, key from idempotency_keys")
    assert [slot for slot, *_ in keys] == [identifiers.slot_of_key(account, key, SLOTS) for _, account, key in keys]
    assert query_outside(target, "select slot from slots where is_orphaned = 1") == [(0,)]
    assert query_outside(target, "select count(*) from messages_default") == [(0,)], "its month has a partition"
    assert on_target("account", "list").status == 0


def test_keys_are_moved_to_the_slots_of_a_store_whose_numbers_have_gaps(
    source: Path, target: str, on_target: CommandLine
) -> None:
    numbers = [0, 3, 17, 4095]
    query_outside(target, f"insert into slots (slot) values {', '.join(f'({each})' for each in numbers)}")

    assert on_target("move", source).status == 0

    keys = query_outside(target, "select slot, account_id, key from idempotency_keys")
    assert [slot for slot, *_ in keys] == [
        numbers[identifiers.slot_of_key(account, key, len(numbers))] for _, account, key in keys
    ]


def test_move_that_was_broken_off_is_continued(source: Path, target: str, on_target: CommandLine) -> None:
    tables = tables_of(source)
    copy_first_rows(target, source)

    refused = on_target("account", "list")
    examined = on_target("doctor")
    moved = on_target("move", source)

    assert (refused.status, refused.out) == (2, "")
    assert "a move from SQLite into this database is not finished" in refused.err
    assert examined.status == 1
    assert "run the same `pabal move` again" in examined.out
    assert (moved.status, moved.err) == (0, "")
    assert count_rows(target, tables) == expected_rows(tables)


def begin_to_move_another_store(source: Path, target: str) -> None:
    other = source.with_name("other.db")
    fill_every_table(other, has_nulls=False)
    with apsw.Connection(str(other)) as connection:
        connection.execute("update accounts set created_at = 77")
    copy_first_rows(target, other)


def change_moved_rows(source: Path, target: str) -> None:
    copy_first_rows(target, source)
    query_outside(target, "update accounts set created_at = created_at + 1")


def add_a_zero_byte(source: Path, target: str) -> None:
    with apsw.Connection(str(source)) as connection:
        connection.execute("update accounts set name = 'zero' || char(0) where id = 2")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (begin_to_move_another_store, "a move of another store into this database is not finished"),
        (change_moved_rows, r"accounts differs: 3 rows with checksum \w{16} in SQLite, 3 with \w{16} in"),
        (add_a_zero_byte, "PostgreSQL does not take one of the 3 rows behind the first 0 of accounts"),
    ],
)
def test_move_that_cannot_be_right_is_refused(
    source: Path, target: str, on_target: CommandLine, spoil: Callable[[Path, str], None], said: str
) -> None:
    spoil(source, target)

    refused = on_target("move", source)

    assert refused.status == 2
    assert re.search(said, refused.err)
    assert source.exists()


def test_database_that_is_not_empty_is_refused(source: Path, target: str, on_target: CommandLine) -> None:
    on_target("key", "create", "--account", "acme")

    refused = on_target("move", source)

    assert refused.status == 2
    assert "the database is not empty: accounts, keys" in refused.err
    assert count_rows(target, tables_of(source))["messages"] == 0


@pytest.fixture
def without_tables(on_target: CommandLine) -> Iterator[str]:
    """The name of a database without any table, which the settings name."""
    name = f"without_tables_{os.getpid()}"
    address = postgres.create_database(name, "template1")
    on_target.configure(f'store = "{address}"\n')
    yield address
    postgres.drop_database(name)


def test_database_that_was_only_migrated_is_empty(
    source: Path, on_target: CommandLine, without_tables: str
) -> None:
    migrated = on_target("migrate")
    moved = on_target("move", source)

    assert migrated.out.startswith("applied")
    assert query_outside(without_tables, "select count(*) from audit_log") == [(ROWS + 1,)]
    assert (moved.status, moved.err) == (0, "")


def test_move_is_audited(source: Path, target: str, on_target: CommandLine) -> None:
    rows = ROWS * len(tables_of(source))

    assert on_target("move", source).status == 0

    found = query_outside(target, "select actor, action, target from audit_log order by id desc limit 1")
    assert found == [(current_actor().name, "store.move", f"{rows:,}")]


@pytest.mark.slow
def test_move_is_refused_while_a_worker_is_alive(
    source: Path, target: str, on_target: CommandLine, tmp_path: Path
) -> None:
    with working(tmp_path / "work", store=target) as worker:
        refused = on_target("move", source)
        assert worker.stop() == 0

    assert refused.status == 2
    assert re.search(r"these workers are running: \S+:\d+; stop them, then try again", refused.err)
    assert source.exists()
    assert not moved_tables(target)


def test_move_is_refused_while_a_service_uses_the_store(source: Path, on_target: CommandLine) -> None:
    with process_lock(load({}, data=source.parent)):
        refused = on_target("move", source)

    assert refused.status == 2
    assert refused.err.startswith("pabal: stop the service first: another pabal is running on")


def test_move_needs_postgresql_and_a_store(
    tmp_path: Path, source: Path, on_target: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.db"
    other.write_bytes(b"not a database at all" * 500)

    to_sqlite = CommandLine(tmp_path / "unused", capsys)("move", source)
    absent = on_target("move", tmp_path / "absent.db")
    no_store = on_target("move", other)

    assert "`store` must be the PostgreSQL database to move to" in to_sqlite.err
    assert "absent.db does not exist" in absent.err
    assert "other.db was not moved" in no_store.err
    assert [each.status for each in (to_sqlite, absent, no_store)] == [2, 2, 2]


def test_tables_that_are_left_out_exist(source: Path) -> None:
    with apsw.Connection(str(source)) as connection:
        names = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}

    assert names >= LEFT_OUT - {MOVED_TABLE}


@pytest.mark.slow
def test_killed_move_is_continued(tmp_path: Path, source: Path, target: str) -> None:
    tables = tables_of(source)
    words = command("move", str(source), data=tmp_path, store=target)
    with psycopg.connect(target) as blocker:
        blocker.execute("lock table campaigns in share mode")  # the move comes as far as this table
        with subprocess.Popen(**words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as moving:
            wait_until(lambda: moved_tables(target), lambda names: "templates" in names)
            moving.send_signal(signal.SIGKILL)
        query_outside(target, END_SESSIONS)

    moved = run("move", str(source), data=tmp_path, store=target)

    assert (moved.returncode, moved.stderr) == (0, "")
    assert count_rows(target, tables) == expected_rows(tables)


@pytest.mark.slow
def test_move_killed_after_its_file_was_marked_is_continued(tmp_path: Path, source: Path, target: str) -> None:
    tables = tables_of(source)
    copy_first_rows(target, source)
    words = command("move", str(source), data=tmp_path, store=target)
    with psycopg.connect(target) as blocker:
        blocker.execute("select * from unfinished_move")  # it cannot be dropped, which ends the move
        with subprocess.Popen(**words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as moving:
            wait_until(lambda: query_file(source, moved_to), lambda found: found is not None)
            moving.send_signal(signal.SIGKILL)
        query_outside(target, END_SESSIONS)

    moved = run("move", str(source), data=tmp_path, store=target)
    again = run("move", str(source), data=tmp_path, store=target)

    assert (moved.returncode, moved.stderr) == (0, "")
    assert count_rows(target, tables) == expected_rows(tables)
    assert (again.returncode, again.stdout) == (2, "")
    assert "pabal.db was moved to postgresql://" in again.stderr


@pytest.mark.slow
def test_service_on_the_moved_store_goes_on_after_one_that_was_killed(tmp_path: Path, target: str) -> None:
    headers = {"Idempotency-Key": "order-1"}
    path = "/api/message/sendSMS.v1.0"
    with serving(tmp_path / "data") as before, before.client() as client:
        key = before.key
        first = client.post(path, json=BODY, headers=headers).json()["item"]["requestId"]
        tomorrow = (datetime.now(ZoneInfo("Asia/Seoul")) + timedelta(days=1)).strftime("%Y-%m-%d %H:%M")
        assert client.post(path, json=BODY | {"sendDate": tomorrow}).json()["result"] == "SUCCESS"
        before.process.kill()
        before.process.wait()
    moved = run("move", str(tmp_path / "data" / "pabal.db"), data=tmp_path, store=target)
    assert moved.returncode == 0, moved.stderr

    with serving(tmp_path / "after", store=target) as after, after.client(key) as client:
        again = client.post(path, json=BODY, headers=headers).json()["item"]["requestId"]
        new = client.post(path, json=BODY).json()["item"]["requestId"]
        found = wait_until(
            lambda: client.get("/api/message/request.v1.0", params={"requestId": new}).json()["item"]["counts"],
            lambda counts: counts["completed"] == 1,
        )
        listed = client.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678"}).json()

        assert again == first
        assert found["completed"] == 1
        assert listed["totalCount"] == 3
        assert after.stop() == 0
