"""Signs users in and out of the console, and finds their sessions."""

import hashlib
import hmac
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import NamedTuple

from pabal.domain import user
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.user import Role, User
from pabal.service.access import passwords
from pabal.service.access.passwords import WorkerThreads
from pabal.service.context import Context
from pabal.store import accounts, audit_log, sessions, sign_in_attempts, users
from pabal.store.accounts import Account
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.sessions import ConsoleSession as ConsoleSession  # for pages, which do not import the store
from pabal.store.sign_in_attempts import Subject
from pabal.world import World

IpAddress = IPv4Address | IPv6Address

SECRET_BITS = 256
SESSION_LIFETIME_MS = 12 * HOUR
IDLE_TIMEOUT_MS = 2 * HOUR
TOUCH_INTERVAL_MS = 1 * MINUTE
"""Minimum time between updates of a session's last use."""

ATTEMPT_WINDOW_MS = 15 * MINUTE
MAX_ATTEMPTS_PER_NAME_AND_ADDRESS = 5
MAX_ATTEMPTS_PER_NAME = 50
MAX_ATTEMPTS_PER_ADDRESS = 50
"""Failed sign-ins in a window before more are refused."""
IPV6_PREFIX_BITS = 64
"""Attempts are counted per IPv6 network, since one user has a whole network of addresses."""


class NewSession(NamedTuple):
    """The session token for the browser, and its user."""

    token: str
    user: User


def new_secret(world: World) -> str:
    """Return a new unpredictable secret."""
    return f"{world.random_bits(SECRET_BITS):0{SECRET_BITS // 4}x}"


def hash_token(token: str) -> bytes:
    """Return the stored hash of a token; it has 256 random bits, so one round of SHA-256 is enough."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


async def sign_in(
    context: Context, hashing_threads: WorkerThreads, spelling: str, password: str, address: IpAddress | None
) -> NewSession | None:
    """Start a session and return it, None where the name or password is wrong.

    Unknown names, wrong passwords and disabled users get the same result, in the same time.
    Raises Refused(RATE_LIMITED) after too many failed attempts.
    """
    name = _parse_name(spelling)
    subjects = _subjects(name, address)
    until = await context.store.write(sign_in_attempts.acquire, subjects, ATTEMPT_WINDOW_MS, context.world.now())
    if until is not None:
        raise Refused(Code.RATE_LIMITED, retry_after_s=(until - context.world.now()) / SECOND)
    found = await context.store.read(users.get_by_name, name)
    is_right = await hashing_threads.run(passwords.verify, found.hash if found else None, password)
    if found is None or not is_right or not found.user.is_active:
        return None
    token, csrf = new_secret(context.world), new_secret(context.world)
    begun = await context.store.write(_begin, found, hash_token(token), csrf, subjects, context.world.now())
    return NewSession(token, found.user) if begun else None


async def find_session(context: Context, token: str | None, *, is_activity: bool = True) -> ConsoleSession | None:
    """Return the session of a token, None where it is unknown or expired.

    Automatic refreshes of a page are no activity, and do not keep the session alive.
    """
    if not token:
        return None
    now = context.world.now()
    hash = hash_token(token)
    found = await context.store.read(sessions.get, hash)
    if found is None or not found.user.is_active or not found.used_at - HOUR <= now < found.expires_at:
        return None
    if now >= found.used_at + IDLE_TIMEOUT_MS:
        return None
    if is_activity and now >= found.used_at + TOUCH_INTERVAL_MS:
        await context.store.write(sessions.touch, hash, now)
    return found


async def sign_out(context: Context, token: str, session: ConsoleSession) -> None:
    """End a session."""
    await context.store.write(_end, hash_token(token), session.user, context.world.now())


async def switch_account(context: Context, token: str, session: ConsoleSession, account_id: int) -> bool:
    """Switch an operator's session to another account; say whether the account exists."""
    return await context.store.write(
        _switch_account, hash_token(token), session.user, account_id, context.world.now()
    )


async def list_accounts(context: Context) -> list[Account]:
    """Return all accounts, for an operator to choose from."""
    return await context.store.read(accounts.list_accounts)


def secrets_equal(given: str, expected: str) -> bool:
    """Say whether two secrets are equal, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def _begin(tx: Tx, found: users.Credentials, hash: bytes, csrf: str, subjects: list[Subject], now: Instant) -> bool:
    """Start a session, unless the user changed while the password was verified."""
    who = found.user
    if users.get_by_name(tx, who.name) != found:
        return False
    sign_in_attempts.release(tx, subjects)
    sign_in_attempts.clear(tx, subjects[0])
    first = who.account_id
    if who.role is Role.OPERATOR:
        first = next((each.id for each in accounts.list_accounts(tx)), None)
    sessions.add(tx, hash, who.id, first, csrf, now, now + SESSION_LIFETIME_MS)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "session.begin"))
    return True


def _end(tx: Tx, hash: bytes, who: User, now: Instant) -> None:
    sessions.delete(tx, hash)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "session.end"))


def _switch_account(tx: Tx, hash: bytes, who: User, account_id: int, now: Instant) -> bool:
    if not any(each.id == account_id for each in accounts.list_accounts(tx)):
        return False
    sessions.switch_account(tx, hash, account_id)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, account_id, "session.account"))
    return True


def _parse_name(spelling: str) -> str:
    """Return the normalized name, or an empty one, which no user has, where it is invalid."""
    try:
        return user.parse_name(spelling)
    except Refused:
        return ""


def _subjects(name: str, address: IpAddress | None) -> list[Subject]:
    """Return what a failed attempt counts against; name and address together come first."""
    place = str(address)
    if isinstance(address, IPv6Address):
        place = str(ip_network((address, IPV6_PREFIX_BITS), strict=False))
    return [
        Subject(hash_token(f"both\n{name}\n{place}"), MAX_ATTEMPTS_PER_NAME_AND_ADDRESS),
        Subject(hash_token(f"name\n{name}"), MAX_ATTEMPTS_PER_NAME),
        Subject(hash_token(f"address\n{place}"), MAX_ATTEMPTS_PER_ADDRESS),
    ]
