"""The page of opt-outs: list, search, add, remove, import and export."""

from collections.abc import AsyncGenerator
from functools import partial
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.contacts import opt_out_file
from pabal.console.sheets import sheet_limits
from pabal.console.shell.download import attach_table, dated_name, rows_behind
from pabal.console.shell.form_fields import FieldReader, page_number, page_url, parse_id
from pabal.console.shell.page_request import PageRequest, Toast
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.people import opt_out, phone
from pabal.service.access.accounts import audit
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOut, OptOutEntry, OptOutSource

OPT_OUTS_PATH = "/console/opt-outs"
REMOVE_PATH = f"{OPT_OUTS_PATH}/remove"
ENTRY_FIELDS = ("phoneNumber", "senderNumber", "reason")
PAGE_SIZE = 50
MAX_PAGE = 1_000_000
DONE = ("known", "removed")
"""What the page says after a form: the number was there before, or was removed."""


async def add_opt_out(request: PageRequest) -> Response:
    """Add an opt-out."""
    entry = _read_entry(request)
    new = NewOptOuts(request.account_id, [entry], OptOutSource.CONSOLE)
    audit_entry = request.audit_entry(opt_outs.ADD_ACTION, phone.mask(entry.phone))
    if not await opt_outs.add(request.context, new, audit_entry):
        return request.redirect(f"{OPT_OUTS_PATH}?done=known")
    return request.redirect(f"{OPT_OUTS_PATH}?done=added&id={await _find_id(request, entry)}")


async def _find_id(request: PageRequest, entry: OptOutEntry) -> int:
    """Return the id of an opt-out that was just added; 0 where it is gone already."""
    _, found = await opt_outs.find(request.context, request.account_id, entry.phone, None, 1, PAGE_SIZE)
    return next((each.id for each in found if each.sender == entry.sender), 0)


def _undo(request: PageRequest) -> Toast | None:
    """Return the toast about the opt-out that was just added; None: there is none."""
    if request.field("done") != "added":
        return None
    may_remove = request.is_allowed(REMOVE_PATH, "POST")
    fields = [("id", request.field("id"))] if may_remove and parse_id(request.field("id")) else ()
    return Toast(request.t("opt_outs_done.added"), REMOVE_PATH if fields else "", fields)


async def remove_opt_out(request: PageRequest) -> Response:
    """Remove an opt-out; one that is gone already is no error."""
    opt_out_id = parse_id(request.field("id"))
    if opt_out_id is not None:
        audit_entry = request.audit_entry(opt_outs.REMOVE_ACTION, request.field("id"))
        await request.context.store.write(opt_outs.remove_one, request.account_id, opt_out_id, audit_entry)
    return request.redirect(f"{OPT_OUTS_PATH}?done=removed")


async def import_opt_outs(request: PageRequest) -> Response:
    """Add the opt-outs of a file, all or none.

    Raises Refused: RATE_LIMITED where too many files are being read.
    """
    try:
        async with request.open_file(opt_out_file.read_opt_outs) as parts:
            added, count = await _import(request, parts)
    except Refused as refused:
        if refused.code is Code.RATE_LIMITED:
            raise
        return await list_opt_outs(request, refused)
    return request.redirect(f"{OPT_OUTS_PATH}?{urlencode({'added': added, 'rows': count})}")


async def export_opt_outs(request: PageRequest) -> Response:
    """Answer with all opt-outs of the account as a CSV file, which can be imported again."""
    await audit.add_entry(request.context, request.audit_entry(opt_outs.EXPORT_ACTION))
    head = [*opt_out_file.HEADER, request.t("opt_outs.source"), request.t("opt_outs.since")]
    read = partial(opt_outs.list_some, request.context.store, request.account_id)
    rows = rows_behind(read, partial(_cells, request))
    return attach_table(request, dated_name(request, "pabal-opt-outs", "csv"), head, rows)


def _cells(request: PageRequest, each: OptOut) -> list[str]:
    source = request.translate(each.source.label)
    return [*opt_out_file.to_cells(each), source, request.time(each.created_at)]


async def _import(request: PageRequest, parts: AsyncGenerator[int | list[OptOutEntry], None]) -> tuple[int, int]:
    """Return how many opt-outs of a file were not there, and how many it has."""
    count = added = 0
    async for part in parts:
        if isinstance(part, int):
            count = part
            await audit.add_entry(request.context, request.audit_entry(opt_outs.IMPORT_ACTION, f"{count:,}"))
        elif part:
            added += await opt_outs.add(request.context, NewOptOuts(request.account_id, part, OptOutSource.CONSOLE))
    return added, count


def _read_entry(request: PageRequest) -> OptOutEntry:
    """Return what was typed.

    Raises Refused, naming each wrong field.
    """
    reader = FieldReader({name: request.field(name) for name in ENTRY_FIELDS})
    if not request.field("phoneNumber"):
        reader.problems.append(Problem(Code.MISSING_PARAMETER, "phoneNumber"))
    entry = OptOutEntry(
        reader.read("phoneNumber", phone.parse_mobile) or "",
        reader.read("senderNumber", phone.parse_sender) or "",
        reader.read("reason", opt_out.check_reason),
    )
    if reader.problems:
        raise Refused.from_problems(reader.problems)
    return entry


