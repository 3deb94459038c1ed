"""Signs users in through an OpenID Connect provider, and links them to who they are there.

An identity is the provider's issuer and its subject. Nothing else of a token is read: an e-mail address, which
providers let people choose, never finds a user.
"""

import logging
from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.dates import Instant
from pabal.domain.people.user import User
from pabal.openid import flow as flows
from pabal.openid.flow import FLOW_LIFETIME_MS, Flow, Purpose
from pabal.openid.provider import CodeRejected, OpenIdProvider, OpenIdUnavailable, TokenRejected
from pabal.service.access.users import sign_in, sign_in_delays, team
from pabal.service.access.users.sign_in import NewSession, SignInSource, new_secret
from pabal.service.access.users.sign_in_delays import DEVICE_LIFETIME_MS, hash_token
from pabal.service.context import Context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import openid_identities, sessions, users
from pabal.store.users.openid_identities import Identity

WAY = "OpenID Connect"
"""How the audit log names this way to sign in."""
MAX_CODE_CHARACTERS = 8192
CANCELLED = "access_denied"
START_AGAIN = Text(
    "로그인 요청이 만료되었거나 이 브라우저에서 시작하지 않았거나 이미 쓰였습니다. 처음부터 다시 시도하세요.",
    "This sign-in took too long, was not started in this browser, or was used already. Start again.",
)
WAS_CANCELLED = Text("로그인을 취소했습니다. 다시 시도하세요.", "The sign-in was cancelled. Try again.")
NOT_ACCEPTED = Text(
    "로그인 서비스의 응답을 받아들일 수 없습니다. 다시 시도하고, 계속되면 운영자에게 알리세요.",
    "The answer of the sign-in service cannot be accepted. Try again, and tell your operator if it goes on.",
)
UNAVAILABLE = Text(
    "로그인 서비스에 연결할 수 없습니다. 잠시 뒤 다시 시도하고, 계속되면 운영자에게 알리세요.",
    "The sign-in service cannot be reached. Try again in a moment, and tell your operator if it goes on.",
)
NOT_LINKED = Text(
    "이 계정과 연결된 사용자가 없습니다. 비밀번호로 로그인한 뒤 ‘내 정보’에서 연결하거나, 계정 관리자에게 초대를 "
    "요청하세요.",
    "No user is linked to this identity. Sign in with your password and link it in your profile, or ask an owner "
    "of your account for an invitation.",
)
LINKED_ALREADY = Text(
    "이미 다른 사용자와 연결된 계정이거나, 이미 연결된 사용자입니다.",
    "This identity belongs to another user, or you are linked already.",
)
NEEDS_PASSWORD = Text(
    "연결을 해제하면 로그인할 방법이 없습니다. 계정 관리자에게 새 비밀번호를 먼저 요청하세요.",
    "You could not sign in any more. Ask an owner of your account for a password first.",
)
RETRY_AFTER_S = 30.0

log = logging.getLogger("pabal.sign_in")


class ProviderRedirect(NamedTuple):
    """Where to redirect a browser, and the cookie to set."""

    url: str
    cookie: str


class ProviderIdentity(NamedTuple):
    """A person whom the provider has identified, and the purpose of the sign-in; used once."""

    identity: Identity
    flow: Flow


class LinkState(NamedTuple):
    """How a user can sign in."""

    subject: str
    """The user's id at the provider; empty: not linked."""
    linked_at: Instant | None
    has_password: bool
    may_use_password: bool


async def begin(
    context: Context,
    purpose: Purpose,
    redirect_uri: str,
    *,
    next_path: str = "",
    invite: str = "",
    name: str = "",
    session_secret: str = "",
) -> ProviderRedirect:
    """Return where to send a browser, and its cookie.

    Raises Refused: NOT_FOUND without a provider, SERVICE_UNAVAILABLE if it cannot be reached.
    """
    provider = _provider(context)
    kept_path = next_path if len(next_path) <= flows.MAX_PATH_CHARACTERS else ""
    flow = Flow(new_secret(context.world), purpose, context.world.now(), kept_path, invite, name)
    try:
        url = await provider.authorization_url(flow, flow.state(session_secret), redirect_uri)
    except OpenIdUnavailable as error:
        raise _unavailable(error) from None
    return ProviderRedirect(url, flow.to_cookie())


