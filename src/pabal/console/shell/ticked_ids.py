"""Reads what was ticked in a form: a field for each thing, named by a letter and its id."""

import re
from collections.abc import Mapping

MAX_ID_DIGITS = 18
CONTACT, GROUP = "c", "g"
_TICKED = {letter: re.compile(rf"{letter}([0-9]{{1,{MAX_ID_DIGITS}}})", re.ASCII) for letter in (CONTACT, GROUP)}


def parse_id(word: str) -> int | None:
    """Return an id, None for what cannot be one."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= MAX_ID_DIGITS else None


def chosen_ids(fields: Mapping[str, str], letter: str) -> list[int]:
    """Return the ids of contacts or groups that were ticked."""
    found = (_TICKED[letter].fullmatch(name) for name, value in fields.items() if value)
    return [int(each[1]) for each in found if each]
