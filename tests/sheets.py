"""Reads workbooks as other people's software does."""

import io
from typing import Any

import openpyxl


def sheets(body: bytes) -> dict[str, list[list[Any]]]:
    """Return the values of every sheet, and see that none is a formula or anything else but text."""
    book = openpyxl.load_workbook(io.BytesIO(body))
    for sheet in book:
        kinds = {cell.data_type for row in sheet.iter_rows() for cell in row if cell.value is not None}
        assert kinds <= {"s", "inlineStr"}, kinds
    return {sheet.title: [[cell or "" for cell in row] for row in sheet.values] for sheet in book}
