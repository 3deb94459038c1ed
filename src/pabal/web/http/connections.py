"""All connections of the HTTP server: how many there may be, how fast their bytes flow, and when each is closed."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from enum import Enum
from typing import Any, NamedTuple, Protocol

from pabal.service.metrics import Metrics
from pabal.world import World

SWEEP_INTERVAL_S = 0.5
"""How often time-outs are looked at; a connection may live this much longer."""
MIN_EXTRA_CONNECTIONS = 16
EXTRA_FRACTION = 8
"""Connections beyond the limit, for health checks and quick refusals alone: a part of the limit."""
NEW_GRACE_S = 0.1
"""How long a new connection has for its first request before another may take its place."""
IDLE_GRACE_S = 1.0
"""The same after an answer: the next request may be on its way, and would be lost."""
MAX_DEFAULT_CONNECTIONS = 4096
MIN_CONNECTIONS = 8
RESERVED_FILES = 64
"""Open files left to the store, logs, carriers and uploads; at least a quarter of the limit is left."""
HEALTH_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})

log = logging.getLogger("pabal.web")


class ConnectionLimits(NamedTuple):
    """The limits of the HTTP server."""

    max_connections: int
    head_s: float
    """How long a request's line and headers may take."""
    body_s: float
    """How long a body may arrive at less than `min_bytes_per_s`."""
    idle_s: float
    """How long a connection may wait for its next request."""
    response_s: float
    """How long a caller may receive its response at less than `min_bytes_per_s`."""
    min_bytes_per_s: int


class CloseReason(Enum):
    """Why the service closed a connection; the values are labels of the metric."""

    HEAD_TIMEOUT = "head_timeout"
    BODY_TIMEOUT = "body_timeout"
    IDLE_TIMEOUT = "idle_timeout"
    RESPONSE_TIMEOUT = "response_timeout"
    MALFORMED = "malformed"
    EVICTED = "evicted"
    REFUSED = "refused"


class OpenConnection(Protocol):
    """What the table needs to know of a connection."""

    def check(self, now: float) -> None:
        """Close the connection if it exceeds a time-out."""

    def evict(self) -> None:
        """Close the connection to make room; tell a caller that has begun a request."""

    def stop(self) -> None:
        """Close the connection as soon as what was received is answered."""

    def abort(self) -> None:
        """Close the connection at once."""