async def list_opt_outs(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show a page of opt-outs, with what was typed and what is wrong with it."""
    errors = request.errors_by_field(refused)
    rows_wrong = [request.tell(each) for each in refused.problems if each.field == "file"] if refused else []
    searched = "" if refused else request.field("number")
    try:
        number = phone.parse_mobile(searched) if searched else None
    except Refused as wrong:
        number, errors = None, {"number": request.tell(wrong.problems[0])}
    page = page_number(request, MAX_PAGE)
    total, found = await opt_outs.find(request.context, request.account_id, number, None, page, PAGE_SIZE)
    return request.render(
        "contacts/opt_outs.html",
        refused.code.http_status if refused else 400 if errors else 200,
        toast=None if refused else _undo(request),
        rows=found,
        total=total,
        searched=searched,
        typed={name: request.field(name) if refused else "" for name in ENTRY_FIELDS},
        errors=errors,
        rows_wrong=rows_wrong,
        imported=_imported(request) if not refused else None,
        done=request.field("done") if not refused and request.field("done") in DONE else "",
        may_remove=request.is_allowed(REMOVE_PATH, "POST"),
        remove_path=REMOVE_PATH,
        max_rows=f"{sheet_limits.MAX_ROWS:,}",
        max_reason=opt_out.MAX_REASON_CHARACTERS,
        newer=_page_url(searched, page - 1) if page > 1 else "",
        older=_page_url(searched, page + 1) if total > page * PAGE_SIZE else "",
    )


def _imported(request: PageRequest) -> tuple[int, int] | None:
    """Return how many opt-outs the last import has added, and how many the file had."""
    rows, added = parse_id(request.field("rows")), parse_id(request.field("added"))
    return None if rows is None or added is None else (added, rows)


def _page_url(searched: str, page: int) -> str:
    return page_url(OPT_OUTS_PATH, {"number": searched, "page": str(page)})


TEXTS = {
    "menu.opt_outs": Text("수신거부", "Opt-outs"),
    "opt_outs.about": Text(
        "여기에 있는 번호로는 광고를 보내지 않습니다. 광고가 아닌 메시지는 그대로 보냅니다.",
        "Numbers in this list get no advertising. Other messages are sent to them as before.",
    ),
    "opt_outs.sender_field": Text("발신번호(비우면 전체)", "Sender number (empty: all)"),
    "opt_outs.source": Text("등록 경로", "Added by"),
    "opt_outs.since": Text("등록 시각", "Added at"),
    "opt_outs.remove_it": Text("{number} 수신거부 삭제", "Remove the opt-out of {number}"),
    "opt_outs.remove_why": Text(
        "삭제하면 이 번호로 광고를 다시 보냅니다. 수신자가 다시 받겠다고 동의했을 때만 삭제하세요.",
        "Advertising is sent to this number again. Remove it only if the receiver has consented again.",
    ),
    "opt_outs_done.added": Text("수신거부를 추가했습니다.", "The opt-out was added."),
    "opt_outs_done.known": Text(
        "이미 등록된 수신거부입니다. 바뀐 것은 없습니다.", "This opt-out was there already. Nothing has changed."
    ),
    "opt_outs_done.removed": Text("수신거부를 삭제했습니다.", "The opt-out was removed."),
    "opt_outs.search_number": Text("번호로 찾기", "Find a number"),
    "opt_outs.export": Text("전체 목록 CSV 내려받기", "Download all as CSV"),
    "opt_outs.new": Text("번호 추가", "Add a number"),
    "opt_outs.file": Text("파일로 추가", "Add from a file"),
    "opt_outs.choose_file": Text("파일", "File"),
    "opt_outs.columns": Text(
        "CSV나 Excel, {rows}행까지. 첫 행의 열 이름: 휴대폰번호, 발신번호(선택), 사유(선택).",
        "CSV or Excel, up to {rows} rows. Columns in the first row: phone, sender (optional), reason (optional).",
    ),
    "opt_outs.imported": Text(
        "파일의 {rows}개 번호 가운데 {added}개를 새로 추가했습니다.",
        "The file has {rows} numbers; {added} of them were added.",
    ),
    "opt_outs.file_refused": Text(
        "파일을 가져오지 않았습니다. 고쳐서 다시 올리세요.",
        "Nothing was imported. Correct the file, and try again.",
    ),
    "opt_outs.total": Text("{total}개", "{total} in all"),
    "opt_outs.none": Text(
        "수신거부한 번호가 없습니다. 전화나 창구에서 받은 수신거부는 위에서 추가하세요.",
        "No number has opted out. Add above who has done so by phone or in person.",
    ),
    "opt_outs.not_found": Text(
        "이 번호는 수신거부 목록에 없습니다.", "This number is not in the list of opt-outs."
    ),
    "audit_action.opt_out.add": Text("수신거부 추가", "Added an opt-out"),
    "audit_action.opt_out.remove": Text("수신거부 삭제", "Removed an opt-out"),
    "audit_action.opt_out.import": Text("수신거부 파일 가져오기", "Imported opt-outs"),
    "audit_action.opt_out.export": Text("수신거부 목록 내려받기", "Downloaded the opt-outs"),
}
