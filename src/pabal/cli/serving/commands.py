"""`pabal serve`, `work` and `settings`: run the service, in one process or several, as the settings say."""

import argparse
import asyncio
import contextlib
import functools
import logging
import os
import socket
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

from pabal import logs
from pabal.app import build_service
from pabal.cli.serving import serve
from pabal.cli.serving.greeting import greet_workers, greeting
from pabal.cli.serving.supervise import ChildCommand, supervise
from pabal.cli.shared.language import CommandError, choose
from pabal.cli.shared.options import CommandParser
from pabal.settings.data_directory import process_lock
from pabal.settings.settings import Settings, describe_settings
from pabal.store.engine.base import Store

log = logging.getLogger("pabal.processes")


def declare_serve(parser: CommandParser) -> None:
    """Declare `pabal serve`."""
    parser.add_settings_options(_serve)
    parser.add_option("--port", "접속을 받을 포트(기본값: 8080)", "port to listen on (default: 8080)", type=int)
    parser.add_flag(
        "--no-deliver", "발송하지 않습니다. `pabal work`가 발송합니다", "do not deliver; `pabal work` does it"
    )
    _add_process_options(parser)


def declare_work(parser: CommandParser) -> None:
    """Declare `pabal work`."""
    parser.add_settings_options(_work)
    parser.add_option(
        "--port",
        "상태 확인과 지표를 위한 포트(기본값: 없음)",
        "port for health and metrics (default: none)",
        type=int,
        dest="work_port",
    )
    _add_process_options(parser)


def _add_process_options(parser: CommandParser) -> None:
    parser.add_option("--host", "접속을 받을 주소(기본값: 127.0.0.1)", "address to listen on (default: 127.0.0.1)")
    parser.add_option(
        "--processes N",
        "프로세스 수. SQLite에서는 최대 3. 0은 코어마다 하나(기본값: 1)",
        "run this many processes, at most 3 on SQLite; 0: one for each core (default: 1)",
        type=int,
    )
    parser.add_argument("--child", type=int, nargs=4, help=argparse.SUPPRESS)


def _serve(settings: Settings, given: argparse.Namespace) -> int:
    if given.child:
        inherited = serve.InheritedSockets(*given.child)
        return serve.serve_child(settings, inherited, delivers=not given.no_deliver)
    if settings.processes != 1:
        return serve_all(settings, given.words, delivers=not given.no_deliver)
    return serve.serve(settings, delivers=not given.no_deliver)


def _work(settings: Settings, given: argparse.Namespace) -> int:
    if given.child:
        return serve.serve_child(settings, serve.InheritedSockets(*given.child), delivers=True)
    if settings.processes != 1:
        return work_all(settings, given.words)
    return serve.work(settings)


NO_SOCKET = 0
MAX_PORT = 65535
MAX_ON_SQLITE = 3
"""Processes on a SQLite file: one delivers, the others serve the API; more would only wait for the write lock."""
STOP_MARGIN_S = 10.0
"""A process stops within twice `stop_seconds` and this: first its connections, then what is in flight."""


def serve_all(settings: Settings, words: Sequence[str], *, delivers: bool) -> int:
    """Run the API in several processes, and delivery if `delivers`; return the exit status."""
    logs.configure_logging(settings.log_format, settings.zone)
    if not settings.is_on_postgresql:
        return _serve_on_sqlite(settings, words, delivers=delivers)
    count = settings.processes or count_cores()
    with contextlib.ExitStack() as sockets:
        shared = sockets.enter_context(serve.listen(settings.host, settings.port))
        commands = [
            _child_command(words, shared, own) for own in _own_listeners(settings, count, "work_port", sockets)
        ]
        return _run(_serve_all(settings, shared, commands, deliverers=count if delivers else 0))


def _serve_on_sqlite(settings: Settings, words: Sequence[str], *, delivers: bool) -> int:
    """Run delivery in one process, and the API in the others on the same file.

    Raises CommandError.
    """
    if not delivers:
        serve.require_postgresql(settings, "serve --no-deliver")
    if settings.processes > MAX_ON_SQLITE:
        raise CommandError(
            f"SQLite에서는 프로세스 {MAX_ON_SQLITE}개까지만 일을 나눌 수 있습니다. `--processes {MAX_ON_SQLITE}`를"
            " 쓰거나 `store`를 postgresql://…로 설정하세요",
            f"with SQLite at most {MAX_ON_SQLITE} processes can share the work: choose"
            f" `--processes {MAX_ON_SQLITE}`, or set `store` to postgresql://…",
        )
    count = settings.processes or min(count_cores(), MAX_ON_SQLITE)
    if count == 1:
        return serve.serve(settings)
    with contextlib.ExitStack() as sockets:
        lock = sockets.enter_context(process_lock(settings))
        shared = sockets.enter_context(serve.listen(settings.host, settings.port))
        own = _own_listeners(settings, count, "work_port", sockets)
        pair = [sockets.enter_context(each) for each in socket.socketpair(type=socket.SOCK_DGRAM)]
        commands = [_child_command([*words, "--no-deliver"], shared, each, pair[0], lock) for each in own[:-1]]
        commands.append(_child_command(words, None, own[-1], pair[1], lock))
        return _run(_serve_all(settings, shared, commands, deliverers=1))


