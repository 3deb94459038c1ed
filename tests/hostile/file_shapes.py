"""Shapes of files of receivers for the search of the most expensive one: CSV and Excel."""

import codecs
import csv
import io
import itertools
import zipfile
import zlib
from typing import Any
from xml.parsers import expat

from tests.fixtures.sheets import MAIN, PARTS, excel_with, sheet_xml
from tests.hostile.shapes import Genes

_CHUNK_BYTES = 64 * 1024
_HEAD_BYTES = 1000
_PHONES = {
    "spelled": "+82 10-{:04}-{:04}",
    "lost zero": "10{:04}{:04}",
    "bad": "1",
    "blank": "",
    "same": "01012345678",
}
_BAD_CELL = "😀"

_COMMON: dict[str, tuple[Any, ...]] = {
    "rows": (1000, 1, 100, 3000),
    "columns": (0, 1, 20, 190, 300),
    "value": ("x", "", "가", "x" * 300, "가나다라 " * 40, "😀", "\u0301", "x\u0301" * 50, " ", "#N/A", "=1+1"),
    "phone": ("good", *_PHONES),
    "bad_rows": ("none", "end", "odd", "all"),
    "reference": ("", "x" * 64, "x" * 100),
    "head": ("good", "twice", "without phone", "number", "long"),
    "variables": (0, 1, 20),
}
"""What any file may have; the first choice of each is harmless."""

CSV_GENES: dict[str, tuple[Any, ...]] = {
    **_COMMON,
    "blank_lines": (0, 1000, 10_000),
    "blank_line": ("", ",", "," * 150, " ", '""'),
    "quotes": ("", '"', '""', '"\n"'),
    "encoding": ("utf-8", "utf-8-sig", "cp949", "utf-16"),
    "delimiter": (",", "\t", ";"),
    "newline": ("\n", "\r\n", "\r"),
    "end": (b"", b'"', b"\xff", b"x" * 200_000),
}

XLSX_GENES: dict[str, tuple[Any, ...]] = {
    **_COMMON,
    "kind": ("inlineStr", "s", "n", "str", "b", "d", "date"),
    "runs": (1, 5, 50),
    "escapes": (0, 100),
    "empty_cells": (0, 10, 150),
    "blank_rows": (0, 1000, 10_000),
    "attributes": (0, 20),
    "prefix": ("", "x:"),
    "junk": ("", "<y/>", "<!--x-->", "\n", "&amp;", "<?x?>"),
    "junk_times": (1, 1000, 20_000),
    "depth": (0, 1000, 10_000),
    "shared_strings": (10, 1000, 20_000),
    "styles": (1, 1000, 20_000),
    "relationships": (0, 1000),
    "parts": (0, 100, 2000),
    "is_stored": (False, True),
}


