"""Hashes and verifies passwords, in threads since it is slow on purpose."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from pabal.domain.base.codes import Code, Refused
from pabal.world import World, random_bytes

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")

HASH_MEMORY_KIB = 19 * 1024
HASH_ROUNDS = 2
SALT_BYTES = 16
MAX_WORKER_THREADS = 2
"""Each hash takes 19 MiB and a core."""
MAX_WAITING = 200
"""Work that waits for a thread: at 40 hashes a second, a caller waits up to 5 s."""
RETRY_AFTER_S = 5.0


@lru_cache(maxsize=1)
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # slow to import, and rarely needed

    return PasswordHasher(time_cost=HASH_ROUNDS, memory_cost=HASH_MEMORY_KIB, parallelism=1)


@lru_cache(maxsize=1)
def _unmatchable_hash() -> str:
    """Return a hash that no password has, so that unknown users take as long to check."""
    return _hasher().hash("", salt=bytes(SALT_BYTES))


def hash_password(password: str, world: World) -> str:
    """Return the stored hash of a password."""
    return hash_with_salt(password, new_salt(world))


def new_salt(world: World) -> bytes:
    """Return a random salt."""
    return random_bytes(world, SALT_BYTES)


def hash_with_salt(password: str, salt: bytes) -> str:
    """Return the stored hash of a password; it uses no randomness, so that any thread may run it."""
    return _hasher().hash(password.encode("utf-8", "surrogatepass"), salt=salt)


def verify(hash: str | None, password: str) -> bool:
    """Return whether a password matches a hash; without a hash it never does, and takes as long."""
    from argon2.exceptions import VerificationError

    unmatchable = _unmatchable_hash()  # for known users too: the first call is slow
    try:
        _hasher().verify(hash or unmatchable, password.encode("utf-8", "surrogatepass"))
    except VerificationError:
        return False
    return hash is not None


class WorkerThreads:
    """Runs slow work of the console in a few threads of its own, in the order in which it comes."""

    def __init__(self, world: World, purpose: str = "work", threads: int = MAX_WORKER_THREADS) -> None:
        self._world = world
        self._threads = ThreadPoolExecutor(threads, f"pabal-{purpose}")
        self._running = 0

    async def run(self, work: Callable[..., T], *args: object) -> T:
        """Return the result of `work`; without threads, it runs here.

        Work that has not begun when its caller is cancelled never begins. Raises Refused(SERVICE_UNAVAILABLE)
        where too much is waiting.
        """
        if not self._world.has_threads:
            return work(*args)
        if self._running >= MAX_WAITING:
            raise Refused(Code.SERVICE_UNAVAILABLE, retry_after_s=RETRY_AFTER_S)
        self._running += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
        finally:
            self._running -= 1
