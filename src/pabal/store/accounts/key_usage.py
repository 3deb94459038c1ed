"""The token bucket of each API key, shared by all processes."""

from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.store.engine.base import Tx

US_PER_MS = 1000
"""Microseconds in the unit of an Instant."""
MAX_AHEAD = 10 * SECOND
"""A bucket that reaches further ahead was written by a wrong clock, or the clock was set back since."""


class RateGrant(NamedTuple):
    """How many requests were granted, how many more are left, and otherwise when the next one is possible."""

    granted: int
    left: int
    next_at: Instant


def take(tx: Tx, key_id: int, rate: int, wanted: int, now: Instant) -> RateGrant:
    """Grant requests from a key's bucket, which holds one second's worth and refills at the key's rate.

    The stored value is the time by which all granted requests are paid off at that rate. A process whose clock is
    behind gets less while others use the key, and nothing if it is behind by a second; it never gets more.
    """
    now_us, second_us = now * US_PER_MS, SECOND * US_PER_MS
    owed_us = max(0, _until_us(tx, key_id) - now_us)
    is_wrong = owed_us > MAX_AHEAD * US_PER_MS
    if is_wrong:
        owed_us = second_us
    free = max(0, min(rate, (second_us - owed_us) * rate // second_us))
    granted = min(wanted, free)
    if granted or is_wrong:
        owed_us += granted * second_us // rate  # rounded up, the last of a bucket would not be granted
        tx.execute("update key_usage set until_us = ? where key_id = ?", (now_us + owed_us, key_id))
    missing_us = owed_us - second_us + -(-second_us // rate)
    return RateGrant(granted, free - granted, now if free > granted else now + max(1, -(-missing_us // US_PER_MS)))


def mark_used(tx: Tx, used_at: Mapping[int, Instant]) -> None:
    """Record when keys were used last, by their ids."""
    tx.execute_many(
        "insert into key_usage (key_id, until_us, used_at)"
        " select v.column1, 0, v.column2 from (values {rows}) as v where true"
        " on conflict (key_id) do update set used_at = excluded.used_at",
        sorted(used_at.items()),
    )


def _until_us(tx: Tx, key_id: int) -> int:
    """Return the stored value of a key, and lock its row until the transaction ends."""
    locked = "update key_usage set until_us = until_us where key_id = ? returning until_us"
    row = tx.fetch_one(locked, (key_id,))
    if row is None:
        tx.execute(
            "insert into key_usage (key_id, until_us) values (?, 0) on conflict (key_id) do nothing", (key_id,)
        )
        row = tx.fetch_one(locked, (key_id,))
    assert row is not None
    return int(row[0])
