"""Wires everything together: store, carriers, service, API and console."""

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib import resources
from pathlib import Path

from pabal.answers.event_items import event_item_builder
from pabal.carriers.base import Carrier
from pabal.carriers.simulator import Simulator
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import LANGUAGES, TextError
from pabal.domain.kakao.profile import Category, InvalidCategoryTable, parse_categories
from pabal.mail.build import make_mailer_factory
from pabal.mail.mailer import Mailer
from pabal.openid.provider import ClientRegistration, OpenIdProvider
from pabal.service.access.contacts import hash_keys
from pabal.service.access.keys.body_budget import BodyBudget
from pabal.service.access.keys.keys import KeyCache, KeyUses
from pabal.service.access.keys.limits import RateLimiter, SharedRateLimiter
from pabal.service.account_limiter import AccountLimiter
from pabal.service.context import Context
from pabal.service.delivery.carrier.known_carriers import register_carriers
from pabal.service.fair_queue import FairQueue
from pabal.service.metrics import Metrics, watch_loop_lag
from pabal.service.next_due import stop_reads
from pabal.service.outgoing import MailState, WebhookState
from pabal.service.policy import build_policy
from pabal.service.setup_cache import AccountSetup, SetupChanges
from pabal.service.simulator_store import PersistentCursor, StoredSimulatorState
from pabal.service.slots import Slots
from pabal.service.upkeep.nodes import watch_nodes
from pabal.service.wake_socket import listen_for_wake_ups, wake_through_socket
from pabal.service.work import BackgroundWork, run_forever
from pabal.settings.carrier_tables import find_unrouted
from pabal.settings.carriers import CarrierSettings, SimulatorSettings, SmppSettings
from pabal.settings.data_directory import create_folder
from pabal.settings.field import BadSetting
from pabal.settings.relays import NhnCloudSettings, SolapiSettings
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store, StoreUnavailable
from pabal.store.engine.commit.group_commit import CommitStats
from pabal.store.engine.migrate import migrate, pending
from pabal.store.engine.move_target import is_unfinished
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from pabal.store.messages import requests
from pabal.store.queue import slots as kept_slots
from pabal.web.http.api import Api
from pabal.web.http.guard import ApiGuard
from pabal.web.http.messages import AsgiApp, HttpApp, Receive, Scope, Send
from pabal.web.pages import ServicePages
from pabal.webhooks.addresses import AddressRules
from pabal.webhooks.poster import Poster
from pabal.webhooks.secrets import SecretBox
from pabal.world import RealWorld, World

SWITCH_INTERVAL_S = 0.0005
"""How long a thread may hold the interpreter lock; the store's writer needs it after every statement."""

CONSOLE_PATH = "/console"

log = logging.getLogger("pabal")


class NotMigrated(TextError):
    """The store's schema is not up to date, and `migrate = false`."""


def open_store(
    settings: Settings, world: World, metrics: Metrics | None = None, *, is_shared: bool = False
) -> Store:
    """Open the store that the settings name; a SQLite file is created if it does not exist.

    `is_shared`: another process writes to the SQLite file all the time.

    Raises BadSetting if the data directory cannot be used, StoreUnavailable if the store cannot be opened.
    """

    def observe_commit(stats: CommitStats) -> None:
        if metrics:
            metrics.commit_seconds.observe(stats.duration_s)
            metrics.commit_writes.observe(stats.writes)

    if settings.is_on_postgresql:
        from pabal.store.engine.postgres.postgres_store import (
            PostgresStore,  # costs the start of the embedded store 0.2 s
        )

        return PostgresStore(
            settings.store,
            world,
            readers=settings.read_connections,
            searchers=settings.search_connections,
            search_timeout_s=settings.search_timeout_seconds,
            writers=settings.write_connections,
            max_waiting=settings.max_waiting_writes,
            on_commit=observe_commit,
        )
    create_folder(settings.store_path.parent)
    return SqliteStore(
        settings.store_path,
        world,
        readers=settings.read_connections,
        searchers=settings.search_connections,
        search_timeout_s=settings.search_timeout_seconds,
        max_waiting=settings.max_waiting_writes,
        is_shared=is_shared,
        on_commit=observe_commit,
    )


async def apply_migrations(store: Store, settings: Settings, world: World) -> list[str]:
    """Apply missing migrations and return their names.

    Raises NotMigrated if migrations are missing and the settings forbid applying them, or if the store has only
    some of the rows of another one.
    """
    if await store.read(is_unfinished):
        raise NotMigrated(
            "SQLite에서 이 데이터베이스로 옮기는 일이 끝나지 않았습니다. 같은 `pabal move`를 다시 실행하세요",
            "a move from SQLite into this database is not finished; run the same `pabal move` again",
        )
    if settings.migrate:
        return await store.write(migrate, world.now())
    missing = await store.read(pending)
    if missing:
        raise NotMigrated(
            f"적용하지 않은 마이그레이션이 있습니다: {', '.join(missing)}. 먼저 `pabal migrate`를 실행하세요",
            f"missing migrations: {', '.join(missing)}; run `pabal migrate` first",
        )
    return []