def work_all(settings: Settings, words: Sequence[str]) -> int:
    """Run several workers; return the exit status.

    Raises CommandError for a store that only one process can deliver from.
    """
    serve.require_postgresql(settings, f"work --processes {settings.processes}")
    logs.configure_logging(settings.log_format, settings.zone)
    count = settings.processes or count_cores()
    with contextlib.ExitStack() as sockets:
        listeners = _own_listeners(settings, count, "--port", sockets)
        return _run(_work_all(settings, [_child_command(words, None, own) for own in listeners]))


def _run(main: Coroutine[Any, Any, int]) -> int:
    return serve.run(main, asyncio.new_event_loop)


def count_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _own_listeners(
    settings: Settings, count: int, option: str, sockets: contextlib.ExitStack
) -> list[socket.socket | None]:
    """Return the socket of each process for its health checks and metrics, if the settings name a port.

    Raises CommandError.
    """
    first = settings.work_port
    if not first:
        return [None] * count
    if first + count - 1 > MAX_PORT:
        raise CommandError(
            f"프로세스 {count}개에는 {first}부터 그만큼의 포트가 필요합니다. {option}을(를) 낮추세요",
            f"{count} processes need as many ports from {first} on; choose a lower {option}",
        )
    ports = range(first, first + count)
    return [sockets.enter_context(serve.listen(settings.host, port, option)) for port in ports]


def _child_command(
    words: Sequence[str],
    shared: socket.socket | None,
    own: socket.socket | None,
    beside: socket.socket | None = None,
    lock: int = NO_SOCKET,
) -> ChildCommand:
    """Return the words of a child: those of its parent, and its `InheritedSockets`; its link is added.

    It also inherits the lock of a SQLite store, which is free only when the last child has ended: none is left over
    while the next command starts.
    """
    descriptors = [each.fileno() if each else NO_SOCKET for each in (shared, own, beside)]
    program = [sys.executable, "-P", "-m", "pabal.cli"]
    return ChildCommand(
        [*program, *words, "--child", *map(str, descriptors)],
        tuple(each for each in (*descriptors, lock) if each != NO_SOCKET),
    )


async def _serve_all(
    settings: Settings, shared: socket.socket, commands: Sequence[ChildCommand], *, deliverers: int
) -> int:
    async with _checked_store(settings, deliverers) as store:
        first = await serve.ensure_first_account(store, settings)
    return await supervise(
        commands,
        stop_timeout_s=_stop_timeout_s(settings),
        on_ready=functools.partial(print, greeting(settings, shared, first), flush=True),
        on_stop=shared.close,  # or callers would wait for connections that nobody accepts
    )


async def _work_all(settings: Settings, commands: Sequence[ChildCommand]) -> int:
    async with _checked_store(settings, len(commands)):
        pass
    return await supervise(
        commands,
        stop_timeout_s=_stop_timeout_s(settings),
        on_ready=functools.partial(print, greet_workers(len(commands)), flush=True),
    )


@contextlib.asynccontextmanager
async def _checked_store(settings: Settings, deliverers: int) -> AsyncIterator[Store]:
    """Yield the store, migrated, after the checks of every process were made once before any of them starts.

    Raises what `build_service` raises.
    """
    service = await build_service(settings, delivers=False)
    try:
        slots = service.context.slots.total
        if deliverers > slots:
            fields = {"processes": deliverers, "slots": slots}
            log.warning("more processes than slots; some deliver nothing", extra=fields)
        yield service.context.store
    finally:
        await service.stop()


def _stop_timeout_s(settings: Settings) -> float:
    return 2 * settings.stop_seconds + STOP_MARGIN_S


def declare_settings(parser: CommandParser) -> None:
    """Declare `pabal settings`."""
    parser.add_settings_options(_show)


def _show(settings: Settings, given: argparse.Namespace) -> None:
    for name, value, meaning in describe_settings(settings):
        print(f"{name} = {value}\n    {choose(*meaning)}")
