"""When a mail that could not be handed over is tried again, and when it is given up."""

from pabal.domain.base.dates import DAY, HOUR, MINUTE, SECOND

GATHER_MS = 10 * SECOND
"""How long the first notice of a mail waits for others of its kind."""
LIFETIME_MS = 1 * DAY
"""Older mails and notices are given up: nobody needs old news."""
DOUBT_DELAY_MS = 5 * MINUTE
"""How long after a lost answer a mail is sent again, once."""
LEASE_MARGIN_MS = 30 * SECOND
"""How much longer than the mail server may take a mail is leased."""
_DELAYS_MS = (10 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE)
_LAST_DELAY_MS = 1 * HOUR
_JITTER = 0.2


def retry_delay_ms(tries: int, random: float) -> int:
    """Return how long after the last of these tries the next one follows."""
    delay = _DELAYS_MS[tries - 1] if 1 <= tries <= len(_DELAYS_MS) else _LAST_DELAY_MS
    return round(delay * (1 + _JITTER * (2 * random - 1)))
