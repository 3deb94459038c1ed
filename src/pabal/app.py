"""Wires everything together: store, carriers, service, API and console."""

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pabal import __version__
from pabal.build_context import build_context
from pabal.compat.nhncloud.app import NhnCloudApi
from pabal.compat.relay_api import RelayApi
from pabal.compat.solapi.app import SolapiApi
from pabal.service.access.accounts.compat_keys import CompatKeyCache
from pabal.service.access.accounts.keys import KeyCache
from pabal.service.access.accounts.rate_limits import BodyBudget, RateLimiter, SharedRateLimiter
from pabal.service.access.contacts import opt_outs
from pabal.service.context import Context
from pabal.service.delayed_writes import KeyUses
from pabal.service.delivery.carrier.known_carriers import register_carriers
from pabal.service.loops import run_forever
from pabal.service.metrics import Metrics, watch_loop_lag
from pabal.service.next_due import stop_reads
from pabal.service.slots import Slots
from pabal.service.upkeep.nodes import watch_nodes
from pabal.service.work import BackgroundWork, listen_for_wake_ups, wake_through_socket
from pabal.settings.settings import Settings
from pabal.settings.tables import find_unrouted
from pabal.store.engine.base import StoreUnavailable
from pabal.store.open_store import apply_migrations, open_store
from pabal.store.queue import slots as kept_slots
from pabal.web.http.api import Api
from pabal.web.http.exchange import AsgiApp, HttpApp, HttpResponse, Receive, ReceivedRequest, Scope, Send
from pabal.web.http.guard import ApiGuard
from pabal.web.pages import ServicePages
from pabal.world import RealWorld, World

SWITCH_INTERVAL_S = 0.0005
"""How long a thread may hold the interpreter lock; the store's writer needs it after every statement."""

CONSOLE_PATH = "/console"

RELAY_APIS: dict[str, type[RelayApi[Any]]] = {"solapi": SolapiApi, "nhncloud": NhnCloudApi}
"""The endpoints of other relays, by the name of their table in the settings."""

log = logging.getLogger("pabal")


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


class ApiAndCompat:
    """Our own API, and the endpoints of other relays."""

    def __init__(self, api: Api, relays: Sequence[RelayApi[Any]]) -> None:
        self._api = api
        self._relays = relays

    def serves(self, request: ReceivedRequest) -> bool:
        """Tell whether a request is for one of them."""
        return self._api.serves(request) or self._find(request) is not None

    async def respond(self, request: ReceivedRequest) -> HttpResponse:
        """Have one of them answer a request.

        Raises ClientDisconnected.
        """
        relay = None if self._api.serves(request) else self._find(request)
        return await (relay or self._api).respond(request)

    def _find(self, request: ReceivedRequest) -> RelayApi[Any] | None:
        return next((each for each in self._relays if each.serves(request)), None)


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
            refuse_misspelt=settings.refuse_misspelt,
            has_simulator=any(each.kind == "simulator" for each in settings.carriers.values()),
        )
        keys = CompatKeyCache(context.setup.changes)
        self._relays = [
            RELAY_APIS[kind](context, guard, keys, bodies, hosts, settings.max_body_bytes)
            for kind, hosts in settings.compat.items()
        ]
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
        return HttpApp(self, ApiAndCompat(self.api, self._relays) if self._relays else self.api)

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
        log.info("service started", extra={"version": __version__, "delivers": self._work is not None})

    async def stop(self) -> None:
        """Refuse new requests, finish what is in flight, and leave the rest to the next start."""
        log.info("service stopping", extra={"version": __version__})
        self.api.is_stopping = True
        for each in self._relays:
            each.is_stopping = True
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
        await self.context.differences.stop()
        await stop_reads(self.context)
        await self.context.setup.changes.stop()
        await self.context.close_connections()
        await self.context.store.close()
        log.info("service stopped", extra={"version": __version__})


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
    store = open_store(settings, world, metrics.observe_commit, is_shared=link is not None)
    try:
        for name in await apply_migrations(store, settings, world):
            log.info("migration applied", extra={"migration": name})
        await store.write(kept_slots.ensure_slots, settings.store_slots)
        numbers = await store.read(kept_slots.list_numbers)
        shares_slots = settings.is_on_postgresql or (link is not None and not delivers)
        slots = Slots(worker=worker if shares_slots else "", numbers=numbers)
        context = build_context(settings, store, world, metrics, slots=slots)
        await store.write(register_carriers, context.kinds)
        await opt_outs.check(context)
        for name in find_unrouted(settings.routes, settings.carriers):
            log.warning("no route names this carrier; nothing is sent through it", extra={"carrier": name})
        return Service(settings, context, delivers=delivers, link=link)
    except BaseException:
        await store.close()
        raise
