"""Runs the service behind its HTTP server, or as a worker that only delivers."""

import asyncio
import contextlib
import errno
import functools
import gc
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import Any, NamedTuple

from pabal import logs
from pabal.app import Service, build_service
from pabal.cli.serving.greeting import FIRST_ACCOUNT, FIRST_USER, FirstCredentials, greet_worker, greeting
from pabal.cli.serving.supervise import ParentLink
from pabal.cli.shared.language import CommandError
from pabal.domain.people.user import Role
from pabal.service.access.accounts import keys
from pabal.service.access.accounts.keys import NewKey
from pabal.service.access.users import passwords, users
from pabal.service.metrics import Metrics
from pabal.settings.data_directory import process_lock
from pabal.settings.environment import explain_os_error
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import COMMAND_LINE
from pabal.store.engine.base import Store, Tx
from pabal.store.users import users as user_store
from pabal.web.http.connections import ConnectionLimits, ConnectionTable, max_connections_for
from pabal.web.http.exchange import HttpApp
from pabal.web.http.server import serving
from pabal.world import RealWorld, new_password

GC_THRESHOLD = 10_000
"""New objects before a garbage collection; Python's own limit runs it far more often."""
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(settings: Settings, *, delivers: bool = True) -> int:
    """Run the HTTP API, and delivery if `delivers`, until a stop signal; return the exit status."""
    if not delivers:
        require_postgresql(settings, "serve --no-deliver")
    logs.configure_logging(settings.log_format, settings.zone)
    with process_lock(settings), listen(settings.host, settings.port) as listener:
        return run(_serve(settings, listener, delivers=delivers))


def work(settings: Settings) -> int:
    """Run a worker, one of any number, until a stop signal; return the exit status."""
    require_postgresql(settings, "work")
    logs.configure_logging(settings.log_format, settings.zone)
    if not settings.work_port:
        return run(_work(settings, None))
    with listen(settings.host, settings.work_port) as listener:
        return run(_work(settings, listener))


class InheritedSockets(NamedTuple):
    """Descriptors of open sockets that one of several processes gets from its parent; 0: none."""

    shared: int
    """Where all of them accept connections to the API."""
    own: int
    """Where this one alone serves health checks and metrics."""
    beside: int
    """By which API processes wake the process that delivers, on one SQLite file."""
    parent: int
    """By which it learns that its parent has died."""


def serve_child(settings: Settings, inherited: InheritedSockets, *, delivers: bool) -> int:
    """Run one of several processes until a stop signal or until its parent dies; return the exit status."""
    logs.configure_logging(settings.log_format, settings.zone)
    return run(_serve_child(settings, inherited, delivers=delivers))


def run(main: Coroutine[Any, Any, int], new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None) -> int:
    """Run the coroutine of a process of the service; return its exit status."""
    logs.disable_core_dumps()
    # A stop signal may come before the coroutine has begun.
    with contextlib.closing(main), asyncio.Runner(loop_factory=new_loop or new_event_loop) as runner:
        runner.get_loop().set_exception_handler(logs.log_loop_error)
        return runner.run(main)


async def _serve(settings: Settings, listener: socket.socket, *, delivers: bool) -> int:
    service = await build_service(settings, delivers=delivers, worker=_worker_name())
    first = await ensure_first_account(service.context.store, settings)
    greet = functools.partial(print, greeting(settings, listener, first), flush=True)
    await _run_service(service, settings, {listener: service.http_app}, greet)
    return 0


async def _work(settings: Settings, listener: socket.socket | None) -> int:
    name = _worker_name()
    service = await build_service(settings, worker=name)
    greet = functools.partial(print, greet_worker(name), flush=True)
    await _run_service(service, settings, {listener: HttpApp(service.pages.app)} if listener else {}, greet)
    return 0


async def _serve_child(settings: Settings, inherited: InheritedSockets, *, delivers: bool) -> int:
    link = ParentLink(inherited.parent)
    watching = asyncio.create_task(link.stop_with_parent())
    shared, own, beside = (socket.socket(fileno=each) if each else None for each in inherited[:3])
    if beside:
        beside.setblocking(False)
    service = await build_service(settings, delivers=delivers, worker=_worker_name(), link=beside)
    service.pages.metrics_port = own.getsockname()[1] if own else 0
    apps = {shared: service.http_app} if shared else {}
    if own:
        apps[own] = HttpApp(service.pages.app)
    await _run_service(service, settings, apps, link.tell_ready, on_stop=watching.cancel)
    return 0


