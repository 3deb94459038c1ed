"""Pauses between requests that make us post to a server, so that none is flooded in an account's name."""

from collections.abc import Hashable
from typing import TypeVar

from pabal.domain.base.codes import Code, Refused

MAX_REMEMBERED = 10_000
"""Requests that are remembered; then the oldest are forgotten."""

T = TypeVar("T", bound=Hashable)


def check_pause(last: dict[T, float], key: T, pause_s: float, now: float) -> None:
    """Raise Refused(RATE_LIMITED) if `key` had its last request less than a pause ago, on the monotonic clock."""
    wait_s = last.get(key, -pause_s) + pause_s - now
    if wait_s > 0:
        raise Refused(Code.RATE_LIMITED, retry_after_s=wait_s)


def remember(last: dict[T, float], key: T, now: float) -> None:
    """Remember a request."""
    last.pop(key, None)
    last[key] = now
    while len(last) > MAX_REMEMBERED:
        del last[next(iter(last))]
