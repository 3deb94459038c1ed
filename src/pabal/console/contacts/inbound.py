"""The pages of inbound messages: those of an account, with their export, and for operators those of none."""

import re
from collections.abc import AsyncGenerator

from starlette.responses import Response

from pabal.console.shell.download import BOM, attach, csv_line, dated_name
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
EXPORT_BATCH = 1000
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
    return attach(dated_name(request, "pabal-inbound", "csv"), _export_lines(request, sender))


async def _export_lines(request: PageRequest, sender: str | None) -> AsyncGenerator[bytes, None]:
    yield (BOM + csv_line([request.t(f"inbound.{each}") for each in EXPORT_COLUMNS])).encode()
    before = NEWEST
    while found := await history.list_before(request.context, request.account_id, before, EXPORT_BATCH, sender):
        before = found[-1].id
        yield "".join(csv_line(_cells(request, each)) for each in found).encode()


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
