"""QR codes (ISO/IEC 18004) of short texts, for what a phone's camera should read from a page."""

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import NamedTuple

Matrix = list[list[bool]]
"""The modules of a code, row by row; True: dark."""

BORDER = 4
"""Light modules that a code needs on each side."""
_MODE_BYTES = 0b0100
_LEVEL_L = 0b01
"""The lowest level of error correction, which is enough on a screen."""
_PADDING = (0xEC, 0x11)
_FIELD = 0x11D
_FORMAT_GENERATOR, _FORMAT_MASK, _VERSION_GENERATOR = 0x537, 0x5412, 0x1F25
_FIRST_VERSION_WITH_INFORMATION = 7
_LONG_COUNT_VERSION = 10
_FINDER_LIKE = ([True, False, True, True, True, False, True, False, False, False, False],
                [False, False, False, False, True, False, True, True, True, False, True])  # fmt: skip


class _Version(NamedTuple):
    """A size of codes: bytes of error correction for each block, bytes of data in each, places of alignment."""

    number: int
    correction_bytes: int
    blocks: Sequence[int]
    alignment: Sequence[int]

    @property
    def size(self) -> int:
        return 4 * self.number + 17

    @property
    def count_bits(self) -> int:
        return 16 if self.number >= _LONG_COUNT_VERSION else 8

    @property
    def max_bytes(self) -> int:
        return (8 * sum(self.blocks) - 4 - self.count_bits) // 8


