"""Ids of ours in base 62, as other relays' programs store them."""

import string

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_BASE = len(_DIGITS)
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
_FOUR_DIGITS = len(_PAIRS) ** 2
"""Four digits at a time: an id is encoded for every message of an answer."""


def encode(id: bytes) -> str:
    """Return an id in base 62, always as long as the longest of its size, so that spellings sort as ids do."""
    number, found, length = int.from_bytes(id, "big"), "", _LENGTHS[len(id)]
    for _ in range(0, length, 4):
        number, four = divmod(number, _FOUR_DIGITS)
        found = _PAIRS[four // len(_PAIRS)] + _PAIRS[four % len(_PAIRS)] + found
    return found[-length:]


def decode(spelling: str, size: int) -> bytes | None:
    """Return the id of `size` bytes that is spelt so; None for anything else."""
    if len(spelling) != _LENGTHS[size] or not all(each in _VALUES for each in spelling):
        return None
    number = 0
    for each in spelling:
        number = number * _BASE + _VALUES[each]
    return number.to_bytes(size, "big") if number < 1 << (8 * size) else None


def _count_digits(size: int) -> int:
    """Return how many digits the largest id of a size has."""
    count = 0
    while _BASE**count < 1 << (8 * size):
        count += 1
    return count


_LENGTHS = {size: _count_digits(size) for size in range(1, 33)}
