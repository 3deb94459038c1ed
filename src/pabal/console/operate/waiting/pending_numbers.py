"""The operators' page of sender numbers that wait for approval."""

from starlette.responses import Response

from pabal.console.shell.form_fields import require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import phone
from pabal.service.access.accounts import administration, sender_numbers
from pabal.service.access.accounts.sender_numbers import MAX_COMMENT_CHARACTERS

PENDING_PATH = "/console/operate/numbers"


async def approve_number(request: PageRequest) -> Response:
    """Approve a number."""
    account_id, number = await _read_target(request)
    audit_entry = request.audit_entry("number.approve", phone.mask(number), account_id)
    try:
        await sender_numbers.approve_number(request.context, account_id, number, audit_entry)
    except Refused as refused:
        return await list_pending(request, refused)
    return request.redirect(PENDING_PATH)


async def reject_number(request: PageRequest) -> Response:
    """Reject a number, with a comment for the owner."""
    account_id, number = await _read_target(request)
    audit_entry = request.audit_entry("number.reject", phone.mask(number), account_id)
    try:
        await sender_numbers.reject_number(
            request.context, account_id, number, request.field("comment"), audit_entry
        )
    except Refused as refused:
        return await list_pending(request, refused)
    return request.redirect(PENDING_PATH)


async def _read_target(request: PageRequest) -> tuple[int, str]:
    account = await administration.get_account(request.context, require_id(request.field("account")))
    return account.id, phone.parse_sender(request.field("number"))


async def list_pending(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the numbers that wait, each with what speaks against it."""
    return request.render(
        "operate/waiting/pending_numbers.html",
        refused.code.http_status if refused else 200,
        rows=await sender_numbers.list_pending(request.context),
        error=request.tell(refused.problems[0]) if refused else "",
        max_characters=MAX_COMMENT_CHARACTERS,
    )


TEXTS = {
    "pending.title": Text("발신번호 승인", "Sender numbers to approve"),
    "pending.about": Text(
        "계정이 번호의 명의자인지 통신서비스 이용증명원으로 확인한 뒤 승인하세요. 번호 하나는 계정 하나만 쓸 수 "
        "있습니다.",
        "Approve a number after you have checked that it belongs to the account. A number has one account.",
    ),
    "pending.why": Text("확인할 사항", "To check"),
    "pending.new": Text("새로 등록한 번호", "New number"),
    "pending.held": Text(
        "{account} 계정이 쓰는 번호입니다. 그 계정에서 삭제해야 승인할 수 있습니다.",
        "Account {account} has this number. It must be removed there before you can approve it.",
    ),
    "pending.comment": Text("반려 사유", "Reason for rejection"),
    "pending.approve": Text("승인", "Approve"),
    "pending.reject": Text("반려", "Reject"),
    "pending.reject.yes": Text("예, 반려합니다", "Yes, reject"),
    "pending.of": Text("{number} {what}", "{what} {number}"),
    "pending.none": Text("승인을 기다리는 발신번호가 없습니다.", "No sender numbers are waiting for approval."),
}
