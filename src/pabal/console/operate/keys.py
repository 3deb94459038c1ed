"""Keys of an account, in an operator's hands: made and shown once, revoked."""

from starlette.responses import Response

from pabal.console.operate import key_form
from pabal.console.operate.accounts import find_account, parse_id, render_account
from pabal.console.shell.page_request import Visit
from pabal.domain.codes import Refused
from pabal.service.access import keys
from pabal.world import new_api_key


async def create_key(visit: Visit) -> Response:
    """Make a key and show it, this once.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(visit)
    typed = {name: visit.field(name) for name in key_form.FIELDS}
    try:
        grant = key_form.read_grant(typed, visit.now, visit.speech.zone)
        key, after = new_api_key(visit.context.world), parse_id(visit.field("after"))
        deed = visit.deed("key.create", of=account.id)
        await visit.context.store.write(keys.store_key, account.id, key, grant, after, deed)
    except Refused as refused:
        return await render_account(visit, account, key_fields=typed, refused=refused)
    return visit.page("operate/operate_secret.html", account=account, secret=key, kind="key", name=grant.name)


async def revoke_key(visit: Visit) -> Response:
    """Revoke a key.

    Raises Refused(NOT_FOUND).
    """
    account = await find_account(visit)
    key_id = parse_id(visit.field("key"))
    deed = visit.deed("key.revoke", str(key_id), of=account.id)
    await visit.context.store.write(keys.revoke, account.id, key_id, deed)
    return visit.elsewhere(f"/console/operate/accounts/{account.id}")