def build_context(
    settings: Settings,
    store: Store,
    world: World,
    metrics: Metrics,
    carriers: Mapping[str, Carrier] | None = None,
    slots: Slots | None = None,
    poster: Poster | None = None,
    mailer: Mailer | None = None,
    openid: OpenIdProvider | None = None,
) -> Context:
    """Return the context that the settings describe; `carriers`, `poster`, `mailer` and `openid` replace theirs.

    Raises BadSetting if a file that the settings name cannot be read.
    """
    slots = slots or Slots()
    if carriers is None:
        carriers = {
            name: _build_carrier(each, store, world, metrics, slots) for name, each in settings.carriers.items()
        }
    as_brand = frozenset(name for name, each in carriers.items() if each.sends_friend_talk_as_brand)
    secrets = SecretBox(settings.read_secret_keys(), world)
    policy = build_policy(settings, secrets)._replace(brand_carriers=as_brand)
    rules = AddressRules(
        settings.allowed_endpoints, [(settings.host, settings.port), (settings.host, settings.work_port)]
    )
    changes = SetupChanges(store, world)
    return Context(
        store,
        world,
        policy,
        carriers,
        metrics,
        _load_categories(settings.sender_categories, "sender-categories.csv"),
        _load_categories(settings.template_categories, "template-categories.csv"),
        AccountLimiter(changes, policy, metrics),
        AccountSetup(changes),
        FairQueue(world),
        secrets,
        WebhookState(
            rules,
            lambda: poster or _build_poster(rules, settings, world),
            event_item_builder(Locale(LANGUAGES[0], settings.zone)),
        ),
        MailState(make_mailer_factory(settings, world, mailer)),
        openid or build_openid(settings, world),
        slots,
        max_searches_per_account=max(1, settings.search_connections - 1),
    )


def build_openid(settings: Settings, world: World) -> OpenIdProvider | None:
    """Return the OpenID Connect provider that the settings name; None: there is none.

    Raises BadSetting if the file with the client secret cannot be read.
    """
    if not settings.openid_issuer:
        return None
    registration = ClientRegistration(
        settings.openid_issuer,
        settings.openid_client_id,
        settings.read_openid_secret(),
        settings.openid_name,
        settings.openid_tls_ca,
    )
    return OpenIdProvider(registration, world)


def _build_poster(rules: AddressRules, settings: Settings, world: World) -> Poster:
    from pabal.webhooks.client import WebhookClient  # costs the start 0.1 s

    return WebhookClient(rules, world, settings.webhook_tls_ca)


def _build_carrier(
    settings: CarrierSettings, store: Store, world: World, metrics: Metrics, slots: Slots
) -> Carrier:
    if isinstance(settings, SmppSettings):
        return SmppCarrier(settings, world, lambda what: metrics.carrier_anomalies.add(1, settings.name, what))
    if isinstance(settings, NhnCloudSettings | SolapiSettings):
        return _build_relay_carrier(settings, store, world, metrics, slots)
    assert isinstance(settings, SimulatorSettings)
    return Simulator(settings, StoredSimulatorState(store, settings.name, slots), world)


def _build_relay_carrier(
    settings: NhnCloudSettings | SolapiSettings, store: Store, world: World, metrics: Metrics, slots: Slots
) -> Carrier:
    from pabal.carriers.nhncloud import carrier as nhncloud  # costs the start 0.3 s
    from pabal.carriers.relay.dependencies import Dependencies
    from pabal.carriers.solapi import carrier as solapi

    dependencies = Dependencies(
        world,
        lambda request_id: store.read(requests.get_image, request_id),
        PersistentCursor(store, settings.name, slots),
        lambda what: metrics.carrier_anomalies.add(1, settings.name, what),
    )
    if isinstance(settings, SolapiSettings):
        return solapi.build(settings, dependencies)
    return nhncloud.build(settings, dependencies)


class ConsoleOrPages:
    """Serves everything outside /api/: the console, built at its first request, and the other pages."""

    def __init__(self, context: Context, settings: Settings, pages: AsgiApp) -> None:
        self._context = context
        self._settings = settings
        self._pages = pages
        self._console: AsgiApp | None = None
        self._build_lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path != CONSOLE_PATH and not path.startswith(f"{CONSOLE_PATH}/"):
            await self._pages(scope, receive, send)
            return
        async with self._build_lock:
            if self._console is None:
                in_threads = self._context.world.has_threads
                self._console = (
                    await asyncio.to_thread(self._build_console) if in_threads else self._build_console()
                )
        await self._console(scope, receive, send)

    def _build_console(self) -> AsgiApp:
        import anyio._backends._asyncio  # noqa: F401  else the first upload does, and blocks the event loop for 20 ms

        from pabal.console.app import build_console  # costs the start 0.2 s, and many never open it

        return build_console(self._context, self._settings)


