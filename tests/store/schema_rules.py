"""The rules of docs/how-to/upgrade.md for migrations, as far as they can be seen in a file."""

import re
from collections.abc import Iterator
from typing import NamedTuple

EXCEPTION = re.compile(r"\s*-- exception: \S")
TABLE = re.compile(r"create table (?:if not exists )?(\w+)")
INDEX = re.compile(r"create (unique )?index (if not exists )?\w+ on (\w+)")
COLUMN = re.compile(r"alter table (\w+) add column (?:\{if_new\} )?\w+ (.+)")
ROWS = re.compile(r"insert into (\w+)")
LIMITS = re.compile(r"\b(unique|primary key|references|check)\b")

ONLY_ADDS = "a migration only adds: tables, indexes, columns"
FRESH_ROWS = "it writes to a table that the version before uses too"
NEEDS_DEFAULT = "the version before writes rows without this column: let it be null, or give it a default"
LIMITS_OTHERS = "it forbids what the version before may write"
MADE_BEFORE = "an index of a table that may be large must be one that operators can make before: `if not exists`"


class Statement(NamedTuple):
    """A statement of a migration, in one line, and whether the file gives a reason for an exception."""

    text: str
    is_excused: bool


def statements(sql: str) -> Iterator[Statement]:
    """Yield the statements of a file; an exception holds for its paragraph, to the next blank line."""
    for paragraph in re.split(r"\n\s*\n", sql):
        lines = paragraph.splitlines()
        is_excused = any(EXCEPTION.match(line) for line in lines)
        bare = " ".join(line.split("--")[0] for line in lines)
        yield from (
            Statement(" ".join(each.split()).lower(), is_excused) for each in bare.split(";") if each.strip()
        )


def broken(sql: str) -> list[tuple[str, str]]:
    """Return the statements of a file that break a rule without an exception, each with the rule."""
    fresh: set[str] = set()
    found = []
    for each in statements(sql):
        if match := TABLE.match(each.text):
            fresh.add(match[1])
        elif not each.is_excused and (rule := _rule_broken_by(each.text, fresh)):
            found.append((each.text, rule))
    return found


def _rule_broken_by(text: str, fresh: set[str]) -> str | None:
    if match := INDEX.match(text):
        if match[3] in fresh:
            return None
        return LIMITS_OTHERS if match[1] else None if match[2] else MADE_BEFORE
    if match := COLUMN.match(text):
        if match[1] in fresh:
            return None
        if "not null" in match[2] and " default " not in match[2]:
            return NEEDS_DEFAULT
        return LIMITS_OTHERS if LIMITS.search(match[2]) else None
    if match := ROWS.match(text):
        return None if match[1] in fresh else FRESH_ROWS
    return ONLY_ADDS
