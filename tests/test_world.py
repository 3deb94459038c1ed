"""Time and randomness: ids, keys and tokens have the specified format and distribution."""

import re
import string
from collections import Counter

import pytest

from pabal.domain.base import identifiers
from pabal.world import RealWorld, new_api_key, new_request_id, new_token, random_hex
from tests.fixtures.virtual import NOON


class Numbered(RealWorld):
    """A world with given random numbers."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = iter(numbers)

    def now(self) -> int:
        return NOON

    def random_bits(self, count: int) -> int:
        number = next(self._numbers)
        assert number < 2**count
        return number


def test_request_id_contains_its_creation_time_and_slot() -> None:
    one = new_request_id(Numbered(5), 3)

    assert len(one) == identifiers.REQUEST_ID_BYTES
    assert (identifiers.requested_at(one), identifiers.slot_of(one)) == (NOON, 3)


def test_request_ids_of_the_same_moment_differ() -> None:
    world = RealWorld()

    assert len({new_request_id(world, 0) for _ in range(10_000)}) == 10_000


def test_key_is_pb_and_forty_letters_and_digits() -> None:
    key = new_api_key(RealWorld())

    assert re.fullmatch(r"pb_[0-9A-Za-z]{40}", key)


def test_key_characters_are_uniformly_distributed() -> None:
    world = RealWorld()

    seen = Counter("".join(new_api_key(world).removeprefix("pb_") for _ in range(500)))

    alphabet = string.digits + string.ascii_letters
    assert set(seen) == set(alphabet)
    assert max(seen.values()) < 2 * 20_000 / len(alphabet)


def test_random_byte_beyond_the_alphabet_is_drawn_again() -> None:
    assert new_api_key(Numbered(63, 62, *range(40))) == "pb_" + (string.digits + string.ascii_letters)[:40]


def test_token_keeps_its_leading_zeros() -> None:
    assert new_token(Numbered(7), 6) == "000007"
    assert new_token(Numbered(1_000_000, 999_999), 6) == "999999"


def test_tokens_have_as_many_digits_as_asked_for() -> None:
    world = RealWorld()

    assert all(re.fullmatch(r"[0-9]{6}", new_token(world, 6)) for _ in range(1000))


def test_hex_has_as_many_lowercase_digits_as_asked_for() -> None:
    assert random_hex(Numbered(0), 40) == "0" * 40
    assert random_hex(Numbered(2**160 - 1), 40) == "f" * 40
    assert re.fullmatch(r"[0-9a-f]{40}", random_hex(RealWorld(), 40))


def test_real_world_has_a_clock_and_randomness() -> None:
    world = RealWorld()

    assert world.now() > 1_700_000_000_000
    assert world.monotonic() <= world.monotonic()
    assert all(0 <= world.random() < 1 for _ in range(1000))
    assert world.random() != pytest.approx(world.random(), abs=0)
    assert all(world.random_bits(3) < 8 for _ in range(100))
    assert world.has_threads
