"""Recent failed sign-ins, by hashed subjects."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.store.engine.base import Tx


class Subject(NamedTuple):
    """The hash that failures are counted for, and how many are allowed per window."""

    hash: bytes
    limit: int


def acquire(tx: Tx, subjects: Sequence[Subject], window: int, now: Instant) -> Instant | None:
    """Count an attempt for every subject, as if it had failed; return None, or until when no attempt is left.

    It counts before the password is checked, so that concurrent attempts cannot evade the limit. A refused attempt
    does not count.
    """
    seen = [(one, *_counted(tx, one.hash, window, now)) for one in sorted(subjects)]
    if until := _blocked_until(seen, window):  # a refused attempt writes nothing
        return until
    found = [(one, *_locked(tx, one.hash, window, now)) for one in sorted(subjects)]
    if until := _blocked_until(found, window):
        return until
    for one, failures, since in found:
        tx.execute(
            "update sign_in_attempts set failures = ?, since = ? where subject = ?",
            (failures + 1, since if failures else now, one.hash),
        )
    return None


def release(tx: Tx, subjects: Sequence[Subject]) -> None:
    """Take back the count of an attempt that succeeded."""
    for one in sorted(subjects):
        tx.execute(
            "update sign_in_attempts set failures = failures - 1 where subject = ? and failures > 0", (one.hash,)
        )


def clear(tx: Tx, subject: Subject) -> None:
    """Delete the failures of a subject."""
    tx.execute("delete from sign_in_attempts where subject = ?", (subject.hash,))


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some counts older than `before`; return how many."""
    return tx.execute(
        "delete from sign_in_attempts where subject in"
        " (select subject from sign_in_attempts where since < ? order by since limit ?)",
        (before, limit),
    )


def _blocked_until(found: Sequence[tuple[Subject, int, Instant]], window: int) -> Instant | None:
    """Return until when a subject has no attempt left, or None."""
    return max((since + window for one, failures, since in found if failures >= one.limit), default=None)


def _locked(tx: Tx, hash: bytes, window: int, now: Instant) -> tuple[int, Instant]:
    """Return how many failures there are and since when, and lock the row until the transaction ends."""
    tx.execute(
        "insert into sign_in_attempts (subject, failures, since) values (?, 0, ?) on conflict (subject)"
        " do update set failures = sign_in_attempts.failures",
        (hash, now),
    )
    return _counted(tx, hash, window, now)


def _counted(tx: Tx, hash: bytes, window: int, now: Instant) -> tuple[int, Instant]:
    """Return how many failures there are in the current window, and since when."""
    row = tx.fetch_one("select failures, since from sign_in_attempts where subject = ?", (hash,))
    failures, since = row or (0, now)
    is_over = not since <= now < since + window  # ahead of now: the clock was set back
    return (0, now) if is_over else (int(failures), int(since))