def max_connections_for(file_limit: int, wanted: int = 0) -> int:
    """Return how many connections a process with this limit of open files may have; `wanted` 0: the default."""
    reserved = RESERVED_FILES if wanted else max(RESERVED_FILES, file_limit // 4)
    possible = (file_limit - reserved) * EXTRA_FRACTION // (EXTRA_FRACTION + 1)
    return max(MIN_CONNECTIONS, min(wanted or MAX_DEFAULT_CONNECTIONS, possible))


class ConnectionTable:
    """The open connections of one server.

    At the limit, the connection that has waited longest for a request makes room for a new one, else the one
    whose body has taken longest. If all are in use, a few more are accepted for health checks and refusals.
    """

    def __init__(self, limits: ConnectionLimits, world: World, metrics: Metrics) -> None:
        self.limits = limits
        self.max_extra = max(MIN_EXTRA_CONNECTIONS, limits.max_connections // EXTRA_FRACTION)
        self.world = world
        self._closed = metrics.http_connections_closed
        self._regular: dict[OpenConnection, None] = {}
        self._extra: dict[OpenConnection, None] = {}
        self._busy_extra: dict[OpenConnection, None] = {}
        self._new: dict[OpenConnection, float] = {}
        """Those without a request so far, and when they came, longest first."""
        self._idle: dict[OpenConnection, float] = {}
        """Those that wait for a further request, and since when, longest first."""
        self._receiving: dict[OpenConnection, float] = {}
        """Those that wait for a body, and since when, longest first."""
        # Request ids count up from a random start, so that they do not repeat after a restart.
        self._request_count = world.random_bits(32) << 32
        self._sweeper: asyncio.TimerHandle | None = None
        self._tasks: dict[object, asyncio.Task[None]] = {}
        """The requests in progress, also those whose connection is closed already."""
        self._has_ended: asyncio.Event | None = None
        """Set when a server that stops has nothing left to wait for."""
        metrics.http_connections_limit.set(limits.max_connections)
        metrics.http_connections.labels("waiting").set_function(lambda: len(self._new) + len(self._idle))
        metrics.http_connections.labels("receiving").set_function(self._receiving.__len__)
        metrics.http_connections.labels("all").set_function(self._count)

    def admit(self, connection: OpenConnection) -> bool:
        """Add a new connection; return False if it is one beyond the limit, for health checks alone."""
        if self._sweeper is None:
            self._schedule_sweep()
        if len(self._regular) < self.limits.max_connections or self._evict_one():
            self._regular[connection] = None
            self._new[connection] = self.world.monotonic()
            return True
        self.count_close(CloseReason.REFUSED)
        self._extra[connection] = None
        if len(self._extra) + len(self._busy_extra) > self.max_extra:
            oldest = next(iter(self._extra))
            self.remove(oldest)
            oldest.evict()
        return False

    def remove(self, connection: OpenConnection) -> None:
        """Forget a connection that is closed or about to be."""
        self._regular.pop(connection, None)
        self._extra.pop(connection, None)
        self._busy_extra.pop(connection, None)
        self._new.pop(connection, None)
        self._idle.pop(connection, None)
        self._receiving.pop(connection, None)
        self._note_end()

    def new_request_id(self) -> str:
        """Return what an answer has as X-Request-Id."""
        self._request_count += 1
        return f"{self._request_count:016x}"

    def start(self, request: object, work: Coroutine[Any, Any, None]) -> None:
        """Answer a request in a task of its own."""
        self._tasks[request] = asyncio.get_running_loop().create_task(work)

    def end(self, request: object) -> None:
        """Note that a task ends."""
        del self._tasks[request]
        self._note_end()

    def set_waiting(self, connection: OpenConnection, now: float) -> None:
        """Note that a connection waits for its next request."""
        if connection in self._regular:
            self._new.pop(connection, None)  # whose first head was refused
            self._idle[connection] = now

    def set_receiving(self, connection: OpenConnection) -> None:
        """Note that a connection waits for the rest of a body."""
        if connection in self._regular and connection not in self._receiving:
            self._receiving[connection] = self.world.monotonic()

    def set_received(self, connection: OpenConnection) -> None:
        """Note that a body is complete."""
        self._receiving.pop(connection, None)

    def set_busy(self, connection: OpenConnection) -> None:
        """Note that a connection has a request in progress."""
        if self._idle.pop(connection, None) is not None or self._new.pop(connection, None) is not None:
            return
        if connection in self._extra:
            del self._extra[connection]
            self._busy_extra[connection] = None

    def count_close(self, reason: CloseReason) -> None:
        """Count a connection that the service closes."""
        self._closed.add(1, reason.value)

    def _evict_one(self) -> bool:
        """Close the connection that is worth least; return False if all are in use."""
        now = self.world.monotonic()
        for candidates, grace_s in ((self._new, NEW_GRACE_S), (self._idle, IDLE_GRACE_S), (self._receiving, 0.0)):
            if candidates:
                oldest, since = next(iter(candidates.items()))
                if now - since >= grace_s:
                    self.remove(oldest)
                    self.count_close(CloseReason.EVICTED)
                    oldest.evict()
                    return True
        return False

    async def stop(self, patience_s: float) -> None:
        """Close all connections, each as soon as what it has received is answered, or in the end at once."""
        self._has_ended = asyncio.Event()
        for connection in self._list():
            connection.stop()
        self._note_end()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                await self._has_ended.wait()
        if self._tasks:
            log.warning("requests took too long and were cancelled", extra={"requests": len(self._tasks)})
        for task in self._tasks.values():
            task.cancel()
        for connection in self._list():
            connection.abort()

    def close_now(self) -> None:
        """Close all connections now instead of waiting for them."""
        if self._has_ended:
            self._has_ended.set()

    def _note_end(self) -> None:
        if self._has_ended and not self._tasks and not self._count():
            self._has_ended.set()

    def _list(self) -> list[OpenConnection]:
        return [*self._regular, *self._extra, *self._busy_extra]

    def _count(self) -> int:
        return len(self._regular) + len(self._extra) + len(self._busy_extra)

    def _schedule_sweep(self) -> None:
        self._sweeper = asyncio.get_running_loop().call_later(SWEEP_INTERVAL_S, self._sweep)

    def _sweep(self) -> None:
        self._sweeper = None
        now = self.world.monotonic()
        for connection in self._list():
            connection.check(now)
        if self._count():
            self._schedule_sweep()


class ByteFlow:
    """Sends and receives the bytes of a connection, and tells when its caller receives none."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.is_read_paused = False
        self.is_write_paused = False
        self._drained = asyncio.Event()
        self._drained.set()
        self._written_bytes = 0
        self._stalled_since: float | None = None
        self._flushed_before_stall = 0

    def write(self, data: bytes) -> None:
        """Send bytes."""
        self._written_bytes += len(data)
        self._transport.write(data)

    async def drain(self) -> None:
        """Wait until the caller has received most of what was sent."""
        if self.is_write_paused:
            await self._drained.wait()

    def pause_writing(self) -> None:
        """Let `drain` wait: the caller receives too slowly."""
        self.is_write_paused = True
        self._drained.clear()

    def resume_writing(self) -> None:
        """Let `drain` go on."""
        self.is_write_paused = False
        self._drained.set()

    def pause_reading(self) -> None:
        """Receive nothing until reading is resumed."""
        if not self.is_read_paused:
            self.is_read_paused = True
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Receive again."""
        if self.is_read_paused:
            self.is_read_paused = False
            self._transport.resume_reading()

    def has_stalled(self, now: float, patience_s: float, min_bytes_per_s: int) -> bool:
        """Tell whether the caller has received less than the minimum for `patience_s`; asked twice a second."""
        unsent = self._transport.get_write_buffer_size()
        if not unsent:
            self._stalled_since = None
            return False
        flushed = self._written_bytes - unsent
        waited_s = now - self._stalled_since if self._stalled_since is not None else 0.0
        if waited_s > patience_s:
            if flushed - self._flushed_before_stall < waited_s * min_bytes_per_s:
                return True
            self._stalled_since = None
        if self._stalled_since is None:
            self._stalled_since, self._flushed_before_stall = now, flushed
        return False
