"""Sender numbers: which are registered, what that means, and how one comes on the list or off it."""

from starlette.responses import Response

from pabal.console.shell.page_request import Visit
from pabal.domain import phone
from pabal.domain.codes import Code, Refused
from pabal.service.access import numbers
from pabal.store import accounts

NUMBERS_PATH = "/console/numbers"


async def list_numbers(visit: Visit) -> Response:
    """Show the account's sender numbers."""
    return await _render_list(visit)


async def register_number(visit: Visit) -> Response:
    """Register a number."""
    try:
        number = _read_number(visit)
        deed = visit.deed("number.add", phone.mask(number))
        await visit.context.store.write(numbers.register, visit.account_id, number, deed)
    except Refused as refused:
        return await _render_list(visit, refused)
    return visit.elsewhere(NUMBERS_PATH)


async def confirm_removal(visit: Visit) -> Response:
    """Ask whether a number is really to go.

    Raises Refused: NOT_FOUND, INVALID_PHONE_NUMBER.
    """
    number = phone.parse_sender(visit.field("number"))
    if not await visit.context.store.read(accounts.has_number, visit.account_id, number):
        raise Refused(Code.NOT_FOUND)
    return visit.page("manage/number_remove.html", number=number)


async def remove_number(visit: Visit) -> Response:
    """Take a number off the list.

    Raises Refused: NOT_FOUND, INVALID_PHONE_NUMBER.
    """
    number = phone.parse_sender(visit.field("number"))
    deed = visit.deed("number.remove", phone.mask(number))
    await visit.context.store.write(numbers.remove, visit.account_id, number, deed)
    return visit.elsewhere(NUMBERS_PATH)


def _read_number(visit: Visit) -> str:
    if not visit.field("number"):
        raise Refused(Code.MISSING_PARAMETER, "number")
    return phone.parse_sender(visit.field("number"))


async def _render_list(visit: Visit, refused: Refused | None = None) -> Response:
    found = await visit.context.store.read(accounts.list_numbers_by_account, visit.account_id)
    told = {"number": refused.problems[0].message(visit.speech.language)} if refused else {}
    return visit.page(
        "manage/numbers.html",
        refused.code.http_status if refused else 200,
        rows=[(number, visit.number(number), visit.speech.format_timestamp(at)) for number, at in found],
        must_be=visit.context.policy.checks_sender_numbers,
        typed=visit.field("number") if refused else "",
        told=told,
    )
