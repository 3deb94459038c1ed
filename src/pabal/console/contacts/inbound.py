"""The pages of inbound messages: those of an account, with their export, and for operators those of none."""

import re
from functools import partial

from starlette.responses import Response

from pabal.console.shell.download import attach_table, dated_name, rows_behind
from pabal.console.shell.form_fields import page_url, parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.domain.people.inbound import mask_number, show_number
from pabal.service.access.accounts import audit
from pabal.service.history import history
from pabal.service.history.history import NEWEST, Inbound

INBOUND_PATH = "/console/inbound"
UNASSIGNED_PATH = "/console/operate/inbound"
PAGE_SIZE = 50
NUMBERS_MASKED = Text(
    "이 역할은 전화번호를 볼 수 없어 번호로 검색할 수 없습니다.",
    "Your role does not see phone numbers, so it cannot search by number.",
)
EXPORT_COLUMNS = ("time", "sender", "receiver", "content", "opted_out")


async def list_inbound(request: PageRequest) -> Response:
    """Show what subscribers have sent to the account's numbers, newest first.

    Raises Refused(INVALID_PARAMETER) for a search by someone who sees masked numbers.
    """
    return await _render(request, request.account_id, INBOUND_PATH)


async def list_unassigned(request: PageRequest) -> Response:
    """Show what subscribers have sent to numbers of no account."""
    return await _render(request, None, UNASSIGNED_PATH)


async def export_inbound(request: PageRequest) -> Response:
    """Answer with the messages that the search finds, newest first, as CSV.

    Raises Refused as `list_inbound` does.
    """
    sender = _searched_sender(request)
    await audit.add_entry(request.context, request.audit_entry("inbound.export", "csv"))
    head = [request.t(f"inbound.{each}") for each in EXPORT_COLUMNS]
    read = partial(history.list_before, request.context, request.account_id, sender=sender)
    rows = rows_behind(read, partial(_cells, request), NEWEST)
    return attach_table(request, dated_name(request, "pabal-inbound", "csv"), head, rows)


def _cells(request: PageRequest, message: Inbound) -> list[str]:
    return [
        request.time(message.received_at),
        _shown_sender(request, message),
        show_number(message.receiver),
        message.content,
        request.t("word.yes") if message.has_opted_out else "",
    ]


def _shown_sender(request: PageRequest, message: Inbound) -> str:
    return show_number(message.sender) if request.may_see_numbers else mask_number(message.sender)


def _searched_sender(request: PageRequest) -> str | None:
    """Return the number whose messages are wanted, None for all; foreign ones are searched as they are typed.

    Raises Refused(INVALID_PARAMETER) for those who see masked numbers: what is found would tell hidden digits.
    """
    typed = request.field("number")
    if not typed:
        return None
    if not request.may_see_numbers:
        raise Refused(Code.INVALID_PARAMETER, "number", NUMBERS_MASKED)
    try:
        return phone.parse_sender(typed)
    except Refused:
        return re.sub(r"[\s+-]", "", typed)


async def _render(request: PageRequest, account_id: int | None, path: str) -> Response:
    sender = _searched_sender(request)
    cursor = parse_id(request.field("before"))
    before = NEWEST if cursor is None else cursor
    found = await history.list_before(request.context, account_id, before, PAGE_SIZE + 1, sender)
    shown = found[:PAGE_SIZE]
    search = {"number": request.field("number")} if sender is not None else {}
    return request.render(
        "contacts/inbound.html",
        rows=[
            (
                each,
                _shown_sender(request, each),
                show_number(each.receiver),
                request.time(each.received_at),
            )
            for each in shown
        ],
        is_unassigned=account_id is None,
        path=path,
        searched=request.field("number"),
        export=page_url(f"{INBOUND_PATH}.csv", search) if account_id is not None else "",
        older=page_url(path, {**search, "before": str(shown[-1].id)}) if len(found) > PAGE_SIZE else "",
        newest=page_url(path, search) if cursor is not None else "",
    )


TEXTS = {
    "menu.inbound": Text("수신 메시지", "Inbound"),
    "inbound.title": Text("수신 메시지", "Inbound messages"),
    "inbound.about": Text(
        "등록된 발신번호로 온 답장입니다. 그 발신번호로 보낸 적이 있는 수신자가 수신거부, 거부, 해지, STOP, "
        "UNSUBSCRIBE라고만 답하면 그 발신번호의 수신거부로 추가됩니다.",
        "Replies to registered sender numbers. A receiver who only answers STOP or UNSUBSCRIBE (or the same in "
        "Korean) to a text from one of them is added to the opt-outs of that number.",
    ),
    "inbound.unassigned": Text(
        "어느 계정에도 등록되지 않은 번호로 온 메시지입니다. 운영자만 볼 수 있습니다. 번호를 계정에 등록하면 "
        "그 뒤에 온 메시지부터 그 계정에 표시됩니다.",
        "Messages to numbers that no account has registered. Only operators see them. Once an account has "
        "registered a number, later messages to it are shown there.",
    ),
    "inbound.time": Text("받은 시각", "Received at"),
    "inbound.sender": Text("보낸 번호", "From"),
    "inbound.receiver": Text("받은 번호", "To"),
    "inbound.content": Text("내용", "Text"),
    "inbound.opted_out": Text("수신거부 추가됨", "Opted out"),
    "inbound.export": Text("CSV 내려받기", "Download CSV"),
    "inbound.not_found": Text("이 번호에서 받은 메시지가 없습니다.", "There are no messages from this number."),
    "inbound.none": Text(
        "받은 메시지가 없습니다. 수신자가 등록된 발신번호로 답장하면 여기에 표시됩니다.",
        "There are no messages. Replies to registered sender numbers are shown here.",
    ),
    "inbound.none_unassigned": Text("미배정 메시지가 없습니다.", "There are no such messages."),
    "inbound.no_older": Text("더 오래된 메시지가 없습니다.", "There are no older messages."),
    "operate.part.inbound": Text("미배정 수신", "Inbound"),
    "audit_action.inbound.export": Text("수신 메시지 내려받기", "Downloaded the inbound messages"),
}