async def _run_service(
    service: Service,
    settings: Settings,
    apps: Mapping[socket.socket, HttpApp],
    on_ready: Callable[[], None],
    on_stop: Callable[[], object] = lambda: None,
) -> None:
    """Run a service, and serve an app at each of some sockets, until a stop signal.

    `on_stop` is called when no signal is handled any more: from then on, one would end the process at once.
    """
    await service.start()
    _tune_garbage_collection()
    table = build_table(service.context.metrics, settings)
    try:
        with _stop_signals(table) as stop:
            async with serving(apps, table, settings.stop_seconds):
                on_ready()
                await stop.wait()
            on_stop()
    finally:
        await service.stop()


@contextlib.contextmanager
def _stop_signals(table: ConnectionTable) -> Iterator[asyncio.Event]:
    """Set an event at a stop signal, and exit with status 0: a requested stop is no failure.

    A second Ctrl-C waits for no connection.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def on_signal(number: int) -> None:
        if stop.is_set() and number == signal.SIGINT:
            table.close_now()
        stop.set()

    for number in _STOP_SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    yield stop
    for number in _STOP_SIGNALS:
        loop.remove_signal_handler(number)


def build_table(metrics: Metrics, settings: Settings) -> ConnectionTable:
    """Return the table of connections to a service, with the limits that the settings say."""
    return ConnectionTable(_connection_limits(settings), RealWorld(), metrics)


def _connection_limits(settings: Settings) -> ConnectionLimits:
    file_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ConnectionLimits(
        max_connections=max_connections_for(file_limit, settings.max_connections),
        head_s=settings.head_seconds,
        body_s=settings.body_seconds,
        idle_s=settings.idle_seconds,
        response_s=settings.response_seconds,
        min_bytes_per_s=settings.min_bytes_per_second,
    )


def require_postgresql(settings: Settings, command: str) -> None:
    """Raise CommandError for a store that only one process can use."""
    if not settings.is_on_postgresql:
        raise CommandError(
            f"`pabal {command}`에는 여러 프로세스가 일을 나눌 수 있는 PostgreSQL이 필요합니다. `store`를"
            " postgresql://…로 설정하세요. SQLite에서는 `pabal serve` 하나가 모든 일을 합니다",
            f"`pabal {command}` needs PostgreSQL, where several processes can share the work: set `store` to"
            " postgresql://…; with SQLite, `pabal serve` does everything in one process",
        )


def _worker_name() -> str:
    """Return the name of this process among the workers."""
    return f"{socket.gethostname()}:{os.getpid()}"


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a socket that is bound to an address; `option` is what to change if that is impossible.

    Raises CommandError.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        is_address = isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL
        option = "--host" if is_address else option
        raise CommandError(
            f"{host}의 포트 {port}에서 접속을 받을 수 없습니다({explain_os_error(error).ko}). {option}(으)로"
            " 다른 것을 고르세요",
            f"cannot listen on {host} port {port} ({explain_os_error(error).en}); choose another with {option}",
        ) from None
    return listener


async def ensure_first_account(store: Store, settings: Settings) -> FirstCredentials | None:
    """Create the first account and user if there is no account yet and the settings say so; return credentials."""
    if await store.read(accounts.list_accounts):
        return None
    if not settings.first_account:
        return FirstCredentials(None, None)
    password = new_password(RealWorld())
    return await store.write(
        _create_first_account, settings, password, passwords.hash_password(password, RealWorld())
    )


def _create_first_account(tx: Tx, settings: Settings, password: str, hash: str) -> FirstCredentials | None:
    """Create the first account and user; return None if another process was faster."""
    if accounts.list_accounts(tx):
        return None
    world = RealWorld()
    has_no_user = user_store.is_empty(tx)
    if has_no_user:
        users.create(tx, None, FIRST_USER, Role.OPERATOR, hash, world.now())
    key = keys.issue(tx, world, FIRST_ACCOUNT, NewKey("Initial key", rate=settings.key_rate), actor=COMMAND_LINE)
    return FirstCredentials(key, password if has_no_user else None)


def _tune_garbage_collection() -> None:
    """Exempt start-up objects from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return the event loop of the service: in C, where there is one."""
    if sys.platform == "win32":
        return asyncio.new_event_loop()
    import uvloop

    return uvloop.new_event_loop()
