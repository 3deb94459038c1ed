"""How a fault is told in the log: where it happened, never what it said."""

import traceback
from typing import Any


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return where a fault happened, without its words: they might hold what no log may."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "at": [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames],
    }
