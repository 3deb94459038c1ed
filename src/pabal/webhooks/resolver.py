"""Looks up the addresses of hosts in threads of its own, so that a slow DNS server delays nobody else."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host for a port; raises OSError if there are none."""

MAX_LOOKUPS = 64
"""Most look-ups at once; further ones fail, and their delivery is retried."""


class SystemResolver:
    """The system's resolver; equal look-ups at the same time are one.

    The event loop's own resolver has a few threads, which calls to relays need; the system's resolver may
    block for half a minute, and nothing can stop it.
    """

    def __init__(self, look_up: Callable[[str, int], list[str]] | None = None) -> None:
        """`look_up` may block."""
        self._look_up = look_up or _look_up
        self._pending: dict[tuple[str, int], asyncio.Future[list[str]]] = {}

    async def __call__(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host.

        Raises OSError.
        """
        pending = self._pending.get((host, port))
        if pending is None:
            if len(self._pending) >= MAX_LOOKUPS:
                raise OSError("too many look-ups at once")
            pending = self._start(host, port)
        return await asyncio.shield(pending)

    def _start(self, host: str, port: int) -> "asyncio.Future[list[str]]":
        loop = asyncio.get_running_loop()
        pending: asyncio.Future[list[str]] = loop.create_future()
        pending.add_done_callback(_retrieve_exception)
        self._pending[host, port] = pending

        def finish(addresses: list[str], error: OSError | None) -> None:
            self._pending.pop((host, port), None)
            if error is None:
                pending.set_result(addresses)
            else:
                pending.set_exception(error)

        def run() -> None:
            addresses: list[str] = []
            error: OSError | None = None
            try:
                addresses = self._look_up(host, port)
            except OSError as failure:
                error = failure
            with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(finish, addresses, error)

        threading.Thread(target=run, name="webhook-dns", daemon=True).start()
        return pending


def _look_up(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise OSError("the host name is not valid") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _retrieve_exception(done: "asyncio.Future[list[str]]") -> None:
    if not done.cancelled():
        done.exception()  # otherwise it is logged if nobody waits any more
