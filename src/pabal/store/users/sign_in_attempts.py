"""Recent failed sign-ins, by hashed subjects."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base.dates import HOUR, MINUTE, SECOND, Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion

FORGET_MS = 1 * HOUR
"""Failures of a subject are forgotten this long after the last one."""
FIRST_DELAY_MS = 1 * SECOND
RESERVATION_MS = 10 * MINUTE
"""How long a reserved time can be used."""


class Subject(NamedTuple):
    """The hash that failures are counted for, how many are free, and the longest delay after those.

    Subjects that belong to a user name have its hash, so that they can be deleted together.
    """

    hash: bytes
    free: int
    max_delay_ms: int
    name_hash: bytes | None = None


class Acquired(NamedTuple):
    """Whether an attempt may be made: until when not, or the subjects whose last free attempt it takes."""

    blocked_until: Instant | None
    used_up: Sequence[Subject] = ()


def acquire(tx: Tx, subjects: Sequence[Subject], now: Instant) -> Acquired:
    """Count an attempt for every subject, as if it had failed, unless one of them has to wait.

    It counts before the password is checked, so that concurrent attempts cannot evade the limit. A refused attempt
    does not count, and writes nothing.
    """
    if until := find_delay(tx, subjects, now):
        return Acquired(until)
    found = [(one, *_locked(tx, one, now)) for one in sorted(subjects, key=lambda one: one.hash)]
    if until := _blocked_until(found, now):
        return Acquired(until)
    for one, failures, _ in found:
        _set(tx, one, failures + 1, now)
    return Acquired(None, [one for one, failures, _ in found if failures + 1 == one.free])


def find_delay(tx: Tx, subjects: Sequence[Subject], now: Instant) -> Instant | None:
    """Return until when an attempt of these subjects has to wait, None where it need not; nothing is counted."""
    return _blocked_until([(one, *_counted(tx, one, now)) for one in subjects], now)


def reserve(tx: Tx, reservation: Subject, at: Instant, now: Instant) -> Instant:
    """Reserve a time for a subject and return it: the one that it has, if that still holds, or `at`.

    A reservation holds until `RESERVATION_MS` after its time. One later than `at` is of a clock that was set back.
    """
    found = tx.fetch_value("select failed_at from sign_in_attempts where subject = ?", (reservation.hash,))
    if found is not None and now - RESERVATION_MS < found <= max(at, now):
        return int(found)
    tx.execute(
        "insert into sign_in_attempts (subject, name_hash, failures, failed_at) values (?, ?, 0, ?)"
        " on conflict (subject) do update set failed_at = excluded.failed_at",
        (reservation.hash, reservation.name_hash, at),
    )
    return at


def use_reservation(tx: Tx, reservation: Subject) -> bool:
    """Use up the reservation of a subject; return False if another attempt has done so."""
    return tx.changes("delete from sign_in_attempts where subject = ?", (reservation.hash,))


def count(tx: Tx, subject: Subject, now: Instant) -> int:
    """Count a failure of a subject and return how many there are, without a limit."""
    failures, _ = _locked(tx, subject, now)
    _set(tx, subject, failures + 1, now)
    return failures + 1


def release(tx: Tx, subjects: Sequence[Subject]) -> None:
    """Take back the count of an attempt that succeeded."""
    for one in sorted(subjects, key=lambda one: one.hash):
        tx.execute(
            "update sign_in_attempts set failures = failures - 1 where subject = ? and failures > 0", (one.hash,)
        )


def clear(tx: Tx, subject: Subject) -> None:
    """Delete the failures of a subject."""
    tx.execute("delete from sign_in_attempts where subject = ?", (subject.hash,))


def list_failing(tx: Tx, name_hashes: Iterable[bytes], at_least: int, now: Instant) -> set[bytes]:
    """Return the hashes of those user names that have failed so often recently, at one place or in all."""
    rows = tx.execute_list(
        "select name_hash from sign_in_attempts where failures >= ? and failed_at > ? and name_hash in ({list})",
        name_hashes,
        (at_least, now - FORGET_MS),
    )
    return {bytes(row[0]) for row in rows}


def clear_name(tx: Tx, name_hash: bytes) -> bool:
    """Delete the failures of every subject that belongs to a user name; return whether there were any."""
    counted = "select 1 from sign_in_attempts where name_hash = ? and failures > 0 limit 1"
    has_failures = tx.fetch_one(counted, (name_hash,)) is not None
    tx.execute("delete from sign_in_attempts where name_hash = ?", (name_hash,))
    return has_failures


delete_old = deletion("sign_in_attempts", "subject", "failed_at")
"""Deletes some counts by their last failure."""


def _blocked_until(found: Sequence[tuple[Subject, int, Instant]], now: Instant) -> Instant | None:
    """Return until when one of the subjects has to wait, or None."""
    latest = max((failed_at + _delay_ms(one, failures) for one, failures, failed_at in found), default=now)
    return latest if latest > now else None


def _delay_ms(subject: Subject, failures: int) -> int:
    """Return the delay after so many failures: it doubles with each one that is not free."""
    extra = failures - subject.free
    return 0 if extra < 0 else int(min(subject.max_delay_ms, FIRST_DELAY_MS << min(extra, 32)))


def _locked(tx: Tx, subject: Subject, now: Instant) -> tuple[int, Instant]:
    """Return how many failures there are and the last time, and lock the row until the transaction ends."""
    tx.execute(
        "insert into sign_in_attempts (subject, name_hash, failures, failed_at) values (?, ?, 0, ?)"
        " on conflict (subject) do update set failures = sign_in_attempts.failures",
        (subject.hash, subject.name_hash, now),
    )
    return _counted(tx, subject, now)


def _counted(tx: Tx, subject: Subject, now: Instant) -> tuple[int, Instant]:
    """Return how many recent failures there are, and when the last one was."""
    row = tx.fetch_one("select failures, failed_at from sign_in_attempts where subject = ?", (subject.hash,))
    failures, failed_at = row or (0, now)
    is_over = not failed_at <= now < failed_at + FORGET_MS  # ahead of now: the clock was set back
    return (0, now) if is_over else (int(failures), int(failed_at))


def _set(tx: Tx, subject: Subject, failures: int, now: Instant) -> None:
    tx.execute(
        "update sign_in_attempts set failures = ?, failed_at = ? where subject = ?", (failures, now, subject.hash)
    )
