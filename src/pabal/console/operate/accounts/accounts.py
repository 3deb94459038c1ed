"""The operators' pages of accounts and their users."""

from collections.abc import Mapping
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.form_fields import require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import Instant
from pabal.domain.users.user import ACCOUNT_ROLES, ROLE_BY_CODE, Role
from pabal.service.access.accounts import account_limits, administration
from pabal.service.access.accounts.accounts import MAX_NAME_CHARACTERS
from pabal.service.access.accounts.administration import Account, ApiKey
from pabal.service.access.keys.keys import DEFAULT_SCOPES, SCOPES
from pabal.service.access.sign_in import passwords
from pabal.world import new_password

ACCOUNTS_PATH = "/console/operate/accounts"
DISABLED, ENABLED = "disabled", "enabled"


class KeyRow(NamedTuple):
    """A key in the list."""

    id: int
    name: str
    scopes: list[str]
    networks: str
    rate: int
    created_at: str
    expires: str
    used: str
    """The last use; empty: none yet."""
    state: str
    """live, revoked or expired."""


async def create_account(request: PageRequest) -> Response:
    """Create an account."""
    try:
        account_id = await administration.create_account(request.context, request.field("name"), request.actor)
    except Refused as refused:
        return await list_accounts(request, refused)
    return request.redirect(f"{ACCOUNTS_PATH}/{account_id}")


async def show_account(request: PageRequest) -> Response:
    """Show an account's keys and users.

    Raises Refused(NOT_FOUND).
    """
    return await render_account(request, await find_account(request))


async def set_account_state(request: PageRequest) -> Response:
    """Disable an account or enable it again.

    Raises Refused(NOT_FOUND), also for any other state.
    """
    account = await find_account(request)
    is_disabled = _wants_disabled(request)
    await administration.set_account_disabled(request.context, account.id, is_disabled, request.actor)
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")


async def create_user(request: PageRequest) -> Response:
    """Create a user and show the password, once.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(request)
    typed = {"user": request.field("user"), "role": request.field("role")}
    password, password_hash = await _new_password(request)
    try:
        role = ROLE_BY_CODE.get(typed["role"])
        if role is None or role not in ACCOUNT_ROLES:
            raise Refused(Code.INVALID_PARAMETER, "role")
        name = await administration.create_user(
            request.context, account, typed["user"], role, password_hash, request.actor
        )
    except Refused as refused:
        problems = [
            each._replace(field="user" if each.field == "name" else each.field) for each in refused.problems
        ]
        return await render_account(request, account, user_fields=typed, refused=Refused.from_problems(problems))
    return _render_password(request, account, password, name)


async def set_user_state(request: PageRequest) -> Response:
    """Disable a user, or enable the user again.

    Raises Refused: NOT_FOUND, or INVALID_PARAMETER for one that the account does not have.
    """
    account = await find_account(request)
    await administration.set_user_disabled(
        request.context, account, request.field("user"), _wants_disabled(request), request.actor
    )
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")


async def reset_password(request: PageRequest) -> Response:
    """Give a user a new password and show it, once.

    Raises Refused: NOT_FOUND, or INVALID_PARAMETER for one that the account does not have.
    """
    account = await find_account(request)
    password, password_hash = await _new_password(request)
    user = await administration.reset_password(
        request.context, account, request.field("user"), password_hash, request.actor
    )
    return _render_password(request, account, password, user.name)


def _render_password(request: PageRequest, account: Account, password: str, name: str) -> Response:
    back = f"{ACCOUNTS_PATH}/{account.id}"
    return request.render(
        "operate/accounts/secret.html", account=account, back=back, secret=password, kind="password", name=name
    )


async def find_account(request: PageRequest) -> Account:
    """Return the account that the URL names.

    Raises Refused(NOT_FOUND).
    """
    return await administration.get_account(request.context, require_id(request.http.path_params["account"]))


async def render_account(
    request: PageRequest,
    account: Account,
    *,
    key_fields: Mapping[str, str] | None = None,
    user_fields: Mapping[str, str] | None = None,
    limit_fields: Mapping[str, str] | None = None,
    refused: Refused | None = None,
) -> Response:
    """Answer with an account's page; after a refusal, with the fields as typed and the errors."""
    keys, users = await administration.get_members(request.context, account.id)
    return request.render(
        "operate/accounts/account.html",
        refused.code.http_status if refused else 200,
        account=account,
        keys=[key_row(request, each) for each in reversed(keys)],
        newest_key=keys[-1].id if keys else 0,
        may_create=True,
        users=users,
        key=key_fields or blank_key(request.site.settings.key_rate),
        user=user_fields or {"user": "", "role": Role.SENDER.code},
        scopes=SCOPES,
        roles=ACCOUNT_ROLES,
        limit_use=await account_limits.get_use(request.context, account.id),
        limits=limit_fields or await _limit_fields(request, account.id),
        errors=request.errors_by_field(refused),
    )