class Service:
    """The service in one process: its API, and an ASGI app for all else; start it before the first request."""

    def __init__(
        self, settings: Settings, context: Context, *, delivers: bool = True, link: socket.socket | None = None
    ) -> None:
        """`link` leads to other processes on the same SQLite file, of which one delivers."""
        self._settings = settings
        if link and not delivers:
            context = wake_through_socket(context, link)
        self.context = context
        self._link = link if delivers else None
        self._stop_listening: Callable[[], bool] | None = None
        bodies = BodyBudget(settings.max_held_bytes, settings.max_held_bytes_per_key)
        context.metrics.show_body_bytes("interface", bodies.max_bytes, lambda: bodies.held_bytes)
        self.pages = ServicePages(context, bodies)
        store, world = context.store, context.world
        has_others = settings.is_on_postgresql or link is not None
        limiter = SharedRateLimiter(store, world) if has_others else RateLimiter(world)
        self._key_uses = KeyUses(store, world)
        guard = ApiGuard(KeyCache(context.setup.changes), limiter, settings.trusted_proxies, self._key_uses)
        self.api = Api(
            context,
            guard,
            bodies,
            max_body_bytes=settings.max_body_bytes,
            always_ok=settings.always_ok,
            logs_all_requests=settings.log_requests == "all",
            strict_fields=settings.strict_fields,
            has_simulator=any(each.kind == "simulator" for each in settings.carriers.values()),
        )
        self._other_app = ConsoleOrPages(context, settings, self.pages.app)
        self._work = BackgroundWork(context) if delivers else None
        self._lag_watch: asyncio.Task[None] | None = None
        self._node_watch: asyncio.Task[None] | None = None

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve a path outside the API."""
        return self._other_app(scope, receive, send)

    @property
    def http_app(self) -> HttpApp:
        """All that callers reach."""
        return HttpApp(self, self.api)

    async def start(self) -> None:
        """Start delivery and become ready for requests."""
        with contextlib.suppress(StoreUnavailable):  # it is read again every few seconds
            await self.context.nodes.refresh()
        if self.context.nodes.is_distributed:
            self._node_watch = asyncio.create_task(run_forever(lambda: watch_nodes(self.context)))
        if self._work:
            await self._work.start()
        if self._link:
            self._stop_listening = listen_for_wake_ups(self.context, self._link)
        if self.context.world.has_threads:  # a clock that is moved by hand is never late
            self._lag_watch = asyncio.create_task(
                watch_loop_lag(self.context.world, self.context.metrics.loop_lag_seconds.observe)
            )
        self.pages.is_ready = True

    async def stop(self) -> None:
        """Refuse new requests, finish what is in flight, and leave the rest to the next start."""
        self.api.is_stopping = True
        self.pages.is_ready = False
        if self._stop_listening:
            self._stop_listening()
        if self._work:
            await self._work.stop(self._settings.stop_seconds)
        if self._node_watch:
            self._node_watch.cancel()
            await asyncio.gather(self._node_watch, return_exceptions=True)
        with contextlib.suppress(StoreUnavailable):
            await self.context.limiter.give_back()
        if self._lag_watch:
            self._lag_watch.cancel()
        await self._key_uses.stop()
        await stop_reads(self.context)
        await self.context.setup.changes.stop()
        await self.context.close_connections()
        await self.context.store.close()


async def build_service(
    settings: Settings,
    world: World | None = None,
    *,
    delivers: bool = True,
    worker: str = "",
    link: socket.socket | None = None,
) -> Service:
    """Open the store, migrate it, and return the service on it.

    `worker` is the name of this process among those of one store; `link` leads to the others on SQLite, of
    which the one that delivers holds the only slot.

    Raises WrongCarriers if the store has messages that the configured carriers must not get, and BadSetting if the
    key that the store was encrypted with is not set.
    """
    world = world or RealWorld()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    metrics = Metrics()
    store = open_store(settings, world, metrics, is_shared=link is not None)
    try:
        for name in await apply_migrations(store, settings, world):
            log.info("migration applied", extra={"migration": name})
        await store.write(kept_slots.ensure_slots, settings.store_slots)
        numbers = await store.read(kept_slots.list_numbers)
        shares_slots = settings.is_on_postgresql or (link is not None and not delivers)
        slots = Slots(worker=worker if shares_slots else "", numbers=numbers)
        context = build_context(settings, store, world, metrics, slots=slots)
        await store.write(register_carriers, context.kinds)
        await hash_keys.check(context)
        for name in find_unrouted(settings.routes, settings.carriers):
            log.warning("no route names this carrier; nothing is sent through it", extra={"carrier": name})
        return Service(settings, context, delivers=delivers, link=link)
    except BaseException:
        await store.close()
        raise


def _load_categories(path: Path | None, shipped: str) -> dict[str, Category]:
    try:
        if path:
            return parse_categories(path.read_text(encoding="utf-8-sig").splitlines())
        file = resources.files("pabal").joinpath("data", shipped)
        return parse_categories(file.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError, InvalidCategoryTable) as error:
        said = f"{path or shipped}: {error}"
        raise BadSetting(said, said) from None
