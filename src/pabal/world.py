"""Time, chance and identity: the one door through which they enter the service."""

import io
import os
import string
import time
from typing import Protocol

from pabal.domain import identifiers
from pabal.domain.dates import Instant

KEY_PREFIX = "pb_"
KEY_CHARACTERS = 40
RANDOM_BUFFER_BYTES = 4096
_ALPHABET = string.digits + string.ascii_letters
_UNAMBIGUOUS = "23456789abcdefghjkmnpqrstuvwxyz"


class World(Protocol):
    """What the service cannot know by itself; a simulation brings its own."""

    has_threads: bool
    """Whether the store may work in threads of its own, or must stay in the loop."""

    def now(self) -> Instant:
        """Return the time of day."""

    def monotonic(self) -> float:
        """Return seconds that only ever grow, to measure with."""

    def random(self) -> float:
        """Return a number in [0, 1) for spreading things out."""

    def random_bits(self, count: int) -> int:
        """Return a number of so many random bits that nobody can guess."""


class RealWorld:
    """The clock on the wall and the system's randomness."""

    has_threads = True

    def __init__(self) -> None:
        self._octets = io.BytesIO()

    def now(self) -> Instant:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.perf_counter()

    def random(self) -> float:
        return self.random_bits(32) / 2**32

    def random_bits(self, count: int) -> int:
        octets = -(-count // 8)
        chance = self._octets.read(octets)
        if len(chance) < octets:
            self._octets = io.BytesIO(
                os.urandom(RANDOM_BUFFER_BYTES)
            )  # asking the system costs more than what it gives
            chance = self._octets.read(octets)
        return int.from_bytes(chance, "big") >> 8 * octets - count


def new_request_id(world: World, slot: int) -> bytes:
    """Mint the id of a request that is accepted now."""
    return identifiers.make_request_id(world.now(), slot, world.random_bits(identifiers.RANDOM_BITS))


def new_api_key(world: World) -> str:
    """Mint an API key: `pb_` and 40 letters and digits."""
    return KEY_PREFIX + "".join(_ALPHABET[_random_below(world, len(_ALPHABET))] for _ in range(KEY_CHARACTERS))


def new_password(world: World, groups: int = 4, characters: int = 5) -> str:
    """Mint a password that can be read aloud: letters and digits in groups, none easily taken for another."""
    return "-".join(
        "".join(_UNAMBIGUOUS[_random_below(world, len(_UNAMBIGUOUS))] for _ in range(characters))
        for _ in range(groups)
    )


def new_token(world: World, digits: int) -> str:
    """Mint a token of so many digits."""
    return str(_random_below(world, 10**digits)).zfill(digits)


def new_sender_key(world: World, characters: int) -> str:
    """Mint a sender key of so many lowercase hex digits."""
    return f"{world.random_bits(4 * characters):0{characters}x}"


def _random_below(world: World, limit: int) -> int:
    count = limit.bit_length()
    while (number := world.random_bits(count)) >= limit:
        pass
    return number