_VERSIONS = (
    _Version(1, 7, (19,), ()),
    _Version(2, 10, (34,), (6, 18)),
    _Version(3, 15, (55,), (6, 22)),
    _Version(4, 20, (80,), (6, 26)),
    _Version(5, 26, (108,), (6, 30)),
    _Version(6, 18, (68, 68), (6, 34)),
    _Version(7, 20, (78, 78), (6, 22, 38)),
    _Version(8, 24, (97, 97), (6, 24, 42)),
    _Version(9, 30, (116, 116), (6, 26, 46)),
    _Version(10, 18, (68, 68, 69, 69), (6, 28, 50)),
)
MAX_BYTES = _VERSIONS[-1].max_bytes
_MASKS: Sequence[Callable[[int, int], int]] = (
    lambda x, y: (x + y) % 2,
    lambda x, y: y % 2,
    lambda x, y: x % 3,
    lambda x, y: (x + y) % 3,
    lambda x, y: (x // 3 + y // 2) % 2,
    lambda x, y: x * y % 2 + x * y % 3,
    lambda x, y: (x * y % 2 + x * y % 3) % 2,
    lambda x, y: ((x + y) % 2 + x * y % 3) % 2,
)
"""A module is inverted where its mask is 0."""


def encode(text: str) -> Matrix | None:
    """Return the code of a text, without the light border of four modules that it needs; None if it is too long."""
    content = text.encode()
    version = next((each for each in _VERSIONS if len(content) <= each.max_bytes), None)
    if version is None:
        return None
    words = _interleave(version, _data_words(version, content))
    drawn = [_draw(version, words, mask) for mask in range(len(_MASKS))]
    return min(drawn, key=_penalty)


def to_path(matrix: Matrix, border: int = BORDER) -> str:
    """Return the dark modules as the path of an SVG image, each one unit wide, inside a border."""
    parts = []
    for y, row in enumerate(matrix):
        starts = [x for x, is_dark in enumerate(row) if is_dark and (x == 0 or not row[x - 1])]
        for x in starts:
            width = next((end - x for end in range(x, len(row)) if not row[end]), len(row) - x)
            parts.append(f"M{x + border} {y + border}h{width}v1h-{width}z")
    return "".join(parts)


def correct(data: Sequence[int], count: int) -> list[int]:
    """Return the Reed-Solomon bytes that correct errors in a block of data."""
    generator = [1]
    root = 1
    for _ in range(count):
        shifted = [*generator, 0]
        generator = [a ^ _multiply(b, root) for a, b in zip(shifted, [0, *generator], strict=True)]
        root = _multiply(root, 2)
    rest = [*data, *[0] * count]
    for place in range(len(data)):
        factor = rest[place]
        for offset, each in enumerate(generator):
            rest[place + offset] ^= _multiply(each, factor)
    return rest[-count:]


def format_bits(mask: int) -> int:
    """Return the 15 bits that tell the level of correction and the mask."""
    data = _LEVEL_L << 3 | mask
    return (data << 10 | _remainder(data, 10, _FORMAT_GENERATOR)) ^ _FORMAT_MASK


def version_bits(number: int) -> int:
    """Return the 18 bits that tell the size of a large code."""
    return number << 12 | _remainder(number, 12, _VERSION_GENERATOR)


def _multiply(a: int, b: int) -> int:
    product_of_both = 0
    while b:
        if b & 1:
            product_of_both ^= a
        a = a << 1 ^ (_FIELD if a & 0x80 else 0)
        b >>= 1
    return product_of_both


def _remainder(value: int, bits: int, generator: int) -> int:
    for _ in range(bits):
        value = value << 1 ^ (value >> bits - 1) * generator
    return value & (1 << bits) - 1


def _data_words(version: _Version, content: bytes) -> list[int]:
    capacity = sum(version.blocks)
    bits = f"{_MODE_BYTES:04b}{len(content):0{version.count_bits}b}" + "".join(f"{each:08b}" for each in content)
    bits += "0" * min(4, 8 * capacity - len(bits))
    bits += "0" * (-len(bits) % 8)
    words = [int(bits[start : start + 8], 2) for start in range(0, len(bits), 8)]
    return words + [_PADDING[place % 2] for place in range(capacity - len(words))]


def _interleave(version: _Version, words: Sequence[int]) -> list[int]:
    """Return the words of all blocks in turn, then their bytes of error correction."""
    blocks, start = [], 0
    for length in version.blocks:
        blocks.append(words[start : start + length])
        start += length
    corrections = [correct(block, version.correction_bytes) for block in blocks]
    longest = max(version.blocks)
    mixed = [block[place] for place in range(longest) for block in blocks if place < len(block)]
    return mixed + [block[place] for place in range(version.correction_bytes) for block in corrections]


def _draw(version: _Version, words: Sequence[int], mask: int) -> Matrix:
    size = version.size
    fixed = _fixed_modules(version, mask)
    bits = [word >> shift & 1 for word in words for shift in range(7, -1, -1)]
    matrix = [[fixed.get((x, y), False) for x in range(size)] for y in range(size)]
    free = ((x, y) for x, y in _zigzag(size) if (x, y) not in fixed)
    for place, (x, y) in enumerate(free):
        is_dark = bool(bits[place]) if place < len(bits) else False
        matrix[y][x] = is_dark is not (_MASKS[mask](x, y) == 0)
    return matrix


def _zigzag(size: int) -> list[tuple[int, int]]:
    """Return all modules in the order in which they take data: pairs of columns from the right, up and down."""
    columns = [*range(size - 1, 6, -2), *range(5, 0, -2)]
    found = []
    for turn, right in enumerate(columns):
        rows = range(size) if turn % 2 else range(size - 1, -1, -1)
        found += [(x, y) for y in rows for x in (right, right - 1)]
    return found


def _fixed_modules(version: _Version, mask: int) -> dict[tuple[int, int], bool]:
    """Return the modules that hold no data, by column and row."""
    size, end = version.size, version.size - 7
    fixed: dict[tuple[int, int], bool] = {}
    for left, top in ((0, 0), (end, 0), (0, end)):
        for dx, dy in product(range(-1, 8), repeat=2):
            if 0 <= left + dx < size and 0 <= top + dy < size:
                distance = max(abs(dx - 3), abs(dy - 3))
                fixed[left + dx, top + dy] = distance in (0, 1, 3)
    for x, y in product(version.alignment, repeat=2):
        if (x, y) not in fixed:
            for dx, dy in product(range(-2, 3), repeat=2):
                fixed[x + dx, y + dy] = max(abs(dx), abs(dy)) != 1
    for place in range(8, size - 8):
        fixed.setdefault((place, 6), place % 2 == 0)
        fixed.setdefault((6, place), place % 2 == 0)
    fixed |= _format_modules(size, format_bits(mask))
    if version.number >= _FIRST_VERSION_WITH_INFORMATION:
        bits = version_bits(version.number)
        for bit in range(18):
            far, near, is_dark = size - 11 + bit % 3, bit // 3, bool(bits >> bit & 1)
            fixed |= {(far, near): is_dark, (near, far): is_dark}
    return fixed


def _format_modules(size: int, bits: int) -> dict[tuple[int, int], bool]:
    first = [*((8, y) for y in range(6)), (8, 7), (8, 8), (7, 8), *((x, 8) for x in range(5, -1, -1))]
    second = [*((size - 1 - each, 8) for each in range(8)), *((8, size - 7 + each) for each in range(7))]
    found = {(8, size - 8): True}
    for places in (first, second):
        found |= {place: bool(bits >> bit & 1) for bit, place in enumerate(places)}
    return found


def _penalty(matrix: Matrix) -> int:
    """Return how hard a code is to read, as the standard counts it; the mask with the least is used."""
    lines = [*matrix, *map(list, zip(*matrix, strict=True))]
    runs = sum(length - 2 for line in lines for length in _run_lengths(line) if length >= 5)
    squares = sum(
        3
        for above, below in pairwise(matrix)
        for x in range(len(above) - 1)
        if above[x] == above[x + 1] == below[x] == below[x + 1]
    )
    finders = sum(
        40 for line in lines for start in range(len(line) - 10) if line[start : start + 11] in _FINDER_LIKE
    )
    dark = sum(map(sum, matrix))
    return runs + squares + finders + 10 * int(abs(dark * 20 - len(matrix) ** 2 * 10) / len(matrix) ** 2)


def _run_lengths(line: Sequence[bool]) -> list[int]:
    lengths = [1]
    for before, each in pairwise(line):
        if each == before:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths
