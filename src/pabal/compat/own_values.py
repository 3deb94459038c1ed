"""Our ids, pictures and problems as programs that were written for other relays have them."""

import base64
import string

from pabal.domain.base.codes import Problem
from pabal.domain.content.image import Image
from pabal.models.bodies import ImageBody

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_BASE = len(_DIGITS)
_PAIRS = [first + second for first in _DIGITS for second in _DIGITS]
_FOUR_DIGITS = len(_PAIRS) ** 2
"""Four digits at a time: an id is encoded for every message of an answer."""


def encode_id(id: bytes) -> str:
    """Return an id in base 62, always as long as the longest of its size, so that spellings sort as ids do."""
    number, found, length = int.from_bytes(id, "big"), "", _LENGTHS[len(id)]
    for _ in range(0, length, 4):
        number, four = divmod(number, _FOUR_DIGITS)
        found = _PAIRS[four // len(_PAIRS)] + _PAIRS[four % len(_PAIRS)] + found
    return found[-length:]


def decode_id(spelling: str, size: int) -> bytes | None:
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


_RECEIVERS = "receivers["


def image_body(image: Image) -> ImageBody:
    """Return a picture as our bodies have it."""
    body = base64.b64encode(image.body).decode()
    return ImageBody(contentType=image.content_type, fileName=image.file_name, body=body)


def receiver_of(problem: Problem) -> int | None:
    """Return the place of the receiver that a problem names; None where it concerns all of them."""
    if not problem.field.startswith(_RECEIVERS):
        return None
    return int(problem.field[len(_RECEIVERS) :].partition("]")[0])
