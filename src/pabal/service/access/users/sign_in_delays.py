"""Slows down guessing of passwords, without locking out people who signed in from the same browser before."""

import hashlib
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple

from pabal.domain.base.dates import DAY, MINUTE, Instant
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import SIGN_IN_NAME, AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import sessions, sign_in_attempts, users
from pabal.store.users.sign_in_attempts import Acquired, Subject
from pabal.store.users.users import Credentials

IpAddress = IPv4Address | IPv6Address

FREE_ATTEMPTS_PER_NAME_AND_ADDRESS = 5
FREE_ATTEMPTS_PER_NAME = 20
FREE_ATTEMPTS_PER_ADDRESS = 50
"""Failed sign-ins before the next ones have to wait, each time twice as long."""
MAX_DELAY_MS = 15 * MINUTE
MAX_DELAY_PER_NAME_MS = 1 * MINUTE
"""Short, since anyone can cause it for everyone who uses a new browser; nobody waits longer for others."""
MAX_FAILURES_OF_DEVICE = 10
"""A trusted device with this many failures in a row is trusted no longer."""
DEVICE_LIFETIME_MS = 180 * DAY
IPV6_PREFIX_BITS = 64
"""Attempts are counted per IPv6 network, since one user has a whole network of addresses."""
_UNLIMITED = 1 << 62


class SignInAttempt(NamedTuple):
    """Someone who tries to sign in: normalized name, network, and hash of the browser's device token."""

    name: str
    place: str
    device: bytes | None


class Admission(NamedTuple):
    """Whether an attempt may be made, and what it counts against if it fails."""

    found: Credentials | None
    blocked_until: Instant | None
    subjects: Sequence[Subject] = ()
    used_up: Sequence[Subject] = ()
    """Subjects whose last free attempt this is."""


class RecordedFailure(NamedTuple):
    """How many recent failures there are, and whether this one was recorded in the audit log."""

    failures: int
    is_recorded: bool


