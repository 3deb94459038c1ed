"""Reads rows of which one may be damaged: it must not keep the others from being read."""

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from pabal.store.engine.base import Row

T = TypeVar("T")

log = logging.getLogger("pabal.store")


def read_rows(rows: Iterable[Row], read: Callable[[Row], T]) -> dict[bytes, T]:
    """Return what rows hold, by the id that each begins with; one that cannot be read is left out and logged."""
    found: dict[bytes, T] = {}
    for row in rows:
        try:
            found[row[0]] = read(row)
        except Exception as error:  # JSON that is none, or a number that no version of ours has written
            log.error("stored row cannot be read", extra={"id": row[0].hex(), "error": type(error).__name__})
    return found
