"""Signs users in and out of the console, and finds their sessions."""

import hmac
import logging
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.people import user
from pabal.domain.people.user import Role, User
from pabal.service.access.users import passwords, sign_in_delays
from pabal.service.access.users.passwords import WorkerThreads
from pabal.service.access.users.sign_in_delays import Admission, IpAddress, SignInAttempt, hash_token
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.accounts import Account
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import second_factors, sessions, users
from pabal.store.users.sessions import ConsoleSession as ConsoleSession  # for pages, which do not import the store
from pabal.store.users.users import Credentials
from pabal.world import World, random_hex

SECRET_DIGITS = 64
SESSION_LIFETIME_MS = 12 * HOUR
IDLE_TIMEOUT_MS = 2 * HOUR
CODE_TIMEOUT_MS = 10 * MINUTE
"""How long after the password the code of the second factor may come."""
TOUCH_INTERVAL_MS = 1 * MINUTE
"""Minimum time between updates of a session's last use."""

log = logging.getLogger("pabal.sign_in")


class SignInSource(NamedTuple):
    """Where a sign-in comes from: address, device token of an earlier sign-in, kind of browser."""

    address: IpAddress | None
    device_token: str | None = None
    browser: str = ""


class CodeNeeded(NamedTuple):
    """The password was right, and the user has a second factor: the token to go on with, and a code."""

    token: str


class NewSession(NamedTuple):
    """The session token and the device token for the browser, and the user."""

    token: str
    device_token: str
    user: User


def new_secret(world: World) -> str:
    """Return a new unpredictable secret."""
    return random_hex(world, SECRET_DIGITS)


async def sign_in(
    context: Context,
    hashing_threads: WorkerThreads,
    spelling: str,
    password: str,
    source: SignInSource,
) -> NewSession | CodeNeeded | None:
    """Start a session and return it, or that a code is needed; None where the name or password is wrong.

    Unknown names, wrong passwords, disabled users and those who may not use a password get the same result, in the
    same time. On a device of an earlier sign-in, failures elsewhere do not count against its user.
    Raises Refused(RATE_LIMITED) while further attempts have to wait after too many failed ones.
    """
    world = context.world
    attempt = sign_in_delays.attempt_of(_parse_name(spelling), source.address, source.device_token)
    admission = await admit(context, attempt)
    found = admission.found
    is_right = await hashing_threads.run(passwords.verify, found.hash if found else None, password)
    if found is not None and is_right and found.user.is_active and may_use_password(context, found.user):
        if await context.store.read(second_factors.list_enabled, [found.user.id]):
            return await _ask_for_code(context, found)
        new = NewSession(new_secret(world), new_secret(world), found.user)
        begin = SessionStart(new, new_secret(world), source.browser, attempt, admission)
        if await context.store.write(begin_session, begin, world.now()):
            context.metrics.sign_ins.add(1, "success")
            return new
    await record_failure(context, attempt, admission)
    return None


def may_use_password(context: Context, who: User) -> bool:
    """Return whether a user may sign in with a password, and not only through the OpenID Connect provider."""
    only = context.policy.break_glass_operator
    return not only or (who.name == only and who.role is Role.OPERATOR)


async def verify_password(
    context: Context, hashing_threads: WorkerThreads, who: User, password: str, source: SignInSource
) -> bool:
    """Return whether this is the password of a user who is signed in; a wrong one counts as a failed sign-in.

    Raises Refused(RATE_LIMITED).
    """
    attempt = sign_in_delays.attempt_of(who.name, source.address, source.device_token)
    admission = await admit(context, attempt)
    found = admission.found
    if await hashing_threads.run(passwords.verify, found.hash if found else None, password):
        await context.store.write(sign_in_delays.take_back, admission)
        return True
    await record_failure(context, attempt, admission)
    return False


async def admit(context: Context, attempt: SignInAttempt) -> Admission:
    """Count an attempt to sign in, as if it had failed.

    Raises Refused(RATE_LIMITED) while it has to wait.
    """
    admission = await context.store.write(sign_in_delays.admit, attempt, context.world.now())
    if admission.blocked_until is not None:
        context.metrics.sign_ins.add(1, "throttled")
        wait_s = (admission.blocked_until - context.world.now()) / SECOND
        raise Refused(Code.RATE_LIMITED, retry_after_s=wait_s)
    return admission


async def record_failure(context: Context, attempt: SignInAttempt, admission: Admission) -> None:
    """Record an attempt to sign in that has failed."""
    context.metrics.sign_ins.add(1, "failure")
    failure = await context.store.write(sign_in_delays.record_failure, attempt, admission, context.world.now())
    if failure.is_recorded:
        user_id = admission.found.user.id if admission.found else None
        log.warning(
            "sign-in failed; see the audit log", extra={"user_id": user_id, "recent_failures": failure.failures}
        )


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
    """Switch an operator's session to another account, or to none; return whether the account exists."""
    return await context.store.write(
        _switch_account, hash_token(token), session.user, account_id, context.world.now()
    )


async def list_accounts(context: Context) -> list[Account]:
    """Return all accounts, for an operator to choose from."""
    return await context.store.read(accounts.list_accounts)


def secrets_equal(given: str, expected: str) -> bool:
    """Return whether two secrets are equal, in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode())


class SessionStart(NamedTuple):
    """A session to start, and the attempt that was right."""

    new: NewSession
    csrf: str
    browser: str
    attempt: SignInAttempt
    admission: Admission


def begin_session(tx: Tx, start: SessionStart, now: Instant) -> bool:
    """Start a session, unless the user changed while the password was verified."""
    new, csrf, browser, attempt, admission = start
    who = new.user
    if users.get_by_name(tx, who.name) != admission.found:
        return False
    sign_in_delays.record_success(tx, attempt, admission, hash_token(new.device_token), now)
    add_session(tx, new, csrf, browser, now)
    return True


def add_session(tx: Tx, new: NewSession, csrf: str, browser: str, now: Instant, way: str = "") -> None:
    """Add a session, with its audit entry; `way` says how its user signed in, if not with a password."""
    who, expires_at = new.user, now + SESSION_LIFETIME_MS
    sessions.add(tx, hash_token(new.token), who.id, who.account_id, csrf, now, expires_at, browser)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "session.begin", way))


async def _ask_for_code(context: Context, found: Credentials) -> CodeNeeded:
    """Have a sign-in with the right password wait for a code; what it was counted for stays until then."""
    token, expires_at = new_secret(context.world), context.world.now() + CODE_TIMEOUT_MS
    await context.store.write(sessions.add_pending, hash_token(token), found.user.id, expires_at)
    return CodeNeeded(token)


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
