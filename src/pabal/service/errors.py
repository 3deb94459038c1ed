"""Errors: the one that callers of the store handle, and how the log describes the others."""

import traceback
from typing import Any

from pabal.store.engine.base import StoreUnavailable as StoreUnavailable  # for layers that do not import the store


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return where an error was raised, without its message: that may hold personal data."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames],
    }
