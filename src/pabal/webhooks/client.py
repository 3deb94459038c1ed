"""Posts to callers' servers: by https, to permitted addresses, within ten seconds, without redirects."""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pabal import __version__
from pabal.domain.base.codes import Refused
from pabal.domain.base.newest import Newest
from pabal.outbound.calls import CallFailed, Failure, HttpRequest
from pabal.settings.environment import cannot_read
from pabal.settings.field import BadSetting
from pabal.webhooks.permitted_addresses import AddressRules, WebhookUrl, parse_url
from pabal.webhooks.poster import ANSWER_BYTES, PostError, PostFailed, PostResult
from pabal.world import World

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


MAX_ADDRESSES = 8
"""How many addresses of a host are tried."""
MAX_ANSWER_BYTES = 128 * 1024
"""How much of one answer is read: status, headers and body."""
MAX_ANSWER_PIECES = 500
"""In how many pieces it may arrive; each costs time."""
READ_BYTES = 64 * 1024
"""How much of an answer's body is read; of a longer one the connection is closed."""
USER_AGENT = f"Pabal/{__version__} (webhooks)"
_POST_ERRORS = {
    Failure.CONNECTION: PostError.CONNECTION,
    Failure.TLS: PostError.TLS,
    Failure.ANSWER: PostError.ANSWER,
    Failure.LENGTH: PostError.ANSWER,
}


@dataclass
class Received:
    """The part of an answer that has arrived."""

    status: int | None = None
    answer: bytes = b""


class PinnedConnections:
    """Connections to one host at these addresses, whatever its name resolves to by now."""

    def __init__(self, addresses: Sequence[str], context: ssl.SSLContext, keepalive_s: float) -> None:
        from pabal.outbound.connections import HttpConnections  # costs the start 0.3 s

        self.addresses = frozenset(addresses)
        self.in_use = 0
        """Posts that are using it."""
        self.used_at = 0.0
        """When the last one ended, on the monotonic clock."""
        self._connections = HttpConnections(
            context,
            keepalive_s=keepalive_s,
            max_answer_bytes=MAX_ANSWER_BYTES,
            max_answer_pieces=MAX_ANSWER_PIECES,
            addresses=addresses[:MAX_ADDRESSES],
        )

    async def post(self, request: HttpRequest, received: Received, kept_bytes: int) -> None:
        """Note the status, and so many bytes of the body; read on, so that the connection can be used again.

        Raises PostFailed.
        """
        try:
            async with self._connections.open(request) as response:
                received.status = response.status
                read_bytes = 0
                async for part in response.content.iter_any():
                    received.answer += part[: kept_bytes - len(received.answer)]
                    read_bytes += len(part)
                    if read_bytes > READ_BYTES:
                        break
        except CallFailed as failed:
            raise PostFailed(_POST_ERRORS[failed.failure], str(failed)) from None

    async def close(self) -> None:
        """Close the connections."""
        await self._connections.close()


