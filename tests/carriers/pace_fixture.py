"""Shared parts of the tests of pacing."""

from bisect import bisect_left

Gone = list[tuple[float, int]]
"""When how many went."""


def times(gone: Gone) -> list[float]:
    """Return when each message went."""
    return [at for at, count in gone for _ in range(count)]


def most_within(gone: Gone, seconds: float) -> int:
    """Return how many went in the worst stretch of so many seconds."""
    each = sorted(times(gone))
    return max(bisect_left(each, start + seconds) - index for index, start in enumerate(each))
