"""The pages of inbound messages: those of an account, and for operators those of none."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.inbound import is_mobile, show_number
from pabal.service.history import inbound
from pabal.service.history.inbound import NEWEST

INBOUND_PATH = "/console/inbound"
UNASSIGNED_PATH = "/console/operate/inbound"
PAGE_SIZE = 50
MAX_CURSOR_DIGITS = 18


async def list_inbound(request: PageRequest) -> Response:
    """Show what subscribers have sent to the account's numbers, newest first."""
    return await _render(request, request.account_id, INBOUND_PATH)


async def list_unassigned(request: PageRequest) -> Response:
    """Show what subscribers have sent to numbers of no account."""
    return await _render(request, None, UNASSIGNED_PATH)


async def _render(request: PageRequest, account_id: int | None, path: str) -> Response:
    word = request.field("before")
    is_cursor = word.isascii() and word.isdigit() and len(word) <= MAX_CURSOR_DIGITS
    before = int(word) if is_cursor else NEWEST
    found = await inbound.list_before(request.context, account_id, before, PAGE_SIZE + 1)
    shown = found[:PAGE_SIZE]
    return request.render(
        "contacts/inbound.html",
        rows=[
            (
                each,
                request.phone_number(each.sender) if is_mobile(each.sender) else show_number(each.sender),
                show_number(each.receiver),
                request.locale.format_timestamp(each.received_at),
            )
            for each in shown
        ],
        is_unassigned=account_id is None,
        older=f"{path}?before={shown[-1].id}" if len(found) > PAGE_SIZE else "",
        newest=path if is_cursor else "",
    )
