"""Wires everything together: the only place, with the command line, that knows every part."""

import asyncio
import contextlib
import fcntl
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import IO, Any

from pabal.carrier_settings import CarrierSettings, SimulatorSettings, SmppSettings
from pabal.carriers.base import Carrier
from pabal.carriers.simulator import Simulator
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.config import Settings
from pabal.domain.category import BadTable, Category, read_table
from pabal.service.deliver import Deliverer
from pabal.service.fault import fault
from pabal.service.keep_house import keep_house, prepare
from pabal.service.keys import Keyring
from pabal.service.limit import Limiter
from pabal.service.policy import policy_from
from pabal.service.receive import listen
from pabal.service.remember import StoredMemory
from pabal.service.station import Station
from pabal.service.watch import Watch
from pabal.setting import BadSetting
from pabal.store.base import Store
from pabal.store.grouped import Batch
from pabal.store.migrate import migrate, pending
from pabal.store.sqlite import SqliteStore
from pabal.web.api import Api, Receive, Scope, Send
from pabal.web.guard import Guard
from pabal.web.pages import Pages
from pabal.world import RealWorld, World

SWITCH_INTERVAL_S = 0.0005
"""How long a thread may keep the interpreter: the store's writer asks for it after every statement."""
PAUSE_AFTER_FAULT_S = 1.0
LOCK_WITHIN_S = 3
"""How long a new process waits for PostgreSQL to notice that the last one was killed."""

log = logging.getLogger("pabal")


class AlreadyRunning(Exception):
    """Another process delivers from this store."""


class NotMigrated(Exception):
    """The store's schema is not up to date, and `migrate = false`."""


def open_store(settings: Settings, world: World, watch: Watch | None = None) -> Store:
    """Open the store that the settings name; a file is made if new.

    Raises BadSetting for a data directory that cannot be used, StoreAway for a file or a database that cannot.
    """

    def note(batch: Batch) -> None:
        if watch:
            watch.commit_seconds.observe(batch.seconds)
            watch.commit_callers.observe(batch.callers)

    if settings.is_on_postgresql:
        from pabal.store.postgres import PostgresStore  # costs the start of the embedded store 0.2 s

        return PostgresStore(
            settings.store,
            world,
            readers=settings.read_connections,
            writers=settings.write_connections,
            most_waiting=settings.max_waiting_writes,
            watch=note,
        )
    _make_folder(settings.store_path.parent)
    return SqliteStore(
        settings.store_path,
        world,
        readers=settings.read_connections,
        most_waiting=settings.max_waiting_writes,
        watch=note,
    )


async def bring_up_to_date(store: Store, settings: Settings, world: World) -> list[str]:
    """Apply missing migrations and return their names.

    Raises NotMigrated where the settings forbid it.
    """
    if settings.migrate:
        return await store.write(migrate, world.now())
    missing = await store.read(pending)
    if missing:
        raise NotMigrated(f"the schema lacks {', '.join(missing)}: run `pabal migrate` first")
    return []


def build_station(
    settings: Settings,
    store: Store,
    world: World,
    watch: Watch,
    carriers: Mapping[str, Carrier] | None = None,
) -> Station:
    """Return the station that the settings describe; `carriers` stand in for those of the settings.

    Raises BadSetting for a table of categories that cannot be read.
    """
    if carriers is None:
        carriers = {name: _carrier(each, store, world, watch) for name, each in settings.carriers.items()}
    return Station(
        store,
        world,
        policy_from(settings),
        carriers,
        watch,
        _categories(settings.sender_categories, "sender-categories.csv"),
        _categories(settings.template_categories, "template-categories.csv"),
    )


def _carrier(settings: CarrierSettings, store: Store, world: World, watch: Watch) -> Carrier:
    if isinstance(settings, SmppSettings):
        return SmppCarrier(settings, world, lambda what: watch.oddities.add(1, settings.name, what))
    assert isinstance(settings, SimulatorSettings)
    return Simulator(settings, StoredMemory(store, settings.name), world)


class Service:
    """The whole service in one process: an ASGI application, to be started before it is asked anything."""

    def __init__(self, settings: Settings, station: Station) -> None:
        self._settings = settings
        self.station = station
        self._pages = Pages(station)
        guard = Guard(Keyring(station.store, station.world), Limiter(station.world), settings.trusted_proxies)
        self._api = Api(
            station,
            guard,
            self._pages.app,
            max_body_bytes=settings.max_body_bytes,
            always_ok=settings.always_ok,
            logs_all=settings.log_requests == "all",
            has_simulator=any(each.kind == "simulator" for each in settings.carriers.values()),
        )
        self._deliverers: list[Deliverer] = []
        self._tasks: list[asyncio.Task[None]] = []

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        return self._api(scope, receive, send)

    async def start(self) -> None:
        """Begin to deliver, to listen and to keep house."""
        station = self.station
        await prepare(station)
        for carrier in station.carriers.values():
            deliverer = Deliverer(station, carrier)
            self._deliverers.append(deliverer)
            self._keep(deliverer.run)
            self._keep(lambda carrier=carrier: listen(station, carrier))  # type: ignore[misc]
        self._keep(lambda: keep_house(station))
        self._pages.is_ready = True

    async def stop(self) -> None:
        """Accept nothing more, finish what is in hand, and leave the rest for the next start."""
        self._api.is_stopping = True
        self._pages.is_ready = False
        await asyncio.gather(*(each.stop(self._settings.stop_seconds) for each in self._deliverers))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.station.store.close()

    def _keep(self, loop: Callable[[], Awaitable[None]]) -> None:
        self._tasks.append(asyncio.create_task(_kept_going(loop)))


async def _kept_going(loop: Callable[[], Awaitable[None]]) -> None:
    """Run a loop for good: a fault in it is a bug, told loudly, but not the end of all delivery."""
    while True:
        try:
            await loop()
            return
        except Exception as error:
            log.error("a loop of the service failed; starting it again", extra=fault(error))
            await asyncio.sleep(PAUSE_AFTER_FAULT_S)


@contextlib.contextmanager
def only_deliverer(settings: Settings, within_s: int = LOCK_WITHIN_S) -> Any:
    """Hold the lock that the one delivering process of a store has.

    Raises AlreadyRunning; BadSetting for a data directory that cannot be used; StoreAway.
    """
    if settings.is_on_postgresql:
        from pabal.store.postgres import delivering_alone

        with delivering_alone(settings.store, within_s) as is_alone:
            if not is_alone:
                raise AlreadyRunning(f"another pabal runs on {settings.shown_store}; stop it, or use another store")
            yield
        return
    path = settings.store_path.with_suffix(".lock")
    _make_folder(path.parent)
    file: IO[str]
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(f"another pabal runs on {path.parent}; stop it, or use another --data") from None
        yield


async def build_service(settings: Settings, world: World | None = None) -> Service:
    """Open the store, bring it up to date, and return the service on it."""
    world = world or RealWorld()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    watch = Watch()
    store = open_store(settings, world, watch)
    try:
        for name in await bring_up_to_date(store, settings, world):
            log.info("migrated", extra={"step": name})
        return Service(settings, build_station(settings, store, world, watch))
    except BaseException:
        await store.close()
        raise


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BadSetting(f"data: {folder} cannot be used ({error.strerror}); choose another with --data") from None


def _categories(path: Path | None, shipped: str) -> dict[str, Category]:
    try:
        if path:
            return read_table(path.read_text(encoding="utf-8-sig").splitlines())
        file = resources.files("pabal").joinpath("data", shipped)
        return read_table(file.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError, BadTable) as error:
        raise BadSetting(f"{path or shipped}: {error}") from None
