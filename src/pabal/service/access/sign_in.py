"""Signs users in and out of the console, and finds their sessions."""

import hmac
import logging
from typing import NamedTuple

from pabal.domain import user
from pabal.domain.codes import Code, Refused
from pabal.domain.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.user import User
from pabal.service.access import passwords, throttle
from pabal.service.access.passwords import WorkerThreads
from pabal.service.access.throttle import Admission, IpAddress, SignInAttempt, hash_token
from pabal.service.context import Context
from pabal.store import accounts, audit_log, sessions, users
from pabal.store.accounts import Account
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.sessions import ConsoleSession as ConsoleSession  # for pages, which do not import the store
from pabal.world import World

SECRET_BITS = 256
SESSION_LIFETIME_MS = 12 * HOUR
IDLE_TIMEOUT_MS = 2 * HOUR
TOUCH_INTERVAL_MS = 1 * MINUTE
"""Minimum time between updates of a session's last use."""

log = logging.getLogger("pabal.sign_in")


class NewSession(NamedTuple):
    """The session token and the device token for the browser, and the user."""

    token: str
    device_token: str
    user: User


def new_secret(world: World) -> str:
    """Return a new unpredictable secret."""
    return f"{world.random_bits(SECRET_BITS):0{SECRET_BITS // 4}x}"


async def sign_in(
    context: Context,
    hashing_threads: WorkerThreads,
    spelling: str,
    password: str,
    address: IpAddress | None,
    device_token: str | None = None,
) -> NewSession | None:
    """Start a session and return it, None where the name or password is wrong.

    Unknown names, wrong passwords and disabled users get the same result, in the same time. `device_token` is that
    of an earlier sign-in: failures elsewhere do not count against its user.
    Raises Refused(RATE_LIMITED) while further attempts have to wait after too many failed ones.
    """
    world, metrics = context.world, context.metrics
    attempt = throttle.attempt_of(_parse_name(spelling), address, device_token)
    admission = await context.store.write(throttle.admit, attempt, world.now())
    if admission.blocked_until is not None:
        metrics.sign_ins.add(1, "throttled")
        raise Refused(Code.RATE_LIMITED, retry_after_s=(admission.blocked_until - world.now()) / SECOND)
    found = admission.found
    is_right = await hashing_threads.run(passwords.verify, found.hash if found else None, password)
    if found is not None and is_right and found.user.is_active:
        new = NewSession(new_secret(world), new_secret(world), found.user)
        if await context.store.write(_begin, new, new_secret(world), attempt, admission, world.now()):
            metrics.sign_ins.add(1, "success")
            return new
    metrics.sign_ins.add(1, "failure")
    failure = await context.store.write(throttle.record_failure, attempt, admission, world.now())
    if failure.is_recorded:
        user_id = found.user.id if found else None
        log.warning(
            "sign-in failed; see the audit log", extra={"user_id": user_id, "recent_failures": failure.failures}
        )
    return None


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


async def switch_account(context: Context, token: str, session: ConsoleSession, account_id: int | None) -> bool:
    """Switch an operator's session to another account, or to none; say whether the account exists."""
    return await context.store.write(
        _switch_account, hash_token(token), session.user, account_id, context.world.now()
    )


async def list_accounts(context: Context) -> list[Account]:
    """Return all accounts, for an operator to choose from."""
    return await context.store.read(accounts.list_accounts)


def secrets_equal(given: str, expected: str) -> bool:
    """Say whether two secrets are equal, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


def _begin(tx: Tx, new: NewSession, csrf: str, attempt: SignInAttempt, admission: Admission, now: Instant) -> bool:
    """Start a session, unless the user changed while the password was verified."""
    who = new.user
    if users.get_by_name(tx, who.name) != admission.found:
        return False
    throttle.record_success(tx, attempt, admission, hash_token(new.device_token), now)
    sessions.add(tx, hash_token(new.token), who.id, who.account_id, csrf, now, now + SESSION_LIFETIME_MS)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "session.begin"))
    return True


def _end(tx: Tx, hash: bytes, who: User, now: Instant) -> None:
    sessions.delete(tx, hash)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "session.end"))


def _switch_account(tx: Tx, hash: bytes, who: User, account_id: int | None, now: Instant) -> bool:
    if account_id is not None and not any(each.id == account_id for each in accounts.list_accounts(tx)):
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
