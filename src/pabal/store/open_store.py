"""Opens the store that the settings name, and brings its schema up to date."""

from collections.abc import Callable

from pabal.domain.base.codes import TextError
from pabal.settings.data_directory import create_folder
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store
from pabal.store.engine.group_commit import CommitStats
from pabal.store.engine.migrate import migrate, pending
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from pabal.store.engine.write_queue import StoreLimits
from pabal.world import World


class NotMigrated(TextError):
    """The store's schema is not up to date, and `migrate = false`."""


def open_store(
    settings: Settings,
    world: World,
    on_commit: Callable[[CommitStats], None] = lambda _: None,
    *,
    is_shared: bool = False,
) -> Store:
    """Open the store that the settings name; a SQLite file is created if it does not exist.

    `is_shared`: another process writes to the SQLite file all the time.

    Raises BadSetting if the data directory cannot be used, StoreUnavailable if the store cannot be opened.
    """

    limits = StoreLimits(
        settings.read_connections,
        settings.search_connections,
        settings.search_timeout_seconds,
        settings.max_waiting_writes,
    )
    if settings.is_on_postgresql:
        from pabal.store.engine.postgres.postgres_store import PostgresStore  # SQLite would wait 0.2 s for it

        return PostgresStore(
            settings.store, world, limits=limits, writers=settings.write_connections, on_commit=on_commit
        )
    create_folder(settings.store_path.parent)
    return SqliteStore(settings.store_path, world, limits=limits, is_shared=is_shared, on_commit=on_commit)


async def apply_migrations(store: Store, settings: Settings, world: World) -> list[str]:
    """Apply missing migrations and return their names.

    Raises NotMigrated if migrations are missing and the settings forbid applying them, and UnsupportedSchema as
    `migrate` does.
    """
    if settings.migrate:
        return await store.write(migrate, world.now())
    missing = await store.read(pending)
    if missing:
        raise NotMigrated(
            f"적용하지 않은 마이그레이션이 있습니다: {', '.join(missing)}. 먼저 `pabal migrate`를 실행하세요",
            f"missing migrations: {', '.join(missing)}; run `pabal migrate` first",
        )
    return []
