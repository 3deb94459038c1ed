"""Exponential backoff between attempts at a carrier."""

from pabal.domain.base.dates import MINUTE, SECOND

MAX_TRIES = 10
"""Attempts at one carrier."""
FIRST_DELAY_MS = 1 * SECOND
MAX_DELAY_MS = 5 * MINUTE
JITTER = 0.2
"""Share of a delay by which it varies at random."""


def backoff_ms(tries: int, random: float) -> int:
    """Return the delay after `tries` failures; `random` in [0, 1) adds a jitter of 20 %."""
    even: int = min(FIRST_DELAY_MS * 2 ** (tries - 1), MAX_DELAY_MS)
    return min(round(even * (1 - JITTER + 2 * JITTER * random)), MAX_DELAY_MS)
