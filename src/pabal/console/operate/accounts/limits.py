"""The operators' form of an account's limits."""

from starlette.responses import Response

from pabal.console.operate.accounts.accounts import ACCOUNTS_PATH, find_account, render_account
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.service.access.accounts import account_limits


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
