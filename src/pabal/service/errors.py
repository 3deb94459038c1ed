"""Errors: those that callers handle, and how the log describes the others."""

import traceback
from typing import Any, Literal

from pabal.store.engine.base import StoreUnavailable as StoreUnavailable  # for layers that do not import the store


class RecordDamaged(Exception):
    """A message, a request or a campaign is stored, but cannot be read; the log has the reason."""

    def __init__(self, kind: Literal["message", "request"], record_id: bytes) -> None:
        super().__init__(f"{kind} {record_id.hex()}")
        self.kind = kind
        self.record_id = record_id


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return where an error was raised, without its message: that may hold personal data."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames],
    }
