"""Migrations: numbered SQL files, each applied once, while no other process migrates."""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from pabal.domain.base.codes import TextError
from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Priority, Tx, transaction
from pabal.store.engine.citus.distribution import distribute_missing, use_one_connection
from pabal.store.engine.citus.places import is_distributed
from pabal.store.engine.postgres import partitions

SCHEMA_FOLDERS: list[Traversable] = [resources.files("pabal.store.engine").joinpath("schema")]
"""Where the numbered SQL files are; tests add a folder with a migration of their own."""
_NAME = re.compile(r"([0-9]{4})_(\w+)\.sql")
UNFINISHED_MOVE_TABLE = "unfinished_move"
"""In a PostgreSQL store while a move into it is not finished."""
MOVED_TABLE = "moved_store"
"""In a SQLite store that was moved, with the address of the database that has its rows now."""


class Migration(NamedTuple):
    """One numbered SQL file."""

    number: int
    name: str
    sql: str

    @property
    def label(self) -> str:
        """How people see it: `0001 first`."""
        return f"{self.number:04} {self.name}"


class UnsupportedSchema(TextError):
    """This version cannot use the store's schema; the message says what to do."""


class StoreMoved(UnsupportedSchema):
    """Everything was moved from this store to another one, or the move into this store is not finished."""


class SchemaTooNew(UnsupportedSchema):
    """The store was made by a newer version than this one."""


class SchemaTooOld(UnsupportedSchema):
    """The store was made before the first release, whose schema starts anew."""


def all_migrations() -> list[Migration]:
    """Return every migration this version knows, in order."""
    found = []
    for file in (file for folder in SCHEMA_FOLDERS for file in folder.iterdir()):
        match = _NAME.fullmatch(file.name)
        if match:
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found)


@transaction(retryable=True, priority=Priority.PATIENT)  # a retry finds the migrations applied
def migrate(tx: Tx, now: Instant) -> list[str]:
    """Apply missing migrations and return their names; create the partitions of the next months.

    Where Citus distributes the tables, new ones are distributed, too.

    Raises UnsupportedSchema for a store of a newer version, of one before the first release, and for one that was
    moved or is still being moved.
    """
    tx.fetch_all("select {schema_lock}")
    _check_moved(tx)
    tx.execute(
        "create table if not exists migrations"
        " (number integer primary key, name text not null, applied_at {big} not null)"
    )
    missing = _missing_migrations(tx)
    has_nodes = is_distributed(tx)
    if has_nodes:
        use_one_connection(tx)
    for migration in missing:
        for statement in split_statements(migration.sql):
            tx.execute(statement)
        tx.execute(
            "insert into migrations (number, name, applied_at) values (?, ?, ?)",
            (migration.number, migration.name, now),
        )
    partitions.create_ahead(tx, now)
    if missing and has_nodes:
        distribute_missing(tx)
    return [migration.label for migration in missing]


def pending(tx: Tx) -> list[str]:
    """Return the names of the migrations that `migrate` would apply.

    Raises UnsupportedSchema as `migrate` does.
    """
    _check_moved(tx)
    is_new = not _has_table(tx, "migrations")
    return [migration.label for migration in (all_migrations() if is_new else _missing_migrations(tx))]


def is_unfinished_move(tx: Tx) -> bool:
    """Return whether a move into this store was begun and not finished."""
    return _has_table(tx, UNFINISHED_MOVE_TABLE)


def mark_moved(tx: Tx, target: str, now: Instant) -> None:
    """Make this store one that no service starts on: its messages would be sent again."""
    tx.execute(f"create table if not exists {MOVED_TABLE} (target text not null, moved_at {{big}} not null)")
    tx.execute(f"delete from {MOVED_TABLE}")
    tx.execute(f"insert into {MOVED_TABLE} (target, moved_at) values (?, ?)", (target, now))


def moved_to(tx: Tx) -> str | None:
    """Return the address of the database that this store was moved to."""
    if not _has_table(tx, MOVED_TABLE):
        return None
    (target,) = tx.fetch_all(f"select target from {MOVED_TABLE}")[0]
    return str(target)


def _check_moved(tx: Tx) -> None:
    if is_unfinished_move(tx):
        raise StoreMoved(
            "SQLite에서 이 데이터베이스로 옮기는 일이 끝나지 않았습니다. 같은 `pabal move`를 다시 실행하세요",
            "a move from SQLite into this database is not finished; run the same `pabal move` again",
        )
    if (target := moved_to(tx)) is not None:
        raise StoreMoved(
            f"이 SQLite 저장소는 {target}(으)로 옮겼습니다. `store`에 그 주소를 설정하세요. 옮기는 일이 끝나지"
            " 않았다면 같은 `pabal move`를 다시 실행하세요",
            f"this SQLite store was moved to {target}; set `store` to that address. If the move was not"
            " finished, run the same `pabal move` again",
        )


def _has_table(tx: Tx, name: str) -> bool:
    return tx.fetch_one("select 1 from {tables} as t where t.name = ?", (name,)) is not None


def _missing_migrations(tx: Tx) -> list[Migration]:
    applied: dict[int, str] = dict(tx.fetch_all("select number, name from migrations"))
    migrations = all_migrations()
    if applied and applied.get(1) != migrations[0].name:  # until the first release, each change renames it
        raise SchemaTooOld(
            "첫 릴리스 전에 만든 저장소라서 마이그레이션할 수 없습니다. 빈 데이터 디렉터리나 데이터베이스로"
            " 시작하세요",
            "the store was made before the first release and cannot be migrated:"
            " start with an empty data directory or database",
        )
    if applied and max(applied) > migrations[-1].number:
        raise SchemaTooNew(
            f"저장소의 스키마는 {max(applied)}인데 이 버전은 {migrations[-1].number}까지 압니다. 저장소를 만든"
            " 버전이나 더 새로운 버전을 실행하세요",
            f"the store is at schema {max(applied)}, this version knows {migrations[-1].number}:"
            " run the version that made it, or a newer one",
        )
    return [migration for migration in migrations if migration.number not in applied]


def split_statements(sql: str) -> list[str]:
    """Return the statements of an SQL file, without comments."""
    lines = [line.split("--")[0].rstrip() for line in sql.splitlines()]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]
