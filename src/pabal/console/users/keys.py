"""The page of an account's API keys, for its owners: last use, rate, new keys if the operator allows it."""

from collections.abc import Mapping

from starlette.responses import Response

from pabal.console.operate import keys
from pabal.console.operate.accounts import blank_key
from pabal.console.operate.keys import Replaced, show_new_key
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused
from pabal.domain.people.user import Role
from pabal.service.access.accounts import account_limits, administration
from pabal.service.access.accounts.keys import SCOPES
from pabal.settings.tables import KIND_NAMES

KEYS_PATH = "/console/keys"


async def create_key(request: PageRequest) -> Response:
    """Create an API key and show it, once.

    Raises Refused(NOT_FOUND) where only operators create keys.
    """
    if not _may_create(request):
        raise Refused(Code.NOT_FOUND)
    typed = {name: request.field(name) for name in keys.FIELDS}
    try:
        new_key = keys.read_new_key(typed, request.now, request.locale.zone, await _max_rate(request))
        key = await keys.issue_key(request, request.account_id, new_key)
    except Refused as refused:
        return await show_keys(request, typed, refused)
    account = await administration.get_account(request.context, request.account_id)
    return show_new_key(request, account, KEYS_PATH, key, new_key.name)


async def replace_key(request: PageRequest) -> Response:
    """Create a key that may do the same as another one, and show it, once; the other is revoked from there.

    Raises Refused(NOT_FOUND), also for another account's key, and where only operators create keys.
    """
    if not _may_create(request):
        raise Refused(Code.NOT_FOUND)
    members = await administration.get_members(request.context, request.account_id)
    ours = [each for each in members.keys if each.id not in members.public_ids]
    old, new_key = keys.find_replaced(ours, parse_id(request.field("key")) or 0)
    try:
        keys.read_rate(str(new_key.rate), await _max_rate(request))
        key = await keys.issue_key(request, request.account_id, new_key)
    except Refused as refused:
        return await show_keys(request, refused=refused, key_id=old.id)
    account = await administration.get_account(request.context, request.account_id)
    replaced = Replaced(old.id, f"{KEYS_PATH}/revoke")
    return show_new_key(request, account, KEYS_PATH, key, old.name, replaced)


async def set_key_rate(request: PageRequest) -> Response:
    """Change how many requests a second a key may make."""
    key_id = parse_id(request.field("key")) or 0
    try:
        rate = keys.read_rate(request.field("rate"), await _max_rate(request))
    except Refused as refused:
        return await show_keys(request, refused=refused, key_id=key_id)
    audit_entry = request.audit_entry("key.rate", f"{key_id} ({rate})")
    await administration.set_key_rate(request.context, request.account_id, key_id, rate, audit_entry)
    return request.redirect(KEYS_PATH)


async def revoke_key(request: PageRequest) -> Response:
    """Revoke a key."""
    key_id = parse_id(request.field("key")) or 0
    audit_entry = request.audit_entry("key.revoke", str(key_id))
    await administration.revoke_key(request.context, request.account_id, key_id, audit_entry)
    return request.redirect(KEYS_PATH)


def _may_create(request: PageRequest) -> bool:
    return request.user.role is Role.OPERATOR or request.site.settings.owner_keys


async def _max_rate(request: PageRequest) -> int:
    """Return the highest rate that the user may give a key; 0: any.

    An owner's keys are at most as fast as the account may send, and as keys are by default.
    """
    if request.user.role is Role.OPERATOR:
        return 0
    limits = await account_limits.get_limits(request.context, request.account_id)
    rates = (request.site.settings.key_rate, limits.receivers_per_second)
    return min((rate for rate in rates if rate), default=0)


async def show_keys(
    request: PageRequest,
    typed: Mapping[str, str] | None = None,
    refused: Refused | None = None,
    key_id: int = 0,
) -> Response:
    """Answer with the page; `key_id` is the key whose rate was refused."""
    known, _, public_ids = await administration.get_members(request.context, request.account_id)
    max_rate = await _max_rate(request)
    default_rate = min(request.site.settings.key_rate, max_rate) if max_rate else request.site.settings.key_rate
    problems = refused.problems if refused else ()
    return request.render(
        "users/keys.html",
        refused.code.http_status if refused else 200,
        keys=known[::-1],
        public_ids=public_ids,
        kinds=(),
        kind_names=KIND_NAMES,
        newest_key=known[-1].id if known else 0,
        key=typed or blank_key(default_rate),
        scopes=SCOPES,
        base="/console",
        may_create=_may_create(request),
        errors={} if key_id else {each.field: request.tell(each) for each in problems},
        told=[request.tell(each) for each in problems] if key_id else [],
        key_id=key_id,
    )
