"""Ids in base 62: as long as the longest, in the order of the ids, and read back."""

from random import Random

import pytest

from pabal.compat.own_values import decode_id, encode_id


@pytest.mark.parametrize("size", [1, 2, 13, 16])
def test_ids_are_read_back_and_sort_as_they_do(size: int) -> None:
    random = Random(size)
    given = sorted({bytes(size), b"\xff" * size, *(random.randbytes(size) for _ in range(200))})
    spelt = [encode_id(each) for each in given]

    assert spelt == sorted(spelt)
    assert {len(each) for each in spelt} == {len(encode_id(b"\xff" * size))}
    assert [decode_id(each, size) for each in spelt] == given


@pytest.mark.parametrize("spelling", ["", "0" * 17, "0" * 19, "z" * 18, "0" * 17 + "가", "0" * 17 + "-"])
def test_what_is_no_id_is_none(spelling: str) -> None:
    assert decode_id(spelling, 13) is None