def build_request(url: WebhookUrl, headers: Mapping[str, str], body: bytes) -> HttpRequest:
    """Return the request of a post."""
    fixed = {"Content-Type": "application/json", "User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
    return HttpRequest("POST", str(url), {**fixed, **headers}, body)


POST_TIMEOUT_S = 10.0
"""How long a post may take in all: DNS, connection, TLS, request and answer."""
RESOLVED_S = 10.0
"""How long the addresses of a host are used before they are looked up again."""
KEEPALIVE_S = 4.0
"""A connection idle for this long is not used again; many servers close theirs after 5 s."""
MAX_LOOKUPS_PER_ACCOUNT = 12
"""Hosts of an account that are looked up at once, so that names that take long do not stop others' look-ups."""
MAX_HOSTS = 512
"""Hosts whose addresses are kept; of more, those that were looked up last."""
HostKey = tuple[str, str, int]
"""Account, host and port."""


class WebhookClient:
    """Connections to all endpoints; those of one account are not used for another."""

    def __init__(
        self,
        rules: AddressRules,
        world: World,
        ca_file: Path | None = None,
        resolve: Resolve | None = None,
        timeout_s: float = POST_TIMEOUT_S,
        keepalive_s: float = KEEPALIVE_S,
    ) -> None:
        """`ca_file`: further authorities besides the system's. Raises BadSetting if it cannot be read."""
        self._rules = rules
        self._world = world
        self._ca_file = ca_file
        self._resolve = resolve or SystemResolver()
        self._timeout_s = timeout_s
        self._keepalive_s = keepalive_s
        self._loading: asyncio.Task[ssl.SSLContext] | None = None
        self._resolved: Newest[tuple[str, int], tuple[float, list[str]]] = Newest(MAX_HOSTS)
        self._lookups: dict[HostKey, asyncio.Task[list[str]]] = {}
        """Look-ups that run, also without a waiting caller: each takes up a thread."""
        self._connections: dict[HostKey, PinnedConnections] = {}
        self._sweeper: asyncio.Task[None] | None = None
        if ca_file:
            _load_authorities(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ca_file)

    async def post(self, url: str, account: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """Post a JSON body for the account of this name; every failure is a result, too.

        Once the status has arrived, it is the result, even if the rest of the answer does not come in time.
        """
        started = self._world.monotonic()
        received = Received()
        failure = PostFailed(PostError.TIMEOUT, f"no answer within {self._timeout_s:g} s")
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._exchange(url, account, headers, body, received)
        except TimeoutError:
            pass
        except PostFailed as failed:
            failure = failed
        duration_ms = round((self._world.monotonic() - started) * 1000)
        if received.status is None:
            return PostResult(None, b"", duration_ms, failure.error, failure.detail)
        return PostResult(received.status, received.answer, duration_ms)

    async def close(self) -> None:
        """Close all connections."""
        for task in (*self._lookups.values(), *filter(None, [self._sweeper])):
            task.cancel()
        while self._connections:
            _, connections = self._connections.popitem()
            await connections.close()

    async def _exchange(
        self, spelling: str, account: str, headers: Mapping[str, str], body: bytes, received: Received
    ) -> None:
        try:
            url = parse_url(spelling)
        except Refused as refused:
            raise PostFailed(PostError.URL, refused.problems[0].message("en")) from None
        addresses = await self._addresses(account, url)
        kept_bytes = 0 if self._rules.is_exception(account, url) else ANSWER_BYTES
        async with self._connected((account, url.host, url.port), addresses) as connections:
            await connections.post(build_request(url, headers, body), received, kept_bytes)

    async def _addresses(self, account: str, url: WebhookUrl) -> list[str]:
        """Return the addresses to connect to, looked up at most RESOLVED_S ago and checked now.

        Raises PostFailed.
        """
        key = url.host, url.port
        looked_up_at, found = self._resolved.get(key, (0.0, []))
        if not found or self._world.monotonic() - looked_up_at > RESOLVED_S:
            try:
                found = await self._look_up((account, *key))
            except OSError as error:
                raise PostFailed(PostError.DNS, error.strerror or "the host was not found") from None
            self._resolved[key] = self._world.monotonic(), found
        permitted = self._rules.permitted(account, url, found)
        if not permitted:
            allowed = self._rules.exception_for(account, url, found)
            advice = f'; operators can allow it with webhook_allow = ["{allowed}"]' if allowed else ""
            raise PostFailed(PostError.ADDRESS, f"the host has no address that webhooks may be posted to{advice}")
        return permitted

    async def _look_up(self, key: HostKey) -> list[str]:
        """Return the addresses of a host.

        Raises OSError, PostFailed.
        """
        pending = self._lookups.get(key)
        if pending is None:
            if sum(account == key[0] for account, *_ in self._lookups) >= MAX_LOOKUPS_PER_ACCOUNT:
                raise PostFailed(PostError.DNS, "too many hosts of this account are being looked up")
            pending = self._lookups[key] = asyncio.create_task(self._resolve_host(key))
            pending.add_done_callback(lambda done: self._forget_lookup(key, done))
        return await asyncio.shield(pending)

    async def _resolve_host(self, key: HostKey) -> list[str]:
        _, host, port = key
        return list(await self._resolve(host, port))

    def _forget_lookup(self, key: HostKey, done: "asyncio.Task[list[str]]") -> None:
        del self._lookups[key]
        _retrieve_exception(done)

    @contextlib.asynccontextmanager
    async def _connected(self, key: HostKey, addresses: list[str]) -> AsyncIterator[PinnedConnections]:
        """Lend the connections of a host; new ones if it does not have all their addresses any more."""
        context = await self._tls_context()
        kept, replaced = self._connections.get(key), None
        if kept is None or not kept.addresses <= set(addresses):
            replaced = self._connections.pop(key, None)
            kept = self._connections[key] = PinnedConnections(addresses, context, self._keepalive_s)
        kept.in_use += 1
        try:
            await _close_if_unused(replaced)
            yield kept
        finally:
            kept.in_use -= 1
            kept.used_at = self._world.monotonic()
            if self._connections.get(key) is not kept:
                await _close_if_unused(kept)
            if self._sweeper is None or self._sweeper.done():
                self._sweeper = asyncio.create_task(self._close_idle())

    async def _tls_context(self) -> ssl.SSLContext:
        """Return the context of all connections; it takes long to make, so posts at the same time share one.

        Raises BadSetting if the file of authorities cannot be read any more; the next post tries again.
        """
        if self._loading is None or (self._loading.done() and self._loading.exception()):
            self._loading = asyncio.create_task(asyncio.to_thread(_make_tls_context, self._ca_file))
        return await asyncio.shield(self._loading)

    async def _close_idle(self) -> None:
        """Close connections that are not used any more, until none are left."""
        while self._connections:
            await asyncio.sleep(self._keepalive_s)
            latest = self._world.monotonic() - self._keepalive_s
            idle = [key for key, each in self._connections.items() if not each.in_use and each.used_at < latest]
            for key in idle:
                await _close_if_unused(self._connections.pop(key, None))


async def _close_if_unused(connections: PinnedConnections | None) -> None:
    if connections and not connections.in_use:
        await connections.close()


def _make_tls_context(ca_file: Path | None) -> ssl.SSLContext:
    import pabal.outbound.connections  # noqa: F401 - takes a while; the first post needs it next

    context = ssl.create_default_context()
    if ca_file:
        _load_authorities(context, ca_file)
    return context


def _load_authorities(context: ssl.SSLContext, ca_file: Path) -> None:
    try:
        context.load_verify_locations(cafile=ca_file)
    except OSError as error:
        raise BadSetting(*cannot_read("webhook_tls_ca", error)) from None
