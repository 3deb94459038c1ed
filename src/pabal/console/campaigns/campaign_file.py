"""The file of a campaign: uploaded, its columns found, validated row by row, its invalid rows shown."""

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import BinaryIO, NamedTuple

from starlette.responses import Response

from pabal.console.campaigns.campaign_message import UPLOAD_PATH, campaign_audit_entry, get_campaign, load_validator
from pabal.console.campaigns.row_validation import FileValidation, RowValidator
from pabal.console.sheets import mapping, sheet
from pabal.console.sheets.mapping import FIELD, IGNORE, PHONE, REFERENCE, FileHead
from pabal.console.sheets.sheet import Columns, SheetRow, is_number, spelled
from pabal.console.shell.download import attach_table, rows_at_once, rows_behind
from pabal.console.shell.file_columns import preview_columns, render_columns
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import MINUTE, Instant
from pabal.domain.sends.campaign import is_duplicate
from pabal.service.sending.campaigns import campaign_files
from pabal.service.sending.campaigns.campaign_files import Campaign, FileFindings, FileSummary, InvalidRow

STALE_AFTER = 1 * MINUTE
"""Reading a file was interrupted if it has not advanced for this long: by a restart, or without the store."""
PROGRESS_INTERVAL = STALE_AFTER // 4
"""How often the reading is stored as alive while nothing is found."""
MAX_FILE_NAME_CHARACTERS = 120
FILE_REFUSED = Text(
    "다른 파일을 확인하고 있거나 이미 보낸 캠페인입니다. 화면을 새로 고치세요.",
    "Another file is being checked, or the campaign has already been sent. Reload the page.",
)


async def receive_file(request: PageRequest) -> Response:
    """Validate the uploaded file to its end, then show the campaign.

    Raises Refused: NOT_FOUND, PAYLOAD_TOO_LARGE, INVALID_STATE, MISSING_PARAMETER, RATE_LIMITED.
    """
    campaign = await get_campaign(request)
    validator = await load_validator(request, campaign)
    skips_duplicates = bool(request.field("once"))
    read = partial(
        validate_file,
        form=dict(request.fields),
        validator=validator.without_keys(),
        skips_duplicates=skips_duplicates,
    )
    async with request.open_file(read) as parts:
        await _store_findings(request, campaign, parts, skips_duplicates=skips_duplicates)
    return request.redirect(f"{UPLOAD_PATH}/{campaign.id.hex()}")


async def download_template(request: PageRequest) -> Response:
    """Answer with an empty CSV file that has the columns which the message needs."""
    validator = await load_validator(request, await get_campaign(request))
    head = [sheet.PHONE_NAMES[0], *validator.variables]
    return attach_table(request, "pabal-template.csv", head, rows_at_once([]))


async def download_invalid_rows(request: PageRequest) -> Response:
    """Answer with a CSV file of the rows that cannot be sent to, as they were, and the reason of each."""
    campaign = await get_campaign(request)
    head = [request.t("upload.row"), *campaign.columns, request.t("word.reason")]
    read = partial(campaign_files.list_invalid_rows, request.context, campaign)
    rows = rows_behind(
        read, partial(_invalid_row_cells, request, len(campaign.columns)), place=attrgetter("number")
    )
    return attach_table(request, "pabal-bad-rows.csv", head, rows)


def is_stale(campaign: Campaign, now: Instant) -> bool:
    """Return whether the reading of its file was interrupted, if it is still being read."""
    return campaign.changed_at < now - STALE_AFTER


def validate_file(
    content: BinaryIO, *, form: Mapping[str, str], validator: RowValidator, skips_duplicates: bool
) -> Iterator[FileFindings | FileSummary]:
    """Yield what each part of a file has, and at last its summary.

    Raises Refused where the file cannot be used.
    """
    head = read_head(content, validator.variables)
    columns = read_columns(form, head, validator.variables)
    validation = FileValidation(
        sheet.read_rows(content),
        validator,
        columns=columns,
        skips_duplicates=skips_duplicates,
        has_names=head.has_names,
    )
    while (findings := validation.validate_next_rows()) is not None:
        yield findings
    yield FileSummary(validation.shared, columns.names, columns.unused)


