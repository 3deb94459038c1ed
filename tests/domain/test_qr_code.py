"""QR codes, by the examples and tables of the standard, and read back module by module."""

import pytest

from pabal.domain.users import qr_code
from pabal.domain.users.qr_code import Matrix

FORMATS = ("111011111000100", "111001011110011", "111110110101010", "111100010011101",
           "110011000101111", "110001100011000", "110110001000001", "110100101110110")  # fmt: skip
TEXT = "otpauth://totp/Pabal%3Akim?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Pabal"


def test_error_correction_is_that_of_the_example() -> None:
    data = bytes.fromhex("10200C566180EC11EC11EC11EC11EC11")

    assert bytes(qr_code.correct(data, 10)).hex() == "a524d4c1ed36c7872c55"


@pytest.mark.parametrize(("mask", "bits"), list(enumerate(FORMATS)))
def test_format_is_that_of_the_table(mask: int, bits: str) -> None:
    assert f"{qr_code.format_bits(mask):015b}" == bits


def test_version_is_that_of_the_table() -> None:
    assert f"{qr_code.version_bits(7):018b}" == "000111110010010100"


def shape(matrix: Matrix) -> str:
    return "\n".join("".join("#" if each else "." for each in row) for row in matrix)


@pytest.mark.parametrize(("length", "size"), [(17, 21), (18, 25), (134, 41), (135, 45), (271, 57)])
def test_smallest_code_is_chosen_and_has_its_marks(length: int, size: int) -> None:
    matrix = qr_code.encode("a" * length)

    assert matrix is not None
    assert {len(matrix), *map(len, matrix)} == {size}
    rows = shape(matrix).split("\n")
    assert [row[:7] for row in rows[:7]] == [
        "#######", "#.....#", "#.###.#", "#.###.#", "#.###.#", "#.....#", "#######"
    ]  # fmt: skip
    assert rows[6][6:-6] == "#" + ".#" * ((size - 13) // 2)
    assert matrix[size - 8][8]


def test_text_that_is_too_long_has_no_code() -> None:
    assert qr_code.MAX_BYTES == 271
    assert qr_code.encode("a" * 272) is None
    assert qr_code.encode("가" * 91) is None


def test_path_covers_every_dark_module_once() -> None:
    matrix = qr_code.encode(TEXT)
    assert matrix is not None

    parts = qr_code.to_path(matrix, border=0).removesuffix("z").split("z")

    covered = []
    for part in parts:
        place, width, *_ = part.removeprefix("M").replace("v", "h").split("h")
        x, y = map(int, place.split())
        covered += [(x + dx, y) for dx in range(int(width))]
    dark = [(x, y) for y, row in enumerate(matrix) for x, each in enumerate(row) if each]
    assert sorted(covered) == sorted(dark)