def hash_token(token: str) -> bytes:
    """Return the stored hash of a token; it has 256 random bits, so one round of SHA-256 is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def attempt_of(name: str, address: IpAddress | None, device_token: str | None) -> SignInAttempt:
    """Return an attempt to sign in with a normalized name."""
    return SignInAttempt(name, place_of(address), hash_token(device_token) if device_token else None)


def place_of(address: IpAddress | None) -> str:
    """Return the network that attempts from an address count for."""
    if isinstance(address, IPv6Address):
        return str(ip_network((address, IPV6_PREFIX_BITS), strict=False))
    return "unknown" if address is None else str(address)


def admit(tx: Tx, attempt: SignInAttempt, now: Instant) -> Admission:
    """Count an attempt, as if it had failed, and find its user; or say until when it has to wait.

    On a trusted device only its own failures count, so that nobody else can make its user wait. Elsewhere, an
    attempt that has to wait for failures of other networks gets a reserved time, which nobody can put off.
    """
    found = users.get_by_name(tx, attempt.name)
    if found and attempt.device and sessions.is_trusted(tx, attempt.device, found.user.id, now):
        subject = _device_subject(attempt.device, attempt.name)
        if sign_in_attempts.count(tx, subject, now) <= MAX_FAILURES_OF_DEVICE:
            return Admission(found, None, [subject])
        sessions.delete_device(tx, attempt.device, found.user.id)
    subjects = _subjects(attempt)
    blocked_until, used_up = sign_in_attempts.acquire(tx, subjects, now)
    if blocked_until is not None:
        blocked_until, used_up = _wait_for_turn(tx, attempt, subjects, now)
    return Admission(found, blocked_until, subjects, used_up)


def record_success(tx: Tx, attempt: SignInAttempt, admission: Admission, device: bytes, now: Instant) -> None:
    """Take back what an attempt was counted for, and trust its browser under a new token."""
    assert admission.found is not None
    take_back(tx, admission)
    sessions.trust(tx, device, attempt.device, admission.found.user.id, now + DEVICE_LIFETIME_MS)


def take_back(tx: Tx, admission: Admission) -> None:
    """Take back what an attempt was counted for: it has succeeded."""
    sign_in_attempts.release(tx, admission.subjects)
    sign_in_attempts.clear(tx, admission.subjects[0])


def record_failure(tx: Tx, attempt: SignInAttempt, admission: Admission, now: Instant) -> RecordedFailure:
    """Record a failed attempt and the delays that it starts in the audit log."""
    account_id, name, name_hash = None, "", None
    if admission.found:
        user = admission.found.user
        account_id, name, name_hash = user.account_id, user.name, hash_token(user.name)

    failure = _record(tx, "session.failed", name, account_id, name_hash, [name, attempt.place], now)
    if any(one.name_hash for one in admission.used_up) and name:
        _record(tx, "session.throttled", name, account_id, name_hash, [name, attempt.place], now)
    if any(one.name_hash is None for one in admission.used_up):
        _record(tx, "session.throttled", "", None, None, [attempt.place], now)
    return failure


def record_failure_without_name(tx: Tx, way: str, place: str, now: Instant) -> RecordedFailure:
    """Record a failed attempt in the audit log that was made in another way than with a name and a password."""
    return _record(tx, "session.failed", f"\n{way}", None, None, [way, place], now)


def list_delayed(tx: Tx, names: Iterable[str], now: Instant) -> set[str]:
    """Return those user names that may have to wait because of failed sign-ins."""
    hashes = {hash_token(name): name for name in names}
    found = sign_in_attempts.list_failing(tx, hashes, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS, now)
    return {hashes[each] for each in found}


def lift(tx: Tx, name: str) -> bool:
    """Forget the failed sign-ins of a user; return whether there were any."""
    return sign_in_attempts.clear_name(tx, hash_token(name))


def _record(
    tx: Tx,
    action: str,
    series: str,
    account_id: int | None,
    name_hash: bytes | None,
    words: Sequence[str],
    now: Instant,
) -> RecordedFailure:
    """Record something in the audit log, with how often it has happened.

    A flood of failures does not fill it: of the failures of a name only the 1st, 2nd, 5th, 10th, 20th … are
    recorded. Those of all names that no user has count together, and the names are not stored: people type
    passwords there.
    """
    subject = Subject(hash_token(f"audit\n{action}\n{series}"), _UNLIMITED, 0, name_hash)
    failures = sign_in_attempts.count(tx, subject, now)
    if is_recorded := _is_milestone(failures):
        target = " ".join([*filter(None, words), f"({failures})"])
        audit_log.add(tx, AuditEntry(now, None, SIGN_IN_NAME, account_id, action, target))
    return RecordedFailure(failures, is_recorded)


def _is_milestone(count: int) -> bool:
    """Return whether a number is 1, 2 or 5, or one of these with zeros."""
    return str(count).rstrip("0") in ("1", "2", "5")


def _subjects(attempt: SignInAttempt) -> list[Subject]:
    """Return what a failed attempt counts against; name and address together come first."""
    name, place, _ = attempt
    name_hash = hash_token(name)
    both, alone, address = (hash_token(word) for word in (f"both\n{name}\n{place}", f"name\n{name}", place))
    return [
        Subject(both, FREE_ATTEMPTS_PER_NAME_AND_ADDRESS, MAX_DELAY_MS, name_hash),
        Subject(alone, FREE_ATTEMPTS_PER_NAME, MAX_DELAY_PER_NAME_MS, name_hash),
        Subject(address, FREE_ATTEMPTS_PER_ADDRESS, MAX_DELAY_MS),
    ]


def _wait_for_turn(tx: Tx, attempt: SignInAttempt, subjects: Sequence[Subject], now: Instant) -> Acquired:
    """Admit an attempt that has waited long enough for failures of its name elsewhere, or say until when it waits.

    Each network has one reserved time for a name: at the end of the delay of the name, as it was when the network
    tried first. Failures of others after that do not put it off; those of the network itself still count.
    """
    both, alone, address = subjects
    own = [both, alone._replace(free=_UNLIMITED), address]
    own_until = sign_in_attempts.find_delay(tx, own, now)
    name_until = sign_in_attempts.find_delay(tx, [alone], now)
    if name_until is None:
        return Acquired(own_until)
    reservation = Subject(hash_token(f"turn\n{attempt.name}\n{attempt.place}"), _UNLIMITED, 0, alone.name_hash)
    reserved_at = sign_in_attempts.reserve(tx, reservation, name_until, now)
    if own_until is not None or reserved_at > now:
        return Acquired(max(reserved_at, own_until or reserved_at))
    if not sign_in_attempts.use_reservation(tx, reservation):  # another attempt of the network has just used it
        return Acquired(sign_in_attempts.reserve(tx, reservation, name_until, now))
    return sign_in_attempts.acquire(tx, own, now)


def _device_subject(device: bytes, name: str) -> Subject:
    return Subject(hash_token(f"device\n{device.hex()}\n{name}"), _UNLIMITED, 0, hash_token(name))
