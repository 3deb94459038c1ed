"""The connections of an SMPP carrier: opened, bound, and opened again when they are lost."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Awaitable, Callable

from pabal.carriers.base import OnAnomaly
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.batch import SubmitGroup
from pabal.carriers.smpp.pdu import Bind, Pdu
from pabal.carriers.smpp.session import BIND_TIMEOUT_S, BindRequest, ConnectionLost, SmppSession
from pabal.settings.carriers import SmppSettings
from pabal.settings.environment import cannot_read
from pabal.settings.field import BadSetting
from pabal.world import World

MIN_RECONNECT_DELAY_S = 0.5
MAX_RECONNECT_DELAY_S = 5.0
JITTER = 0.2
"""The random part of a reconnect delay."""
STABLE_AFTER_S = 10.0
"""After a connection that lasted this long, the reconnect delay starts at its minimum again."""

Connect = Callable[[Callable[[], asyncio.Protocol]], Awaitable[object]]
"""Opens a connection for a protocol."""
OnDeliver = Callable[[SmppSession, list[Pdu]], None]
"""Receives deliver_sm PDUs with the session they arrived on."""

log = logging.getLogger("pabal.smpp")


class Connections:
    """Keeps the connections of a carrier open."""

    def __init__(
        self,
        settings: SmppSettings,
        world: World,
        on_anomaly: OnAnomaly,
        on_deliver: OnDeliver,
        connect: Connect | None = None,
    ) -> None:
        """Raises ValueError for settings that do not fit a bind, BadSetting for a CA file that cannot be read."""
        self.sessions: list[SmppSession] = []
        """The bound sessions."""
        self.has_free_window = asyncio.Event()
        """An event, set when a session might be able to take more submits."""
        self._settings = settings
        self._world = world
        self._on_anomaly = on_anomaly
        self._on_deliver = on_deliver
        self._connect = connect or _connector(settings)
        self._bind_requests = _bind_requests(settings)
        self._last_problem = "not connected yet"
        """Why a connection failed last."""
        self._submit_problem = self._last_problem
        """Why a connection that submits failed last."""

    @property
    def is_connected(self) -> bool:
        """Whether any session accepts submits."""
        return any(session.is_open for session in self.sessions)

    @property
    def problem(self) -> str:
        """Why connections are missing; empty if none is."""
        wanted = len(self._bind_requests) * self._settings.binds
        if len(self.sessions) == wanted:
            return ""
        if self.is_connected:
            return f"{wanted - len(self.sessions)} of {wanted} connections are down: {self._last_problem}"
        return self._submit_problem

    @property
    def free_window(self) -> int:
        """How many submits the freest session can take now, capped by what is left of the carrier's window."""
        if not self.sessions:
            return 0
        left = self._settings.window - sum(session.in_flight for session in self.sessions)
        return max(0, min(self.freest.free_window, left))

    @property
    def freest(self) -> SmppSession:
        """The session with the largest free window."""
        return max(self.sessions, key=lambda session: session.free_window)

    def abandon(self, group: SubmitGroup) -> int:
        """Stop waiting for the responses to a group; return how many are missing."""
        return sum(session.abandon(group) for session in self.sessions)

    def start(self, tasks: asyncio.TaskGroup) -> None:
        """Keep all connections open, each in a task of its own."""
        for bind in self._bind_requests * self._settings.binds:
            tasks.create_task(self._keep_open(bind))

    async def _keep_open(self, bind: BindRequest) -> None:
        """Keep one connection open, with growing delays between failed tries."""
        tries, logged = 0, ""
        while True:
            reason, lasted_s = await self._run_session(bind)
            if reason != logged or lasted_s is not None:
                log.warning("SMPP connection failed or lost; reconnecting", extra=self._log_fields(reason=reason))
            logged = self._last_problem = reason
            if bind.can_submit:
                self._submit_problem = reason
            tries = 1 if lasted_s is not None and lasted_s >= STABLE_AFTER_S else tries + 1
            delay_s = min(MIN_RECONNECT_DELAY_S * 2 ** min(tries - 1, 10), MAX_RECONNECT_DELAY_S)
            await asyncio.sleep(delay_s * (1 - JITTER * self._world.random()))

    async def _run_session(self, bind: BindRequest) -> tuple[str, float | None]:
        """Run one connection until it is closed; return why, and how long it was bound, if it was."""
        session: SmppSession | None = None

        def make_session() -> SmppSession:
            nonlocal session
            session = SmppSession(
                bind,
                max(1, self._settings.window // self._settings.binds),
                self._settings.enquire_seconds,
                self._world,
                self._on_anomaly,
                self._on_deliver,
                self.has_free_window.set,
            )
            return session

        try:
            async with asyncio.timeout(BIND_TIMEOUT_S):
                await self._connect(make_session)
            assert session is not None
            await session.bound
            began = self._world.monotonic()
            self.sessions.append(session)
            self.has_free_window.set()
            log.info("SMPP connection bound", extra=self._log_fields())
            reason = await asyncio.shield(session.closed)
            return reason, self._world.monotonic() - began
        except (OSError, UnicodeError, ConnectionLost) as error:
            return _describe(error), None
        finally:
            if session:
                with contextlib.suppress(ValueError):
                    self.sessions.remove(session)
                await session.unbind()

    def _log_fields(self, **fields: str) -> dict[str, str]:
        return {"carrier": self._settings.name, **fields}


def _bind_requests(settings: SmppSettings) -> list[BindRequest]:
    body = pdu.encode_bind(Bind(settings.system_id, settings.password, settings.system_type))
    if settings.bind == "transceiver":
        return [BindRequest(protocol.BIND_TRANSCEIVER, body)]
    return [BindRequest(protocol.BIND_TRANSMITTER, body), BindRequest(protocol.BIND_RECEIVER, body)]


def _connector(settings: SmppSettings) -> Connect:
    try:
        context = ssl.create_default_context(cafile=settings.tls_ca) if settings.tls else None
    except OSError as error:
        raise BadSetting(*cannot_read(f"carriers.{settings.name}.tls_ca", error)) from None

    async def connect(make: Callable[[], asyncio.Protocol]) -> object:
        loop = asyncio.get_running_loop()
        return await loop.create_connection(make, settings.host, settings.port, ssl=context)

    return connect


def _describe(error: Exception) -> str:
    """Return why a connection could not be opened."""
    if isinstance(error, TimeoutError):
        return "the connection timed out"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {getattr(error, 'verify_message', '') or error.reason or type(error).__name__}"
    if isinstance(error, UnicodeError):
        return "invalid host name"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
