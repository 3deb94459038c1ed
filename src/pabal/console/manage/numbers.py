"""The page of sender numbers: list, register, remove."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused
from pabal.domain.people import phone
from pabal.domain.people.phone import NumberState
from pabal.domain.users.user import Role
from pabal.service.access.accounts import opt_out_numbers, sender_numbers

NUMBERS_PATH = "/console/numbers"


async def list_numbers(request: PageRequest) -> Response:
    """Show the account's sender numbers."""
    return await _render_list(request)


async def register_number(request: PageRequest) -> Response:
    """Register a number; an owner's may have to wait for an operator."""
    try:
        number = _read_number(request)
        audit_entry = request.audit_entry("number.add", phone.mask(number))
        is_operator = request.user.role is Role.OPERATOR
        add = sender_numbers.register_number if is_operator else sender_numbers.request_number
        await add(request.context, request.account_id, number, audit_entry)
    except Refused as refused:
        return await _render_list(request, refused)
    return request.redirect(NUMBERS_PATH)


async def set_opt_out_number(request: PageRequest) -> Response:
    """Set the number for opting out of the account's advertisements; an empty one removes it."""
    spelling = request.field("optOutNumber").strip()
    try:
        number = phone.parse_opt_out(spelling) if spelling else None
    except Refused as refused:
        return await _render_list(request, refused, "optOutNumber")
    audit_entry = request.audit_entry("account.opt_out", phone.mask(number) if number else "")
    await opt_out_numbers.change_number(request.context, request.account_id, number, audit_entry)
    return request.redirect(NUMBERS_PATH)


async def confirm_removal(request: PageRequest) -> Response:
    """Ask for confirmation before a number is removed.

    Raises Refused: NOT_FOUND, INVALID_PHONE_NUMBER.
    """
    number = phone.parse_sender(request.field("number"))
    if not await sender_numbers.has_number(request.context, request.account_id, number):
        raise Refused(Code.NOT_FOUND)
    return request.render("manage/number_remove.html", number=number)


async def remove_number(request: PageRequest) -> Response:
    """Remove a number.

    Raises Refused: NOT_FOUND, INVALID_PHONE_NUMBER.
    """
    number = phone.parse_sender(request.field("number"))
    audit_entry = request.audit_entry("number.remove", phone.mask(number))
    await sender_numbers.remove_number(request.context, request.account_id, number, audit_entry)
    return request.redirect(NUMBERS_PATH)


def _read_number(request: PageRequest) -> str:
    if not request.field("number"):
        raise Refused(Code.MISSING_PARAMETER, "number")
    return phone.parse_sender(request.field("number"))


async def _render_list(request: PageRequest, refused: Refused | None = None, field: str = "number") -> Response:
    own_number = await opt_out_numbers.get_number(request.context, request.account_id)
    own_shown = phone.hyphenate(own_number) if own_number else ""
    default_number = request.context.policy.opt_out_number
    registered = await sender_numbers.list_numbers(request.context, request.account_id)
    errors = {field: refused.problems[0].message(request.locale.language)} if refused else {}
    return request.render(
        "manage/numbers.html",
        refused.code.http_status if refused else 200,
        rows=[
            (each, request.phone_number(each.number), request.locale.format_timestamp(each.created_at))
            for each in registered
        ],
        is_pending=any(each.state is NumberState.PENDING for each in registered),
        registration_required=request.context.policy.checks_sender_numbers,
        typed=request.field("number") if "number" in errors else "",
        opt_out_number=request.field("optOutNumber") if "optOutNumber" in errors else own_shown,
        default_opt_out_number=phone.hyphenate(default_number) if default_number else "",
        errors=errors,
    )