async def _store_findings(
    request: PageRequest,
    campaign: Campaign,
    parts: AsyncGenerator[FileFindings | FileSummary, None],
    *,
    skips_duplicates: bool,
) -> None:
    """Read a file to its end, storing the result part by part."""
    context = request.context
    changed_at = await campaign_files.begin_reading(
        context,
        campaign,
        request.files["file"].name[:MAX_FILE_NAME_CHARACTERS],
        skips_duplicates,
        request.now - STALE_AFTER,
        campaign_audit_entry(request, campaign, "file"),
    )
    if changed_at is None:
        raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
    try:
        async for found in parts:
            now = max(request.now, changed_at + 1)
            if isinstance(found, FileSummary):
                await campaign_files.end_reading(context, campaign, found, changed_at, now)
                return
            has_found = found.block is not None or found.invalid_rows
            if not has_found and now < changed_at + PROGRESS_INTERVAL:
                continue  # it only read blank rows
            if not await campaign_files.add_findings(context, campaign, found, changed_at, now):
                raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
            changed_at = now
    except Refused as refused:
        now = max(request.now, changed_at + 1)
        await campaign_files.refuse_file(context, campaign, refused.problems, changed_at, now)


def _invalid_row_cells(request: PageRequest, width: int, row: InvalidRow) -> list[str]:
    cells = [*row.cells, *[""] * width][: max(width, len(row.cells))]
    return [str(row.number), *cells, " ".join(request.pick_language(row.reason))]


async def show_columns(request: PageRequest) -> Response:
    """Answer with the columns of the chosen file, each with what it seems to hold, to be changed."""
    campaign = await get_campaign(request)
    try:
        variables = (await load_validator(request, campaign)).variables
        head = await preview_columns(request, read_head, variables)
    except Refused as refused:
        return render_columns(request, refused)
    needed = [(f"{FIELD}{name}", name) for name in variables]
    roles = [(f"{FIELD}{name}", f"#{{{name}}}") for name in variables]
    return render_columns(request, head, needed, [*roles, (REFERENCE, request.t("word.reference"))])


def read_head(file: BinaryIO, variables: Sequence[str]) -> FileHead:
    """Return the columns of a file, with what each seems to hold; without names, variables stand in their order.

    Raises Refused as `mapping.read_head` does.
    """
    by_spelling = {spelled(name): name for name in reversed(variables)}
    left = list(variables)

    def guess(name: str, samples: Sequence[str], has_names: bool) -> str:
        if not has_names:
            is_phone = bool(samples) and all(map(is_number, samples))
            return PHONE if is_phone else f"{FIELD}{left.pop(0)}" if left else IGNORE
        bare = sheet.bare_name(name)
        found = bare if bare in variables else by_spelling.get(spelled(bare))
        if found is not None:
            return f"{FIELD}{found}"
        if mapping.is_phone_name(bare):
            return PHONE
        return REFERENCE if spelled(bare) in sheet.REFERENCE_NAMES else IGNORE

    head = mapping.read_head(file, guess)
    named = mapping.find_name_column([each.name for each in head.columns], variables) if head.has_names else None
    if named is None or head.columns[named[0]].role != IGNORE:
        return head
    place, name = named
    columns = list(head.columns)
    columns[place] = columns[place]._replace(role=f"{FIELD}{name}")
    return head._replace(columns=columns)


def read_columns(form: Mapping[str, str], head: FileHead, variables: Sequence[str]) -> Columns:
    """Return which column holds what, as it was chosen, or by the names in the first row where nothing was.

    Named columns get the names that are needed, so that rows which are corrected can be uploaded as they are.
    Raises Refused(INVALID_PARAMETER) where a variable has no column, and as `mapping.check_roles` and
    `sheet.find_columns` do.
    """
    roles = mapping.chosen_roles(form, head.columns)
    if roles is None:
        return sheet.find_columns(head.first_row, variables)
    mapping.check_roles(roles)
    values = {name: roles.index(f"{FIELD}{name}") for name in variables if f"{FIELD}{name}" in roles}
    missing = [name for name in variables if name not in values]
    if missing:
        listed = ", ".join(missing[: sheet.MAX_SHOWN_NAMES])
        detail = Text(f"변수에 연결할 열을 고르세요: {listed}.", f"Choose columns for these variables: {listed}.")
        raise Refused(Code.INVALID_PARAMETER, "columns", detail)
    own = {PHONE: sheet.PHONE_NAMES[0], REFERENCE: sheet.REFERENCE_NAMES[0]}
    used = {*values.values(), roles.index(PHONE)}
    names = tuple(
        own.get(role) or (role.removeprefix(FIELD) if place in used else each.name)
        for place, (role, each) in enumerate(zip(roles, head.columns, strict=True))
    )
    reference = roles.index(REFERENCE) if REFERENCE in roles else None
    unused = tuple(each.name for role, each in zip(roles, head.columns, strict=True) if not role and each.name)
    return Columns(names, roles.index(PHONE), reference, values, unused)


