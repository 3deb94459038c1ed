"""Says what is wrong with the set-up and how to mend it."""

import shutil
from ipaddress import ip_address
from typing import NamedTuple

from pabal.app import AlreadyRunning, build_context, open_store, process_lock
from pabal.domain import dates
from pabal.service.delivery.circuit_breaker import CarrierStatus
from pabal.service.metrics import Metrics
from pabal.settings.carriers import SENDABLE
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings
from pabal.store import accounts, carrier_states, queue, slots
from pabal.store.engine import requirements, sqlite_backup
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.engine.migrate import SchemaTooNew, all_migrations, pending
from pabal.world import World

MIN_FREE_BYTES = 1024**3
CARRIER_REMEDIES = {
    CarrierStatus.DOWN.value: "Its messages wait. Check that it can be reached and that its settings are right.",
    CarrierStatus.CIRCUIT_OPEN.value: "Its messages go to the next carrier of their route, or wait."
    " Check that it can be reached, and ask its operator.",
    CarrierStatus.UP.value: "It works, but not with all that it should have: see that its settings are right.",
}


class Finding(NamedTuple):
    """One thing that was looked at."""

    is_ok: bool
    message: str
    remedy: str = ""


async def diagnose(settings: Settings, world: World) -> list[Finding]:
    """Return what was found, without changing anything but an absent data directory or file."""
    found = [] if settings.is_on_postgresql else _check_directory(settings)
    if all(each.is_ok for each in found):
        found += await _check_store(settings, world)
    return [*found, *_check_routes(settings), *_check_address(settings)]


async def pending_migrations(settings: Settings, world: World) -> list[str]:
    """Return the steps that the schema lacks, without changing anything, nor making a file that is not there.

    Raises SchemaTooNew; StoreAway where the store cannot be read.
    """
    if settings.is_on_postgresql:
        store = open_store(settings, world)
        try:
            return await store.read(pending)
        finally:
            await store.close()
    path = settings.store_path
    return (
        sqlite_backup.read_file(path, pending)
        if path.exists()
        else [f"{step.number:04} {step.name}" for step in all_migrations()]
    )


def _check_directory(settings: Settings) -> list[Finding]:
    folder = settings.store_path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        probe = folder / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return [Finding(False, f"the data directory {folder} cannot be written ({error.strerror})", "Use --data.")]
    found = [Finding(True, f"the data directory {folder} can be written")]
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        found.append(Finding(False, f"only {free // 1024**2} MiB are free on its disk", "Make room."))
    try:
        with process_lock(settings):
            found.append(Finding(True, "no service runs on it now"))
    except AlreadyRunning:
        found.append(Finding(True, "a service runs on it now"))
    return found


async def _check_store(settings: Settings, world: World) -> list[Finding]:
    try:
        store = open_store(settings, world)
    except StoreUnavailable as away:
        return [_unreachable(settings, away)]
    try:
        missing = await store.read(pending)
        if missing:
            how = "Start `pabal serve`, or run `pabal migrate`." if settings.migrate else "Run `pabal migrate`."
            return [Finding(settings.migrate, f"the schema lacks {', '.join(missing)}", how)]
        return [
            *await (_check_server(store, settings) if settings.is_on_postgresql else _check_file(store)),
            *await _check_keys(store),
            *await _check_queue(store, settings, world),
            *await _check_carriers(store, settings),
        ]
    except SchemaTooNew as no:
        return [Finding(False, str(no))]
    except StoreUnavailable as away:
        return [_unreachable(settings, away)]
    except BadSetting as no:
        return [Finding(False, str(no), "Mend the settings.")]
    finally:
        await store.close()


def _unreachable(settings: Settings, away: StoreUnavailable) -> Finding:
    if not settings.is_on_postgresql:
        return Finding(False, f"the store {settings.store_path} cannot be read ({away})", "Restore a backup.")
    how = "See that it runs, and that `store` names host, database, user and password rightly."
    return Finding(False, f"the database {settings.redacted_store} cannot be reached ({away})", how)


async def _check_file(store: Store) -> list[Finding]:
    said = await store.read(_quick_check)
    if said == "ok":
        return [Finding(True, "the store is sound and its schema up to date")]
    return [Finding(False, f"the store is damaged: {said}", "Restore a backup.")]


async def _check_server(store: Store, settings: Settings) -> list[Finding]:
    """Look at what PostgreSQL must be like for our promises to hold, and at who works on it."""
    found = [Finding(True, f"the database {settings.redacted_store} can be reached and its schema is up to date")]
    working = [f"{worker.name} ({held} slots)" for worker, held in await store.read(slots.list_workers)]
    found.append(Finding(True, f"delivering: {', '.join(working) or 'no process now'}"))
    version = await store.read(requirements.server_version)
    if version < requirements.MIN_VERSION:
        found.append(
            Finding(False, f"PostgreSQL is of version {version}", f"Use {requirements.MIN_VERSION} or later.")
        )
    for name, value in (await store.read(requirements.current_settings)).items():
        if value not in requirements.REQUIRED_SETTINGS[name]:
            needed = " or ".join(requirements.REQUIRED_SETTINGS[name])
            found.append(
                Finding(
                    False, f"PostgreSQL has {name} = {value}", f"Set it to {needed}, or what is kept may be lost."
                )
            )
    return found


async def _check_keys(store: Store) -> list[Finding]:
    live = [key for key in await store.read(accounts.list_keys) if key.is_live]
    if live:
        return [Finding(True, f"{len(live)} live keys")]
    return [Finding(False, "there is no live key", "Make one: pabal key create --account NAME")]


async def _check_queue(store: Store, settings: Settings, world: World) -> list[Finding]:
    context = build_context(settings, store, world, Metrics())
    found = []
    total = max(1, await store.read(slots.count_slots))
    names = {name for slot in range(total) for name in await store.read(queue.carriers_with_jobs, slot)}
    for name in sorted(names):
        if name not in context.carriers:
            how = "The next start of `pabal serve` gives them to other carriers."
            found.append(Finding(False, f"jobs wait for the carrier {name}, which is not configured", how))
    return found


async def _check_carriers(store: Store, settings: Settings) -> list[Finding]:
    found = []
    for each in await store.read(carrier_states.list_all):
        if each.name in settings.carriers and (each.reason or each.state != CarrierStatus.UP.value):
            since = dates.format_timestamp(each.since, settings.zone)
            why = f": {each.reason}" if each.reason else ""
            seen = f" as {each.worker} sees it" if each.worker else ""
            what = f"the carrier {each.name} has been {each.state} since {since}{seen}{why}"
            found.append(Finding(False, what, CARRIER_REMEDIES[each.state]))
    return found


def _check_routes(settings: Settings) -> list[Finding]:
    missing = [product.word for product in SENDABLE if product.word not in settings.routes]
    if not missing:
        return [Finding(True, "every product has a route")]
    how = "Callers get PRODUCT_NOT_AVAILABLE; add them to [routes] if they are wanted."
    return [Finding(True, f"no route for {', '.join(missing)}", how)]


def _check_address(settings: Settings) -> list[Finding]:
    try:
        is_local = ip_address(settings.host).is_loopback
    except ValueError:
        is_local = settings.host == "localhost"
    if is_local or settings.trusted_proxies:
        return [Finding(True, f"listens on {settings.host}:{settings.port}")]
    how = "Put a proxy with TLS before it, and name it in trusted_proxies."
    return [Finding(True, f"listens on {settings.host}:{settings.port}, beyond this machine", how)]


def _quick_check(tx: Tx) -> str:
    row = tx.fetch_one("pragma quick_check(1)")
    return str(row[0]) if row else "no answer"
