"""Hashes passwords and checks them, slowly on purpose, beside the event loop."""

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from pabal.world import World

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")

HASH_MEMORY_KIB = 19 * 1024
HASH_ROUNDS = 2
SALT_BYTES = 16
MAX_CONCURRENT_HASHES = 2
"""How many are hashed at a time: each takes 19 MiB and a core."""


@lru_cache(maxsize=1)
def _hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher  # costs the start of the service, which hardly ever needs it

    return PasswordHasher(time_cost=HASH_ROUNDS, memory_cost=HASH_MEMORY_KIB, parallelism=1)


@lru_cache(maxsize=1)
def _unmatchable_hash() -> str:
    """Return a hash that no password has: who is unknown is checked against it, and takes as long."""
    return _hasher().hash("", salt=bytes(SALT_BYTES))


def hash_password(password: str, world: World) -> str:
    """Return what is kept of a password."""
    return hash_with_salt(password, new_salt(world))


def new_salt(world: World) -> bytes:
    """Draw what makes the hashes of equal passwords differ."""
    return world.random_bits(8 * SALT_BYTES).to_bytes(SALT_BYTES, "big")


def hash_with_salt(password: str, salt: bytes) -> str:
    """Return what is kept of a password; asks no chance of the world, so that any thread may do it."""
    return _hasher().hash(password.encode("utf-8", "surrogatepass"), salt=salt)


def verify(hash: str | None, password: str) -> bool:
    """Say whether a password is the one of this hash; with no hash it never is, after the same time."""
    from argon2.exceptions import VerificationError

    try:
        _hasher().verify(hash or _unmatchable_hash(), password.encode("utf-8", "surrogatepass"))
    except VerificationError:
        return False
    return hash is not None


class HashingThreads:
    """Runs such work beside the event loop, a few at a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._room = asyncio.Semaphore(MAX_CONCURRENT_HASHES)

    async def run(self, work: Callable[..., T], *args: object) -> T:
        """Return what the work returns; where the world has no threads, it is done here and now."""
        if not self._world.has_threads:
            return work(*args)
        async with self._room:
            return await asyncio.to_thread(work, *args)
