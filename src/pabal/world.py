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
AHEAD_OCTETS = 4096
_ALPHABET = string.digits + string.ascii_letters
_LEGIBLE = "23456789abcdefghjkmnpqrstuvwxyz"


class World(Protocol):
    """What the service cannot know by itself; a simulation brings its own."""

    in_threads: bool
    """Whether the store may work in threads of its own, or must stay in the loop."""

    def now(self) -> Instant:
        """Return the time of day."""

    def stopwatch(self) -> float:
        """Return seconds that only ever grow, to measure with."""

    def chance(self) -> float:
        """Return a number in [0, 1) for spreading things out."""

    def bits(self, count: int) -> int:
        """Return a number of so many random bits that nobody can guess."""


class RealWorld:
    """The clock on the wall and the system's randomness."""

    in_threads = True

    def __init__(self) -> None:
        self._octets = io.BytesIO()

    def now(self) -> Instant:
        return time.time_ns() // 1_000_000

    def stopwatch(self) -> float:
        return time.perf_counter()

    def chance(self) -> float:
        return self.bits(32) / 2**32

    def bits(self, count: int) -> int:
        octets = -(-count // 8)
        chance = self._octets.read(octets)
        if len(chance) < octets:
            self._octets = io.BytesIO(os.urandom(AHEAD_OCTETS))  # asking the system costs more than what it gives
            chance = self._octets.read(octets)
        return int.from_bytes(chance, "big") >> 8 * octets - count


def new_request_id(world: World, slot: int) -> bytes:
    """Mint the id of a request that is accepted now."""
    return identifiers.request_id(world.now(), slot, world.bits(identifiers.CHANCE_BITS))


def new_key(world: World) -> str:
    """Mint an API key: `pb_` and 40 letters and digits."""
    return KEY_PREFIX + "".join(_ALPHABET[_below(world, len(_ALPHABET))] for _ in range(KEY_CHARACTERS))


def new_password(world: World, groups: int = 4, characters: int = 5) -> str:
    """Mint a password that can be read aloud: letters and digits in groups, none easily taken for another."""
    return "-".join(
        "".join(_LEGIBLE[_below(world, len(_LEGIBLE))] for _ in range(characters)) for _ in range(groups)
    )


def new_token(world: World, digits: int) -> str:
    """Mint a token of so many digits."""
    return str(_below(world, 10**digits)).zfill(digits)


def new_sender_key(world: World, characters: int) -> str:
    """Mint a sender key of so many lowercase hex digits."""
    return f"{world.bits(4 * characters):0{characters}x}"


def _below(world: World, limit: int) -> int:
    count = limit.bit_length()
    while (number := world.bits(count)) >= limit:
        pass
    return number