SHOWN_ROWS = 50
MAX_REASONS = 12
"""Most reasons that are listed one by one."""
MAX_COLUMNS = 8
"""Most columns of the file that are shown: those that are sent come first."""


class ReasonCount(NamedTuple):
    """How many rows cannot be sent to for a reason; `number` chooses its rows, and is empty where it cannot."""

    number: str
    reason: str
    rows: int
    is_chosen: bool


class FaultyRow(NamedTuple):
    """A row of the file: its cells, each with whether it is wrong, and why the row cannot be sent to."""

    number: int
    cells: list[tuple[str, bool]]
    why: str


class Faults(NamedTuple):
    """What the page shows of the rows that cannot be sent to."""

    reasons: list[ReasonCount]
    columns: list[str]
    rows: list[FaultyRow]
    total: int
    """How many rows there are for the chosen reason."""


async def list_faults(request: PageRequest, campaign: Campaign, validator: RowValidator | None) -> Faults | None:
    """Return the rows that cannot be sent to, those of the chosen reason or all; None where there are none."""
    if not campaign.invalid_rows:
        return None
    counted = await campaign_files.count_reasons(request.context, campaign, 2 * MAX_REASONS)
    own = [(reason, count) for reason, count in counted if not is_duplicate(reason)][:MAX_REASONS]
    chosen = request.field("reason")
    place = int(chosen) if chosen.isascii() and chosen.isdigit() and int(chosen) < len(own) else None
    rows = (
        await campaign_files.list_invalid_rows(request.context, campaign, 0, SHOWN_ROWS)
        if place is None
        else await campaign_files.list_rows_of_reason(request.context, campaign, own[place][0], SHOWN_ROWS)
    )
    columns = _find_columns(campaign, validator)
    shown = _choose_columns(campaign, columns)
    return Faults(
        _count(request, campaign, own, place),
        [campaign.columns[each] or str(each + 1) for each in shown],
        [_show(request, row, shown, columns, validator) for row in rows],
        campaign.invalid_rows if place is None else own[place][1],
    )


def _count(
    request: PageRequest, campaign: Campaign, own: Sequence[tuple[tuple[str, ...], int]], place: int | None
) -> list[ReasonCount]:
    found = [
        ReasonCount(str(each), " ".join(request.pick_language(reason)), count, each == place)
        for each, (reason, count) in enumerate(own)
    ]
    repeated = campaign.duplicates if campaign.skips_duplicates else 0
    if repeated:
        found.append(ReasonCount("", request.t("faults.duplicates"), repeated, False))
    if rest := campaign.invalid_rows - repeated - sum(count for _, count in own):
        found.append(ReasonCount("", request.t("faults.others"), rest, False))
    return found


def _find_columns(campaign: Campaign, validator: RowValidator | None) -> Columns | None:
    if validator is None:
        return None
    try:
        return sheet.find_columns(campaign.columns, validator.variables)
    except Refused:  # the columns were chosen, and the file has no names
        return None


def _choose_columns(campaign: Campaign, columns: Columns | None) -> list[int]:
    """Return which columns are shown, in their order."""
    every = range(len(campaign.columns))
    if columns is None:
        return list(every)[:MAX_COLUMNS]
    sent = [columns.phone, *columns.values.values()]
    return sorted([*dict.fromkeys([*sent, *every])][:MAX_COLUMNS])


def _show(
    request: PageRequest,
    row: InvalidRow,
    shown: Sequence[int],
    columns: Columns | None,
    validator: RowValidator | None,
) -> FaultyRow:
    wrong: set[int] = set()
    sheet_row = SheetRow(row.number, row.cells)
    if columns and validator:
        wrong = {columns.phone} if is_duplicate(row.reason) else validator.find_faulty_cells(sheet_row, columns)
    cells = [(sheet_row.cell(each), each in wrong) for each in shown]
    return FaultyRow(row.number, cells, " ".join(request.pick_language(row.reason)))


TEXTS = {
    "faults.title": Text("발송에서 빠지는 행", "Rows that are left out"),
    "faults.reasons": Text("사유별로 보기", "By reason"),
    "faults.duplicates": Text("다른 행과 같은 번호입니다.", "The same number is in another row."),
    "faults.others": Text("그 밖의 사유입니다.", "Other reasons."),
    "faults.empty": Text("비어 있음", "empty"),
    "faults.fix": Text(
        "파일에서 표시된 값을 고쳐 다시 올리거나, 이 행을 빼고 발송하세요.",
        "Correct the marked values in the file and upload it again, or send without these rows.",
    ),
}
