"""Brings a store's schema up to date: numbered SQL files, each applied once, under the writer's lock."""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.store.engine import partitions
from pabal.store.engine.base import Tx, transaction

SCHEMA_FOLDERS: list[Traversable] = [resources.files("pabal.store.engine").joinpath("schema")]
"""Where the numbered SQL files are; tests add a folder with a migration of their own."""
_NAME = re.compile(r"([0-9]{4})_(\w+)\.sql")


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    name: str
    sql: str


class SchemaTooNew(Exception):
    """The store was made by a newer version than this one."""


def all_migrations() -> list[Migration]:
    """Return every migration this version knows, in order."""
    found = []
    for file in (file for folder in SCHEMA_FOLDERS for file in folder.iterdir()):
        match = _NAME.fullmatch(file.name)
        if match:
            found.append(Migration(int(match[1]), match[2], file.read_text(encoding="utf-8")))
    return sorted(found)


@transaction(retryable=True, slow=True)  # a retry finds the migrations applied
def migrate(tx: Tx, now: Instant) -> list[str]:
    """Apply what is missing and return its names; make the months ahead, where the engine has such.

    Raises SchemaTooNew for a store that a newer version made.
    """
    tx.fetch_all("select {schema_lock}")
    tx.execute(
        "create table if not exists migrations"
        " (number integer primary key, name text not null, applied_at {big} not null)"
    )
    missing = _missing_migrations(tx)
    for step in missing:
        for statement in split_statements(step.sql):
            tx.execute(statement)
        tx.execute(
            "insert into migrations (number, name, applied_at) values (?, ?, ?)", (step.number, step.name, now)
        )
    partitions.create_ahead(tx, now)
    return [f"{step.number:04} {step.name}" for step in missing]


def pending(tx: Tx) -> list[str]:
    """Return the names of what `migrate` would apply.

    Raises SchemaTooNew as it does.
    """
    is_new = not tx.fetch_one("select 1 from {tables} as t where t.name = 'migrations'")
    return [f"{step.number:04} {step.name}" for step in (all_migrations() if is_new else _missing_migrations(tx))]


def _missing_migrations(tx: Tx) -> list[Migration]:
    applied = {number for (number,) in tx.fetch_all("select number from migrations")}
    steps = all_migrations()
    if applied and max(applied) > steps[-1].number:
        raise SchemaTooNew(
            f"the store is at schema {max(applied)}, this version knows {steps[-1].number}:"
            " run the version that made it, or a newer one"
        )
    return [step for step in steps if step.number not in applied]


def split_statements(sql: str) -> list[str]:
    lines = [line.split("--")[0].rstrip() for line in sql.splitlines()]
    return [statement.strip() for statement in "\n".join(lines).split(";") if statement.strip()]
