"""The rows of a file that cannot be sent to: how many for which reason, and the cell that each is wrong in."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import Columns, SheetRow
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.row_validation import RowValidator
from pabal.domain.base.codes import Refused, Text
from pabal.domain.sends.campaign import is_duplicate
from pabal.service.sending.campaigns import campaign_files
from pabal.service.sending.campaigns.campaign_files import Campaign, InvalidRow

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
        return sheet.find_columns(SheetRow(1, tuple(campaign.columns)), validator.variables)
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
    if columns and validator:
        sheet_row = SheetRow(row.number, row.cells)
        wrong = {columns.phone} if is_duplicate(row.reason) else validator.find_faulty_cells(sheet_row, columns)
    cells = [(row.cells[each] if each < len(row.cells) else "", each in wrong) for each in shown]
    return FaultyRow(row.number, cells, " ".join(request.pick_language(row.reason)))


TEXTS = {
    "faults.title": Text("발송에서 빠지는 행", "Rows that are left out"),
    "faults.all": Text("전체", "All"),
    "faults.reasons": Text("사유별로 보기", "By reason"),
    "faults.duplicates": Text("다른 행과 같은 번호입니다.", "The same number is in another row."),
    "faults.others": Text("그 밖의 사유입니다.", "Other reasons."),
    "faults.empty": Text("비어 있음", "empty"),
    "faults.fix": Text(
        "파일에서 표시된 값을 고쳐 다시 올리거나, 이 행을 빼고 발송하세요.",
        "Correct the marked values in the file and upload it again, or send without these rows.",
    ),
}
