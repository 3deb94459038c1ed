"""Two-factor sign-in: sets it up, takes codes of an app and recovery codes, and takes it away."""

import logging
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.dates import Instant
from pabal.domain.people import totp
from pabal.domain.people.user import User
from pabal.service.access.users import sign_in, sign_in_delays
from pabal.service.access.users.sign_in import NewSession, SessionStart, SignInSource, new_secret
from pabal.service.access.users.sign_in_delays import Admission, hash_token
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import second_factors, sessions, sign_in_attempts
from pabal.store.users.second_factors import SecondFactor
from pabal.store.users.sessions import PendingSignIn
from pabal.webhooks.secrets import UnreadableSecret
from pabal.world import random_bytes

MAX_WRONG_CODES = 5
"""After this many wrong codes, the password has to be entered again."""
SIGN_IN_AGAIN = Text(
    "인증 시간이 지났거나 코드를 여러 번 틀렸습니다. 처음부터 다시 로그인하세요.",
    "It took too long, or too many codes were wrong. Sign in again from the start.",
)
WRONG_CODE = Text(
    "인증 코드가 올바르지 않습니다. 앱에 지금 표시된 코드를 입력하세요. 한 번 쓴 코드는 다시 쓸 수 없습니다.",
    "Wrong code. Enter the code that the app shows now; each works only once.",
)
ENABLED_ALREADY = Text("2단계 인증을 이미 사용하고 있습니다.", "Two-factor sign-in is on already.")

log = logging.getLogger("pabal.sign_in")


class FactorState(NamedTuple):
    """Whether a user's sign-in has two factors, since when, and how many recovery codes are left."""

    enabled_at: Instant | None
    recovery_codes: int


class _CodeUse(NamedTuple):
    """A code that was typed: its period, None if it is none of the app, and its hash as a recovery code."""

    step: int | None
    recovery_hash: bytes


def get_state(tx: Tx, user_id: int) -> FactorState:
    """Return the state of a user's second factor."""
    found = second_factors.get(tx, user_id)
    return FactorState(found.enabled_at if found else None, second_factors.count_recovery_codes(tx, user_id))


async def begin(context: Context, who: User) -> bytes:
    """Return a new secret for the user's app; it counts once `confirm` has seen a code of it.

    Raises Refused(INVALID_STATE) for a user who has a second factor.
    """
    secret = random_bytes(context.world, totp.SECRET_BYTES)
    sealed = context.secrets.seal(secret, secret_context(who.id))
    if not await context.store.write(second_factors.propose, who.id, sealed):
        raise Refused(Code.INVALID_STATE, "", ENABLED_ALREADY)
    return secret


async def get_proposed(context: Context, who: User) -> bytes | None:
    """Return the secret that waits for its first code; None: there is none."""
    found = await context.store.read(second_factors.get, who.id)
    return _open(context, found) if found and found.enabled_at is None else None


async def confirm(context: Context, who: User, code: str, audit_entry: AuditEntry) -> list[str]:
    """Have the user's sign-in need a code from now on; return the recovery codes, which are shown only here.

    Raises Refused: INVALID_PARAMETER for a wrong code, INVALID_STATE where no secret waits for one.
    """
    found = await context.store.read(second_factors.get, who.id)
    secret = _open(context, found) if found and found.enabled_at is None else None
    if found is None or secret is None:
        raise Refused(Code.INVALID_STATE, "", SIGN_IN_AGAIN if found is None else ENABLED_ALREADY)
    step = require(totp.find_step(secret, code, context.world.now()), Code.INVALID_PARAMETER, "code", WRONG_CODE)
    codes = _new_codes(context)
    hashes = [totp.hash_recovery_code(who.id, each) for each in codes]
    if not await context.store.write(_enable, found, step, hashes, audit_entry):
        raise Refused(Code.INVALID_STATE, "", ENABLED_ALREADY)
    return codes


async def renew_codes(context: Context, who: User, audit_entry: AuditEntry) -> list[str]:
    """Return new recovery codes, in place of those before.

    Raises Refused(INVALID_STATE) for a user without a second factor.
    """
    codes = _new_codes(context)
    hashes = [totp.hash_recovery_code(who.id, each) for each in codes]
    await context.store.write(_renew, who.id, hashes, audit_entry)
    return codes


async def verify_code(context: Context, who: User, code: str, source: SignInSource) -> bool:
    """Use a code of the app, or a recovery code, of a signed-in user; a wrong one counts as a failed sign-in.

    Raises Refused(RATE_LIMITED).
    """
    attempt = sign_in_delays.attempt_of(who.name, source.address, source.device_token)
    admission = await sign_in.admit(context, attempt)
    use = await _read_code(context, who, code)
    if await context.store.write(_use_code, who.id, use) is not None:
        await context.store.write(sign_in_delays.take_back, admission)
        return True
    await sign_in.record_failure(context, attempt, admission)
    return False


