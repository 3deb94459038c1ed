"""Several processes on one store, on one virtual clock: they come, go, die, and are paused or cut off."""

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, Concatenate

from pabal.carriers.base import Carrier
from pabal.config import Settings
from pabal.domain.when import Instant
from pabal.service.slots import Slots
from pabal.store import slots as kept_slots
from pabal.store.base import P, Store, StoreAway, T, Tx
from pabal.store.migrate import migrate
from tests.virtual import NOON, Town, VirtualWorld, build_town, in_virtual_time, open_store, settings_for

_process: contextvars.ContextVar["Process | None"] = contextvars.ContextVar("process", default=None)

Carriers = Callable[[], Mapping[str, Carrier]]


class Door:
    """The way of one process to the store that all share: it may be shut for a while, or for good."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_open = asyncio.Event()
        self._is_open.set()
        self._delays: dict[Any, float] = {}
        self._freezes_before: Any = None
        self.works: Counter[str] = Counter()
        """How often each work was let through."""
        self.is_away = False
        self.is_dead = False

    @property
    def is_frozen(self) -> bool:
        return not self._is_open.is_set()

    def freeze(self) -> None:
        """Let nothing through until `thaw`: a process that is paused."""
        self._is_open.clear()

    def thaw(self) -> None:
        self._is_open.set()

    def freeze_before(self, work: Any) -> None:
        """Freeze as soon as this work is asked for."""
        self._freezes_before = work

    def delay_before(self, work: Any, seconds: float) -> None:
        """Keep this work waiting for a while, whenever it is asked for."""
        self._delays[work] = seconds

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        asked_for = {work, *(each for each in args if callable(each))}  # or what it is asked to do in turn
        if self._freezes_before in asked_for:
            self.freeze()
        for each in asked_for & set(self._delays):
            await asyncio.sleep(self._delays[each])
        await self._pass()
        self.works[work.__name__] += 1
        return await self._store.write(work, *args, **kwargs)

    async def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        await self._pass()
        return await self._store.read(work, *args, **kwargs)

    async def note(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(work, *args, **kwargs)

    async def close(self) -> None:
        """Leave the store to the others."""

    async def _pass(self) -> None:
        await self._is_open.wait()
        if self.is_dead:
            raise asyncio.CancelledError
        if self.is_away:
            raise StoreAway("cut off")


class Process:
    """One process among others: its town, its door, and everything it has under way."""

    def __init__(self, name: str, door: Door) -> None:
        self.name = name
        self.door = door
        self.tasks: set[asyncio.Task[Any]] = set()
        self.has_left = False
        self.town: Town

    @property
    def held(self) -> tuple[int, ...]:
        """The slots it delivers."""
        return self.town.station.slots.held

    @property
    def carriers(self) -> Mapping[str, Carrier]:
        return self.town.station.carriers

    async def leave(self) -> None:
        """Stop it as a service manager does."""
        self.has_left = True
        await self.town.service.stop()

    async def die(self) -> None:
        """End it without a word: nothing it has under way goes on, and nothing more of it reaches the store."""
        self.has_left = True
        self.door.is_dead = True
        under_way = [task for task in self.tasks if not task.done()]
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


class Crowd:
    """The processes, and the store that they share."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        world: VirtualWorld,
        slots: int,
        settings: Settings,
        carriers: Carriers | None,
    ) -> None:
        self._folder = folder
        self.store = store
        self.world = world
        self.slots = slots
        self.settings = settings
        self._carriers = carriers
        self.all: list[Process] = []

    async def join(self, name: str, *, delivers: bool = True, carriers: Carriers | None = None) -> Process:
        """Start a process."""
        process = Process(name, Door(self.store))
        asked = _process.set(process)
        try:
            make = carriers or self._carriers
            process.town = await build_town(
                self._folder,
                world=self.world,
                store=process.door,
                carriers=make() if make else None,
                settings=self.settings,
                slots=Slots(self.slots, worker=name),
                delivers=delivers,
            )
        finally:
            _process.reset(asked)
        self.all.append(process)
        return process

    async def wait(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)

    async def disband(self) -> None:
        """Stop all that are left."""
        for each in self.all:
            if not each.has_left:
                each.door.thaw()
                each.door.is_away = False
                await each.leave()

    async def workers(self) -> dict[bytes, str]:
        """Return the workers that the store knows, by id."""
        return {worker.id: worker.name for worker, _ in await self.store.read(kept_slots.workers)}


Play = Callable[[Crowd], Coroutine[Any, Any, None]]


def play(
    folder: Path,
    scene: Play,
    *,
    slots: int = 8,
    carriers: Carriers | None = None,
    settings: Settings | None = None,
    begins_at: Instant = NOON,
) -> None:
    """Play a scene with processes that are still to come; each has carriers of its own."""

    async def whole() -> None:
        asyncio.get_running_loop().set_task_factory(_noted)
        world = VirtualWorld(begins_at=begins_at)
        store = open_store(folder, world)
        await store.write(migrate, world.now())
        await store.write(kept_slots.ensure, slots)
        crowd = Crowd(folder, store, world, slots, settings or settings_for(folder), carriers)
        try:
            await scene(crowd)
        finally:
            await crowd.disband()
            await store.close()

    in_virtual_time(whole())


def _noted(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> "asyncio.Task[Any]":
    """Note each task as one of the process that began it."""
    task = asyncio.Task(work, loop=loop, **options)
    process = _process.get()
    if process:
        process.tasks.add(task)
        task.add_done_callback(process.tasks.discard)
    return task
