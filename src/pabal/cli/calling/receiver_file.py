"""The receivers of a CSV or Excel file, by the rules of the console, and the report of rows that are wrong."""

import csv
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from pabal.cli.shared.language import CommandError
from pabal.client import ReceiverBody
from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import Columns, SheetRow
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import phone
from pabal.settings.environment import cannot_read, cannot_write

REPORT_COLUMNS = Text("행,이유", "row,reason")
_VARIABLE = re.compile(r"#\{([^{}]+)\}")
_FORMULA_ERROR = Text("수식 오류: {cell}", "failed formula: {cell}")


class ReceiverFile(NamedTuple):
    """A file that was read: its rows, the receiver of each row that is right, and what is wrong with others."""

    names: Sequence[str]
    rows: Sequence[SheetRow]
    receivers: Mapping[int, ReceiverBody]
    """By row number."""
    wrong: Mapping[int, str]
    """The reason by row number."""
    digest: bytes
    """Of the file's content."""


def read_receivers(path: Path, body: msgspec.Struct, kind: type[ReceiverBody], language: str) -> ReceiverFile:
    """Read a file of receivers.

    Its columns have the values of the variables in the text; of a template, whose text is not known here, all of
    its columns but phone number and reference. Raises CommandError.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").digest()
            rows = [row for batch in sheet.read_rows(file) for row in batch]
        if not rows:
            raise CommandError(
                f"{path}: 비어 있습니다. 첫 행은 열 이름이어야 합니다",
                f"{path}: is empty; its first row names the columns",
            )
        columns = _find_columns(rows[0].cells, body)
    except OSError as error:
        raise CommandError(*cannot_read(path, error)) from None
    except Refused as refused:
        first = refused.problems[0]
        raise CommandError(f"{path}: {first.message('ko')}", f"{path}: {first.message('en')}") from None
    receivers: dict[int, ReceiverBody] = {}
    wrong: dict[int, str] = {}
    for row in rows[1:]:
        try:
            receivers[row.number] = _receiver(row, columns, kind, language)
        except _WrongRow as error:
            wrong[row.number] = str(error)
    return ReceiverFile(columns.names, rows[1:], receivers, wrong, digest)


def write_report(path: Path, file: ReceiverFile, wrong: Mapping[int, str], language: str) -> None:
    """Write the rows that were not sent, each with its number and the reason, to be corrected and sent again.

    Raises CommandError.
    """
    try:
        with path.open("w", encoding="utf-8-sig", newline="") as report:
            writer = csv.writer(report)
            writer.writerow([*REPORT_COLUMNS.in_language(language).split(","), *file.names])
            for row in file.rows:
                if row.number in wrong:
                    writer.writerow([row.number, wrong[row.number], *row.cells])
    except OSError as error:
        raise CommandError(*cannot_write(path, error)) from None


class _WrongRow(Exception):
    """A row cannot be sent; the message says why."""


def _find_columns(first_row: Sequence[str], body: msgspec.Struct) -> Columns:
    if getattr(body, "templateCode", None):
        columns = sheet.find_columns(first_row, [])
        return columns._replace(values={name: columns.names.index(name) for name in columns.unused})
    names = dict.fromkeys(_VARIABLE.findall(msgspec.json.encode(body).decode()))
    return sheet.find_columns(first_row, list(names))


def _receiver(row: SheetRow, columns: Columns, kind: type[ReceiverBody], language: str) -> ReceiverBody:
    if failed := columns.formula_error(row):
        raise _WrongRow(_FORMULA_ERROR.in_language(language).format(cell=failed))
    try:
        number = phone.parse_mobile(sheet.restore_phone_number(row.cell(columns.phone)))
    except Refused as refused:
        raise _WrongRow(refused.problems[0].message(language)) from None
    data = {name: row.cell(place) for name, place in columns.values.items()}
    reference = row.cell(columns.reference) if columns.reference is not None else ""
    return kind(phoneNumber=phone.hyphenate(number), templateData=data or None, reference=reference or None)