async def find_pending(context: Context, token: str) -> User:
    """Return who has entered the right password and is asked for a code.

    Raises Refused(INVALID_STATE) where that is unknown, too long ago, or has failed too often.
    """
    return (await _find_pending(context, token)).user


async def sign_in_with_code(context: Context, token: str, code: str, source: SignInSource) -> NewSession | None:
    """Go on with a sign-in whose password was right; None for a wrong code. It counts as a failed sign-in.

    Raises Refused: INVALID_STATE as `find_pending` does, RATE_LIMITED.
    """
    pending = await _find_pending(context, token)
    who = pending.user
    attempt = sign_in_delays.attempt_of(who.name, source.address, source.device_token)
    admission = await sign_in.admit(context, attempt)
    new = NewSession(new_secret(context.world), new_secret(context.world), who)
    start = SessionStart(new, new_secret(context.world), source.browser, attempt, admission)
    use = await _read_code(context, who, code)
    if await context.store.write(_complete, hash_token(token), start, use, context.world.now()):
        context.metrics.sign_ins.add(1, "success")
        return new
    await context.store.write(sessions.count_pending_failure, hash_token(token))
    await sign_in.record_failure(context, attempt, admission)
    return None


def delete_factor(tx: Tx, user_id: int, audit_entry: AuditEntry) -> bool:
    """Delete a user's second factor, with an audit entry if it was in use; return whether it was."""
    is_deleted = second_factors.delete(tx, user_id)
    if is_deleted:
        audit_log.add(tx, audit_entry)
    return is_deleted


def secret_context(user_id: int) -> str:
    """Return the context of a user's secret, so that it decrypts in that user's row only."""
    return f"second factor {user_id}"


def _new_codes(context: Context) -> list[str]:
    return [
        totp.spell_recovery_code(random_bytes(context.world, totp.RECOVERY_CODE_BYTES))
        for _ in range(totp.RECOVERY_CODES)
    ]


def _open(context: Context, factor: SecondFactor) -> bytes | None:
    """Return a secret, None if no key that is set can decrypt it: recovery codes still work then."""
    try:
        return context.secrets.open(factor.secret, secret_context(factor.user_id))
    except UnreadableSecret as unreadable:
        log.error(
            "secret of a two-factor sign-in cannot be read; see `pabal doctor`",
            extra={"user_id": factor.user_id, "error": str(unreadable)},
        )
        return None


async def _find_pending(context: Context, token: str) -> PendingSignIn:
    found = await context.store.read(sessions.get_pending, hash_token(token))
    if found is None or context.world.now() >= found.expires_at or found.failures >= MAX_WRONG_CODES:
        raise Refused(Code.INVALID_STATE, "", SIGN_IN_AGAIN)
    if not found.user.is_active:
        raise Refused(Code.INVALID_STATE, "", SIGN_IN_AGAIN)
    return found


async def _read_code(context: Context, who: User, code: str) -> _CodeUse:
    factor = await context.store.read(second_factors.get, who.id)
    secret = _open(context, factor) if factor else None
    step = totp.find_step(secret, code, context.world.now()) if secret else None
    return _CodeUse(step, totp.hash_recovery_code(who.id, code))


def _enable(tx: Tx, factor: SecondFactor, step: int, hashes: list[bytes], audit_entry: AuditEntry) -> bool:
    if second_factors.get(tx, factor.user_id) != factor:
        return False
    second_factors.enable(tx, factor.user_id, step, audit_entry.created_at)
    second_factors.set_recovery_codes(tx, factor.user_id, hashes)
    audit_log.add(tx, audit_entry)
    return True


def _renew(tx: Tx, user_id: int, hashes: list[bytes], audit_entry: AuditEntry) -> None:
    if not second_factors.list_enabled(tx, [user_id]):
        raise Refused(Code.INVALID_STATE)
    second_factors.set_recovery_codes(tx, user_id, hashes)
    audit_log.add(tx, audit_entry)


def _complete(tx: Tx, pending: bytes, start: SessionStart, use: _CodeUse, now: Instant) -> bool:
    """Start the session if the code is right and was not used before; the first step's count is taken back too."""
    who = start.new.user
    is_of_app = _use_code(tx, who.id, use)
    if is_of_app is None:
        return False
    if not sessions.delete_pending(tx, pending) or not sign_in.begin_session(tx, start, now):
        raise Refused(Code.INVALID_STATE, "", SIGN_IN_AGAIN)  # undoes the use of the code
    _release_first_step(tx, start.admission)
    if not is_of_app:
        audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "two_factor.recovery"))
    return True


def _use_code(tx: Tx, user_id: int, use: _CodeUse) -> bool | None:
    """Use a code, once; return whether it is one of the app, None if it is wrong."""
    if use.step is not None and second_factors.use_step(tx, user_id, use.step):
        return True
    return False if second_factors.use_recovery_code(tx, user_id, use.recovery_hash) else None


def _release_first_step(tx: Tx, admission: Admission) -> None:
    sign_in_attempts.release(tx, admission.subjects)