async def _limit_fields(request: PageRequest, account_id: int) -> dict[str, str]:
    """Return the limits as the form shows them: nothing where there is none."""
    limits = await account_limits.get_limits(request.context, account_id)
    shown = {name: str(value) if value else "" for name, value in limits._asdict().items()}
    if limits.duplicate_minutes is not None:
        shown["duplicate_minutes"] = str(limits.duplicate_minutes)
    return shown


async def list_accounts(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show all accounts."""
    return request.render(
        "operate/accounts/accounts.html",
        refused.code.http_status if refused else 200,
        accounts=await administration.list_accounts(request.context),
        typed=request.field("name") if refused else "",
        max_characters=MAX_NAME_CHARACTERS,
        errors=request.errors_by_field(refused),
    )


def _wants_disabled(request: PageRequest) -> bool:
    if request.field("to") not in (DISABLED, ENABLED):
        raise Refused(Code.NOT_FOUND)
    return request.field("to") == DISABLED


async def _new_password(request: PageRequest) -> tuple[str, str]:
    """Return a new password and its hash."""
    password = new_password(request.context.world)
    salt = passwords.new_salt(request.context.world)
    return password, await request.site.password_threads.run(passwords.hash_with_salt, password, salt)


def blank_key(rate: int) -> dict[str, str]:
    """Return the fields of the form of a new key as they begin."""
    scopes = {f"scope_{scope}": "1" if scope in DEFAULT_SCOPES else "" for scope in SCOPES}
    return {"name": "", "expires": "", "allow": "", "rate": str(rate), **scopes}


def key_row(request: PageRequest, key: ApiKey) -> KeyRow:
    """Return a key as the list shows it."""
    is_expired = key.expires_at is not None and key.expires_at <= request.now
    return KeyRow(
        id=key.id,
        name=key.name,
        scopes=sorted(key.scopes),
        networks=", ".join(map(str, key.allow)),
        rate=key.rate,
        created_at=request.time(key.created_at),
        expires=_last_day(request, key.expires_at) if key.expires_at is not None else "",
        used=request.minute(key.used_at),
        state="revoked" if key.revoked_at is not None else "expired" if is_expired else "live",
    )


def _last_day(request: PageRequest, end: Instant) -> str:
    """Return the last day that a key works on: it expires at the end of that day."""
    return request.time(end - 1).split()[0]


async def set_limits(request: PageRequest) -> Response:
    """Set the limits of an account.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(request)
    typed = {name: request.field(name) for name in account_limits.FIELDS}
    try:
        limits = account_limits.parse_limits(typed)
    except Refused as refused:
        return await render_account(request, account, limit_fields=typed, refused=refused)
    await account_limits.change_limits(request.context, account.id, limits, request.actor)
    return request.redirect(f"{ACCOUNTS_PATH}/{account.id}")
