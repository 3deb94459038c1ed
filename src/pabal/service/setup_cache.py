"""Caches the set-up of accounts, so that sends read nothing: each row is used until any process changes it."""

import asyncio
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from pabal.domain.base.newest import Newest
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import Template
from pabal.domain.people.phone import NumberState
from pabal.store.accounts import numbers, setup_changes
from pabal.store.engine.base import Store, Tx
from pabal.store.kakao import profiles, templates
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
    number: int
    """Counts up; equal for the same snapshot."""

    def version_of(self, account_id: int) -> tuple[int, int]:
        """Return what is different after each change of an account's set-up."""
        bucket = setup_changes.bucket_of(account_id)
        return self.counted.get(bucket, 0), self.announced.get(bucket, 0)


class SetupChanges:
    """Follows the changes of accounts' set-up: those of this process at once, those of others within a second."""

    def __init__(self, store: Store, world: World) -> None:
        self.store = store
        self.world = world
        self._snapshot = Snapshot({}, store.announced, 0)
        self._counted_at = float("-inf")
        self._refreshing: asyncio.Task[None] | None = None

    def get_snapshot(self, now_s: float) -> Snapshot | None:
        """Return the changes as they are known at this monotonic time; None where that was too long ago."""
        age_s = now_s - self._counted_at
        if age_s >= REFRESH_AFTER_S:
            if age_s >= MAX_AGE_S:
                return None
            self._refresh()
        known = self._snapshot
        return known if known.announced is self.store.announced else self._with_announced()

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
        announced, known = self.store.announced, self._snapshot
        if known.announced is not announced:
            known = self._snapshot = Snapshot(known.counted, announced, known.number + 1)
        return known

    def _refresh(self) -> "asyncio.Task[None]":
        if self._refreshing is None or self._refreshing.done():  # to wait for the latter would change nothing
            self._refreshing = asyncio.get_running_loop().create_task(self._read_counts())
            self._refreshing.add_done_callback(self._on_refreshed)
        return self._refreshing

    async def _read_counts(self) -> None:
        began_at = self.world.monotonic()
        counted = await self.store.read(setup_changes.count_all)
        if counted != self._snapshot.counted:
            self._snapshot = Snapshot(counted, self._snapshot.announced, self._snapshot.number + 1)
        self._counted_at = began_at

    def _on_refreshed(self, task: "asyncio.Task[None]") -> None:
        if self._refreshing is task:
            self._refreshing = None
        _retrieve_error(task)


class _Entry(Generic[V]):
    """A row that was read at a time, and at a snapshot from before."""

    __slots__ = ("_account_id", "_number", "_version", "read_at", "value")

    def __init__(self, value: V, account_id: int, snapshot: Snapshot, read_at: float) -> None:
        self.value = value
        self.read_at = read_at
        self._account_id = account_id
        self._version = snapshot.version_of(account_id)
        self._number = snapshot.number

    def is_valid(self, snapshot: Snapshot, now_s: float) -> bool:
        """Return whether its account's configuration is unchanged; usually no account's has changed."""
        if now_s - self.read_at >= MAX_ENTRY_AGE_S:
            return False
        if self._number != snapshot.number:
            if self._version != snapshot.version_of(self._account_id):
                return False
            self._number = snapshot.number
        return True


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
        self._is_cached = is_cached
        self._entries: Newest[K, _Entry[V]] = Newest(max_entries)
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
        return entry.value if snapshot and entry.is_valid(snapshot, now_s) else None

    async def get(self, key: K) -> V | None:
        """Return the row of a key, None where there is none.

        Raises StoreUnavailable.
        """
        found = self.get_cached(key)
        return await self._get_stored(key) if found is None else found

    async def _get_stored(self, key: K) -> V | None:
        snapshot = await self._changes.wait_for_snapshot()
        entry = self._entries.get(key)
        if entry and entry.is_valid(snapshot, self._world.monotonic()):
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
            self._entries[key] = _Entry(value, self._account_of(key, value), snapshot, read_at)
        return value

    def _on_read(self, key: K, task: "asyncio.Task[V | None]") -> None:
        running = self._reads.get(key)
        if running and running.task is task:
            del self._reads[key]
        _retrieve_error(task)


def _retrieve_error(task: "asyncio.Task[Any]") -> None:
    """Mark the exception as retrieved."""
    if not task.cancelled():
        task.exception()


MAX_CACHED_NUMBERS = 10_000
MAX_CACHED_PROFILES = 10_000
MAX_CACHED_TEMPLATES = 2000
"""Fewer than of others: a template may have several kilobytes."""


class AccountSetup:
    """Finds numbers, profiles and templates; a change is seen at once, that of another process within a second."""

    def __init__(self, changes: SetupChanges) -> None:
        self.changes = changes
        self._numbers: SetupCache[tuple[int, str], NumberState] = SetupCache(
            changes, lambda tx, key: numbers.get_state(tx, *key), lambda key, _: key[0], MAX_CACHED_NUMBERS
        )
        self._profiles: SetupCache[tuple[int, str], Profile] = SetupCache(
            changes,
            lambda tx, key: profiles.get_by_sender_key(tx, *key),
            lambda key, _: key[0],
            MAX_CACHED_PROFILES,
        )
        self._templates: SetupCache[tuple[int, str], Template] = SetupCache(
            changes,
            lambda tx, key: templates.get(tx, *key),
            lambda _, found: found.account_id,
            MAX_CACHED_TEMPLATES,
            lambda found: found.is_usable,  # others are as large, and anybody can register them
        )

    async def is_approved_number(self, account_id: int, number: str) -> bool:
        """Return whether an account may send from a number."""
        key = (account_id, number)
        return (self._numbers.get_cached(key) or await self._numbers.get(key)) is NumberState.APPROVED

    async def get_profile(self, account_id: int, sender_key: str) -> Profile | None:
        """Return an account's profile with this key, in any state."""
        return await self._profiles.get((account_id, sender_key))

    async def get_template(self, profile_id: int, code: str) -> Template | None:
        """Return a profile's template with this code, in any state."""
        return await self._templates.get((profile_id, code))
