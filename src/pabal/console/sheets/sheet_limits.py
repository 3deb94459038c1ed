"""The limits of a file of receivers, and the refusals for files that exceed them."""

from pabal.domain.base.codes import Code, Refused, Text

MAX_FILE_BYTES = 32 * 1024 * 1024
MAX_FORM_BYTES = MAX_FILE_BYTES + 64 * 1024
"""A form with the largest file."""
MAX_ROWS = 200_000
"""Rows with receivers."""
MAX_ROW_NUMBER = 1_048_576
"""Excel's own limit; empty rows count."""
MAX_COLUMNS = 200
MAX_ROW_CELLS = 16_384
"""Excel's own limit; cells without a value count."""
MAX_ROW_CHARACTERS = 500_000
MAX_TEXT_CHARACTERS = 64 * 1024 * 1024
"""All cells of a file: a few packed bytes can name one long text in every cell."""


def check_row_number(number: int) -> None:
    """Raise Refused(TOO_MANY_RECEIVERS) beyond the last row that a file can have."""
    if number > MAX_ROW_NUMBER:
        why = Text(
            f"빈 행을 포함해 {MAX_ROW_NUMBER:,}행까지입니다. 빈 행을 지우세요.",
            f"A file can have up to {MAX_ROW_NUMBER:,} rows, including blank ones. Delete the blank rows.",
        )
        raise refuse_file(why, Code.TOO_MANY_RECEIVERS)


def check_file_size(size_bytes: int) -> None:
    """Raise Refused(PAYLOAD_TOO_LARGE) for a file that is too large."""
    if size_bytes > MAX_FILE_BYTES:
        megabytes = MAX_FILE_BYTES // (1024 * 1024)
        why = Text(
            f"파일은 {megabytes} MB까지 올릴 수 있습니다. 나누어 올리세요.",
            f"A file can have up to {megabytes} MB. Split it.",
        )
        raise refuse_file(why, Code.PAYLOAD_TOO_LARGE)


def refusal(ko: str, en: str) -> Refused:
    return refuse_file(Text(ko, en))


def refuse_file(why: Text, code: Code = Code.INVALID_PARAMETER) -> Refused:
    """Return the refusal of a file."""
    return Refused(code, "file", why)


TOO_MANY_ROWS = Text(f"파일 하나에 {MAX_ROWS:,}행까지입니다.", f"A file can have up to {MAX_ROWS:,} rows.")
TOO_MANY_COLUMNS = Text(
    f"열은 {MAX_COLUMNS}개까지입니다. 쓰지 않는 열을 지우세요.",
    f"A file can have up to {MAX_COLUMNS} columns. Delete those that are not needed.",
)
TOO_MANY_CELLS = Text(
    f"한 행에 빈 셀을 포함해 {MAX_ROW_CELLS:,}셀까지입니다. 빈 열을 지우거나 CSV로 올리세요.",
    f"A row can have up to {MAX_ROW_CELLS:,} cells, including empty ones. Delete empty columns, or use CSV.",
)
ROW_TOO_LONG = Text(
    f"한 행에 {MAX_ROW_CHARACTERS:,}자까지입니다. 긴 셀을 줄이거나 따옴표를 확인하세요.",
    f"A row can have up to {MAX_ROW_CHARACTERS:,} characters. Shorten its cells, or check its quotes.",
)
TOO_MUCH_TEXT = Text(
    f"셀 내용이 모두 {MAX_TEXT_CHARACTERS:,}자까지입니다. 파일을 나누세요.",
    f"The cells of a file can have up to {MAX_TEXT_CHARACTERS:,} characters in all. Split the file.",
)
EXCEL_UNREADABLE = Text(
    "Excel 파일을 읽을 수 없습니다. 암호를 풀고 .xlsx로 다시 저장하거나 CSV로 올리세요.",
    "The Excel file cannot be read. Save it as .xlsx again, without a password, or as CSV.",
)
EXCEL_TOO_LARGE = Text(
    "Excel 파일이 너무 큽니다. 나누거나 CSV로 올리세요.",
    "The Excel file is too large. Split it, or upload it as CSV.",
)
EXCEL_WITH_DTD = Text(
    "Excel 파일에 허용되지 않는 XML 선언(DTD)이 있습니다. Excel에서 .xlsx로 다시 저장해 올리세요.",
    "The Excel file contains a document type definition (DTD), which is not allowed. Save it as .xlsx again.",
)
OUT_OF_TIME = Text(
    "파일을 읽는 데 시간이 너무 오래 걸려 멈췄습니다. 빈 행과 열을 지우거나 CSV로 저장하거나 나누어 올리세요.",
    "Reading the file took too much computing time and was stopped. Delete empty rows and columns, save it as"
    " CSV, or split it.",
)
OUT_OF_MEMORY = Text(
    "파일을 읽는 데 메모리가 너무 많이 필요해 멈췄습니다. CSV로 저장하거나 나누어 올리세요.",
    "Reading the file needs too much memory and was stopped. Save it as CSV, or split it.",
)