async def finish(
    context: Context,
    flow: Flow | None,
    answer: Mapping[str, str],
    redirect_uri: str,
    source: SignInSource,
    session_secret: str = "",
) -> ProviderIdentity:
    """Return who has come back: the provider's answer belongs to this browser, and its token is verified.

    Raises Refused: NOT_FOUND without a provider, INVALID_STATE, FORBIDDEN, SERVICE_UNAVAILABLE.
    """
    provider, now = _provider(context), context.world.now()
    if flow is None or not flow.is_current(now):
        raise Refused(Code.INVALID_STATE, "", START_AGAIN)
    bound_to = session_secret if flow.purpose is Purpose.LINK else ""
    if not sign_in.secrets_equal(answer.get("state", ""), flow.state(bound_to)):
        raise Refused(Code.INVALID_STATE, "", START_AGAIN)
    code = answer.get("code", "")
    try:
        if not await provider.is_own_answer(answer.get("iss")):
            raise TokenRejected("the answer is of another issuer")
        if answer.get("error") == CANCELLED:
            raise Refused(Code.FORBIDDEN, "", WAS_CANCELLED)
        if not code or len(code) > MAX_CODE_CHARACTERS or "error" in answer:
            raise TokenRejected("the answer has no code")
        subject = await provider.identify(code, flow, redirect_uri)
    except OpenIdUnavailable as error:
        raise _unavailable(error) from None
    except (CodeRejected, TokenRejected) as error:
        await _record_failure(context, source, str(error))
        raise Refused(Code.FORBIDDEN, "", NOT_ACCEPTED) from None
    return ProviderIdentity(Identity(provider.registration.issuer, subject), flow)


async def enter(context: Context, vouched: ProviderIdentity, source: SignInSource) -> NewSession:
    """Sign in the user who is linked to an identity.

    Raises Refused: INVALID_STATE for an answer that was used before, FORBIDDEN if there is no active user.
    """
    found = await context.store.write(_enter, vouched, *_new_session(context, source))
    if found is None:
        await _record_failure(context, source, "no active user is linked to this identity")
        raise Refused(Code.FORBIDDEN, "", NOT_LINKED)
    context.metrics.sign_ins.add(1, "success")
    return found


async def join(context: Context, vouched: ProviderIdentity, source: SignInSource) -> NewSession:
    """Accept an invitation: create its user, without a password and linked to an identity, and sign in.

    Raises Refused: INVALID_STATE, INVALID_PARAMETER, DUPLICATE where the name or the identity is taken.
    """
    signed = await context.store.write(_join, vouched, *_new_session(context, source))
    context.metrics.sign_ins.add(1, "success")
    return signed


def link(tx: Tx, who: User, vouched: ProviderIdentity, audit_entry: AuditEntry) -> None:
    """Link a user who is signed in to an identity.

    Raises Refused: INVALID_STATE for an answer that was used before, DUPLICATE.
    """
    _use_once(tx, vouched, audit_entry.created_at)
    if not openid_identities.add(tx, vouched.identity, who.id, audit_entry.created_at):
        raise Refused(Code.DUPLICATE, "openid", LINKED_ALREADY)
    audit_log.add(tx, audit_entry)


async def unlink(context: Context, who: User, audit_entry: AuditEntry) -> None:
    """Unlink a user from the identity; without a link, nothing happens.

    Raises Refused(INVALID_STATE) for a user who could not sign in any more.
    """
    if not (await get_state(context, who)).may_use_password:
        raise Refused(Code.INVALID_STATE, "openid_password", NEEDS_PASSWORD)
    await context.store.write(_unlink, who, audit_entry)


