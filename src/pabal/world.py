"""Time, randomness and new ids: the only module that provides them."""

import io
import os
import string
import time
from typing import Protocol

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant

KEY_PREFIX = "pb_"
KEY_CHARACTERS = 40
APP_KEY_CHARACTERS = 24
PASSWORD_GROUPS = 4
PASSWORD_GROUP_CHARACTERS = 5
RANDOM_BUFFER_BYTES = 4096
"""Random bytes read from the system at a time."""
_ALPHABET = string.digits + string.ascii_letters
_UNAMBIGUOUS = "23456789abcdefghjkmnpqrstuvwxyz"


class World(Protocol):
    """The clock and the source of randomness; simulations replace it."""

    has_threads: bool
    """Whether the store may use threads, or must run in the event loop."""

    def now(self) -> Instant:
        """Return the current time."""

    def monotonic(self) -> float:
        """Return seconds of a clock that never goes back, to measure durations."""

    def random(self) -> float:
        """Return a random number in [0, 1), for jitter."""

    def random_bits(self, count: int) -> int:
        """Return a number of `count` unpredictable random bits."""


class RealWorld:
    """The system's clock and randomness."""

    has_threads = True
    _buffer = io.BytesIO()
    """Random bytes that nobody has got yet; a process that was forked begins with none."""

    def now(self) -> Instant:
        return time.time_ns() // 1_000_000

    monotonic = staticmethod(time.perf_counter)

    def random(self) -> float:
        return self.random_bits(32) / 2**32

    def random_bits(self, count: int) -> int:
        size = (count + 7) // 8
        random_bytes = RealWorld._buffer.read(size)  # which threads do not get twice
        if len(random_bytes) < size:
            fresh = os.urandom(max(size, RANDOM_BUFFER_BYTES))  # one system call for many ids
            random_bytes, RealWorld._buffer = fresh[:size], io.BytesIO(fresh[size:])
        return int.from_bytes(random_bytes, "big") >> 8 * size - count

    @staticmethod
    def forget_random() -> None:
        """Forget random bytes that another process has, too."""
        RealWorld._buffer = io.BytesIO()


if hasattr(os, "register_at_fork"):  # all but Windows
    os.register_at_fork(after_in_child=RealWorld.forget_random)


def new_request_id(world: World, slot: int) -> bytes:
    """Return the id of a request that is accepted now."""
    return identifiers.make_request_id(world.now(), slot, world.random_bits(identifiers.RANDOM_BITS))


def new_api_key(world: World) -> str:
    """Return a new API key: `pb_` and 40 letters and digits."""
    return KEY_PREFIX + "".join(_ALPHABET[_random_below(world, len(_ALPHABET))] for _ in range(KEY_CHARACTERS))


def new_app_key(world: World) -> str:
    """Return a new id that is a secret too: 24 letters and digits, which are 142 random bits."""
    return "".join(_ALPHABET[_random_below(world, len(_ALPHABET))] for _ in range(APP_KEY_CHARACTERS))


def new_password(world: World) -> str:
    """Return a new password that is easy to read aloud: groups of unambiguous letters and digits."""
    return "-".join(
        "".join(_UNAMBIGUOUS[_random_below(world, len(_UNAMBIGUOUS))] for _ in range(PASSWORD_GROUP_CHARACTERS))
        for _ in range(PASSWORD_GROUPS)
    )


def new_token(world: World, digits: int) -> str:
    """Return a new token of this many digits."""
    return str(_random_below(world, 10**digits)).zfill(digits)


def random_bytes(world: World, count: int) -> bytes:
    """Return unpredictable bytes."""
    return world.random_bits(8 * count).to_bytes(count, "big")


def random_hex(world: World, digits: int) -> str:
    """Return this many unpredictable lowercase hex digits."""
    return f"{world.random_bits(4 * digits):0{digits}x}"


def new_unique_id(world: World) -> bytes:
    """Return an id that nothing else has: 128 random bits."""
    return random_bytes(world, 16)


def _random_below(world: World, limit: int) -> int:
    count = limit.bit_length()
    while (number := world.random_bits(count)) >= limit:
        pass
    return number
