"""The operators' actions on API keys: create, replace, revoke."""

from typing import NamedTuple

from starlette.responses import Response

from pabal.console.operate.accounts import key_form
from pabal.console.operate.accounts.accounts import find_account, parse_id, render_account
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.service.access.accounts import administration
from pabal.service.access.accounts.administration import Account
from pabal.world import new_api_key


class Replaced(NamedTuple):
    """The key that a new one replaces, and where it is revoked."""

    id: int
    revoke_path: str


def show_new_key(
    request: PageRequest, account: Account, back: str, secret: str, name: str, replaced: Replaced | None = None
) -> Response:
    """Show a new API key, once; the one that it replaces is revoked from there."""
    return request.render(
        "operate/accounts/secret.html",
        account=account,
        back=back,
        secret=secret,
        kind="key",
        name=name,
        replaced=replaced,
    )


async def create_key(request: PageRequest) -> Response:
    """Create an API key and show it, once.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(request)
    typed = {name: request.field(name) for name in key_form.FIELDS}
    try:
        new_key = key_form.read_new_key(typed, request.now, request.locale.zone)
        key, newest_known_id = new_api_key(request.context.world), parse_id(request.field("after"))
        audit_entry = request.audit_entry("key.create", account_id=account.id)
        await administration.create_key(request.context, account.id, key, new_key, newest_known_id, audit_entry)
    except Refused as refused:
        return await render_account(request, account, key_fields=typed, refused=refused)
    back = f"/console/operate/accounts/{account.id}"
    return show_new_key(request, account, back, key, new_key.name)


async def replace_key(request: PageRequest) -> Response:
    """Create a key that may do the same as another one, and show it, once; the other is revoked from there.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(request)
    keys, _ = await administration.get_members(request.context, account.id)
    old, new_key = key_form.find_replaced(keys, parse_id(request.field("key")))
    key, newest_known_id = new_api_key(request.context.world), parse_id(request.field("after"))
    audit_entry = request.audit_entry("key.create", account_id=account.id)
    try:
        await administration.create_key(request.context, account.id, key, new_key, newest_known_id, audit_entry)
    except Refused as refused:
        return await render_account(request, account, refused=refused)
    back = f"/console/operate/accounts/{account.id}"
    return show_new_key(request, account, back, key, old.name, Replaced(old.id, f"{back}/keys/revoke"))


async def set_key_rate(request: PageRequest) -> Response:
    """Change how many requests a second a key may make.

    Raises Refused: NOT_FOUND, INVALID_PARAMETER.
    """
    account = await find_account(request)
    key_id, rate = parse_id(request.field("key")), key_form.read_rate(request.field("rate"))
    audit_entry = request.audit_entry("key.rate", f"{key_id} ({rate})", account_id=account.id)
    await administration.set_key_rate(request.context, account.id, key_id, rate, audit_entry)
    return request.redirect(f"/console/operate/accounts/{account.id}")


async def revoke_key(request: PageRequest) -> Response:
    """Revoke a key.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(request)
    key_id = parse_id(request.field("key"))
    audit_entry = request.audit_entry("key.revoke", str(key_id), account_id=account.id)
    await administration.revoke_key(request.context, account.id, key_id, audit_entry)
    return request.redirect(f"/console/operate/accounts/{account.id}")