async def get_state(context: Context, who: User) -> LinkState:
    """Return how a user can sign in."""
    issuer = context.openid.registration.issuer if context.openid else ""
    linked, has_password = await context.store.read(_read_state, who, issuer)
    return LinkState(
        linked.identity.subject if linked else "",
        linked.linked_at if linked else None,
        has_password,
        has_password and sign_in.may_use_password(context, who),
    )


def _provider(context: Context) -> OpenIdProvider:
    return require(context.openid)


async def _record_failure(context: Context, source: SignInSource, reason: str) -> None:
    context.metrics.sign_ins.add(1, "failure")
    place, now = sign_in_delays.place_of(source.address), context.world.now()
    failure = await context.store.write(sign_in_delays.record_failure_without_name, WAY, place, now)
    if failure.is_recorded:
        extra = {"error": reason, "recent_failures": failure.failures}
        log.warning("sign-in by OpenID Connect failed; see the audit log", extra=extra)


def _unavailable(error: OpenIdUnavailable) -> Refused:
    log.warning("the OpenID Connect provider is unavailable; see `pabal doctor`", extra={"error": str(error)})
    return Refused(Code.SERVICE_UNAVAILABLE, "", UNAVAILABLE, RETRY_AFTER_S)


class _NewTokens(NamedTuple):
    """The tokens of a session that may begin."""

    token: str
    device_token: str
    csrf: str
    source: SignInSource


def _new_session(context: Context, source: SignInSource) -> tuple[_NewTokens, Instant]:
    world = context.world
    return _NewTokens(new_secret(world), new_secret(world), new_secret(world), source), world.now()


def _enter(tx: Tx, vouched: ProviderIdentity, tokens: _NewTokens, now: Instant) -> NewSession | None:
    _use_once(tx, vouched, now)
    who = openid_identities.find_user(tx, vouched.identity)
    return _begin(tx, who, tokens, now) if who and who.is_active else None


def _join(tx: Tx, vouched: ProviderIdentity, tokens: _NewTokens, now: Instant) -> NewSession:
    _use_once(tx, vouched, now)
    flow = vouched.flow
    who = team.accept(tx, hash_token(flow.invite), flow.name, None, now)
    if not openid_identities.add(tx, vouched.identity, who.id, now):
        raise Refused(Code.DUPLICATE, "openid", LINKED_ALREADY)
    audit_log.add(tx, AuditEntry(now, who.id, who.name, who.account_id, "openid.link", who.name))
    return _begin(tx, who, tokens, now)


def _unlink(tx: Tx, who: User, audit_entry: AuditEntry) -> None:
    if openid_identities.delete_all_by_user(tx, who.id):
        audit_log.add(tx, audit_entry)


def _use_once(tx: Tx, vouched: ProviderIdentity, now: Instant) -> None:
    if not openid_identities.use_answer(tx, hash_token(vouched.flow.nonce), now + FLOW_LIFETIME_MS):
        raise Refused(Code.INVALID_STATE, "", START_AGAIN)


def _begin(tx: Tx, who: User, tokens: _NewTokens, now: Instant) -> NewSession:
    new, source = NewSession(tokens.token, tokens.device_token, who), tokens.source
    former = hash_token(source.device_token) if source.device_token else None
    sessions.trust(tx, hash_token(new.device_token), former, who.id, now + DEVICE_LIFETIME_MS)
    sign_in.add_session(tx, new, tokens.csrf, source.browser, now, WAY)
    return new


def _read_state(tx: Tx, who: User, issuer: str) -> tuple[openid_identities.LinkedIdentity | None, bool]:
    found = users.get_by_name(tx, who.name)
    has_password = found is not None and found.hash is not None
    return openid_identities.get(tx, who.id, issuer) if issuer else None, has_password
