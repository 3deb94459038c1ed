"""The unmodified service on a virtual clock: an event loop that jumps over every wait."""

import asyncio
import json
import selectors
from collections.abc import Coroutine, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from pabal.app import Service, build_station
from pabal.carriers.base import Carrier
from pabal.config import Settings, load
from pabal.domain.when import Instant
from pabal.service import keys
from pabal.service.slots import Slots
from pabal.service.watch import Watch
from pabal.store.base import Store
from pabal.store.migrate import migrate
from pabal.store.postgres import PostgresStore
from pabal.store.sqlite import SqliteStore
from pabal.web.endpoints import BY_PATH
from tests import embedded, postgres

T = TypeVar("T")

NOON = 1_794_711_600_000
"""2026-11-15T12:00:00+09:00: a Sunday, in daylight."""


class Stuck(Exception):
    """Everyone waits, and nothing is left that could wake anyone."""


class _Jumping(selectors.SelectSelector):
    """Instead of waiting, moves the loop's clock to the next thing that is due."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise Stuck
        self.now_s += max(timeout, 0)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in which no time passes but the one it jumps over."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now_s


class VirtualWorld:
    """A world whose clock is the loop's and whose chance is seeded."""

    in_threads = False

    def __init__(self, seed: int = 0, begins_at: Instant = NOON) -> None:
        self.random = Random(seed)
        self.begins_at = begins_at

    def now(self) -> Instant:
        return self.begins_at + round(self.stopwatch() * 1000)

    def stopwatch(self) -> float:
        return asyncio.get_running_loop().time()

    def chance(self) -> float:
        return self.random.random()

    def bits(self, count: int) -> int:
        return self.random.getrandbits(count)


class Answer(NamedTuple):
    """An answer of the interface."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def result(self) -> str:
        return str(self.body["result"])

    @property
    def item(self) -> Any:
        assert self.result == "SUCCESS", self.body
        return self.body["item"]

    @property
    def items(self) -> Any:
        assert self.result == "SUCCESS", self.body
        return self.body["items"]

    @property
    def request_id(self) -> str:
        return str(self.item["requestId"])


class Caller:
    """Calls the interface of a service in this process, as one account."""

    def __init__(self, service: Service, key: str | None, language: str | None = None) -> None:
        self.service = service
        self.key = key
        self.language = language

    async def __call__(
        self,
        operation: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        method: str | None = None,
        peer: str = "127.0.0.1",
    ) -> Answer:
        """Call an operation by what follows /api/ and precedes .v1.0, or by its whole path."""
        path = operation if operation.startswith("/") else f"/api/{operation}.v1.0"
        endpoint = BY_PATH.get(path)
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        given = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
        if self.key:
            given.setdefault("apikey", self.key)
        if self.language:
            given.setdefault("accept-language", self.language)
        scope = {
            "type": "http",
            "method": method or (endpoint.method if endpoint else "GET"),
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "http_version": "1.1",
            "scheme": "http",
            "query_string": urlencode(query or {}).encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in given.items()],
            "client": (peer, 50000),
            "server": ("127.0.0.1", 80),
        }
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": raw, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.service(scope, receive, send)
        content = b"".join(message.get("body", b"") for message in sent[1:])
        answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        parsed: Any = json.loads(content) if "json" in answered.get("content-type", "") else content
        if endpoint and path.startswith("/api/"):
            declared = {code.name for code in endpoint.codes}
            assert parsed["result"] in declared, f"{path} answered an undeclared {parsed['result']}"
        return Answer(sent[0]["status"], parsed, answered)


class Town:
    """A service on a virtual clock with its store, and callers of its interface."""

    def __init__(self, service: Service, store: Store, world: VirtualWorld) -> None:
        self.service = service
        self.station = service.station
        self.store = store
        self.world = world

    async def caller(self, account: str = "acme", language: str | None = None, **options: Any) -> Caller:
        """Return a caller with a new key of an account."""
        options.setdefault("rate", 0)
        key = await self.store.write(keys.issue, self.world, account, "test", **options)
        return Caller(self.service, key, language)

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)


def settings_for(folder: Path, **overrides: Any) -> Settings:
    """Return settings of a service that keeps everything in `folder`."""
    return load({}, data=folder, store=postgres.address_in(folder), **overrides)


def open_store(folder: Path, world: VirtualWorld) -> Store:
    """Open the store of a folder; a simulated crash loses no page, so nothing is forced to disk."""
    address = postgres.address_in(folder)
    if address:
        return PostgresStore(address, world, writers=1)
    file = folder / "pabal.db"
    if not file.exists():
        file.write_bytes(embedded.fresh())
    return SqliteStore(file, world, is_durable=False)


async def build_town(
    folder: Path,
    *,
    world: VirtualWorld | None = None,
    store: Store | None = None,
    carriers: Mapping[str, Carrier] | None = None,
    settings: Settings | None = None,
    slots: Slots | None = None,
    delivers: bool = True,
) -> Town:
    """Start the service in `folder`; the caller stops it with `town.service.stop()`.

    With `slots` it may be one of several on one store.
    """
    world = world or VirtualWorld()
    store = store or open_store(folder, world)
    await store.write(migrate, world.now())
    settings = settings or settings_for(folder)
    station = build_station(settings, store, world, Watch(), carriers, slots)
    service = Service(settings, station, delivers=delivers)
    await service.start()
    return Town(service, store, world)


def in_virtual_time(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a virtual clock."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
