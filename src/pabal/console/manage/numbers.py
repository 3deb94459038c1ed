"""The page of sender numbers: list, register, remove."""

from starlette.responses import Response

from pabal.console.shell.form_fields import require_field
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.domain.people.phone import NumberState
from pabal.domain.people.user import Role
from pabal.service.access.accounts import sender_numbers

NUMBERS_PATH = "/console/numbers"


async def register_number(request: PageRequest) -> Response:
    """Register a number; an owner's may have to wait for an operator."""
    number = phone.parse_sender(require_field(request, "number"))
    audit_entry = request.audit_entry("number.add", phone.mask(number))
    is_operator = request.user.role is Role.OPERATOR
    add = sender_numbers.register_number if is_operator else sender_numbers.request_number
    await add(request.context, request.account_id, number, audit_entry)
    return request.redirect(NUMBERS_PATH)


async def set_opt_out_number(request: PageRequest) -> Response:
    """Set the number for opting out of the account's advertisements; an empty one removes it."""
    spelling = request.field("optOutNumber")
    number = phone.parse_opt_out(spelling) if spelling else None
    audit_entry = request.audit_entry("account.opt_out", phone.mask(number) if number else "")
    await request.context.store.write(sender_numbers.set_opt_out_number, request.account_id, number, audit_entry)
    return request.redirect(NUMBERS_PATH)


async def confirm_removal(request: PageRequest) -> Response:
    """Ask for confirmation before a number is removed."""
    number = phone.parse_sender(request.field("number"))
    if not await sender_numbers.has_number(request.context, request.account_id, number):
        raise Refused(Code.NOT_FOUND)
    return request.render("manage/number_remove.html", number=number)


async def remove_number(request: PageRequest) -> Response:
    """Remove a number."""
    number = phone.parse_sender(request.field("number"))
    audit_entry = request.audit_entry("number.remove", phone.mask(number))
    await request.context.store.write(sender_numbers.remove, request.account_id, number, audit_entry)
    return request.redirect(NUMBERS_PATH)


async def list_numbers(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the account's sender numbers."""
    own_number = await sender_numbers.get_opt_out_number(request.context, request.account_id)
    own_shown = phone.hyphenate(own_number) if own_number else ""
    default_number = request.context.policy.opt_out_number
    registered = await sender_numbers.list_numbers(request.context, request.account_id)
    field = "optOutNumber" if "optOutNumber" in request.fields else "number"
    errors = {field: request.tell(refused.problems[0])} if refused else {}
    return request.render(
        "manage/numbers.html",
        refused,
        rows=registered,
        is_pending=any(each.state is NumberState.PENDING for each in registered),
        registration_required=request.context.policy.checks_sender_numbers,
        typed=request.field("number") if "number" in errors else "",
        opt_out_number=request.field("optOutNumber") if "optOutNumber" in errors else own_shown,
        default_opt_out_number=phone.hyphenate(default_number) if default_number else "",
        errors=errors,
    )


TEXTS = {
    "menu.numbers": Text("발신번호", "Sender numbers"),
    "numbers.about": Text(
        "수신자의 휴대폰에 발신자로 표시되는 번호입니다. 국내에서는 사전 등록한 발신번호로만 문자를 발송할 "
        "수 있습니다.",
        "The number shown to the receiver. In Korea, text messages may only be sent from registered sender "
        "numbers.",
    ),
    "numbers.here": Text(
        "이 서비스에서 쓸 발신번호를 등록하는 화면입니다. 등록만으로 번호의 소유가 증명되지는 않습니다.",
        "Registering a number here allows this service to send from it. It does not prove ownership.",
    ),
    "numbers.there": Text(
        "통신사나 중계사에도 통신서비스 이용증명원을 제출해 등록해야 합니다. 등록하지 않은 번호로는 발송이 "
        "실패합니다.",
        "Also register the number with your carrier or relay and submit the proof of use it asks for. "
        "Otherwise messages fail.",
    ),
    "numbers.checked": Text(
        "현재 등록된 번호만 발신번호로 쓸 수 있습니다.", "Only registered numbers may be used now."
    ),
    "numbers.unchecked": Text(
        "현재는 등록하지 않은 번호도 발신번호로 쓸 수 있습니다. 실제 발송 경로를 연결하면 등록된 번호만 쓸 수 "
        "있습니다.",
        "Unregistered numbers may be used now. Once a real carrier is set up, only registered numbers may be used.",
    ),
    "numbers.list": Text("등록된 번호", "Registered numbers"),
    "numbers.number": Text("번호", "Number"),
    "numbers.pending": Text(
        "승인 대기 중인 번호는 운영자가 확인한 뒤 쓸 수 있습니다.",
        "A pending number can be used after an operator has approved it.",
    ),
    "numbers.since": Text("등록 시각", "Registered at"),
    "numbers.remove_it": Text("{number} 삭제", "Remove {number}"),
    "numbers.none": Text(
        "등록된 발신번호가 없습니다. 위에서 등록하세요.", "No sender numbers are registered. Register one above."
    ),
    "numbers.new": Text("등록할 번호", "Number to register"),
    "numbers.add": Text("등록", "Register"),
    "opt_out.title": Text("무료 수신거부 번호", "Opt-out number"),
    "opt_out.about": Text(
        "광고 문자의 마지막 줄에 들어가는 080 번호입니다. 메시지마다 다른 번호를 쓸 수도 있습니다.",
        "The 080 number in the last line of advertising texts. A message can name another one.",
    ),
    "opt_out.number": Text("080 번호", "080 number"),
    "opt_out.default": Text(
        "비워 두면 운영자가 정한 번호({number})를 씁니다.",
        "If it is empty, the operator's number {number} is used.",
    ),
    "opt_out.no_default": Text(
        "비워 두면 광고 문자마다 번호를 입력해야 하고, 광고 친구톡의 대체 문자는 발송되지 않습니다.",
        "If it is empty, every advertising text must name a number, and advertising friend talks have no fallback.",
    ),
    "number_remove.ask": Text("발신번호({number})를 삭제하시겠습니까?", "Remove {number}?"),
    "number_remove.what": Text(
        "등록된 번호만 쓸 수 있는 환경에서는 이 번호로 더 발송할 수 없습니다. 이미 접수한 메시지는 예약된 "
        "것까지 그대로 발송됩니다.",
        "Where only registered numbers may be used, nothing new can be sent from it. Accepted messages, "
        "including scheduled ones, are still sent.",
    ),
    "number_remove.title": Text("발신번호 삭제", "Remove a sender number"),
}
