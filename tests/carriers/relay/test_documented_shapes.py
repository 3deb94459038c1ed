"""Differences between a value and its documented shape."""

from typing import Any

import pytest

from pabal.carriers.relay.documented_shapes import Each, OneOf, Shape, codes, find_differences

CODE = codes(str, "1000 1002..1004 E900")


@pytest.mark.parametrize(
    ("shape", "value", "expected"),
    [
        ({"a": str, "b?": int}, {"a": "x"}, []),
        ({"a": str, "b?": int}, {"a": "x", "b": None}, []),
        ({"a": str}, {"a": None}, ["a MISSING null"]),
        ({"a": str}, {}, ["a MISSING "]),
        ({"a": str}, {"a": 1}, ["a TYPE integer ≠ string"]),
        ({"a": int}, {"a": True}, ["a TYPE boolean ≠ integer"]),
        ({"a": float}, {"a": 1}, []),
        ({"a": object}, {"a": [1]}, []),
        ({}, {"more": {}}, ["more NOT_DOCUMENTED object"]),
        ({}, {"01012345678": 1}, ["… NOT_DOCUMENTED integer"]),
        ({"a": [{"b": CODE}]}, {"a": [{"b": "1003"}, {"b": "1005"}]}, ["a[].b CODE 1005"]),
        ({"a": CODE}, {"a": "E900"}, []),
        ({"a": CODE}, {"a": "01012345678"}, ["a CODE …"]),
        ({"a": CODE}, {"a": 1000}, ["a TYPE integer ≠ string"]),
        ({"a": codes(int, "0 -1000..1002")}, {"a": -1001}, []),
        (Each({"a": int}), {"one": {"a": 1}, "two": {}}, ["[].a MISSING "]),
        (Each(str), [], [" TYPE array ≠ object"]),
        (OneOf(([str], {"a": str})), {"a": "x", "b": 1}, ["b NOT_DOCUMENTED integer"]),
        ({"a": {"b": str}}, {"a": "x"}, ["a TYPE string ≠ object"]),
    ],
)
def test_differences_are_named_without_values(shape: Shape, value: Any, expected: list[str]) -> None:
    found = find_differences(shape, value)

    assert [f"{each.place} {each.kind.name} {each.detail}" for each in found] == expected
