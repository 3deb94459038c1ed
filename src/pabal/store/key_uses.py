"""How much of its rate a key has used, counted for all processes together."""

from typing import NamedTuple

from pabal.domain.when import SECOND, Instant
from pabal.store.base import Tx

US = 1000
"""Microseconds in the unit of an Instant."""
FURTHEST = 10 * SECOND
"""Nothing reaches so far ahead but what was written by a clock that was wrong, or has been set back since."""


class Grant(NamedTuple):
    """How many requests were granted, how many more could be, and if none was, when the next can be."""

    granted: int
    left: int
    next_at: Instant


def take(tx: Tx, key_id: int, rate: int, most: int, now: Instant) -> Grant:
    """Grant some requests out of a key's bucket, which holds a second's worth and fills at its rate.

    What is kept is the time by which all that was granted would be paid off at that rate. A process whose clock is
    behind is granted less while others use the key, and none where it is behind by a second; never is it more.
    """
    row = tx.row("select until_us from key_uses where key_id = ?", (key_id,))
    now_us, second_us = now * US, SECOND * US
    owed_us = max(0, row[0] - now_us) if row else 0
    is_wrong = owed_us > FURTHEST * US
    if is_wrong:
        owed_us = second_us
    free = max(0, (second_us - owed_us) * rate // second_us)
    granted = min(most, free)
    if granted or is_wrong:
        owed_us += granted * second_us // rate  # rounded up, the last of a bucket would not be granted
        tx.run(
            "insert into key_uses values (?, ?) on conflict (key_id) do update set until_us = excluded.until_us",
            (key_id, now_us + owed_us),
        )
    next_at = now if free > granted else now + max(1, -(-(owed_us - second_us - (-second_us // rate)) // US))
    return Grant(granted, free - granted, next_at)
