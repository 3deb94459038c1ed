"""`pabal migrate`: applies missing migrations, and distributes tables over the workers of Citus."""

import argparse
import asyncio

from pabal.cli.shared.command import WORLD, audit_entry
from pabal.cli.shared.language import CommandError, choose
from pabal.cli.shared.options import CommandParser
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.citus.distribution import distribute
from pabal.store.engine.migrate import all_migrations, migrate, pending
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.open_store import open_store
from pabal.store.queue import slots
from pabal.world import World


def declare_migrate(parser: CommandParser) -> None:
    """Declare `pabal migrate`."""
    parser.add_settings_options(_migrate)
    parser.add_flag(
        "--check",
        "아무것도 바꾸지 않고, 빠진 마이그레이션이 있으면 실패합니다",
        "change nothing; fail if a migration is missing",
    )
    parser.add_flag(
        "--citus", "그다음 테이블을 Citus 워커에 나눕니다", "then distribute the tables over the Citus workers"
    )


def _migrate(settings: Settings, given: argparse.Namespace) -> int:
    if given.citus and not settings.is_on_postgresql:
        raise CommandError(
            "--citus에는 Citus가 있는 PostgreSQL이 필요합니다. `store`를 그 주소로 설정하세요",
            "--citus needs a PostgreSQL database with Citus; set `store` to its address",
        )
    if given.check:
        return _check_schema(settings)

    async def run() -> list[str]:
        store = open_store(settings, WORLD)
        try:
            lines = [f"applied {name}" for name in await store.write(_migrate_audited)]
            tables = await store.write(distribute) if given.citus else []
            await store.write(slots.ensure_slots, settings.store_slots)
            if given.citus:
                await store.write(slots.spread_slots)
            return lines + [f"distributed {table}" for table in tables]
        finally:
            await store.close()

    print("\n".join(asyncio.run(run())) or choose("스키마가 최신입니다", "the schema is up to date"))
    return 0


def _migrate_audited(tx: Tx) -> list[str]:
    """Apply missing migrations, with an entry in the audit log, and return their names."""
    names = migrate(tx, WORLD.now())
    if names:
        entry = audit_entry(None, "store.migrate", ", ".join(names))
        audit_log.add(tx, entry)
    return names


def _check_schema(settings: Settings) -> int:
    """Print the missing migrations; return 1 if there are any.

    Raises CommandError if the store cannot be read.
    """
    try:
        missing = asyncio.run(pending_migrations(settings, WORLD))
    except StoreUnavailable as error:
        raise CommandError(
            f"저장소를 읽을 수 없습니다({error}). `pabal doctor`를 실행하세요",
            f"the store cannot be read ({error}); run `pabal doctor`",
        ) from None
    print(
        "\n".join(f"missing {name}" for name in missing)
        or choose("스키마가 최신입니다", "the schema is up to date")
    )
    return 1 if missing else 0


async def pending_migrations(settings: Settings, world: World) -> list[str]:
    """Return the migrations that the schema lacks; change nothing and create no file.

    Raises UnsupportedSchema, or StoreUnavailable if the store cannot be read.
    """
    if settings.is_on_postgresql:
        store = open_store(settings, world)
        try:
            return await store.read(pending)
        finally:
            await store.close()
    path = settings.store_path
    return (
        sqlite_backup.query_file(path, pending)
        if path.exists()
        else [f"{step.number:04} {step.name}" for step in all_migrations()]
    )
