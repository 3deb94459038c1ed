"""How long to wait before a carrier is asked again."""

from pabal.domain.dates import MINUTE, SECOND

MAX_TRIES = 10
FIRST_PAUSE = 1 * SECOND
LONGEST_PAUSE = 5 * MINUTE
SPREAD = 0.2


def pause(tries: int, chance: float) -> int:
    """Return the milliseconds to wait after `tries` refusals; `chance` in [0, 1) spreads them by 20 %."""
    even: int = min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE)
    return min(round(even * (1 - SPREAD + 2 * SPREAD * chance)), LONGEST_PAUSE)