def build_csv(genes: Genes, max_bytes: int) -> tuple[bytes, int]:
    """Return a CSV file with as many rows as fit, and their number."""
    cells, newline, delimiter = _cells(genes), str(genes["newline"]), str(genes["delimiter"])
    quote = str(genes["quotes"])
    spelled = [[f"{quote[:1]}{cell}{quote[1:]}{quote[:1]}" if quote else cell for cell in row] for row in cells]
    lines = [delimiter.join(row) for row in spelled]
    count = _count_fitting(lines, max_bytes)
    blank = str(genes["blank_line"]).replace(",", delimiter)
    blanks = [blank] * min(genes["blank_lines"], max_bytes // (len(blank) + 1))
    text = newline.join([*lines[:count], *blanks]) + newline
    return text.encode(genes["encoding"], "replace") + genes["end"][:max_bytes], count


def build_xlsx(genes: Genes, max_bytes: int) -> tuple[bytes, int]:
    """Return an Excel file with as many rows as fit, unpacked, and their number."""
    cells = _cells(genes)
    rows = [_xlsx_row(row, genes) for row in cells]
    count = _count_fitting(rows, max_bytes)
    prefix = genes["prefix"]
    junk = genes["junk"] * min(genes["junk_times"], max_bytes // 8)
    nested = f"<{prefix}z>" * genes["depth"] + f"</{prefix}z>" * genes["depth"]
    blank = f"<{prefix}row/>" * genes["blank_rows"]
    sheet = sheet_xml("".join(rows[:count]) + blank + junk + nested)
    if prefix:
        sheet = sheet.replace("<worksheet", f'<worksheet xmlns:x="{MAIN}"')
    strings = [_run(str(genes["value"]), genes) for _ in range(genes["shared_strings"])]
    xf = '<xf numFmtId="14"/>' * genes["styles"]
    relationships = str(PARTS["xl/_rels/workbook.xml.rels"])
    more = "".join(f'<Relationship Id="r{n}" Type="a/x" Target="a/../b"/>' for n in range(genes["relationships"]))
    parts = {
        "xl/worksheets/sheet1.xml": sheet,
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{"".join(f"<si>{each}</si>" for each in strings)}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><cellXfs>{xf}</cellXfs></styleSheet>',
        "xl/_rels/workbook.xml.rels": relationships.replace("</Relationships>", f"{more}</Relationships>"),
        **{f"x/{number}": "x" for number in range(genes["parts"])},
    }
    return excel_with(parts, zipfile.ZIP_STORED if genes["is_stored"] else zipfile.ZIP_DEFLATED), count


def plain_csv(count: int) -> bytes:
    """Return a file of so many receivers, without anything else."""
    return "\n".join(["phone", *(f"010{number:08}" for number in range(count))]).encode()


def decode_csv(raw: bytes) -> object:
    """Decode a CSV file with the standard library, as far as it can be, into the cells that it has."""
    delimiter = max(",;\t", key=lambda each: raw[:_HEAD_BYTES].count(each.encode()))
    for encoding in (
        ("utf-16",) if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ("utf-8-sig", "cp949")
    ):
        try:
            return list(csv.reader(io.TextIOWrapper(io.BytesIO(raw), encoding, newline=""), delimiter=delimiter))
        except (UnicodeDecodeError, csv.Error):
            continue
    return None


def decode_xlsx(raw: bytes) -> object:
    """Unpack and parse the parts of an Excel file with the standard library, keeping their texts."""
    texts: list[str] = []
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        for info in parts.infolist():
            parser = expat.ParserCreate()
            parser.CharacterDataHandler = texts.append
            parser.StartElementHandler = lambda name, attributes: None
            try:
                with parts.open(info) as part:
                    while chunk := part.read(_CHUNK_BYTES):
                        parser.Parse(chunk)
            except (expat.ExpatError, zlib.error):
                continue
    return texts


def _count_fitting(rows: list[str], max_bytes: int) -> int:
    """Return how many of the first rows fit, at least one; rows differ in length."""
    sizes = itertools.accumulate(len(row.encode()) + 1 for row in rows)
    return max(1, sum(size <= max_bytes for size in sizes))


def _cells(genes: Genes) -> list[list[str]]:
    """Return the rows of a file, the first of which names the columns."""
    names = [f"n{number}" for number in range(genes["columns"])]
    first = {"without phone": "x", "number": "01012345678", "long": "x" * 5000}.get(genes["head"], "phone")
    head = [first, "reference", *(["n"] * len(names) if genes["head"] == "twice" else names)]
    rows = [head]
    for number in range(genes["rows"]):
        spelled = _PHONES.get(genes["phone"], "010{:04}{:04}").format(number // 10_000, number % 10_000)
        values = [str(genes["value"])] * len(names)
        if _is_bad(genes, number):
            values = [_BAD_CELL] * len(names)
            spelled = spelled if names else "1"
        rows.append([spelled, str(genes["reference"]), *values])
    return rows


def _is_bad(genes: Genes, number: int) -> bool:
    half = genes["rows"] // 2
    places: dict[str, bool] = {"none": False, "end": number > half, "odd": number % 2 == 1, "all": True}
    return places[genes["bad_rows"]]


def _xlsx_row(cells: list[str], genes: Genes) -> str:
    prefix = genes["prefix"]
    attributes = "".join(f' a{number}="x"' for number in range(genes["attributes"]))
    empty = f'<{prefix}c s="1"/>' * genes["empty_cells"]
    first, *values = [_xlsx_cell(cell, genes, is_text=place < 2) for place, cell in enumerate(cells)]
    return f"<{prefix}row{attributes}>{first}{''.join(values)}{empty}</{prefix}row>"


def _xlsx_cell(cell: str, genes: Genes, *, is_text: bool) -> str:
    prefix, kind = genes["prefix"], genes["kind"]
    if is_text or kind == "inlineStr" or cell == _BAD_CELL:
        text = f"<t>{cell}</t>" if is_text else _run(cell, genes)
        return f'<{prefix}c t="inlineStr"><is>{text}</is></{prefix}c>'
    if kind == "s":
        return f'<{prefix}c t="s"><{prefix}v>0</{prefix}v></{prefix}c>'
    if kind in ("n", "date"):
        return f'<{prefix}c s="{int(kind == "date")}"><{prefix}v>45000.25</{prefix}v></{prefix}c>'
    return f'<{prefix}c t="{kind}"><{prefix}v>{cell}</{prefix}v></{prefix}c>'


def _run(text: str, genes: Genes) -> str:
    """Return a text in several runs, as rich text is written."""
    shown = text.replace("&", "&amp;") + "_x0041_" * genes["escapes"]
    return f"<r><t>{shown}</t></r>" * genes["runs"] if genes["runs"] > 1 else f"<t>{shown}</t>"
