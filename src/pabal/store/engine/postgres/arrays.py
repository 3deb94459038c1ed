"""Columns of many rows, each sent to PostgreSQL as one array in its binary format."""

import struct
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import psycopg
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper
from psycopg.types.string import BytesBinaryDumper, StrBinaryDumper

_ONE_DIMENSION = struct.Struct(">iiIii")
_LENGTH = struct.Struct(">i")
_NULL = _LENGTH.pack(-1)


class ArrayColumn(list[Any]):
    """The values of one column in many rows, sent as one array."""

    sql_type: ClassVar[str]


class BytesArray(ArrayColumn):
    sql_type = "bytea[]"


class TextArray(ArrayColumn):
    """A column of texts, or of nulls alone."""

    sql_type = "text[]"


class IntegerArray(ArrayColumn):
    """A column of integers of up to 64 bits."""

    sql_type = "bigint[]"


class _ArrayDumper(Dumper):
    """Encodes an array in PostgreSQL's binary format."""

    format = Format.BINARY
    element: ClassVar[int]

    def dump(self, obj: Any) -> bytes:
        head = _ONE_DIMENSION.pack(1, None in obj, self.element, len(obj), 1)
        return head + b"".join(self.packed(obj))

    def packed(self, values: Sequence[Any]) -> Iterable[bytes]:
        """Yield the length and the bytes of each value."""
        length = _LENGTH.pack
        for value in values:
            if value is None:
                yield _NULL
            else:
                yield length(len(value))
                yield value


class _BytesDumper(_ArrayDumper):
    oid, element = 1001, 17


class _TextsDumper(_ArrayDumper):
    oid, element = 1009, 25

    def packed(self, values: Sequence[Any]) -> Iterable[bytes]:
        if any(value is not None and "\0" in value for value in values):
            raise psycopg.DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
        return super().packed([None if value is None else value.encode() for value in values])


class _IntegersDumper(_ArrayDumper):
    oid, element = 1016, 20

    def packed(self, values: Sequence[Any]) -> Iterable[bytes]:
        if None in values:
            return super().packed(
                [None if value is None else value.to_bytes(8, "big", signed=True) for value in values]
            )
        pairs = [8] * (2 * len(values))
        pairs[1::2] = values
        return (_integers(len(values)).pack(*pairs),)


@lru_cache(maxsize=64)
def _integers(count: int) -> struct.Struct:
    return struct.Struct(">" + "iq" * count)


def adapt(context: AdaptContext) -> None:
    """Send values in binary, each Python type as one PostgreSQL type, because statements are prepared by type."""
    adapters = context.adapters
    assert adapters is not None
    for shape, dumper in (
        (int, Int8BinaryDumper),
        (str, StrBinaryDumper),
        (bytes, BytesBinaryDumper),
        (BytesArray, _BytesDumper),
        (TextArray, _TextsDumper),
        (IntegerArray, _IntegersDumper),
    ):
        adapters.register_dumper(shape, dumper)


def to_array(values: Sequence[Any]) -> ArrayColumn:
    """Return the values of a column, of the type that they have."""
    for value in values:
        if value is not None:
            return _ARRAY_TYPES[int if isinstance(value, int) else type(value)](values)
    return TextArray(values)


_ARRAY_TYPES: dict[type, type[ArrayColumn]] = {
    bytes: BytesArray,
    str: TextArray,
    int: IntegerArray,
    bool: IntegerArray,
}
