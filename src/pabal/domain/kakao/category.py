"""Categories of sender profiles and templates, parsed from replaceable CSV tables."""

import csv
from collections.abc import Iterable
from typing import NamedTuple


class Category(NamedTuple):
    """A kind of business (profiles) or of notice (templates)."""

    code: str
    name: str
    group: str | None = None


class InvalidCategoryTable(Exception):
    """A category table is invalid; the message says which line and why."""


def parse_categories(lines: Iterable[str]) -> dict[str, Category]:
    """Return the categories of a CSV table by code; its columns are code, name and optionally group.

    Raises BadTable.
    """
    found: dict[str, Category] = {}
    for number, row in enumerate(csv.DictReader(lines), 2):
        code, name = (row.get("code") or "").strip(), (row.get("name") or "").strip()
        if not code or not name:
            raise InvalidCategoryTable(f"line {number}: code and name are required")
        if code in found:
            raise InvalidCategoryTable(f"line {number}: duplicate code {code}")
        found[code] = Category(code, name, (row.get("group") or "").strip() or None)
    if not found:
        raise InvalidCategoryTable("the table has no categories")
    return found
