"""Shared parts of the tests of pacing."""

from bisect import bisect_left

Departures = list[tuple[float, int]]
"""Time and number of messages sent."""


def departure_times(departures: Departures) -> list[float]:
    return [at for at, count in departures for _ in range(count)]


def max_within(departures: Departures, seconds: float) -> int:
    """Return the maximum number of messages within any interval of this length."""
    each = sorted(departure_times(departures))
    return max(bisect_left(each, start + seconds) - index for index, start in enumerate(each))
