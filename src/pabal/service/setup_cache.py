"""Caches the set-up of accounts, so that sends read nothing: each row is used until any process changes it."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from pabal.store import setup_changes
from pabal.store.engine.base import Store, Tx
from pabal.world import World

REFRESH_AFTER_S = 0.4
"""How old the counts of changes may be before they are read again, in the background."""
MAX_AGE_S = 0.8
"""How old they may be at most: what another process changes is seen within a second."""
MAX_ENTRY_AGE_S = 60.0
"""When a row is read again in any case: a change by hand in the database is not counted."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Snapshot(NamedTuple):
    """How often the set-up of accounts had changed at some time."""

    counted: Mapping[int, int]
    """Changes of all processes, by bucket of accounts."""
    announced: Mapping[int, int]
    """Changes of this process, which it knows of at once."""

    def version_of(self, account_id: int) -> tuple[int, int]:
        """Return what is different after each change of an account's set-up."""
        bucket = setup_changes.bucket_of(account_id)
        return self.counted.get(bucket, 0), self.announced.get(bucket, 0)


class SetupChanges:
    """Follows the changes of accounts' set-up: those of this process at once, those of others within a second."""

    def __init__(self, store: Store, world: World) -> None:
        self.store = store
        self.world = world
        self._snapshot = Snapshot({}, store.announced)
        self._counted_at = float("-inf")
        self._refreshing: asyncio.Task[None] | None = None

    def get_snapshot(self, now_s: float) -> Snapshot | None:
        """Return the changes as they are known at this monotonic time; None where that was too long ago."""
        age_s = now_s - self._counted_at
        if age_s >= REFRESH_AFTER_S:
            if age_s >= MAX_AGE_S:
                return None
            self._refresh()
        return self._with_announced()

    async def wait_for_snapshot(self) -> Snapshot:
        """Return the changes as they were MAX_AGE_S ago or later.

        Raises StoreUnavailable.
        """
        oldest = self.world.monotonic() - MAX_AGE_S
        while self._counted_at <= oldest:
            await asyncio.shield(self._refresh())
        return self._with_announced()

    async def stop(self) -> None:
        """End what still reads in the background, before the store is closed."""
        if self._refreshing:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)

    def _with_announced(self) -> Snapshot:
        announced = self.store.announced
        if self._snapshot.announced is not announced:
            self._snapshot = Snapshot(self._snapshot.counted, announced)
        return self._snapshot

    def _refresh(self) -> "asyncio.Task[None]":
        if self._refreshing is None:
            self._refreshing = asyncio.get_running_loop().create_task(self._read_counts())
            self._refreshing.add_done_callback(self._on_refreshed)
        return self._refreshing

    async def _read_counts(self) -> None:
        began_at = self.world.monotonic()
        counted = await self.store.read(setup_changes.count_all)
        if counted != self._snapshot.counted:
            self._snapshot = Snapshot(counted, self._snapshot.announced)
        self._counted_at = began_at

    def _on_refreshed(self, task: "asyncio.Task[None]") -> None:
        self._refreshing = None
        _retrieve_error(task)


class _Entry(NamedTuple, Generic[V]):
    value: V
    account_id: int
    version: tuple[int, int]
    """That of its account before the value was read."""
    read_at: float


class _Read(NamedTuple, Generic[V]):
    """A read that is under way, and what was known when it began."""

    snapshot: Snapshot
    task: "asyncio.Task[V | None]"


class SetupCache(Generic[K, V]):
    """Rows of accounts' set-up by key; what does not exist is not cached, so that no caller can fill the memory."""

    def __init__(
        self,
        changes: SetupChanges,
        read: Callable[[Tx, K], V | None],
        account_of: Callable[[K, V], int],
        max_entries: int,
        is_cached: Callable[[V], bool] = lambda value: True,
    ) -> None:
        """`read` finds the row of a key, `account_of` says whose it is, and `is_cached` which are worth it."""
        self._changes = changes
        self._world = changes.world
        self._read = read
        self._account_of = account_of
        self._max_entries = max_entries
        self._is_cached = is_cached
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._reads: dict[K, _Read[V]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def get_cached(self, key: K) -> V | None:
        """Return the row of a key if it is cached and has not changed."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        now_s = self._world.monotonic()
        snapshot = self._changes.get_snapshot(now_s)
        return entry.value if snapshot and _is_valid(entry, snapshot, now_s) else None

    async def get(self, key: K) -> V | None:
        """Return the row of a key, None where there is none.

        Raises StoreUnavailable.
        """
        found = self.get_cached(key)
        return await self._get_stored(key) if found is None else found

    async def _get_stored(self, key: K) -> V | None:
        snapshot = await self._changes.wait_for_snapshot()
        entry = self._entries.get(key)
        if entry and _is_valid(entry, snapshot, self._world.monotonic()):
            return entry.value
        running = self._reads.get(key)
        if running and running.snapshot is snapshot:  # else something has changed since it began
            found = await asyncio.shield(running.task)
            if found is not None:  # else it may have been added since
                return found
        task = asyncio.get_running_loop().create_task(self._read_and_cache(key, snapshot))
        self._reads[key] = _Read(snapshot, task)
        task.add_done_callback(lambda done: self._on_read(key, done))
        return await asyncio.shield(task)

    async def _read_and_cache(self, key: K, snapshot: Snapshot) -> V | None:
        read_at = self._world.monotonic()
        value = await self._changes.store.read(self._read, key)
        self._entries.pop(key, None)
        if value is not None and self._is_cached(value):
            account_id = self._account_of(key, value)
            self._entries[key] = _Entry(value, account_id, snapshot.version_of(account_id), read_at)
            if len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)
        return value

    def _on_read(self, key: K, task: "asyncio.Task[V | None]") -> None:
        running = self._reads.get(key)
        if running and running.task is task:
            del self._reads[key]
        _retrieve_error(task)


def _is_valid(entry: _Entry[Any], snapshot: Snapshot, now_s: float) -> bool:
    is_recent = now_s - entry.read_at < MAX_ENTRY_AGE_S
    return is_recent and entry.version == snapshot.version_of(entry.account_id)


def _retrieve_error(task: "asyncio.Task[Any]") -> None:
    """Let nobody complain about an error that nobody waits for any more."""
    if not task.cancelled():
        task.exception()
