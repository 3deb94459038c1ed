"""Categories of sender profiles and templates, read from replaceable tables."""

import csv
from collections.abc import Iterable
from typing import NamedTuple


class Category(NamedTuple):
    """A code that stands for a kind of business or of notice."""

    code: str
    name: str
    group: str | None = None


class InvalidCategoryTable(Exception):
    """A table of categories cannot be used; the message says which line and why."""


def parse_categories(lines: Iterable[str]) -> dict[str, Category]:
    """Return the categories of a CSV table with the columns code, name and perhaps group, by code.

    Raises BadTable.
    """
    found: dict[str, Category] = {}
    for number, row in enumerate(csv.DictReader(lines), 2):
        code, name = (row.get("code") or "").strip(), (row.get("name") or "").strip()
        if not code or not name:
            raise InvalidCategoryTable(f"line {number}: code and name are needed")
        if code in found:
            raise InvalidCategoryTable(f"line {number}: code {code} stands there twice")
        found[code] = Category(code, name, (row.get("group") or "").strip() or None)
    if not found:
        raise InvalidCategoryTable("no categories in it")
    return found
