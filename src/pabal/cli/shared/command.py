"""What commands on the store share: access to it, its accounts, and who runs them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import printable
from pabal.service.access.accounts import accounts as account_service
from pabal.settings.environment import get_user_name
from pabal.settings.field import suggest
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import COMMAND_LINE_PREFIX, Actor, AuditEntry
from pabal.store.engine.base import Store, Tx
from pabal.store.engine.migrate import all_migrations, pending
from pabal.store.open_store import apply_migrations, open_store
from pabal.world import RealWorld, World

if TYPE_CHECKING:
    from pabal.service.context import Context

T = TypeVar("T")
WORLD = RealWorld()


def current_actor() -> Actor:
    """Return who runs this command, for the audit log."""
    return Actor(None, f"{COMMAND_LINE_PREFIX}{printable(get_user_name())}")


def audit_entry(account_id: int | None, action: str, target: str = "") -> AuditEntry:
    """Return the entry of the audit log for what this command does now."""
    return AuditEntry(WORLD.now(), *current_actor(), account_id, action, target)


async def record(store: Store, action: str, target: str = "", *, account_id: int | None = None) -> None:
    """Add an entry to the audit log; what takes many transactions is recorded before the first."""
    await store.write(audit_log.add, audit_entry(account_id, action, target))


def make_context(settings: Settings, store: Store, world: World = WORLD) -> "Context":
    """Return what the service would work with on a store."""
    from pabal.build_context import build_context  # costs other commands 0.1 s
    from pabal.service.metrics import Metrics

    return build_context(settings, store, world, Metrics())


def with_store(settings: Settings, work: Callable[[Store], Awaitable[T]], *, may_create: bool = False) -> T:
    """Open the store, migrate it if the settings allow that, run `work` and close the store.

    Raises CommandError where there is no store, unless the command may be the first one.
    """
    if not may_create:
        require_store_file(settings)

    async def run() -> T:
        store = open_store(settings, WORLD)
        try:
            is_new = len(await store.read(pending)) == len(all_migrations())
            if is_new and not may_create:
                raise _no_store(settings)
            await apply_migrations(store, settings, WORLD)
            if is_new:
                place = _place(settings)
                say(f"{place}에 저장소를 만들었습니다", f"made the store {place}", is_error=True)
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def require_store_file(settings: Settings) -> None:
    """Raise CommandError if the store would be a SQLite file that does not exist."""
    if not settings.is_on_postgresql and not settings.store_path.exists():
        raise _no_store(settings)


def _place(settings: Settings) -> str:
    return settings.redacted_store if settings.is_on_postgresql else str(settings.store_path)


def _no_store(settings: Settings) -> CommandError:
    place = _place(settings)
    return CommandError(
        f"{place}에 저장소가 없습니다. 서비스와 같은 --data와 --config를 주세요. 처음이면 먼저 `pabal serve`를"
        " 시작하세요",
        f"there is no store at {place}: give the --data and --config of the service; if there is none yet, start"
        " `pabal serve` first",
    )


async def find_account_id(store: Store, name: str) -> int:
    """Return the id of an account.

    Raises CommandError where there is none of this name.
    """
    for account in await store.read(accounts.list_accounts):
        if account.name == name:
            return account.id
    raise CommandError(
        f"{name!r} 계정이 없습니다. `pabal account list`를 보세요",
        f"there is no account {name!r}; see `pabal account list`",
    )


def add_new_account_option(parser: CommandParser) -> None:
    """Add `--new-account`."""
    parser.add_flag(
        "--new-account", "계정을 만듭니다. 없는 계정이어야 합니다", "create the account, which must not exist yet"
    )


def choose_account(tx: Tx, name: str, *, is_new: bool) -> str:
    """Return the name of an account as it is stored; create it if that was said, or if it is the first of a store.

    A typing error must not create an account. Raises CommandError, and Refused for a name that cannot be used.
    """
    name = account_service.parse_name(name)
    known = [each.name for each in accounts.list_accounts(tx)]
    if name in known:
        if is_new:
            raise CommandError(
                f"--new-account: {name!r} 계정이 이미 있습니다. 그 계정을 쓰려면 --new-account를 빼세요",
                f"--new-account: there is an account {name!r} already; leave out --new-account to use it",
            )
        return name
    if known and not is_new:
        hint = suggest(name, known)
        raise CommandError(
            f"{name!r} 계정이 없습니다{hint.ko or '.'} 새로 만들려면 --new-account를 주세요",
            f"there is no account {name!r}{hint.en or ';'} --new-account creates it",
        )
    account_service.create(tx, name, current_actor(), WORLD.now())
    return name
